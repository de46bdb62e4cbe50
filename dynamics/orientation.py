"""The start of bodies that hang on ball joints: their orientation and angular velocity of [initial]."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from ..common.errors import AssemblyError, InputError
from ..mechanism.absolute import Absolute
from ..mechanism.assembly import RANK, assemble
from ..mechanism.joint_equations import Poses
from ..mechanism.model import FRAME, Array, InitialBody, Joint, Model

ROUNDS = 20
SETTLED = 1e-11  # of the size, or radians: orientation and joints hold together
CONSISTENT = 1e-8  # of the rates given, how far the rows may miss them


def assembled(model: Model, held: Model, values: dict[str, float]) -> Poses:
    """Return the closed poses in which every body of [initial] has its orientation."""
    system = Absolute(held)
    order = _outward(model)
    poses = assemble(held, values, _oriented(model, system, system.first(), order))
    for _ in range(ROUNDS):
        placed = _oriented(model, system, poses, order)
        off = max(
            np.abs(placed.origin - poses.origin).max() / system.size, np.abs(placed.rotation - poses.rotation).max()
        )
        if off <= SETTLED:
            return poses
        poses = assemble(held, values, system.remember(placed), homotopy=False)
    names = ", ".join(i.name for i in model.orientations)
    raise InputError(
        f"{model.origin or model.name}: [initial]: the joints do not let the bodies of {names} have these orientations "
        "- give those of fewer bodies, or others"
    )


def _outward(model: Model) -> list[tuple[InitialBody, Joint, set[str]]]:
    """Return the entries from the frame outwards, each with its ball joint and the bodies that hang on it."""
    beside: dict[str, list[tuple[str, Joint]]] = {b: [] for b in model.bodies}
    for joint in model.joints.values():
        for one, two in ((joint.first, joint.second), (joint.second, joint.first)):
            beside[one].append((two, joint))
    came: dict[str, Joint | None] = {FRAME: None}
    queue, order = deque([FRAME]), []
    while queue:
        body = queue.popleft()
        order.append(body)
        for other, joint in sorted(beside[body], key=lambda pair: (pair[1].kind != "S", pair[1].name)):
            if other not in came:
                came[other] = joint
                queue.append(other)
    entries = {i.body: i for i in model.orientations}
    found = []
    for body in [b for b in order if b in entries] + [b for b in entries if b not in came]:
        balls = [j for _, j in beside[body] if j.kind == "S"]
        ball = came.get(body)
        if not balls:
            raise InputError(
                f"{model.origin or model.name}: [initial] {entries[body].name}.body: '{body}' has no joint S about "
                "which it could turn freely - give the coordinates of its joints instead"
            )
        if ball is None or ball.kind != "S":
            ball = balls[0]
        found.append((entries[body], ball, _hanging(beside, body, ball)))
    return found


def _hanging(beside: dict[str, list[tuple[str, Joint]]], body: str, ball: Joint) -> set[str]:
    """Return what moves with a body when it turns about its ball: all that other joints tie to it, but for loops."""
    found, queue = {body}, deque([body])
    while queue:
        for other, joint in beside[queue.popleft()]:
            if joint is not ball and other not in found:
                found.add(other)
                queue.append(other)
    return {body} if FRAME in found else found


def _oriented(model: Model, system: Absolute, poses: Poses, order: list[tuple[InitialBody, Joint, set[str]]]) -> Poses:
    """Return the poses with each body turned about its ball, whose centre stays on the other body."""
    origin, rotation = poses.origin.copy(), poses.rotation.copy()
    for entry, ball, moving in order:
        k = system.index[entry.body]
        mine, other, there = (
            (ball.b, ball.first, ball.a) if ball.second == entry.body else (ball.a, ball.second, ball.b)
        )
        n = system.index[other]
        centre = origin[n] + rotation[n] @ there
        turn, old = entry.rotation @ rotation[k].T, origin[k] + rotation[k] @ mine
        for body in moving:
            m = system.index[body]
            origin[m] = centre + turn @ (origin[m] - old)
            rotation[m] = turn @ rotation[m]
    return replace(poses, origin=origin, rotation=rotation)


def rates(model: Model, system: Absolute, poses: Poses, given: dict[str, float]) -> Array:
    """Return the twists (n x 6) with these rates of coordinates and the angular velocities of [initial]."""
    J = system.jacobian(poses) / system.row_scale[:, None] * system.column_scale
    wanted = system.per_driver(given) / system.row_scale
    spins = np.zeros((3 * len(model.orientations), system.n_columns))
    for n, entry in enumerate(model.orientations):
        at = system.column[system.index[entry.body]] + 3
        spins[3 * n : 3 * n + 3, at : at + 3] = np.eye(3)
    A = np.vstack([J, spins])
    b = np.concatenate([wanted, *(entry.angular_velocity for entry in model.orientations)])
    x, _, rank, _ = np.linalg.lstsq(A, b, rcond=RANK)
    if rank < A.shape[1]:
        raise InputError(
            f"{model.origin or model.name}: [initial]: leaves {A.shape[1] - rank} free motions without a start - give "
            "the angular velocity of every body on ball joints and the coordinates of other joints, or nothing at all"
        )
    miss = np.abs(A @ x - b)
    if miss.max(initial=0.0) > CONSISTENT * np.abs(b).max(initial=0.0):
        row = int(np.argmax(miss))
        name = system.names[row] if row < len(J) else model.orientations[(row - len(J)) // 3].name
        raise AssemblyError(
            f"{model.origin or model.name}: [initial]: the angular velocities contradict the joints at the start (at "
            f"'{name}') - a rod between two joints S has no spin about its line, bodies in loops depend on each other"
        )
    return np.asarray(system.spread(x * system.column_scale)[0])
