"""Forces of joints and drivers over lanes, from the residual wrenches of bodies: the group solved last comes first.

A group's joints and drivers hold its own bodies in balance: a square system, the transpose of that of its velocities.
What they exert on bodies outside goes into the balance of those, which belong to groups solved before. Where joints
hold more than they need, a group has no square system: it is solved together with all that it stands on, for the
forces of smallest norm.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..codegen import joint_codes as code
from ..mechanism.constraint_network import Pin, find_pins
from ..mechanism.model import Array, Driver, Joint, Model
from ..mechanism.structure import Group
from ..runtime.program import Terms
from .body_lanes import BodyLanes, Combination, combination
from .joint_lanes import JointTable
from .posture import width

RANK = 1e-9  # singular values, or pivots, of the scaled rows below this part of the largest count as zero
LEFT = 1e-10  # pivots above this part of the largest that count as zero leave a doubt
CLEAR = 1e-5  # pivots of the scaled rows above this part of the largest leave no doubt that all are independent
SINGULAR = 1e-10  # of the rows of joints and drivers together: below, the efforts of drivers are the least ones
TOUCHED = 1e-7  # share of a self-stress in a joint from which its reaction counts as not unique
WORDS = 4_000_000  # numbers in the dense matrices that are held at once
CACHE = 8192  # numbers in the square systems of a block of lanes

Lanes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solved:
    """Multipliers of the drivers (right-hand side x driver x lane) and wrenches of the joints (joint x w x lane).

    Joints and drivers stand in the order of the model; a wrench is that on the second body, at the joint's point.
    """

    drivers: Array
    wrenches: Array


@dataclass(frozen=True, eq=False)
class _Square:
    """The square systems in their order, as compiled code reads them."""

    body_start: Lanes
    bodies: Lanes
    item_start: Lanes
    listed: Lanes
    sizes: Array  # of the groups: lengths that their moments are measured by
    slots: Lanes  # lines of the table x 2: among drivers, among joints
    block: int


class Forces:
    """The systems of a model, made once; without groups all is one system of smallest norm."""

    def __init__(self, model: Model, groups: Sequence[Group] | None = None) -> None:
        self.model, self.w = model, width(model)
        self.table = JointTable(model)
        joints, drivers = self.table.joints(), self.table.drivers()
        self.joint_lines = [joints[j] for j in model.joints]
        self.driver_lines = [drivers[d] for d in model.drivers]
        self.driver_scales = self.table.scales[self.table.items[self.driver_lines, code.ROW]]
        self.not_unique: set[str] = set()
        self.index = {name: k for k, name in enumerate(model.bodies)}
        pairs = {p.name: p for g in groups or () for p in g.pairs}
        inputs = {d.name: d for g in groups or () for d in g.inputs}
        own = groups is None or _same(model, pairs, inputs)
        self.pairs = dict(model.joints) if own else pairs
        self.inner = self.table if own else JointTable(replace(model, joints=pairs, drivers=inputs))
        self.moved_drivers = any(d.bodies != model.drivers[n].bodies for n, d in inputs.items())
        shared = () if own else tuple(p for p in find_pins(model) if _rewritten(model, pairs, p))
        redundant = self._redundant(groups, shared)
        self.square = self._squares(groups or (), redundant)
        self.parts = self._parts({b for n, g in enumerate(groups or ()) if n in redundant for b in g.bodies}
                                 if groups is not None else set(model.movable))  # fmt: skip
        inside = {b for bodies, _ in self.parts for b in bodies}
        solved = [p for p in shared if not inside & {self.index[b] for b in p.bodies}]
        self._rings = {name for pin in solved if len(pin.joints) >= len(pin.bodies) for name in pin.joints}
        self.sums = self._sums(solved)

    # ---- set-up ---------------------------------------------------------------------------------------------------
    def _of_group(self, groups: Sequence[Group]) -> list[list[int]]:
        """Return the lines of the inner table by group: each belongs to the last solved of its bodies."""
        solved = {self.index[b]: n for n, g in enumerate(groups) for b in g.bodies}
        found: list[list[int]] = [[] for _ in groups]
        for line in range(len(self.inner.names)):
            mine = self.inner.bodies(line)
            if mine:
                found[max(solved[b] for b in mine)].append(line)
        return found

    def _redundant(self, groups: Sequence[Group] | None, shared: tuple[Pin, ...]) -> set[int]:
        """Return the groups without a square system, and all that they stand on."""
        if groups is None:
            return set()
        of_group = self._of_group(groups)
        number = {g.name: n for n, g in enumerate(groups)}
        rows = [sum(int(self.inner.items[e, code.ROWS]) for e in lines) for lines in of_group]
        found = {n for n, g in enumerate(groups) if rows[n] != self.w * len(g.bodies)}
        solved = {b: n for n, g in enumerate(groups) for b in g.bodies}
        pins = [{solved[b] for b in pin.bodies if b in solved} for pin in shared]
        while True:
            more = {number[d] for n in found for d in groups[n].depends_on}
            more |= {n for pin in pins if pin & found for n in pin}
            if more <= found:
                return found
            found |= more

    def _squares(self, groups: Sequence[Group], redundant: set[int]) -> _Square:
        bodies: list[int] = []
        listed: list[int] = []
        starts: list[tuple[int, int]] = [(0, 0)]
        sizes: list[float] = []
        of_group, largest = (self._of_group(groups) if groups else []), 1
        for n in range(len(groups) - 1, -1, -1):
            if n in redundant:
                continue
            members = {self.index[b] for b in groups[n].bodies}
            order = _leaves_first(members, [self.inner.bodies(e) for e in of_group[n]])
            bodies += order
            rank = {b: i for i, b in enumerate(order)}
            listed += sorted(of_group[n], key=lambda e: min(rank.get(b, len(rank)) for b in self.inner.bodies(e)))
            starts.append((len(bodies), len(listed)))
            sizes.append(max(self.inner.spread(b, of_group[n]) for b in order) or self.inner.size)
            largest = max(largest, self.w * len(order))
        block = int(np.clip(CACHE // (largest * (largest + 1)) // 8 * 8, 8, 128))
        body_start, item_start = np.array(starts, dtype=np.int64).T
        return _Square(
            np.ascontiguousarray(body_start), np.array(bodies, dtype=np.int64), np.ascontiguousarray(item_start),
            np.array(listed, dtype=np.int64), np.array(sizes), self._slots(), block,
        )  # fmt: skip

    def _slots(self) -> Lanes:
        """Return for every line of the inner table its place among the drivers and among the joints, or -1."""
        found, drivers = np.full((len(self.inner.names), 2), -1), {d: k for k, d in enumerate(self.model.drivers)}
        joints = {j: k for k, j in enumerate(self.pairs)}
        for k, name in enumerate(self.inner.names):
            if self.inner.of_driver[k]:
                found[k, 0] = drivers[name]
            else:
                found[k, 1] = joints.get(name, -1)
        return found

    def _parts(self, names: Iterable[str]) -> list[tuple[list[int], Lanes]]:
        """Return the redundant bodies in sets that no joint ties to each other, and the lines of each set."""
        left = {self.index[b] for b in names}
        inside = [(e, mine) for e in range(len(self.table.names)) if (mine := self.table.bodies(e)) and mine <= left]
        found = []
        while left:
            part = {min(left)}
            while True:
                more = {b for _, mine in inside if mine & part for b in mine}
                if more <= part:
                    break
                part |= more
            left -= part
            lines = np.array([e for e, mine in inside if mine <= part], dtype=np.int64)
            found.append((sorted(part), lines))
        return found

    def _sums(self, pins: Sequence[Pin]) -> Combination:
        """Return the wrenches of the user's joints as sums of those of the pairs that were solved.

        At a pin of several bodies they share what its pairs carry, with the least forces if they ring.
        """
        at = {name: k for k, name in enumerate(self.pairs)}
        terms: dict[str, Terms] = {j: ((at[j], 1.0),) if j in at else () for j in self.model.joints}
        for pin in pins:
            place = {b: k for k, b in enumerate(pin.bodies)}
            users = [self.model.joints[j] for j in pin.joints]
            mine = [self.pairs[j] for j in pin.joints if j in self.pairs]
            incidence = [np.zeros((len(place), len(joints))) for joints in (users, mine)]
            for matrix, joints in zip(incidence, (users, mine), strict=True):
                for k, joint in enumerate(joints):
                    matrix[place[joint.first], k], matrix[place[joint.second], k] = -1.0, 1.0
            factors = np.round(np.linalg.pinv(incidence[0]) @ incidence[1], 12)
            for name, row in zip(pin.joints, factors.tolist(), strict=True):
                terms[name] = tuple((at[p.name], c) for p, c in zip(mine, row, strict=True) if c)
        return combination(list(terms.values()))

    # ---- all lanes ------------------------------------------------------------------------------------------------
    def solve(
        self, bodies: BodyLanes, lack: Array, blind: NDArray[np.bool_], driven: bool = True, clear: float = CLEAR
    ) -> Solved:
        """Return the forces that balance `lack` (right-hand side x n x w x lane), wrenches of the first one.

        Where pivots are not `clear`, all joints are solved at once, and the efforts of the drivers (none unless
        `driven`) are the least ones. What is found at `blind` lanes, where rows have no digits, is not to be used.
        """
        from .force_kernels import solve_groups
        from .row_kernels import sum_wrenches

        lanes, sides = len(bodies), len(lack)
        given, inner, s = self.table.given(bodies), self.inner, self.square
        left = lack.copy()
        drivers = np.zeros((sides, len(self.driver_lines), lanes))
        wrenches = np.zeros((len(self.pairs), self.w, lanes))
        quality = np.full(lanes, np.inf)
        if len(s.bodies):
            solve_groups(
                inner.items, inner.numbers, inner.scales, inner.long, s.sizes, s.body_start, s.bodies, s.item_start,
                s.listed, s.slots, s.block, bodies.origin, bodies.rotation, given, left, drivers, wrenches, quality,
            )  # fmt: skip
        if inner is not self.table:
            solved, wrenches = wrenches, np.empty((len(self.joint_lines), self.w, lanes))
            sum_wrenches(self.sums.start, self.sums.columns, self.sums.factors, solved, wrenches)
        if self.parts:
            self._least(bodies, given, left, drivers, wrenches, quality)
        doubtful = np.flatnonzero(~(quality > clear) & ~blind)
        if len(doubtful):
            self._whole(doubtful, quality[doubtful], bodies, given, lack, drivers, wrenches, driven)
        self.not_unique.update(self._rings)
        return Solved(drivers, wrenches)

    def exerted(self, bodies: BodyLanes, efforts: Array) -> Array:
        """Return the wrenches (n x w x lane) that efforts (driver x lane) along the coordinates of drivers exert."""
        from .row_kernels import exerted

        total = np.zeros((len(self.index), self.w, len(bodies)))
        lines = np.array(self.driver_lines, dtype=np.int64)
        t = self.table
        exerted(t.items, t.numbers, lines, bodies.origin, bodies.rotation, t.given(bodies), efforts, total)
        return total

    def joint_rows(self, bodies: BodyLanes) -> Array:
        """Return the rows of all joints on the twists of the movable bodies, lane x row x column."""
        A, scales, columns = self._scaled(self._joints(), self._movable(), np.arange(len(bodies)), bodies, None)
        return np.asarray(A.swapaxes(1, 2) * scales[:, None] / columns)

    def all_rows(self, bodies: BodyLanes) -> tuple[Array, Array, Array]:
        """Return the scaled rows of all joints, then of the drivers (lane x row x column), and both scales."""
        lines = np.concatenate([self._joints(), np.array(self.driver_lines, dtype=np.int64)])
        A, scales, columns = self._scaled(lines, self._movable(), np.arange(len(bodies)), bodies, None)
        return np.ascontiguousarray(A.swapaxes(1, 2)), scales, columns

    def independence(self, bodies: BodyLanes) -> Array:
        """Return the singular values of the scaled rows of joints and drivers over the largest, lane x value."""
        n = len(self.table.scales)
        found = np.empty((len(bodies), min(n, self.w * len(self._movable()))))
        for lanes in portions(np.arange(len(bodies)), n * found.shape[1]):
            found[lanes] = np.linalg.svd(self.all_rows(bodies.at(lanes))[0], compute_uv=False)
        return np.asarray(found / found[:, :1])

    def joint_wrenches(self, bodies: BodyLanes, multipliers: Array) -> Array:
        """Return the wrenches of the joints (joint x w x lane) from the multipliers of all their rows (row x lane)."""
        from .row_kernels import item_wrenches

        t, joints = self.table, self._joints()
        full = np.zeros((t.n_rows, len(bodies)))
        full[t.rows_of(joints)] = multipliers
        found = np.zeros((len(t.names), self.w, len(bodies)))
        item_wrenches(t.items, t.numbers, joints, bodies.origin, bodies.rotation, t.given(bodies), full, found)
        return found[self.joint_lines]

    def _joints(self) -> Lanes:
        """The lines of all joints, and of rods without spin."""
        return np.flatnonzero(~self.table.of_driver)

    def _movable(self) -> list[int]:
        return [self.index[b] for b in self.model.movable]

    # ---- systems that are not square ------------------------------------------------------------------------------
    def _scaled(
        self, lines: Lanes, members: Sequence[int], lanes: Lanes, bodies: BodyLanes, given: Array | None
    ) -> tuple[Array, Array, Array]:
        """Return the transposed scaled rows of some lines on some bodies (lane x column x row), and both scales."""
        from .row_kernels import dense_rows

        t, w, d = self.table, self.w, self.model.dimension
        given = t.given(bodies) if given is None else given
        rows, places = t.rows_of(lines), np.full(len(self.index), -1)
        places[list(members)] = w * np.arange(len(members))
        dense = np.zeros((len(lanes), len(rows), w * len(members)))
        dense_rows(t.items, t.numbers, lines, places, lanes, bodies.origin, bodies.rotation, given, dense)
        columns = np.tile([t.size] * d + [1.0] * (w - d), len(members))
        return np.ascontiguousarray((dense / t.scales[rows][:, None] * columns).swapaxes(1, 2)), t.scales[rows], columns

    def _least(
        self, bodies: BodyLanes, given: Array, lack: Array, drivers: Array, wrenches: Array, quality: Array
    ) -> None:
        """Solve the redundant parts for the smallest forces, in all lanes."""
        from .least_norm_kernels import least_norm
        from .row_kernels import item_wrenches

        t, sides = self.table, len(lack)
        multipliers = np.zeros((sides, t.n_rows, len(bodies)))
        for members, lines in self.parts:
            rows = t.rows_of(lines)
            m, n = len(rows), self.w * len(members)
            names = np.array([t.names[e] for e in lines for _ in range(t.items[e, code.ROWS])])
            for lanes in portions(np.arange(len(bodies)), m * n):
                A, scales, columns = self._scaled(lines, members, lanes, bodies, given)
                rhs = lack[:, members][..., lanes].reshape(sides, n, -1).transpose(2, 1, 0) * columns[:, None]
                x, free = np.empty((len(lanes), m, sides)), np.empty((len(lanes), m))
                pivots = least_norm(A, np.ascontiguousarray(rhs), RANK, x, free)
                multipliers[:, rows[:, None], lanes] = (x / scales[:, None]).transpose(2, 1, 0)
                clear = (pivots[:, 0] > CLEAR) & (pivots[:, 1] < LEFT)
                quality[lanes] = np.where(clear, quality[lanes], 0.0)
                self._mark(names, free[clear])
        solved = np.concatenate([lines for _, lines in self.parts])
        found = np.zeros((len(t.names), self.w, len(bodies)))
        item_wrenches(t.items, t.numbers, solved, bodies.origin, bodies.rotation, given, multipliers[0], found)
        for k, line in enumerate(self.joint_lines):
            if line in solved:
                wrenches[k] = found[line]
        for k, line in enumerate(self.driver_lines):
            if line in solved:
                drivers[:, k] = multipliers[:, t.items[line, code.ROW]]

    def _whole(
        self, lanes: Lanes, quality: Array, bodies: BodyLanes, given: Array, lack: Array, drivers: Array,
        wrenches: Array, driven: bool,
    ) -> None:  # fmt: skip
        """Solve all joints at once at lanes where the pivots leave a doubt, by singular values."""
        t, members, joints = self.table, self._movable(), self._joints()
        few, some = bodies.at(lanes), np.arange(len(lanes))
        given = np.ascontiguousarray(given[..., lanes])
        mine = lack[:, members][..., lanes].reshape(len(lack), -1, len(lanes)).transpose(2, 1, 0)
        efforts, k = drivers[:, :, lanes], len(self.driver_lines)
        if driven and k:
            A, scales, columns = self.all_rows(few)
            least = _smallest(A.swapaxes(1, 2), mine * columns[:, None], SINGULAR)[0] / scales[:, None]
            lost = ~(quality > SINGULAR) | ~np.isfinite(efforts).all(axis=(0, 1))
            efforts = np.where(lost, least[:, -k:].transpose(2, 1, 0), efforts)
        else:
            efforts = np.zeros_like(efforts)
        drivers[:, :, lanes] = efforts
        pushes = self.exerted(few, np.ascontiguousarray(efforts[0]))
        rest = (lack[0][..., lanes] - pushes)[members].reshape(-1, len(lanes)).T
        A, scales, columns = self._scaled(joints, members, some, few, given)
        x, free = _smallest(A, (rest * columns)[:, :, None], RANK)
        self._mark(np.array([t.names[e] for e in joints for _ in range(t.items[e, code.ROWS])]), free)
        wrenches[..., lanes] = self.joint_wrenches(few, np.ascontiguousarray((x[:, :, 0] / scales).T))

    def _mark(self, names: NDArray[np.str_], free: Array) -> None:
        """Note joints whose rows (names) have a share in self-stresses (lane x row)."""
        largest = free.max(axis=1, initial=0.0)
        touched = (free > TOUCHED * largest[:, None]) & (largest[:, None] > RANK)
        self.not_unique.update(set(names[touched.any(axis=0)].tolist()) & set(self.model.joints))


def _same(model: Model, pairs: dict[str, Joint], inputs: dict[str, Driver]) -> bool:
    """Return whether the groups are solved with the joints and drivers as the user wrote them."""
    joints = len(pairs) == len(model.joints) and all(model.joints.get(n) is p for n, p in pairs.items())
    return joints and all(d.bodies == model.drivers[n].bodies for n, d in inputs.items())


def _rewritten(model: Model, pairs: dict[str, Joint], pin: Pin) -> bool:
    """Return whether a pin is solved with other pairs than the user's joints."""
    return any(pairs.get(name) is not model.joints[name] for name in pin.joints)


