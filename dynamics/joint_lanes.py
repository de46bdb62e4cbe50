"""The joints and drivers of a model as tables for compiled code, and the contacts of cams over lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..codegen import joint_codes as code
from ..mechanism.absolute import Absolute
from ..mechanism.joint_equations import PLANAR, SPATIAL, JointBatch
from ..mechanism.model import Array, Joint, Model

if TYPE_CHECKING:
    from .body_lanes import BodyLanes

Indices = NDArray[np.int64]
GRID = 721  # places round a cam at which its contact is sought first
REFINED = 20  # steps of Gauss and Newton that bring a contact to rounding
AT_ONCE = 2000  # lanes of the search


class JointTable:
    """One line per joint, rod without spin, and driver of a model; the rows of all of them follow each other.

    A cam is one row here: what its second row finds, the place of contact, is known, and no force does work on it.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.planar = model, model.space == "planar"
        system = Absolute(model)
        self.size = system.size
        kinds, table = (code.PLANAR, PLANAR) if self.planar else (code.SPATIAL, SPATIAL)
        n = sum(len(batch.names) for batch in system.batches)
        self.items = np.zeros((n, code.ITEM_SIZE), dtype=np.int64)
        self.numbers = np.zeros((n, code.NUMBERS))
        self.names: list[str] = []
        self.of_driver = np.zeros(n, dtype=bool)
        self.cams: list[Joint] = []
        scales: list[Array] = []
        long: list[bool] = []
        at, row = 0, 0
        for batch in system.batches:
            m, cam = len(batch.names), batch.kind.startswith("cam")
            each = 1 if cam else len(table[batch.kind][1])
            mine = slice(at, at + m)
            self._fill(self.items[mine], self.numbers[mine], batch)
            self.items[mine, code.KIND] = kinds[batch.kind]
            self.items[mine, code.ROW] = row + each * np.arange(m)
            self.items[mine, code.ROWS] = each
            self.of_driver[mine] = batch.kind.startswith("driver")
            if cam:
                self.items[mine, code.GIVEN] = len(self.cams) + np.arange(m)
                self.cams += [model.joints[name] for name in batch.names]
            pattern = table[batch.kind][1]
            mine_scales = system.row_scale[batch.start : batch.start + m * len(pattern)]
            scales.append(mine_scales.reshape(m, -1)[:, :each].ravel())
            long += [letter == "l" for letter in pattern[:each]] * m
            self.names += batch.names
            at, row = at + m, row + each * m
        self.scales = np.concatenate(scales) if scales else np.zeros(0)
        self.long = np.array(long, dtype=bool)  # rows that are lengths
        self.n_rows = row

    def _fill(self, items: Indices, numbers: Array, batch: JointBatch) -> None:
        items[:, code.FIRST], items[:, code.SECOND], items[:, code.THIRD] = batch.first, batch.second, batch.third
        vectors = (batch.a, batch.b, batch.axis_a, batch.axis_b, batch.normal_a, batch.normal_b)
        numbers[:, : 3 * len(vectors)] = np.hstack(vectors)
        numbers[:, code.NUMBER], numbers[:, code.OFFSET] = batch.number, batch.offset
        numbers[:, code.ON_FIRST] = -1.0
        if batch.kind == "gear" and self.planar:
            numbers[:, code.ON_FIRST], numbers[:, code.ON_THIRD] = -batch.number, batch.number - 1.0
        elif batch.kind == "gear":  # each body feels a couple of its own, see row_kernels.own_row
            numbers[:, code.ON_FIRST] = numbers[:, code.ON_THIRD] = 1.0

    def joints(self) -> dict[str, int]:
        """Return the line of each joint."""
        return {n: k for k, n in enumerate(self.names) if not self.of_driver[k] and n in self.model.joints}

    def drivers(self) -> dict[str, int]:
        """Return the line of each driver."""
        return {n: k for k, n in enumerate(self.names) if self.of_driver[k]}

    def rows_of(self, lines: Sequence[int] | Indices) -> Indices:
        """Return the rows of some lines, in their order."""
        parts = [np.arange(self.items[k, code.ROW], self.items[k, code.ROW] + self.items[k, code.ROWS]) for k in lines]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def bodies(self, line: int) -> set[int]:
        """Return the movable bodies that a line ties."""
        item = self.items[line]
        third = [item[code.THIRD]] if self.numbers[line, code.ON_THIRD] else []
        return {int(k) for k in (item[code.FIRST], item[code.SECOND], *third) if k > 0}

    def spread(self, body: int, lines: Sequence[int]) -> float:
        """Return how far the points of some lines lie apart on a body."""
        items, numbers = self.items, self.numbers
        places = [numbers[e, at : at + 3] for e in lines for role, at in ((code.FIRST, code.A), (code.SECOND, code.B))
                  if items[e, role] == body and items[e, code.KIND] != code.GEAR3]  # fmt: skip
        return float(np.ptp(places, axis=0).max()) if places else 0.0

    def given(self, bodies: BodyLanes) -> Array:
        """Return the rows of the cams (cam x 3 x lane) at the places where they touch.

        In space there are none, and the array has no such axes: compiled code sees by its type which rows it needs.
        """
        if not bodies.planar:
            return np.zeros(len(bodies))
        found = np.zeros((len(self.cams), 3, len(bodies)))
        index = {name: k for k, name in enumerate(self.model.bodies)}
        for k, joint in enumerate(self.cams):
            found[k] = cam_row(joint, bodies, index[joint.first], index[joint.second])
        return found


