"""What the numeric rank of the constraint rows tells: mobility, constraints in excess, motions left free, locks.

Counting freedoms proves nothing in space, and in the plane only for generic lengths; the rank at assembled poses, taken
at two of them, does. The rows are scaled (lengths by the size of the mechanism) and every connected part stands alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..common.graphs import DisjointSets
from .absolute import Absolute, removed
from .assembly import DENSE, LinearizedRows, close
from .joint_equations import Indices, Poses
from .model import FRAME, Array, Driver, Joint, Model
from .sparse_elimination import Echelon

RANK = 1e-8  # singular values below this part of the largest count as zero: poses are good to about 1e-13
MOVES = 1e-6  # entries of a free motion below this part of its largest count as rest
CONFLICT = 1e-6  # residual of the rates, relative to the rates, above which they contradict each other
COORDINATES = {"R": ("angle",), "C": ("angle", "displacement"), "H": ("angle",), "P": ("displacement",)}
COORDINATES["slot"] = ("displacement",)


@dataclass(frozen=True)
class Excess:
    """A joint or driver some of whose rows follow from those of others."""

    name: str
    driver: bool
    n_rows: int


@dataclass(frozen=True)
class FreeMotion:
    """A motion that is left with all drivers held: the bodies that move, and the joints where it could be driven."""

    bodies: tuple[str, ...]
    joints: tuple[str, ...]


@dataclass(frozen=True)
class Mobility:
    """What the rank says at one pose, or of two poses the more general one."""

    mobility: int  # free motions with all drivers released
    count: int  # the same by Gruebler's count
    rank: int
    n_rows: int
    redundant: tuple[Excess, ...]
    free: tuple[FreeMotion, ...]
    blocked: tuple[str, ...]  # drivers whose coordinates the joints alone already hold
    conflict: float  # least-squares residual of the drivers' rates, relative to them
    singular: bool = False  # the pose asked about has a lower rank than its neighbour

    @property
    def locked(self) -> bool:
        """Whether the drivers cannot move as they are told."""
        return bool(self.blocked) or self.conflict > CONFLICT

    @property
    def determined(self) -> bool:
        """Whether every body's motion follows from the drivers, with nothing in excess."""
        return not self.redundant and not self.free


def gruebler(model: Model, unknown: Collection[str] | None = None) -> int:
    """Return Gruebler's count: freedoms of the bodies (a rod has 5) less those that the joints remove, as pairs."""
    bodies = set(model.movable if unknown is None else unknown) - {FRAME}
    each = 3 if model.space == "planar" else 6
    freedoms = sum(each - model.bodies[b].rod for b in bodies)
    return freedoms - sum(removed(model, j) for j in model.joints.values() if bodies.intersection(j.bodies))


def examine(
    model: Model, poses: Poses, unknown: Collection[str] | None = None, rates: Mapping[str, float] | None = None
) -> Mobility:
    """Return what the rank tells at assembled poses, of all bodies or of the `unknown` ones with the others fixed.

    `rates` are those of the drivers, default: at the start of the simulation (one for each, if all rest there).
    """
    system = Absolute(model, unknown)
    rhs = system.per_driver(_rates(model) if rates is None else rates) / system.row_scale
    order = _outwards(system)
    rank = rank_released = 0
    excess: list[int] = []
    motions: list[Array] = []
    blocked: list[str] = []
    conflict = 0.0
    for part in _parts(system, poses):
        found = _dense(part, rhs, order) if len(part.columns) <= DENSE else _sparse(part, rhs, order)
        rank, rank_released = rank + found.rank, rank_released + found.rank_released
        excess += found.excess
        blocked += [system.names[k] for k in found.blocked]
        conflict = max(conflict, found.conflict)
        for motion in found.null:
            whole = np.zeros(system.n_columns)
            whole[part.columns] = motion * system.column_scale[part.columns]
            motions.append(whole)
    largest = float(np.max(np.abs(rhs), initial=0.0))
    return Mobility(
        system.n_columns - rank_released,
        gruebler(model, unknown),
        rank,
        system.n_rows,
        _named(system, excess),
        _free(system, poses, motions),
        tuple(sorted(blocked)),
        conflict / largest if largest > 0 else 0.0,
    )


