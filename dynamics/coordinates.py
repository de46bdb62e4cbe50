"""Joint coordinates as virtual drivers, and the projective criterion that tells which of them serve best.

Opening the cut joints leaves a tree, whose joint coordinates q are those of Blajer, Schiehlen, Schirm (1994). The
squared cosine between the direction of one coordinate and the motions that remain is, with any basis N of the tree's
motions in the twists of the bodies, the covector C_i of the coordinate (q̇_i = C_i · twists) and the velocity
transformation R of the closed mechanism,

    cos² α_i = (C_i R)(Rᵀ M R)⁻¹(C_i R)ᵀ / (C_i N)(Nᵀ M N)⁻¹(C_i N)ᵀ                                    (23a)

which needs neither tree coordinates nor their mass matrix by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import InputError, nearest
from ..common.graphs import DisjointSets
from ..common.turns import next_to
from ..mechanism.absolute import Absolute
from ..mechanism.joint_equations import Poses
from ..mechanism.mobility import COORDINATES
from ..mechanism.model import FRAME, Array, Driver, Joint, Model

TREE_KINDS = ("R", "P", "slot", "C", "H", "U", "S", "planar")  # gears, racks, cams, planes for a point close loops
RIDGE = 1e-14  # of the largest inertia: a body without mass must not make the metric of the tree singular


@dataclass(frozen=True, order=True)
class JointCoordinate:
    """The angle or the displacement of a joint."""

    joint: str
    kind: str

    @property
    def driver(self) -> str:
        """The name of the virtual driver that stands for the coordinate."""
        return f"{self.joint} {self.kind}"


class Held:
    """A coordinate that stands still. Only the structure asks where: a program gets its values directly."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value
        self.text = repr(value)

    def __call__(self, x: Array) -> Array:
        jet = np.zeros((4, len(x)))
        jet[0] = self.value
        return jet

    def check(self, times: Array, where: str) -> None:
        """Accept any times: there is nothing that could be out of range."""


def virtual_driver(model: Model, coordinate: JointCoordinate, value: float = 0.0) -> Driver:
    """Return the driver that holds a coordinate."""
    joint = model.joints[coordinate.joint]
    return Driver(coordinate.driver, coordinate.kind, Held(value), joint.name, (joint.first, joint.second))


def driven_by(
    model: Model, chosen: Iterable[JointCoordinate], values: Mapping[JointCoordinate, float] | None = None
) -> Model:
    """Return the model with virtual drivers on the chosen coordinates beside its own."""
    virtual = {c.driver: virtual_driver(model, c, (values or {}).get(c, 0.0)) for c in chosen}
    return replace(model, drivers={**model.drivers, **virtual}, assembly={})


def shown_name(model: Model, coordinate: JointCoordinate) -> str:
    """Return the name of a coordinate in results: the joint's, with the kind where a joint has two."""
    kinds = COORDINATES[model.joints[coordinate.joint].kind]
    return coordinate.joint if coordinate.kind == kinds[0] else f"{coordinate.joint}.{coordinate.kind}"


def candidates(model: Model) -> tuple[JointCoordinate, ...]:
    """Return all joint coordinates that no driver prescribes, in the order of their names."""
    turned = {frozenset(d.bodies) for d in model.drivers.values() if d.kind in ("turn", "angle")}
    driven = {(d.joint, d.kind) for d in model.drivers.values()}
    found = []
    for name, joint in sorted(model.joints.items()):
        for kind in COORDINATES.get(joint.kind, ()):
            same = model.dimension == 2 and kind == "angle" and frozenset((joint.first, joint.second)) in turned
            if (name, kind) not in driven and not same:
                found.append(JointCoordinate(name, kind))
    return tuple(found)


