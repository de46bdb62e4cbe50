"""The kinematics of one set of coordinates, instant by instant: poses, velocity transformation R, and c = Ṙ ż.

A mechanism with as many drivers (real and virtual) as it has freedoms is a program of group solvers. Evaluated over
k + 1 lanes with equal driver values, lane i with the rate 1 of driver i alone, the last one with the actual rates and
given accelerations, the program gives column i of R as velocities and the accelerations without those of the free
coordinates: exactly, from the compiled solvers, without another derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, InputError
from ..mechanism.model import Array
from ..motion.program import AngleStep, GroupStep, NumericStep, Program
from ..motion.run import Solution, assembly_modes
from ..motion.sequence import SOLVED_KINDS
from ..turns import next_to
from .carriers import Carriers, Instant


class Bridge:
    """How a group crosses a meeting of its branches: φ over the one free coordinate, a polynomial between two sides.

    The middle of the interval is where the group is singular although its motion is smooth; polynomials through
    values and slopes on both sides, where enough digits are left, replace the group there.
    """

    def __init__(self, z: float, reach: float, way: float) -> None:
        self.z, self.reach, self.way = z, reach, way  # way: direction in which the coordinate goes through
        self.after: dict[str, Array] = {}  # signs behind the meeting
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
        if any(isinstance(s, NumericStep) for s in program.steps):
            raise InputError(
                "a mechanism with a cam has no closed solver for its free coordinates - use simulate --method global"
            )
        self._items = program.sequence.of_kind(*SOLVED_KINDS)
        self.groups = tuple(s for s in program.steps if isinstance(s, GroupStep))
        self.known: tuple[float, Array] | None = None  # time and φ, φ̇, φ̈ of all rows when last accepted
        self.angles: tuple[float, Array, Array, Array] | None = None
        self._read = Carriers(self.model, program)

    # ---- the start ------------------------------------------------------------------------------------------------
    def begin(self, t: float, values: Array, starts: Mapping[str, Array], angle: Array) -> None:
        """Assemble every group next to its start (φ in the order of its solver), planar angles next to `angle`."""
        self._put(t, values, np.zeros(self.k), np.zeros(self.k))
        none, numbers = np.zeros(1, dtype=np.int64), self.program.sequence.numbers
        solution = Solution(self.program, self.time, none, self.state, self.k + 1, numbers)
        self.bridge, self.known, self.angles = None, None, (t, angle, 0 * angle, 0 * angle)
        index = {b: i for i, b in enumerate(self.model.bodies)}
        for i in self._items:
            step = self.program.sequence.items[i].step
            if self.program.sequence.items[i].group_step is not None:
                assert isinstance(step, GroupStep)
                modes = assembly_modes(solution, step, every=False, start=starts[step.plan.name])
                if not modes:
                    raise AssemblyError(
                        f"group {step.plan.name} ({', '.join(step.plan.bodies)}) cannot be assembled at t = {t:.9g} s"
                    )
                mode = min(modes, key=lambda m: m.distance)
                self.signs[step.plan.name] = mode.signs
                self.state[0, step.phi_rows] = mode.phi[:, None]
            elif isinstance(step, AngleStep):
                body = _body_of(self.program, step)
                self.near[step.row] = float(angle[index[body]]) if body else step.near
            self._run([i])

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
        found = self._read(self.state, t)
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
        ahead = self.near.get(step.row, step.near)
        if self.known is not None:
            t0, (_, v, a) = self.known
            dt = float(self.time[0]) - t0
            ahead += dt * (v[step.row] + 0.5 * dt * a[step.row])
        return float(ahead)


def _body_of(program: Program, step: AngleStep) -> str | None:
    """Return the body whose x axis an angle step follows."""
    for name, carrier in program.carriers.items():
        if carrier.axes[0] == (((step.x, 1.0),), ((step.y, 1.0),)):
            return name
    return None
