"""All bodies over lanes (instants): poses, rates and accelerations, read from the rows of a solved state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.body_motion import BodyMotion
from ..mechanism.model import FRAME, Array, Model
from ..motion.run import Solution
from ..runtime.program import Program, Terms
from .posture import Posture

AT_ONCE = 8192  # bodies times lanes in a portion: with all that follows from them about as much as a cache holds


@dataclass(frozen=True, eq=False)
class Combination:
    """Rows as linear combinations: of the i-th, the columns and factors from start[i] to start[i + 1]."""

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    factors: Array


def combination(parts: Sequence[Terms]) -> Combination:
    """Return combinations of rows in the form that compiled code reads."""
    start = np.concatenate([[0], np.cumsum([len(terms) for terms in parts])]).astype(np.int64)
    columns = np.array([row for terms in parts for row, _ in terms], dtype=np.int64)
    factors = np.array([c for terms in parts for _, c in terms], dtype=np.float64)
    return Combination(start, columns, factors)


@dataclass(frozen=True, eq=False)
class BodyLanes:
    """Poses and rates of n bodies over lanes, the frame first; twists and wrenches are those of `Posture`.

    origin: 3 x n x d x lane, place, velocity and acceleration of the bodies' origins. turn: 3 x n x s x lane, in the
    plane the angle with its rate and acceleration (s = 1), in space zeros, angular velocity and angular acceleration
    (s = 3); the angle is continuous in a simulation, zero where lanes are read from rows. rotation: n x d x d x lane.
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


class Motions:
    """The motion of all bodies at some instants, gathered from lanes for the results."""

    def __init__(self, model: Model, n: int) -> None:
        d, bodies = model.dimension, len(model.bodies)
        self.model, self.time = model, np.empty(n)
        self.origin = np.empty((3, bodies, d, n))
        self.turn = np.empty((3, bodies, 1 if d == 2 else 3, n))
        self.rotation = None if d == 2 else np.empty((bodies, d, d, n))

    def lanes(self) -> BodyLanes:
        """Return all instants as lanes."""
        if self.rotation is not None:
            return BodyLanes(self.time, self.origin, self.turn, self.rotation)
        c, s = np.cos(self.turn[0, :, 0]), np.sin(self.turn[0, :, 0])
        return BodyLanes(self.time, self.origin, self.turn, np.array([[c, -s], [s, c]]).transpose(2, 0, 1, 3).copy())

    def put(self, at: slice, bodies: BodyLanes) -> None:
        """Keep lanes at their place."""
        self.time[at], self.origin[..., at], self.turn[..., at] = bodies.time, bodies.origin, bodies.turn
        if self.rotation is not None:
            self.rotation[..., at] = bodies.rotation

    def by_name(self, chosen: NDArray[np.int64] | slice = slice(None)) -> dict[str, BodyMotion]:
        """Return the motion of every movable body at the chosen instants."""
        found = {}
        origin, turn = self.origin[..., chosen], self.turn[..., chosen]
        for k, name in enumerate(self.model.bodies):
            if name == FRAME:
                continue
            if self.rotation is None:
                found[name] = BodyMotion(origin[:, k], angle=turn[:, k, 0])
            else:
                rotation = self.rotation[k][..., chosen].transpose(2, 0, 1)
                found[name] = BodyMotion(origin[:, k], rotation=rotation, omega=turn[1, k], alpha=turn[2, k])
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


class Reader:
    """Reads the bodies of a program from the rows of a state, some lanes at a time and in their order."""

    def __init__(self, program: Program) -> None:
        model = self.model = program.model
        n, self.d = len(model.bodies), model.dimension
        carriers = [program.carriers[b] for b in model.bodies]
        parts: list[Terms] = []
        for c in carriers:
            axes = c.axes[:1] if self.d == 2 else c.axes if c.line is None else (*c.axes, *_NONE)
            parts += [*c.origin, *(terms for axis in axes for terms in axis)]
        self.table = combination(parts)
        self.lines = np.array([c.line is not None for c in carriers])
        self.constants = np.zeros((n, 15))
        for k, (carrier, body) in enumerate(zip(carriers, model.bodies.values(), strict=True)):
            if carrier.line is not None:
                point, line = carrier.line
                self.constants[k] = np.concatenate([point, body.rotation @ line, body.rotation.ravel()])

    def read(self, state: Array, time: Array, first: int, last: int) -> BodyLanes:
        """Return the bodies at the lanes first to last - 1 of a state (3 x row x lane)."""
        from .body_kernels import planar_bodies, spatial_bodies

        n, d, lanes, t = len(self.model.bodies), self.d, last - first, self.table
        origin, rotation = np.empty((3, n, d, lanes)), np.empty((n, d, d, lanes))
        turn = np.zeros((3, n, 1 if d == 2 else 3, lanes))
        if d == 2:
            planar_bodies(state, first, t.start, t.columns, t.factors, origin, turn, rotation)
        else:
            spatial_bodies(
                state, first, t.start, t.columns, t.factors, self.lines, self.constants, origin, turn, rotation
            )
        return BodyLanes(time[first:last], origin, turn, rotation)


def body_lanes(solution: Solution, lanes: NDArray[np.int64]) -> BodyLanes:
    """Return the bodies at some lanes (increasing) of a solution."""
    n = int(lanes[-1]) + 1 if len(lanes) else 0
    found = Reader(solution.program).read(solution.state, solution.time, 0, n)
    return found if len(lanes) == n else found.at(lanes)


def in_portions(solution: Solution, lanes: NDArray[np.int64]) -> Iterator[tuple[slice, BodyLanes]]:
    """Yield the bodies at some lanes (increasing) of a solution, so few at a time that they stay in the cache."""
    if len(lanes) == 0:
        return
    reader, done, most = Reader(solution.program), 0, portion_size(solution.program.model)
    for first in range(0, int(lanes[-1]) + 1, most):
        last = min(first + most, int(lanes[-1]) + 1)
        found = reader.read(solution.state, solution.time, first, last)
        until = int(np.searchsorted(lanes, last))
        if until - done < last - first:
            found = found.at(lanes[done:until] - first)
        if until > done:
            yield slice(done, until), found
        done = until


def portion_size(model: Model) -> int:
    """Return how many lanes are taken at a time."""
    return int(np.clip(AT_ONCE // len(model.bodies), 256, 4096))


_NONE: tuple[tuple[Terms, ...], ...] = (((), (), ()), ((), (), ()))
