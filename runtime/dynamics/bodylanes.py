"""All bodies over lanes (instants): poses, rates and accelerations, read from the rows of a solved state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.bodymotion import BodyMotion
from ..mechanism.model import FRAME, Array, Model
from ..motion.program import Program, Terms
from ..motion.run import Solution
from .carriers import combination
from .posture import Posture, width


@dataclass(frozen=True, eq=False)
class BodyLanes:
    """Poses and rates of n bodies over lanes, the frame first; twists and wrenches are those of `Posture`.

    origin: 3 x n x d x lane, place, velocity and acceleration of the bodies' origins. turn: 3 x n x s x lane, in the
    plane the continuous angle with its rate and acceleration (s = 1), in space zeros, angular velocity and angular
    acceleration (s = 3). rotation: n x d x d x lane.
    """

    time: Array
    origin: Array
    turn: Array
    rotation: Array

    def __len__(self) -> int:
        return len(self.time)

    @property
    def planar(self) -> bool:
        return bool(self.origin.shape[2] == 2)

    def twists(self, order: int = 1) -> Array:
        """Return the twists (order 1) or their rates (order 2), n x w x lane."""
        return np.concatenate([self.origin[order], self.turn[order]], axis=1)

    def at(self, lanes: NDArray[np.int64]) -> BodyLanes:
        """Return some lanes."""
        chosen = (np.ascontiguousarray(x[..., lanes]) for x in (self.origin, self.turn, self.rotation))
        return BodyLanes(self.time[lanes], *chosen)

    def motions(self, model: Model) -> dict[str, BodyMotion]:
        """Return the motion of every movable body."""
        found = {}
        for k, name in enumerate(model.bodies):
            if name == FRAME:
                continue
            if self.planar:
                found[name] = BodyMotion(self.origin[:, k], angle=self.turn[:, k, 0])
            else:
                rotation = self.rotation[k].transpose(2, 0, 1)
                found[name] = BodyMotion(
                    self.origin[:, k], rotation=rotation, omega=self.turn[1, k], alpha=self.turn[2, k]
                )
        return found


def one_lane(posture: Posture, acceleration: Array | None = None) -> BodyLanes:
    """Return a posture as the only lane; without an acceleration (n x w) the bodies have none."""
    bend = np.zeros_like(posture.twist) if acceleration is None else acceleration
    n, d = posture.origin.shape
    turn = np.zeros((3, n, posture.twist.shape[1] - d, 1))
    turn[1, :, :, 0], turn[2, :, :, 0] = posture.twist[:, d:], bend[:, d:]
    if d == 2:
        turn[0, :, 0, 0] = posture.angle
    origin = np.stack([posture.origin, posture.twist[:, :d], bend[:, :d]])[:, :, :, None]
    return BodyLanes(np.array([posture.time]), origin, turn, np.ascontiguousarray(posture.rotation)[:, :, :, None])


def lanes_of(model: Model, postures: Sequence[Posture], accelerations: Sequence[Array]) -> BodyLanes:
    """Return postures with their accelerations (n x w each) as lanes."""
    n, d, w = len(model.bodies), model.dimension, width(model)
    lanes = len(postures)
    origin, turn = np.empty((3, n, d, lanes)), np.zeros((3, n, w - d, lanes))
    rotation = np.empty((n, d, d, lanes))
    for i, (p, a) in enumerate(zip(postures, accelerations, strict=True)):
        origin[0, ..., i], origin[1, ..., i], origin[2, ..., i] = p.origin, p.twist[:, :d], a[:, :d]
        turn[1, ..., i], turn[2, ..., i] = p.twist[:, d:], a[:, d:]
        if d == 2:
            turn[0, :, 0, i] = p.angle
        rotation[..., i] = p.rotation
    return BodyLanes(np.array([p.time for p in postures]), origin, turn, rotation)


def body_lanes(solution: Solution, lanes: NDArray[np.int64]) -> BodyLanes:
    """Return the bodies at some lanes (increasing) of a solution; angles are followed through all lanes before."""
    n = int(lanes[-1]) + 1 if len(lanes) else 0
    found = read_bodies(solution.program, solution.state, solution.time[:n])
    return found if len(lanes) == n else found.at(lanes)


def read_bodies(program: Program, state: Array, time: Array) -> BodyLanes:
    """Return the bodies of the first lanes of a state (3 x row x lane), as many as there are times."""
    from .bodykernels import planar_bodies, spatial_bodies

    model, lanes = program.model, len(time)
    n, d = len(model.bodies), model.dimension
    origin, rotation = np.empty((3, n, d, lanes)), np.empty((n, d, d, lanes))
    turn = np.zeros((3, n, 1 if d == 2 else 3, lanes))
    carriers = [program.carriers[b] for b in model.bodies]
    parts: list[Terms] = []
    for carrier in carriers:
        axes = carrier.axes[:1] if d == 2 else carrier.axes if carrier.line is None else (*carrier.axes, *_NONE)
        parts += [*carrier.origin, *(terms for axis in axes for terms in axis)]
    table = combination(parts)
    if d == 2:
        rows = np.array([-1 if c.angle is None else c.angle[0] for c in carriers], dtype=np.int64)
        offsets = np.array([0.0 if c.angle is None else c.angle[1] for c in carriers])
        planar_bodies(state, table.start, table.columns, table.factors, rows, offsets, origin, turn, rotation)
    else:
        lines = np.array([c.line is not None for c in carriers])
        constants = np.zeros((n, 15))
        for k, (carrier, body) in enumerate(zip(carriers, model.bodies.values(), strict=True)):
            if carrier.line is not None:
                point, line = carrier.line
                constants[k] = np.concatenate([point, body.rotation @ line, body.rotation.ravel()])
        spatial_bodies(state, table.start, table.columns, table.factors, lines, constants, origin, turn, rotation)
    return BodyLanes(time, origin, turn, rotation)


_NONE: tuple[tuple[Terms, ...], ...] = (((), (), ()), ((), (), ()))
