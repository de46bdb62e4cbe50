"""The spanning tree of a mechanism: which joints are opened, who hangs on whom, relative coordinates of a posture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..common.turns import next_to
from ..mechanism.absolute import Absolute
from ..mechanism.model import FRAME, Array, Joint, Model
from . import tree_head
from .coordinates import screw_turn
from .cuts import best_cut
from .posture import Posture, poses_of
from .rotations import euler_parameters
from .tree_head import BALL, SCREW, SLIDE, SLIDE_OWN, TURN_ABOUT, TURN_OWN


@dataclass(frozen=True)
class Motion:
    """An elementary motion of a body against its parent, with its axis in the parent's axes, or the body's own."""

    kind: int
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    pitch: float = 0.0


@dataclass(frozen=True, eq=False)
class Branch:
    """How one body hangs on its parent: the joint (None: free), its points on both, its motions, the turn between."""

    body: str
    parent: str
    joint: Joint | None
    a: Array
    b: Array
    motions: tuple[Motion, ...]
    turn: Array  # planar: an angle; spatial: the rotation from the body's axes to the parent's, all coordinates zero

    @property
    def reversed(self) -> bool:
        return self.joint is not None and self.joint.second == self.parent


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """Branches from the ground to the tips, and the joints that are cut."""

    model: Model
    cut: tuple[str, ...]
    branches: tuple[Branch, ...] = field(default=())

    def path(self, body: str) -> list[Branch]:
        """Return the branches from the ground to a body."""
        by_body = {b.body: b for b in self.branches}
        found: list[Branch] = []
        while body != FRAME:
            found.insert(0, by_body[body])
            body = by_body[body].parent
        return found


def spanning_tree(model: Model, posture: Posture) -> SpanningTree:
    """Return the tree of the file's cut joints, or of those that the projective criterion chooses at a posture."""
    cut = best_cut(model, posture)
    near: dict[str, list[Joint]] = {b: [] for b in model.bodies}
    for joint in model.joints.values():
        if joint.name not in cut:
            near[joint.first].append(joint)
            near[joint.second].append(joint)
    index = {name: k for k, name in enumerate(model.bodies)}
    reached, branches, level = {FRAME}, list[Branch](), [FRAME]
    while len(reached) < len(index):
        grown = []
        for parent in level:
            for joint in near[parent]:
                child = joint.second if joint.first == parent else joint.first
                if child not in reached:
                    branches.append(_branch(model, posture, joint, parent, index))
                    reached.add(child)
                    grown.append(child)
        if not grown and len(reached) < len(index):  # held by gears, racks, cams or planes for a point alone
            free = next(b for b in index if b not in reached)
            branches.append(_free(model, free))
            reached.add(free)
            grown = [free]
        level = grown
    return SpanningTree(model, cut, tuple(branches))


# ---- branches -----------------------------------------------------------------------------------------------------
def _triple(v: Array, sign: float = 1.0) -> tuple[float, float, float]:
    x, y, z = (*(sign * np.asarray(v, dtype=np.float64)), 0.0, 0.0, 0.0)[:3]
    return float(x), float(y), float(z)


def _free(model: Model, body: str) -> Branch:
    d = model.dimension
    slides = tuple(Motion(SLIDE, _triple(np.eye(3)[k])) for k in range(d))
    turn = Motion(TURN_ABOUT) if d == 2 else Motion(BALL)
    zero = np.zeros(d)
    return Branch(body, FRAME, None, zero, zero, (*slides, turn), np.zeros(1) if d == 2 else np.eye(3))


def _branch(model: Model, posture: Posture, joint: Joint, parent: str, index: Mapping[str, int]) -> Branch:
    back = joint.second == parent
    child = joint.first if back else joint.second
    p, i = index[parent], index[child]
    a, b = (joint.b, joint.a) if back else (joint.a, joint.b)
    sign = -1.0 if back else 1.0
    if model.dimension == 2:
        axis = _triple(joint.axis_b if back else joint.axis_a, sign)
        if joint.kind == "P":
            turn = float(next_to(sign * joint.angle, posture.angle[i] - posture.angle[p]))
            return Branch(child, parent, joint, a, b, (Motion(SLIDE, axis),), np.array([turn]))
        motions: tuple[Motion, ...] = (Motion(TURN_ABOUT),)
        if joint.kind == "slot":
            own = Motion(SLIDE_OWN, _triple(joint.axis_a, -1.0)) if back else Motion(SLIDE, axis)
            motions = (*motions, own) if back else (own, *motions)
        return Branch(child, parent, joint, a, b, motions, np.zeros(1))
    return Branch(child, parent, joint, a, b, _spatial(joint, back), _turn(joint, back, posture, p, i))