def _leaves_first(members: set[int], ties: Sequence[set[int]]) -> list[int]:
    """Return the bodies of a group in an order in which few joints meet: those with the fewest neighbours first."""
    near = {b: {c for tie in ties if b in tie for c in tie & members} - {b} for b in members}
    order = []
    while near:
        b = min(near, key=lambda k: (len(near[k]), k))
        order.append(b)
        around = near.pop(b)
        for c in around:
            near[c] = (near[c] | around) - {b, c}
    return order


def portions(lanes: Lanes, size: int) -> Iterable[Lanes]:
    """Yield lanes in portions whose dense matrices, of the given size each, fit."""
    most = max(1, WORDS // max(size, 1))
    for first in range(0, len(lanes), most):
        yield lanes[first : first + most]


def _smallest(A: Array, rhs: Array, tolerance: float) -> tuple[Array, Array]:
    """Return the smallest x with A x = rhs in every lane, by least squares, and the part of each in the null space."""
    if A.shape[2] == 0:
        return np.zeros((len(A), 0, rhs.shape[2])), np.zeros((len(A), 0))
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    kept = s > tolerance * s[:, :1]
    k = s.shape[1]
    inner = np.einsum("lns,lnk->lks", rhs, U[:, :, :k]) * np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)[:, :, None]
    x = np.einsum("lkm,lks->lms", Vt[:, :k], inner)
    free = np.ones(Vt.shape[:2])
    free[:, :k] = ~kept
    return x, np.sqrt(np.einsum("lkm,lk->lm", Vt**2, free))