def compare(
    model: Model,
    first: Poses,
    second: Poses | None,
    unknown: Collection[str] | None = None,
    rates: Mapping[str, float] | None = None,
) -> Mobility:
    """Return what the rank tells at the pose of two in which it is larger; `singular` if that is the second.

    Redundancy at both poses is true redundancy; at the first one only, the first pose is singular. Take the second
    from `nearby` (None: the mechanism cannot move, and the first pose is all there is).
    """
    here = examine(model, first, unknown, rates)
    if second is None:
        return here
    there = examine(model, second, unknown, rates)
    return replace(there, singular=True) if there.rank > here.rank or there.mobility < here.mobility else here


def seen(system: Absolute, poses: Poses) -> bool:
    """Return whether the rank sees what every body's turn does: not that of one far smaller than the mechanism."""
    rows, columns, values = system.triplets(poses)
    largest = np.zeros(system.n_columns)
    np.maximum.at(largest, columns, np.abs(values / system.row_scale[rows] * system.column_scale[columns]))
    return bool(largest.min(initial=np.inf) > 1e3 * RANK)


def nearby(model: Model, poses: Poses, unknown: Collection[str] | None = None, step: float = 0.02) -> Poses | None:
    """Return other assembled poses about `step` (radians, parts of the size) away, with the drivers released.

    None where there are none: the mechanism is a structure, or moves to first order only.
    """
    system = Absolute(model, unknown, ())
    random = np.random.default_rng(2)
    linear = LinearizedRows(system, poses)
    for _ in range(4):
        wish = random.standard_normal(system.n_columns)
        forbidden = linear.solve(system.times(poses, wish * system.column_scale)) / system.column_scale
        motion = wish - forbidden
        if np.abs(motion).max(initial=0.0) <= MOVES * np.abs(wish).max(initial=1.0):
            return None
        motion *= step / np.abs(motion).max()
        found = close(system, poses.moved(*system.spread(motion * system.column_scale)), {})
        if found is not None and _distance(system, poses, found) > 0.3 * step:
            return found
    return None


def _distance(system: Absolute, one: Poses, other: Poses) -> float:
    shift = float(np.abs(one.origin - other.origin).max()) / system.size
    return max(shift, float(np.abs(one.rotation - other.rotation).max()))


def _rates(model: Model) -> dict[str, float]:
    start = np.array([model.simulation.start])
    rates = {name: float(driver.motion(start)[1, 0]) for name, driver in model.drivers.items()}
    return rates if any(rates.values()) else dict.fromkeys(rates, 1.0)


