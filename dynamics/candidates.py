"""What Blajer, Schiehlen, Schirm (1994) say of the coordinates of a tree beside Eq. 23a, over lanes.

With N a basis of the motions of the tree, c_i = C_i N the row of coordinate i and G N those of all that closes it (cut
joints and drivers), in the metric of the masses, Nᵀ M N:

    cos² β_i = (c_i M⁻¹ Gᵀ)(G M⁻¹ Gᵀ)⁻¹(G M⁻¹ c_iᵀ) / (c_i M⁻¹ c_iᵀ)                                      (23b)

the share of coordinate i that the closing conditions take. Where the metric of the tree's own coordinates, each of
length one, stands for M, 1 - cos² β_i is the share of coordinate i in the null space that a singular value
decomposition of the closing rows finds: the choice by geometry alone that the paper compares with.

Closing efforts are the sums Ĉᵀ λ̂ of Eq. 32, [-Aᵀ λ̂, λ̂] by Eq. 31: what the open tree would need along its coordinates
to move as the closed mechanism does. Of a dependent coordinate that is its multiplier λ̂ of Eq. 30.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..common.graphs import DisjointSets
from ..mechanism.model import FRAME, Array, Joint
from ..motion.results import Results
from ..motion.series import CandidateSeries
from .body_lanes import BodyLanes
from .coordinates import RIDGE, Gauge, shown_name, virtual_driver
from .inertia import Inertia, skew
from .joint_forces import Forces, portions

EXCESS = 1e-12  # of the largest eigenvalue of G M⁻¹ Gᵀ: below, closing rows are in excess


class Candidates:
    """The listed coordinates of a gauge: Eq. 23b, their share by geometry, and closing efforts."""

    def __init__(self, gauge: Gauge, inertia: Inertia) -> None:
        self.gauge, self.inertia, model = gauge, inertia, gauge.model
        self.listed = [gauge.all[i] for i in gauge.listed]
        self.names = [shown_name(model, c) for c in self.listed]
        virtual = {c.driver: virtual_driver(model, c) for c in self.listed}
        self.forces = Forces(replace(model, drivers={**model.drivers, **virtual}))
        t = self.forces.table
        owner = np.array([name for line, name in enumerate(t.names) if not t.of_driver[line]
                          for _ in t.rows_of([line])], dtype=object)  # fmt: skip
        cut, drivers = np.isin(owner.astype(str), gauge.cut), len(owner) + np.arange(len(model.drivers))
        self.tree_rows = np.flatnonzero(~cut)
        self.closing_rows = np.concatenate([np.flatnonzero(cut), drivers])
        self.coordinate_rows = len(owner) + len(model.drivers) + np.arange(len(self.listed))
        self.index = {name: k for k, name in enumerate(model.bodies)}
        self.ties = self._ties()
        self.beyond = self._beyond()

    def _ties(self) -> list[tuple[int, int, Array]]:
        """Return who hangs on whom in the tree, and the point of the second body where; the ground on itself is none.

        Bodies that only gears, racks or cams hold are tied to the ground by what they can do: everything.
        """
        model, joined = self.gauge.model, DisjointSets(self.gauge.model.bodies)
        found = []
        for name, joint in model.joints.items():
            if name not in self.gauge.cut:
                joined.join(joint.first, joint.second)
                found.append((self.index[joint.first], self.index[joint.second], np.asarray(joint.b, dtype=np.float64)))
        for body in model.movable:
            if joined.join(FRAME, body):
                found.append((0, self.index[body], np.zeros(model.dimension)))
        return found

    def _beyond(self) -> Array:
        """Return what each listed joint carries, coordinate x body: 1 behind its second body, -1 behind its first."""
        near: dict[int, list[int]] = {k: [] for k in self.index.values()}
        for one, two, _ in self.ties:
            near[one].append(two)
            near[two].append(one)
        parent, order = {0: 0}, [0]
        for body in order:
            for other in near[body]:
                if other not in parent:
                    parent[other] = body
                    order.append(other)
        carried = np.eye(len(near))  # row: a body; columns: those that hang on it, itself among them
        for body in reversed(order[1:]):
            carried[parent[body]] += carried[body]
        found = np.zeros((len(self.listed), len(near)))
        for k, c in enumerate(self.listed):
            first, second = (self.index[b] for b in self.gauge.model.joints[c.joint].bodies)
            found[k] = carried[second] if parent[second] == first else -carried[first]
        return found

    def over(self, bodies: BodyLanes, lack: Array) -> Array:
        """Return cos² β, the share by geometry and the closing effort of every listed coordinate, 3 x c x lane."""
        found = np.empty((3, len(self.listed), len(bodies)))
        size = max(1, (self.gauge.n + len(self.forces.index)) ** 2)
        for lanes in portions(np.arange(len(bodies)), 3 * size):
            few = bodies.at(lanes)
            found[0][:, lanes], found[1][:, lanes] = self._shares(few)
        found[2] = self._efforts(bodies, lack)
        return found

    def series(self, found: Array) -> dict[str, CandidateSeries]:
        """Return what `over` found by the names of the coordinates."""
        return {name: CandidateSeries(*found[:, k]) for k, name in enumerate(self.names)}

    def _shares(self, bodies: BodyLanes) -> tuple[Array, Array]:
        """Return cos² β and the share by geometry, each coordinate x lane."""
        rows, _, columns = self.forces.all_rows(bodies)
        tree = rows[:, self.tree_rows]
        N = np.linalg.svd(tree)[2][:, tree.shape[1] :].swapaxes(1, 2) * columns[:, None]
        rows = rows / columns
        c, g = rows[:, self.coordinate_rows] @ N, rows[:, self.closing_rows] @ N
        M = self.inertia.matrices_over(bodies)[:, 1:]
        lanes, n, w, _ = M.shape
        MN = (M @ N.reshape(lanes, n, w, -1)).reshape(N.shape)
        relative = self._relative(bodies) @ N
        masses, geometry = N.swapaxes(1, 2) @ MN, relative.swapaxes(1, 2) @ relative
        masses += RIDGE * np.trace(masses, axis1=1, axis2=2)[:, None, None] * np.eye(N.shape[2])
        return _taken(masses, c, g).T, 1.0 - _taken(geometry, c, g).T

    def _relative(self, bodies: BodyLanes) -> Array:
        """Return the rates of all ties of the tree, lane x row x column: slides over the size, and turns.

        The squares of the rates of a joint's own coordinates sum up to those of its rows.
        """
        d, w, n = self.gauge.model.dimension, self.inertia.width, len(self.index)
        lanes, size = len(bodies), self.gauge.system.size
        place, rotation = np.moveaxis(bodies.origin[0], -1, 0), np.moveaxis(bodies.rotation, -1, 0)
        found = np.zeros((lanes, len(self.ties), w, n, w))
        for k, (first, second, point) in enumerate(self.ties):
            at = place[:, second] + rotation[:, second] @ point
            for body, sign in ((first, -1.0), (second, 1.0)):
                arm = at - place[:, body]
                block = found[:, k, :, body]
                block[:] = sign * np.eye(w)
                block[:, :d] /= size
                if d == 2:
                    block[:, 0, 2], block[:, 1, 2] = -sign * arm[:, 1] / size, sign * arm[:, 0] / size
                else:
                    block[:, :3, 3:] = -sign * skew(arm) / size
        return found[:, :, :, 1:].reshape(lanes, len(self.ties) * w, (n - 1) * w)

    def _efforts(self, bodies: BodyLanes, lack: Array) -> Array:
        """Return the closing efforts, coordinate x lane: what bodies lack, as seen from the joints that carry them."""
        d = self.gauge.model.dimension
        place, force, moment = bodies.origin[0], lack[:, :d], lack[:, d:]
        about = moment + _cross(place, force)  # the ground's origin
        total, turning = (np.einsum("cn,nil->cil", self.beyond, x) for x in (force, about))
        found = np.empty((len(self.listed), len(bodies)))
        for k, c in enumerate(self.listed):
            joint = self.gauge.model.joints[c.joint]
            first, second = (self.index[b] for b in joint.bodies)
            axis = np.einsum("ijl,j->il", bodies.rotation[first], np.asarray(joint.axis_a)[:d])
            along = np.einsum("il,il->l", axis, total[k])
            if c.kind == "displacement":
                found[k] = along
                continue
            at = place[second] + np.einsum("ijl,j->il", bodies.rotation[second], np.asarray(joint.b))
            here = turning[k] - _cross(at[None], total[k][None])[0]
            found[k] = here[0] if d == 2 else np.einsum("il,il->l", axis, here) + _pitch(joint) * along
        return found


@dataclass(frozen=True)
class Judged:
    """One coordinate over a run: squared cosines, parts of the times at which it is the best, largest effort."""

    name: str
    least: float
    largest: float
    best: float
    best_by_geometry: float
    effort: float


def judged(results: Results) -> list[Judged]:
    """Return how the candidates of a run served."""
    assert results.criterion is not None
    assert results.candidates is not None
    names = list(results.candidates)
    cosines = np.stack([results.criterion[name] for name in names])
    geometry = np.stack([results.candidates[name].geometric for name in names])
    best = [np.bincount(np.argmax(x, axis=0), minlength=len(names)) / len(results) for x in (cosines, geometry)]
    efforts = [float(np.abs(results.candidates[name].closing).max()) for name in names]
    return [
        Judged(name, float(cosines[k].min()), float(cosines[k].max()), float(best[0][k]), float(best[1][k]), efforts[k])
        for k, name in enumerate(names)
    ]


def _pitch(joint: Joint) -> float:
    return float(joint.pitch) if joint.kind == "H" else 0.0


def _cross(arm: Array, force: Array) -> Array:
    """Return moments (... x s x lane) of forces at arms (... x d x lane)."""
    if arm.shape[1] == 2:
        return (arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0])[:, None]
    return np.asarray(np.cross(arm, force, axis=1))


def _taken(metric: Array, c: Array, g: Array) -> Array:
    """Return the share of each row of c (lane x coordinate) that lies in the span of the rows of g in a metric."""
    X, Y = (np.linalg.solve(metric, x.swapaxes(1, 2)) for x in (c, g))
    inner = np.linalg.pinv(g @ Y, rcond=EXCESS, hermitian=True)
    seen = c @ Y
    return np.asarray(np.einsum("lcm,lmk,lck->lc", seen, inner, seen) / np.einsum("lcn,lnc->lc", c, X))
