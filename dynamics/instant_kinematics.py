"""The kinematics of one set of coordinates, instant by instant: poses, velocity transformation R, and c = Ṙ ż.

A mechanism with as many drivers (real and virtual) as it has freedoms is a program of group solvers. Evaluated over
k + 1 lanes with equal driver values, lane i with the rate 1 of driver i alone, the last one with the actual rates and
given accelerations, the program gives column i of R as velocities and the accelerations without those of the free
coordinates: exactly, from the compiled solvers, without another derivation.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..common.errors import AssemblyError
from ..common.turns import next_to
from ..mechanism.model import Array
from ..motion.modes import AssemblyMode, assembly_modes
from ..motion.run import Solution
from ..runtime.program import AngleStep, GroupStep, Program
from ..runtime.sequence import SOLVED_KINDS
from .body_lanes import BodyLanes, Reader
from .posture import Posture

NEIGHBOURS = 0.1  # radians, or of the size, between neighbouring positions on the way to the start


@dataclass(frozen=True, eq=False)
class Instant:
    """One evaluation: posture, R (n x w x k, a column per driver) and the acceleration c (n x w) without free z̈."""

    posture: Posture
    R: Array
    c: Array


class Bridge:
    """How a group crosses a change point: φ over the one free coordinate, a polynomial between two sides.

    The middle of the interval is where the group is singular although its motion is smooth; polynomials through
    values and slopes on both sides, where enough digits are left, replace the group there.
    """

    def __init__(self, z: float, reach: float, way: float) -> None:
        self.z, self.reach, self.way = z, reach, way  # way: direction in which the coordinate goes through
        self.after: dict[str, Array] = {}  # signs behind the change point
        self.series: dict[str, NDArray[np.object_]] = {}  # per group one Chebyshev series and two derivatives per φ

    def place(self, z: float) -> float:
        """Return the place along the way: -1 to 1 between the two sides."""
        return self.way * (z - self.z) / self.reach


class Mechanics:
    """A program evaluated at one instant; it owns the arrays, the branch signs and the Newton starts."""

    def __init__(self, program: Program) -> None:
        self.program, self.model = program, program.model
        self.drivers = tuple(program.drivers)
        k = self.k = len(self.drivers)
        self.rows = np.array([program.drivers[d] for d in self.drivers], dtype=np.int64)
        self.time = np.zeros(k + 1)
        self.state = np.zeros((3, program.n_rows, k + 1))
        for row, value in program.constants.items():
            self.state[0, row] = value
        self.state[1, self.rows, np.arange(k)] = 1.0
        self.signs: dict[str, Array] = {}
        self.near: dict[int, float] = {}  # continuous angles by their rows
        self.bridge: Bridge | None = None
        self.evaluations = 0
        self._items = program.sequence.of_kind(*SOLVED_KINDS)
        self.groups = tuple(s for s in program.steps if isinstance(s, GroupStep))
        self.known: tuple[float, Array] | None = None  # time and φ, φ̇, φ̈ of all rows when last accepted
        self.angles: tuple[float, Array, Array, Array] | None = None
        self._reader = Reader(program)

    # ---- the start ------------------------------------------------------------------------------------------------
    def begin(
        self, t: float, values: Array, starts: Mapping[str, Array], angle: Array, posture: Posture | None = None
    ) -> None:
        """Assemble every group as its bodies are at a posture, or else next to its start (φ as it is solved for).

        At a posture the signs of a closed form are told by where they put the bodies: what φ means depends on the
        posture at which the group was planned. `angle` is what continuous planar angles are next to.
        """
        self._put(t, values, np.zeros(self.k), np.zeros(self.k))
        none, numbers = np.zeros(1, dtype=np.int64), self.program.sequence.numbers
        solution = Solution(self.program, self.time, none, self.state, self.k + 1, numbers)
        self.bridge, self.known, self.angles = None, None, (t, angle, 0 * angle, 0 * angle)
        index = {b: i for i, b in enumerate(self.model.bodies)}
        for i in self._items:
            step = self.program.sequence.items[i].step
            if isinstance(step, AngleStep):
                self.near[step.row] = float(angle[index[step.body]])
        for place, i in enumerate(self._items):
            step = self.program.sequence.items[i].step
            if self.program.sequence.items[i].group_step is not None:
                assert isinstance(step, GroupStep)
                modes = assembly_modes(solution, step, every=False, start=starts[step.plan.name])
                if not modes:
                    raise AssemblyError(
                        f"group {step.plan.name} ({', '.join(step.plan.bodies)}) cannot be assembled at t = {t:.9g} s"
                    )
                misses = [m.distance if posture is None else self._miss(place, step, m, posture) for m in modes]
                self._take(step, modes[misses.index(min(misses))])
            self._run([i])

    def approach(self, t: float, first: Array, last: Array, angle: Array) -> bool:
        """Take the branches of the sketch, where the drivers have their first values, and follow them to the last.

        False where a group opens on the way, or where Newton's iteration, which has no signs, would have to follow.
        """
        if not all(step.solver.closed_form for step in self.groups):
            return False
        sequence = self.program.sequence
        try:
            starts = {s.plan.name: sequence.numbers_of(s, sequence.numbers)[1] for s in self.groups}
            self.begin(t, first, starts, angle)
        except AssemblyError:
            return False
        kinds = [d.kind for d in self.model.drivers.values()]
        scale = np.array([1.0 if kind in ("angle", "turn") else self.model.size for kind in kinds])
        lanes = 2 + int((np.abs(last - first) / scale).max() / NEIGHBOURS)
        state = np.repeat(self.state[:, :, -1:], lanes, axis=2)
        state[0, self.rows] = np.linspace(first, last, lanes).T
        edges, time = np.array([0, lanes], dtype=np.int64), np.full(lanes, t)
        lost, _ = sequence.run("td", time, state, edges, self._signs(), self._items)
        self.near = {row: float(state[0, row, -1]) for row in self.near}
        followed = np.unwrap(np.column_stack([angle, _angles(self._bodies(state))]))[:, -1]
        self.angles = (t, followed, 0 * angle, 0 * angle)
        return bool((lost > lanes).all())

    def _take(self, step: GroupStep, mode: AssemblyMode) -> None:
        """Put a group into one of its modes."""
        self.signs[step.plan.name] = mode.signs
        self.state[0, step.phi_rows] = mode.phi[:, None]

    def _miss(self, place: int, step: GroupStep, mode: AssemblyMode, posture: Posture) -> float:
        """Return how far a mode puts the bodies of a group from a posture; the group is an item of those solved."""
        self._take(step, mode)
        items = self.program.sequence.items
        behind = itertools.takewhile(lambda i: items[i].group_step is None, self._items[place + 1 :])
        self._run([self._items[place], *behind])
        return self.miss(posture, step.plan.bodies)

    def miss(self, posture: Posture, bodies: Sequence[str]) -> float:
        """Return how far the last evaluation puts bodies from a posture; lengths relative to the mechanism."""
        found, total = self._bodies(self.state), 0.0
        for k, (name, body) in enumerate(self.model.bodies.items()):
            if name not in bodies:
                continue
            line = self.program.carriers[name].line
            local = np.zeros(self.model.dimension) if line is None else line[0]
            here, there = found.rotation[k, :, :, -1], posture.rotation[k]
            gap = found.origin[0, k, :, -1] - posture.origin[k] + (here - there) @ local
            turn = here - there if line is None or not body.rod else (here - there) @ line[1]
            total += float(gap @ gap) / self.model.size**2 + float(np.sum(turn**2))
        return float(np.sqrt(total))

    def _bodies(self, state: Array) -> BodyLanes:
        """Return the bodies of all lanes."""
        return self._reader.read(state, np.zeros(state.shape[2]), 0, state.shape[2])

    # ---- one instant ----------------------------------------------------------------------------------------------
    def evaluate(self, t: float, values: Array, rates: Array, accelerations: Array) -> Instant | None:
        """Return the instant at which the drivers have these values and derivatives; None where there is none."""
        if not self.solve(t, values, rates, accelerations):
            return None
        return self.read()

    def solve(self, t: float, values: Array, rates: Array, accelerations: Array) -> bool:
        """Solve all groups, so that the state holds every coordinate; False where a group has no solution."""
        self.evaluations += 1
        self._put(t, values, rates, accelerations)
        if self.known is not None:
            self._predict(t)
        return self._run(self._items)

    def read(self) -> Instant | None:
        """Return the instant that the state holds."""
        t = float(self.time[0])
        bodies = self._bodies(self.state)
        twists, c = bodies.twists(), bodies.twists(2)[:, :, -1].copy()
        place, rotation, angle = bodies.origin[0, :, :, -1], bodies.rotation[..., -1], _angles(bodies)[:, -1]
        posture = Posture(t, place.copy(), rotation.copy(), angle.copy(), twists[:, :, -1].copy())
        found = Instant(posture, np.ascontiguousarray(twists[:, :, :-1]), c)
        if not np.isfinite(found.c).all() or not np.isfinite(found.R).all():
            return None
        if self.angles is not None and found.posture.planar:
            t0, angle, rate, acceleration = self.angles
            ahead = angle + (t - t0) * (rate + 0.5 * (t - t0) * acceleration)
            found = replace(found, posture=replace(found.posture, angle=next_to(found.posture.angle, ahead)))
        return found

    def accept(self, instant: Instant, free: NDArray[np.int64], zddot: Array) -> None:
        """Note the last evaluation as the place from which the next ones are predicted; z̈ of the free coordinates."""
        state, k = self.state, self.k
        rates = state[1, :, :k][:, free] @ zddot
        self.known = (float(self.time[0]), np.stack([state[0, :, k], state[1, :, k], state[2, :, k] + rates]))
        self.near = {row: float(state[0, row, k]) for row in self.near}
        posture = instant.posture
        if posture.planar:
            alpha = instant.c[:, 2] + instant.R[:, 2][:, free] @ zddot
            self.angles = (posture.time, posture.angle, posture.twist[:, 2], alpha)

    def conditioning(self) -> dict[str, float]:
        """Return for every group its distance from singularity (0 to 1) at the last evaluation."""
        return {name: float(kappa) for name, (kappa, _) in self._quality().items()}

    def _quality(self) -> dict[str, Array]:
        sequence, out = self.program.sequence, np.zeros((3, 1, self.k + 1))
        report = np.zeros((len(sequence.groups), 5))
        report[:, 0] = np.inf
        edges, items = np.array([0, 1], dtype=np.int64), list(sequence.groups.values())
        sequence.run("quality", self.time, self.state, edges, self._signs(), items, out=out, report=report)
        return dict(zip(sequence.groups, report[:, [0, 2]], strict=True))

    def _signs(self) -> Array:
        sequence = self.program.sequence
        found = np.ones((1, sequence.n_signs))
        for name, signs in self.signs.items():
            at = sequence.items[sequence.groups[name]].sign_place
            found[0, at : at + len(signs)] = signs
        return found

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _put(self, t: float, values: Array, rates: Array, accelerations: Array) -> None:
        self.time[:] = t
        self.state[0, self.rows] = values[:, None]
        self.state[1, self.rows, self.k] = rates
        self.state[2, self.rows, self.k] = accelerations

    def _predict(self, t: float) -> None:
        assert self.known is not None
        t0, (x, v, a) = self.known
        for step in self.groups:
            if not step.solver.closed_form:
                rows = step.phi_rows
                self.state[0, rows, 0] = x[rows] + (t - t0) * (v[rows] + 0.5 * (t - t0) * a[rows])

    def _run(self, items: Sequence[int]) -> bool:
        """Do some items; False where a group has no solution. On a bridge a group follows its polynomials."""
        sequence, bridge = self.program.sequence, self.bridge
        edges, signs = np.array([0, self.k + 1], dtype=np.int64), self._signs()
        start = 0
        for j, i in enumerate(items):
            step = sequence.items[i].step
            if isinstance(step, AngleStep):
                sequence.numbers[sequence.tables[sequence.items[i].place + 1]] = self._ahead(step)
            group = sequence.items[i].group_step
            if bridge is None or group is None or group.plan.name not in bridge.after:
                continue
            x = bridge.place(float(self.state[0, self.rows[-1], 0]))
            if abs(x) <= 1.0:
                if not self._sweep(items[start:j], edges, signs):
                    return False
                self._cross(group, bridge, x)
                start = j + 1
            elif x > 0:
                at, after = sequence.items[i].sign_place, bridge.after[group.plan.name]
                signs[0, at : at + len(after)] = after
        return self._sweep(items[start:], edges, signs)

    def _sweep(self, items: Sequence[int], edges: NDArray[np.int64], signs: Array) -> bool:
        if not items:
            return True
        lost, _ = self.program.sequence.run("td", self.time, self.state, edges, signs, items)
        return bool((lost > self.k).all())

    def _cross(self, step: GroupStep, bridge: Bridge, x: float) -> None:
        """Write φ and its derivatives from the polynomials over the one coordinate that moves."""
        row, slope = self.rows[-1], bridge.way / bridge.reach
        rate, bend = self.state[1, row], self.state[2, row]
        for phi_row, (value, first, second) in zip(step.phi_rows, bridge.series[step.plan.name], strict=True):
            d1, d2 = first(x) * slope, second(x) * slope * slope
            self.state[0, phi_row] = value(x)
            self.state[1, phi_row] = d1 * rate
            self.state[2, phi_row] = d1 * bend + d2 * rate * rate

    def _ahead(self, step: AngleStep) -> float:
        """Return the value next to which a continuous angle is now."""
        ahead = self.near[step.row]
        if self.known is not None:
            t0, (_, v, a) = self.known
            dt = float(self.time[0]) - t0
            ahead += dt * (v[step.row] + 0.5 * dt * a[step.row])
        return float(ahead)


def _angles(bodies: BodyLanes) -> Array:
    """Return the directions of planar bodies, n x lane, without whole turns; zeros in space."""
    if not bodies.planar:
        return np.zeros(bodies.turn.shape[1::2])
    return np.asarray(np.arctan2(bodies.rotation[:, 1, 0], bodies.rotation[:, 0, 0]))