# ---- one connected part -------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class RankPart:
    """Rows and columns of the bodies that are connected other than through the ground; triplets in part numbers."""

    rows: Indices
    columns: Indices
    of_driver: NDArray[np.bool_]
    triplets: tuple[Indices, Indices, Array]


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of a part, and the numbers (in the whole system) of rows in excess and of rows of blocked drivers."""

    rank: int
    rank_released: int
    null: tuple[Array, ...]
    excess: list[int]
    blocked: list[int]
    conflict: float


def _parts(system: Absolute, poses: Poses) -> list[RankPart]:
    rows, columns, values = system.triplets(poses)
    values = values / system.row_scale[rows] * system.column_scale[columns]
    joined = DisjointSets(range(system.n_columns))
    width = len(system.components)
    for start in system.column[system.column >= 0].tolist():
        for k in range(1, width):
            joined.join(start + k, start)
    order = np.argsort(rows, kind="stable")
    row_list, column_list = rows[order].tolist(), columns[order].tolist()
    for k in range(1, len(row_list)):
        if row_list[k] == row_list[k - 1]:
            joined.join(column_list[k], column_list[k - 1])
    label = np.array([joined.find(k) for k in range(system.n_columns)], dtype=np.int64)
    row_label = np.zeros(system.n_rows, dtype=np.int64)
    row_label[rows] = label[columns]

    names = np.unique(label)
    column_part, row_part = (np.searchsorted(names, x).astype(np.int64) for x in (label, row_label))
    local_row, row_groups = _grouped(row_part, len(names))
    local_column, column_groups = _grouped(column_part, len(names))
    _, entry_groups = _grouped(column_part[columns], len(names))
    return [
        RankPart(r, c, system.of_driver[r], (local_row[rows[e]], local_column[columns[e]], values[e]))
        for r, c, e in zip(row_groups, column_groups, entry_groups, strict=True)
    ]


def _grouped(part: Indices, n_parts: int) -> tuple[Indices, list[Indices]]:
    """Return the number of each thing within its part, and the things of each part."""
    order = np.argsort(part, kind="stable").astype(np.int64)
    groups = np.split(order, np.cumsum(np.bincount(part, minlength=n_parts))[:-1])
    local = np.zeros(len(part), dtype=np.int64)
    for group in groups:
        local[group] = np.arange(len(group))
    return local, groups


def _dense(part: RankPart, rhs: Array, order: Indices) -> Ranks:
    J = np.zeros((len(part.rows), len(part.columns)))
    np.add.at(J, part.triplets[:2], part.triplets[2])
    U, s, Vt = np.linalg.svd(J)
    threshold = RANK * max(1.0, s[0] if len(s) else 1.0)
    rank = int(np.sum(s > threshold))
    b = rhs[part.rows]
    conflict = float(np.abs(b - U[:, :rank] @ (U[:, :rank].T @ b)).max(initial=0.0))
    _, s_joints, Vt_joints = np.linalg.svd(J[~part.of_driver])
    rank_released = int(np.sum(s_joints > threshold))
    still = np.linalg.norm(J @ Vt_joints[rank_released:].T, axis=1) <= 100 * threshold
    blocked = part.rows[part.of_driver & still].tolist()
    excess = part.rows[_dependent(J, np.argsort(order[part.rows]).tolist(), len(J) - rank)].tolist()
    return Ranks(rank, rank_released, tuple(_sparse_basis(Vt[rank:])), excess, blocked, conflict)


def _dependent(J: Array, order: list[int], n_wanted: int) -> list[int]:
    """Return the rows that depend on rows before them in the order (Gram-Schmidt, twice)."""
    found: list[int] = []
    for tolerance in (RANK, 1e-7, 1e-6, 1e-9, 1e-10) if n_wanted else ():
        found = []
        n_columns = J.shape[1]
        basis, n = np.zeros((n_columns, n_columns)), 0
        for k in order:
            rest = J[k]
            for _ in range(2):
                rest = rest - basis[:, :n] @ (basis[:, :n].T @ rest)
            size = float(np.linalg.norm(rest))
            if size <= tolerance * max(1.0, float(np.linalg.norm(J[k]))) or n == n_columns:
                found.append(k)
            else:
                basis[:, n] = rest / size
                n += 1
        if len(found) == n_wanted:
            break
    return found


def _sparse_basis(null: Array) -> Array:
    """Return another basis of the rows' span, by elimination: motions of separate bodies come apart."""
    basis = null.copy()
    for k in range(len(basis)):
        rest = np.abs(basis[k:])
        row, column = divmod(int(np.argmax(rest)), basis.shape[1])
        basis[[k, k + row]] = basis[[k + row, k]]
        basis[k] /= basis[k, column]
        others = np.arange(len(basis)) != k
        basis[others] -= np.outer(basis[others, column], basis[k])
    return basis


