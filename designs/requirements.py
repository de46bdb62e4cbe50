"""What designs must keep, as conditions c >= 0 with their derivatives: Grashof, transmission angles, size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanism.grashof import four_bar_loops
from ..mechanism.model import Array
from .design_lanes import DesignLanes
from .synthesis_task import Requirements

LANES = 73  # of a turn
# the bar that is shortest (of frame, crank, rod, rocker), of which one must be
SHORTEST = {
    "crank-rocker": (1,), "double-crank": (0,), "double-rocker": (2,), "rocker-crank": (3,), "crank": (1, 0),
    "any": (1, 0, 2, 3),
}  # fmt: skip


class Conditions:
    """The conditions of a search, all of them lengths: negative where a design does not keep them."""

    def __init__(self, lanes: DesignLanes, require: Requirements, first: float, span: float, scale: float) -> None:
        self.lanes, self.require, self.first, self.span, self.scale = lanes, require, first, span, scale
        self.asked = any(x is not None for x in (require.grashof, require.transmission, require.size))
        mechanism = lanes.mechanism
        loops = four_bar_loops(mechanism.traced.model, mechanism.structure)
        lengths = [x for loop in loops for x in loop.lengths]
        self._lengths = mechanism.traced.tape.compiled(lengths) if loops and require.grashof else None
        self._dyads: list[tuple[int, int, int]] = []
        self._all: DesignLanes | None = None
        if require.transmission is not None or require.size is not None:
            self._places()

    @property
    def has_loops(self) -> bool:
        return self._lengths is not None

    def _places(self) -> None:
        """Have the points whose places tell of transmission angles and of the size."""
        m = self.lanes.mechanism
        names = [name for table, name in m.program.sequence.written if table == "points"]
        self._all = DesignLanes(m.data, m.origin, m.folder, self.lanes.variables, names)
        for group in m.structure.groups:
            if group.type not in ("RRR", "RRP"):
                continue
            inner = [j for j in group.pairs if set(j.bodies) <= set(group.bodies) and j.kind == "R"]
            outer = [j for j in group.pairs if not set(j.bodies) <= set(group.bodies) and j.kind == "R"]
            if len(inner) == 1 and len(outer) == 2 and all(j.at in names for j in (*inner, *outer)):
                self._dyads.append(tuple(names.index(j.at) for j in (outer[0], inner[0], outer[1])))  # type: ignore[arg-type]

    def at(self, designs: Array, signs: Array, lanes: int = LANES) -> tuple[Array, Array]:
        """Return the conditions (design, condition) and their derivatives (design, condition, variable)."""
        values, slopes = [np.zeros((len(designs), 0))], [np.zeros((len(designs), 0, designs.shape[1]))]
        if self._lengths is not None:
            c, dc = self._grashof(designs)
            values.append(c)
            slopes.append(dc)
        if self._all is not None:
            times = np.broadcast_to(self.first + self.span * np.linspace(0, 1, lanes), (len(designs), lanes))
            found = self._all.at(designs, times, None, True, signs)
            assert found.changes is not None
            if self.require.transmission is not None:
                for dyad in self._dyads:
                    c, dc = self._transmission(found.position, found.changes, dyad)
                    values.append(c)
                    slopes.append(dc)
            if self.require.size is not None:
                c, dc = self._size(found.position, found.changes)
                values.append(c)
                slopes.append(dc)
        return np.concatenate(values, axis=1), np.concatenate(slopes, axis=1)

    def _grashof(self, designs: Array) -> tuple[Array, Array]:
        """For a bar to be the shortest and to turn: with each other one it is no longer than the remaining two."""
        assert self._lengths is not None
        assert self.require.grashof is not None
        x = np.ascontiguousarray(designs.T)
        lengths = self._lengths.evaluate(x)[0].T.reshape(len(designs), -1, 4)
        changes = self._lengths.tangents(x).transpose(2, 0, 1).reshape(len(designs), -1, 4, designs.shape[1])
        chosen: Any = None
        for s in SHORTEST[self.require.grashof]:
            others = [k for k in range(4) if k != s]
            c = np.stack([lengths.sum(2) - 2.0 * (lengths[..., s] + lengths[..., o]) for o in others], axis=2)
            dc = np.stack([changes.sum(2) - 2.0 * (changes[:, :, s] + changes[:, :, o]) for o in others], axis=2)
            if chosen is None:
                chosen = c, dc
            else:
                better = (c.min(2) > chosen[0].min(2))[..., None]
                chosen = np.where(better, c, chosen[0]), np.where(better[..., None], dc, chosen[1])
        margin = 1e-6 * lengths.mean(axis=2)  # a change point is none of them
        c, dc = chosen
        return (c - margin[..., None]).reshape(len(designs), -1), dc.reshape(len(designs), -1, designs.shape[1])

    def _transmission(self, place: Array, change: Array, dyad: tuple[int, int, int]) -> tuple[Array, Array]:
        """The sine of the angle between the two bars of a dyad, less the least one, as a share of the size."""
        assert self.require.transmission is not None
        a, b, c = dyad
        u, v = place[:, a] - place[:, b], place[:, c] - place[:, b]
        du, dv = change[:, :, a] - change[:, :, b], change[:, :, c] - change[:, :, b]
        lu, lv = np.linalg.norm(u, axis=2), np.linalg.norm(v, axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            cross = (u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]) / (lu * lv)
            eu, ev = (u / lu[..., None])[:, None], (v / lv[..., None])[:, None]
            dcross = (
                du[..., 0] * v[:, None, :, 1] - du[..., 1] * v[:, None, :, 0]
                + u[:, None, :, 0] * dv[..., 1] - u[:, None, :, 1] * dv[..., 0]
            ) / (lu * lv)[:, None] - cross[:, None] * (
                (du * eu).sum(3) / lu[:, None] + (dv * ev).sum(3) / lv[:, None]
            )  # fmt: skip
        sine, slope = np.abs(cross), np.sign(cross)[:, None] * dcross
        kept = np.isfinite(sine)
        c_ = np.where(kept, self.scale * (sine - self.require.transmission - 1e-4), 0.0)
        return c_, np.where(kept[..., None], self.scale * slope.transpose(0, 2, 1), 0.0)

    def _size(self, place: Array, change: Array) -> tuple[Array, Array]:
        """The largest extent less the distance of the two points that are farthest apart at every lane."""
        assert self.require.size is not None
        first, second = np.triu_indices(place.shape[1], 1)
        if len(first) == 0:  # a single point has no extent
            count, lanes = len(place), place.shape[2]
            return np.full((count, lanes), self.require.size), np.zeros((count, lanes, change.shape[1]))
        with np.errstate(invalid="ignore", divide="ignore"):
            way = place[:, first] - place[:, second]
            square = np.nan_to_num(np.einsum("dplc,dplc->dpl", way, way))
            which = square.argmax(axis=1)
            rows, k = np.arange(len(place))[:, None], np.arange(place.shape[2])[None]
            far = np.sqrt(square[rows, which, k])
            unit = way[rows, which, k] / far[..., None]
            moved = change[rows, :, first[which], k] - change[rows, :, second[which], k]
            slope = -np.nan_to_num((moved * unit[:, :, None]).sum(3))
        return self.require.size - far, slope