def cut_joints(model: Model, preferred: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the joints to open so that a tree is left: those of the file, or a choice that keeps `preferred` closed.

    The preferred joints come into the tree in their order; then joints with coordinates and joints near the ground.
    """
    asked = model.simulation.cut
    where = f"{model.origin or model.name}: [simulation] cut"
    for name in asked:
        if name not in model.joints:
            raise InputError(f"{where}: '{name}' is no joint of this mechanism{nearest(name, model.joints)}")
    depth = _depths(model)
    rank = {name: k for k, name in enumerate(dict.fromkeys(preferred))}

    def order(joint: Joint) -> tuple[int, bool, int, str]:
        near = min(depth[joint.first], depth[joint.second])
        return (rank.get(joint.name, len(rank)), joint.kind not in COORDINATES, near, joint.name)

    joined = DisjointSets(model.bodies)
    cut = []
    for joint in sorted(model.joints.values(), key=order):
        if joint.kind not in TREE_KINDS or joint.name in asked:
            cut.append(joint.name)
        elif not joined.join(joint.first, joint.second):
            if asked:
                raise InputError(
                    f"{where}: with {', '.join(asked)} open a loop through joint '{joint.name}' stays closed - "
                    "name one joint of every loop, or leave `cut` out"
                )
            cut.append(joint.name)
    for name in asked:
        one, two = (joined.find(b) for b in model.joints[name].bodies)
        if one != two and model.joints[name].kind in TREE_KINDS:
            apart = " and ".join(model.joints[name].bodies)
            raise InputError(
                f"{where}: with {', '.join(asked)} open nothing holds {apart} together any more - take '{name}' "
                f"out: name one joint of every loop, or leave `cut` out"
            )
    return tuple(sorted(cut))


def _depths(model: Model) -> dict[str, int]:
    near: dict[str, list[str]] = {b: [] for b in model.bodies}
    for joint in model.joints.values():
        near[joint.first].append(joint.second)
        near[joint.second].append(joint.first)
    depth, level = {FRAME: 0}, [FRAME]
    while level:
        reached = {b for body in level for b in near[body]} - depth.keys()
        depth.update(dict.fromkeys(reached, depth[level[0]] + 1))
        level = sorted(reached)
    return {b: depth.get(b, len(depth)) for b in model.bodies}


@dataclass(frozen=True, eq=False)
class Weighed:
    """The candidates at one posture: their squared cosines, W, whose rows they are as vectors in the metric, and the
    squared lengths of their directions in the tree."""

    cosines: Array
    W: Array
    lengths: Array

    def quality(self, chosen: Sequence[int]) -> float:
        """Return the squared volume that the chosen coordinates span: one coordinate's squared cosine, for several."""
        part = self.W[list(chosen)]
        return float(np.linalg.det(part @ part.T))

    def best(self, usable: Sequence[int]) -> tuple[int, ...]:
        """Return the coordinates of the largest volume among the usable ones, taken one after the other."""
        rest, f = self.W.copy(), self.W.shape[1]
        chosen: list[int] = []
        for _ in range(f):
            sizes = np.einsum("ij,ij->i", rest, rest)
            open_ = [i for i in usable if i not in chosen]
            if not open_:
                break
            k = max(open_, key=lambda i: (round(float(sizes[i]), 12), -i))
            if sizes[k] <= 1e-14:
                break
            unit = rest[k] / np.sqrt(sizes[k])
            rest = rest - np.outer(rest @ unit, unit)
            chosen.append(k)
        return tuple(sorted(chosen))


class Gauge:
    """All candidate coordinates of a mechanism: their values, their covectors, and the projective criterion."""

    def __init__(self, model: Model, preferred: Iterable[str] = ()) -> None:
        self.model = model
        self.all = candidates(model)
        self.cut = cut_joints(model, preferred)
        self.listed = tuple(i for i, c in enumerate(self.all) if c.joint not in self.cut)
        virtual = {c.driver: virtual_driver(model, c) for c in self.all}
        self.system = Absolute(replace(model, drivers={**model.drivers, **virtual}))
        names, of_driver = np.array(self.system.names), self.system.of_driver
        place = {str(n): int(k) for k, n in enumerate(names) if of_driver[k]}
        self.coordinate_rows = np.array([place[c.driver] for c in self.all], dtype=np.int64)
        self.tree_rows = np.flatnonzero(~of_driver & ~np.isin(names, self.cut))
        self.n = len(model.movable) * len(self.system.components)

    def jacobian(self, poses: Poses) -> Array:
        """Return the rows of all joints and candidates on the twists of the movable bodies."""
        return np.asarray(self.system.jacobian(poses)[:, : self.n])

    def values(self, poses: Poses) -> dict[JointCoordinate, float]:
        """Return the values of all candidates at remembered poses; a screw's turn follows from its slide."""
        measured = self.system.measured(poses)
        found = {c: measured[c.driver] for c in self.all}
        for c in self.all:
            joint = self.model.joints[c.joint]
            if joint.kind == "H" and joint.pitch != 0.0:
                found[c] = float(next_to(found[c], screw_turn(joint, self.system, poses)))
        return found

    def rates(self, poses: Poses, twist: Array) -> dict[JointCoordinate, float]:
        """Return the rates of all candidates for twists of all bodies, n x w."""
        rows = self.jacobian(poses)[self.coordinate_rows] @ twist[1:].ravel()
        return dict(zip(self.all, rows.tolist(), strict=True))

    def weigh(self, poses: Poses, R: Array, matrices: Array) -> Weighed:
        """Return the criterion of all candidates for R (n x w x f) and the mass matrices (n x w x w) of the bodies."""
        J = self.jacobian(poses)
        N = null_space(J[self.tree_rows])
        f = R.shape[2]
        R2 = R[1:].reshape(self.n, f)
        C = J[self.coordinate_rows]
        M = matrices[1:]
        MR = (M @ R[1:]).reshape(self.n, f)
        width = M.shape[1]
        MN = (M @ N.reshape(len(M), width, -1)).reshape(self.n, -1)
        free = N.T @ MN
        free += RIDGE * np.trace(free) * np.eye(len(free))
        L = np.linalg.cholesky(R2.T @ MR)
        c = C @ N
        lengths = np.einsum("ij,ji->i", c, np.linalg.solve(free, c.T))
        W = np.linalg.solve(L, (C @ R2).T).T / np.sqrt(lengths)[:, None]
        return Weighed(np.einsum("ij,ij->i", W, W), W, lengths)


def screw_turn(joint: Joint, system: Absolute, poses: Poses) -> float:
    """Return the turn of a screw that its slide says, whole turns included; 0 without a pitch."""
    one, two = system.index[joint.first], system.index[joint.second]
    ends = [poses.origin[k] + poses.rotation[k] @ x for k, x in ((one, joint.a), (two, joint.b))]
    slide = float((poses.rotation[one] @ joint.axis_a) @ (ends[1] - ends[0]))
    return slide / joint.pitch if joint.pitch != 0.0 else 0.0


def null_space(J: Array) -> Array:
    """Return an orthonormal basis (columns) of the vectors that J maps to zero; J has full row rank."""
    if len(J) == 0:
        return np.eye(J.shape[1])
    q, _ = np.linalg.qr(J.T, mode="complete")
    return np.asarray(q[:, len(J) :])