def _sparse(part: RankPart, rhs: Array, order: Indices) -> Ranks:
    lines: list[dict[int, float]] = [{} for _ in part.rows]
    for row, column, value in zip(*(x.tolist() for x in part.triplets), strict=True):
        lines[row][column] = lines[row].get(column, 0.0) + value
    joints_first = sorted(range(len(lines)), key=lambda k: (bool(part.of_driver[k]), order[part.rows[k]]))
    echelon = Echelon(len(part.columns), RANK)
    blocked: list[int] = []
    rank_released = 0
    for k in joints_first:
        if part.of_driver[k]:
            if echelon.depends(lines[k], rank_released):
                blocked.append(int(part.rows[k]))
            echelon.add(lines[k], float(rhs[part.rows[k]]))
        else:
            echelon.add(lines[k], 0.0)
            rank_released = echelon.rank
    excess: list[int] = []
    if echelon.rank < len(lines):
        outwards = Echelon(len(part.columns), RANK)
        for k in np.argsort(order[part.rows]).tolist():
            if not outwards.add(lines[k], 0.0):
                excess.append(int(part.rows[k]))
    return Ranks(echelon.rank, rank_released, tuple(echelon.null()), excess, blocked, echelon.conflict)


# ---- names --------------------------------------------------------------------------------------------------------
def _outwards(system: Absolute) -> Indices:
    """Return the place of each row in the order: from the ground outwards, driven joints first, then by name."""
    model, moving = system.model, set(system.bodies)
    depth = {b: 0 for b in model.bodies if b not in moving}
    neighbours: dict[str, set[str]] = {b: set() for b in model.bodies}
    for joint in model.joints.values():
        for body in joint.bodies:
            neighbours[body].update(joint.bodies)
    level = set(depth)
    while level:
        following = {c for b in level for c in neighbours[b]} - depth.keys()
        depth.update(dict.fromkeys(following, max(depth.values()) + 1))
        level = following
    driven = {d.joint for d in model.drivers.values() if d.joint is not None}

    def key(k: int) -> tuple[int, int, bool, str, bool, str]:
        name = system.names[k]
        if system.of_driver[k]:
            driver = model.drivers[name]
            owner, ends = driver.joint or "", _ends(model, driver)
        elif name in model.joints:
            owner, ends = name, model.joints[name].bodies[:2]
        else:
            return (-1, -1, False, "", False, name)  # a rod's spin is never in excess
        depths = sorted(depth.get(b, len(depth)) for b in ends)
        return (depths[0], depths[-1], owner not in driven, owner, bool(system.of_driver[k]), name)

    place = np.zeros(system.n_rows, dtype=np.int64)
    place[sorted(range(system.n_rows), key=key)] = np.arange(system.n_rows)
    return place


def _ends(model: Model, driver: Driver) -> tuple[str, ...]:
    return driver.bodies if driver.joint is None else model.joints[driver.joint].bodies[:2]


def _named(system: Absolute, excess: list[int]) -> tuple[Excess, ...]:
    rows: dict[tuple[str, bool], int] = {}
    for k in excess:
        key = (system.names[k], bool(system.of_driver[k]))
        rows[key] = rows.get(key, 0) + 1
    return tuple(Excess(name, driver, n) for (name, driver), n in sorted(rows.items()))


class _Rest:
    """A motion that stands still."""

    text = "0"

    def __call__(self, x: Array) -> Array:
        return np.zeros((4, len(x)))


def _free(system: Absolute, poses: Poses, motions: list[Array]) -> tuple[FreeMotion, ...]:
    if not motions:
        return ()
    joints: list[Joint] = list(system.model.joints.values())
    wanted = [(j.name, c) for j in joints for c in COORDINATES.get(j.kind, ())]
    drivers = {f"{name} {c}": Driver(f"{name} {c}", c, _Rest(), name) for name, c in wanted}
    measured = Absolute(replace(system.model, drivers=drivers), system.bodies)
    found = []
    for motion in motions:
        scaled = np.abs(motion / system.column_scale)
        limit = MOVES * scaled.max()
        width = len(system.components)
        per_body = scaled[: width * len(system.bodies)].reshape(-1, width).max(axis=1)
        bodies = sorted(b for b, size in zip(system.bodies, per_body, strict=True) if size > limit)
        rates = measured.times(poses, motion) / measured.row_scale
        moving = measured.of_driver & (np.abs(rates) > limit)
        names = {drivers[measured.names[k]].joint or "" for k in np.flatnonzero(moving)}
        found.append(FreeMotion(tuple(bodies), tuple(sorted(names))))
    return tuple(sorted(found, key=lambda f: f.bodies))
