"""The motion of rigid bodies in space from the rows of a solved state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..mechanism.bodymotion import BodyMotion
from ..mechanism.model import Body
from .plan import Array
from .program import Carrier, Terms
from .run import Solution
from .threads import each


def carried(solution: Solution, names: Sequence[str], steps: NDArray[np.int64]) -> dict[str, BodyMotion]:
    """Return the motion of some bodies in space that are solved."""
    program = solution.program
    known = [name for name in names if name in program.carriers]  # a run may stop before the group of a body

    def motion(name: str) -> BodyMotion:
        return _spatial(program.model.bodies[name], program.carriers[name], solution, steps)

    return dict(zip(known, each(motion, known), strict=True))


def _rows(parts: tuple[Terms, ...], state: Array, n: int) -> Array:
    """Return components given as combinations of rows, (order, component, step)."""
    out = np.zeros((3, len(parts), n))
    for i, terms in enumerate(parts):
        for row, c in terms:
            out[:, i] += c * state[:, row, :n]
    return out


def _spatial(body: Body, carrier: Carrier, solution: Solution, steps: NDArray[np.int64]) -> BodyMotion:
    n = solution.solved
    origin = _rows(carrier.origin, solution.state, n)[:, :, steps]
    axes = [_rows(a, solution.state, n)[:, :, steps] for a in carrier.axes]
    if carrier.line is None:
        rotation = np.stack([a[0] for a in axes], axis=-1).transpose(1, 0, 2)
        omega = 0.5 * sum(np.cross(a[0], a[1], axis=0) for a in axes)
        alpha = 0.5 * sum(np.cross(a[0], a[2], axis=0) for a in axes)
        return BodyMotion(origin, rotation=rotation, omega=np.asarray(omega), alpha=np.asarray(alpha))
    point, line = carrier.line
    (d,) = axes
    first = body.rotation @ line
    rotation = shortest_turn(first, d[0].T) @ body.rotation
    omega, alpha = np.cross(d[0], d[1], axis=0), np.cross(d[0], d[2], axis=0)
    local = -point  # the rod's own origin, seen from the point of its line that the rows give
    r = (rotation @ local).T
    v = np.cross(omega, r, axis=0)
    a = np.cross(alpha, r, axis=0) + np.cross(omega, v, axis=0)
    return BodyMotion(origin + np.stack([r, v, a]), rotation=rotation, omega=omega, alpha=alpha)


def shortest_turn(first: Array, directions: Array) -> Array:
    """Return the rotations (n x 3 x 3) about the common perpendicular that turn a unit vector into each direction."""
    c = directions @ first
    v = np.cross(first, directions)
    K = np.zeros((len(directions), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    K -= K.transpose(0, 2, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rotation = np.eye(3) + K + K @ K / (1 + c)[:, None, None]
    half_turn = 1 + c < 1e-12  # opposite: any perpendicular axis does
    if half_turn.any():
        across = np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))])
        across /= np.linalg.norm(across)
        rotation[half_turn] = 2 * np.outer(across, across) - np.eye(3)
    return np.asarray(rotation)