# ---- cams ---------------------------------------------------------------------------------------------------------
def cam_row(joint: Joint, bodies: BodyLanes, cam: int, follower: int) -> Array:
    """Return the wrench (ex, ey, m about the follower's point; 3 x lane) that a unit normal force exerts."""
    assert joint.profile is not None
    assert joint.follower is not None
    c, s = bodies.rotation[cam, :, 0]
    to_cam = np.array([[c, s], [-s, c]])  # 2 x 2 x lane
    b = bodies.origin[0, follower] + np.einsum("ijn,j->in", bodies.rotation[follower], joint.b)
    place = np.einsum("ijn,jn->in", to_cam, b - bodies.origin[0, cam]) - joint.a[:2, None]
    flat = joint.follower.direction
    if flat is None:
        u = _touching(joint, place, np.zeros_like(place), _round)
        slope = _round(joint, u, place, place)[1]
        inside = np.stack([-slope[1], slope[0]]) / np.hypot(slope[0], slope[1])
        arm = np.zeros_like(place)
    else:
        turned = np.einsum("ijn,j->in", bodies.rotation[follower], np.array([-flat[1], flat[0]]))
        across = np.einsum("ijn,jn->in", to_cam, turned)
        u = _touching(joint, place, across, _flat)
        inside, arm = -across, _outline(joint, u)[0] - place
    out = np.empty((3, len(bodies)))
    out[:2] = np.einsum("jin,jn->in", to_cam, inside)
    out[2] = arm[0] * inside[1] - arm[1] * inside[0]
    return out


def _outline(joint: Joint, u: Array) -> tuple[Array, Array, Array]:
    """Return place, tangent and its derivative of a cam's outline, in its axes from its centre, each 2 x n."""
    assert joint.profile is not None
    r, r1, r2 = joint.profile(u)[:3]
    e = np.stack([np.cos(u), np.sin(u)])
    f = np.stack([-e[1], e[0]])
    return r * e, r1 * e + r * f, (r2 - r) * e + 2 * r1 * f


def _round(joint: Joint, u: Array, place: Array, _: Array) -> tuple[Array, Array]:
    """Return the gap between follower and roller path (2 x n), and the slope of the path."""
    assert joint.follower is not None
    o, tangent, second = _outline(joint, u)
    length = np.hypot(tangent[0], tangent[1])
    t = tangent / length
    bend = (second - t * np.sum(t * second, axis=0)) / length
    g = o - joint.follower.radius * np.stack([-t[1], t[0]])
    return place - g, tangent - joint.follower.radius * np.stack([-bend[1], bend[0]])


def _flat(joint: Joint, u: Array, place: Array, across: Array) -> tuple[Array, Array]:
    """Return the gap at the face and the slope of the outline across it (2 x n), and less their derivatives."""
    o, tangent, second = _outline(joint, u)
    rows = np.stack([np.sum(across * (o - place), axis=0), np.sum(across * tangent, axis=0)])
    return rows, -np.stack([rows[1], np.sum(across * second, axis=0)])


Rows = Callable[[Joint, Array, Array, Array], tuple[Array, Array]]


def _touching(joint: Joint, place: Array, across: Array, rows: Rows) -> Array:
    """Return the polar angle of the contact in every lane: the best of a grid, refined."""
    grid = np.linspace(-np.pi, np.pi, GRID)
    u = np.empty(place.shape[1])
    outline, tangent, _ = _outline(joint, grid)
    path = -_round(joint, grid, np.zeros((2, GRID)), grid)[0]
    for at in range(0, len(u), AT_ONCE):
        part = slice(at, at + AT_ONCE)
        p, w = place[:, part, None], across[:, part, None]
        if rows is _round:
            best = np.argmin(np.sum((p - path[:, None]) ** 2, axis=0), axis=1)
        else:  # where the outline is parallel to the face, the place nearest to it
            slope = np.sum(w * tangent[:, None], axis=0)
            gap = np.abs(np.sum(w * (outline[:, None] - p), axis=0))
            best = np.argmin(np.where(slope[:, :-1] * slope[:, 1:] <= 0, gap[:, :-1], np.inf), axis=1)
        u[part] = grid[best]
    for _ in range(REFINED):
        gap, slope = rows(joint, u, place, across)
        change = np.sum(slope * gap, axis=0) / np.sum(slope * slope, axis=0)
        u += change
        if np.abs(change).max(initial=0.0) < 1e-15:
            break
    return u