def _spatial(joint: Joint, back: bool) -> tuple[Motion, ...]:
    axis = _triple(joint.axis_b, -1.0) if back else _triple(joint.axis_a)
    slide, turn = Motion(SLIDE, axis), Motion(TURN_ABOUT, axis)
    match joint.kind:
        case "R":
            return (turn,)
        case "P":
            return (slide,)
        case "C":
            return (slide, turn)
        case "H":
            return (Motion(SCREW, axis, joint.pitch),)
        case "S":
            return (Motion(BALL),)
        case "U":
            one, two = (joint.axis_b, joint.axis_a) if back else (joint.axis_a, joint.axis_b)
            return (Motion(TURN_ABOUT, _triple(one)), Motion(TURN_OWN, _triple(two)))
    normal = joint.normal_b if back else joint.normal_a
    across = np.cross(joint.axis_b if back else joint.axis_a, normal)
    return (Motion(SLIDE, _triple(normal)), Motion(SLIDE, _triple(across)), turn)


def _triad(axis: Array, normal: Array) -> Array:
    return np.column_stack([axis, normal, np.cross(axis, normal)])


def _turn(joint: Joint, back: bool, posture: Posture, p: int, i: int) -> Array:
    """Return the rotation from the child's axes to the parent's where the coordinates are zero."""
    if joint.kind == "S":
        return np.eye(3)
    if joint.kind == "U":  # counted from here
        return np.asarray(posture.rotation[p].T @ posture.rotation[i])
    one, two = _triad(joint.axis_a, joint.normal_a), _triad(joint.axis_b, joint.normal_b)
    return np.asarray(two @ one.T if back else one @ two.T)


# ---- coordinates --------------------------------------------------------------------------------------------------
def relative_coordinates(tree: SpanningTree, posture: Posture) -> Array:
    """Return the relative coordinates z of a posture, branch by branch; four for a ball."""
    index = {name: k for k, name in enumerate(tree.model.bodies)}
    system = Absolute(tree.model)
    poses = system.remember(poses_of(system, posture))
    found: list[float] = []
    for branch in tree.branches:
        p, i = index[branch.parent], index[branch.body]
        A, own = posture.rotation[p], posture.rotation[i]
        way = posture.origin[i] + own @ branch.b - posture.origin[p] - A @ branch.a
        for motion in branch.motions:
            axis = np.array(motion.axis)[: tree.model.dimension]
            if motion.kind == SLIDE:
                found.append(float((A @ axis) @ way))
            elif motion.kind == SLIDE_OWN:
                found.append(float((own @ axis) @ way))
            elif tree.model.dimension == 2:
                found.append(float(posture.angle[i] - posture.angle[p] - branch.turn[0]))
            elif motion.kind == BALL:
                found += euler_parameters((A.T @ own @ branch.turn.T)[None])[0].tolist()
            elif branch.joint is not None and branch.joint.kind == "U":
                found.append(0.0)
            else:
                turned = A.T @ own @ branch.turn.T
                sine = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0],
                                       turned[1, 0] - turned[0, 1]])  # fmt: skip
                angle = float(np.arctan2(axis @ sine, 0.5 * (np.trace(turned) - 1.0)))
                if motion.kind == SCREW and branch.joint is not None:
                    angle = float(next_to(angle, screw_turn(branch.joint, system, poses)))
                found.append(angle)
    return np.array(found)


def coordinate_names(tree: SpanningTree) -> list[str]:
    """Return a name for every rate of the tree: the joint's, with what moves where it has several."""
    words = {SLIDE: "slide", SLIDE_OWN: "slide", TURN_ABOUT: "turn", TURN_OWN: "turn", SCREW: "turn", BALL: "ball"}
    names: list[str] = []
    for branch in tree.branches:
        joint = branch.joint.name if branch.joint else f"{branch.body} free"
        for k, motion in enumerate(branch.motions):
            for c in range(tree_head.WIDTHS[motion.kind]):
                part = f".{words[motion.kind]}{c + 1 if motion.kind == BALL else ''}"
                double = len([m for m in branch.motions[:k] if words[m.kind] == words[motion.kind]])
                names.append(joint + (part + (str(double + 1) if double else "") if _several(branch) else ""))
    return names


def _several(branch: Branch) -> bool:
    return sum(tree_head.WIDTHS[m.kind] for m in branch.motions) > 1
