"""Inverse dynamics: efforts of drivers or actuators, reactions and power along a prescribed motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..mechanism.absolute import Absolute
from ..mechanism.assembly import Linear
from ..mechanism.bodymotion import BodyMotion
from ..mechanism.mobility import COORDINATES
from ..mechanism.model import Array, Model
from ..motion.bodies import body_motions
from ..motion.continuity import follow
from ..motion.kinematics import diagnostics, prepare
from ..motion.program import NumericStep
from ..motion.results import Results
from ..motion.run import Failure, Solution
from ..motion.timefunctions import check_times
from .applied import Applied
from .coordinates import Coordinate, driven_by
from .inertia import Inertia
from .mechanics import Mechanics
from .meetings import meetings, passed
from .posture import Posture, poses_of, width
from .reactions import Reactions
from .record import Record, energies, results

SINGULAR = 1e-10  # of the largest: an actuator whose power vanishes cannot carry the motion


@dataclass(frozen=True, eq=False)
class InverseOutcome:
    """Results as far as the motion came, and why it stopped (None where it did not)."""

    results: Results
    failure: Failure | None


def effort_wrenches(model: Model, posture: Posture, efforts: Mapping[str, float]) -> Array:
    """Return the wrenches (n x w) that efforts along the coordinates of drivers exert on the bodies."""
    system = Absolute(model)
    rows = system.jacobian(poses_of(system, posture))
    total = np.zeros((len(model.bodies), width(model)))
    weights = system.per_driver(efforts)
    n = (len(model.bodies) - 1) * width(model)
    total[1:] = (weights @ rows)[:n].reshape(-1, width(model))
    return total


def inverse(model: Model, times: Array | None = None, progress: Callable[[str], None] = lambda _: None,
            scheme: str = "direct") -> InverseOutcome:  # fmt: skip
    """Return efforts and reactions at the given times, or at those of [simulation]."""
    asked = model.simulation.times() if times is None else np.asarray(times, dtype=np.float64)
    start = model.simulation.start
    if len(asked) == 0 or not np.isfinite(asked).all() or (np.diff(asked) <= 0).any() or asked[0] < start:
        raise InputError(
            f"--at: times are increasing numbers from the start of the simulation ({start:g}) on - put them in order"
        )
    check_times(model, asked)
    structure, program = prepare(model, progress)
    _check_actuators(model, structure.mobility)
    grid = asked if asked[0] == start else np.concatenate([[start], asked])
    solution = follow(program, grid)
    steps = solution.asked[solution.asked < solution.solved]
    inside = _Inverse(model, scheme, solution)
    records, unbounded = _records(model, solution, steps, inside)
    notes = dict(diagnostics(solution, structure))
    notes["power_balance"] = inside.imbalance
    if unbounded:
        notes["unbounded"] = unbounded
    if inside.reactions.not_unique:
        notes["reactions"] = {"not_unique": sorted(inside.reactions.not_unique & set(model.joints))}
    shown = max(0, len(records) - (len(grid) - len(asked)))
    return InverseOutcome(results(model, "td", records, notes, shown), solution.failure)


def _records(
    model: Model, solution: Solution, steps: NDArray[np.int64], inside: _Inverse
) -> tuple[list[Record], list[float]]:
    """Return the records of the asked steps, and the times at which forces grow without bound."""
    meeting = meetings(solution)
    beside = {n for k in steps.tolist() if k in meeting for n in meeting[k].nodes}
    lanes = np.array(sorted({*steps.tolist(), *beside}), dtype=np.int64)
    motions = body_motions(solution, lanes)
    found: dict[int, Record] = {}
    for i, k in enumerate(lanes.tolist()):
        state = _posture(model, motions, float(solution.time[k]), i)
        found[k] = inside.record(*state, k, singular=k in meeting)
    unbounded = []
    for k in steps.tolist():
        if k in meeting:
            found[k], grows = passed(found[k], meeting[k], found)
            unbounded += [float(solution.time[k])] if grows else []
    return [found[k] for k in steps.tolist()], unbounded


def _check_actuators(model: Model, mobility: int) -> None:
    if model.actuators and len(model.actuators) != mobility:
        raise InputError(
            f"{model.origin or model.name}: [actuators]: there are {len(model.actuators)} for {mobility} free motions "
            f"- give {mobility}, or none to let the drivers carry the efforts"
        )


def _posture(model: Model, motions: Mapping[str, BodyMotion], t: float, i: int) -> tuple[Posture, Array]:
    """Return posture and acceleration at one step of the motions of the bodies."""
    n, d, w = len(model.bodies), model.dimension, width(model)
    origin, rotation, angle = np.zeros((n, d)), np.tile(np.eye(d), (n, 1, 1)), np.zeros(n)
    rates = np.zeros((2, n, w))
    for k, name in enumerate(model.bodies):
        if name not in motions:
            continue
        m = motions[name]
        origin[k] = m.origin[0, :, i]
        rates[:, k, :d] = m.origin[1:, :, i]
        if m.angle is not None:
            angle[k] = m.angle[0, i]
            c, s = np.cos(angle[k]), np.sin(angle[k])
            rotation[k] = [[c, -s], [s, c]]
            rates[:, k, 2] = m.angle[1:, i]
        else:
            assert m.rotation is not None
            assert m.omega is not None
            assert m.alpha is not None
            rotation[k] = m.rotation[i]
            rates[0, k, 3:], rates[1, k, 3:] = m.omega[:, i], m.alpha[:, i]
    return Posture(t, origin, rotation, angle, rates[0]), rates[1]


class _Inverse:
    """The equations of one model along a known motion."""

    def __init__(self, model: Model, scheme: str, solution: Solution) -> None:
        self.model, self.scheme, self.solution = model, scheme, solution
        numeric = any(isinstance(s, NumericStep) for s in solution.program.steps)
        self.mechanics = None if numeric else Mechanics(solution.program)
        self.inertia = Inertia(model)
        self.applied = Applied(model, self.inertia)
        self.reactions = Reactions(model)
        self.drivers = tuple(model.drivers)
        self.system = Absolute(model)
        self.acting = {a.name: _coordinate(model, a.joint) for a in model.actuators}
        self.actuated = driven_by(replace(model, drivers={}), self.acting.values()) if self.acting else model
        self.actuator_rows = Absolute(self.actuated)
        self.imbalance = 0.0

    def record(self, posture: Posture, acceleration: Array, step: int, singular: bool = False) -> Record:
        """Return efforts, reactions and energies at one step; of a singular step only the energies hold."""
        self.applied.remember(posture)
        loads = self.applied.wrenches(posture)
        inertia = self.inertia.wrenches(posture, acceleration)
        lack = inertia - loads
        lack[0] = 0.0
        R = self._columns(posture, step)
        wanted = np.einsum("nwk,nw->k", R, lack)
        if self.acting:
            given = self._actuators(posture, R, wanted)
            by_driver = {c.driver: given[a] for a, c in self.acting.items()}
            pushes = effort_wrenches(self.actuated, posture, by_driver)
        else:
            given = dict(zip(self.drivers, wanted.tolist(), strict=True))
            pushes = effort_wrenches(self.model, posture, given)
        if not singular:
            self._balance(posture, inertia, loads, pushes)
        reactions = self.reactions.solve(posture, lack - pushes, self.scheme, R, self.inertia.matrices(posture))
        efforts = dict.fromkeys(self.drivers, 0.0) if self.acting else given
        return Record(
            posture, acceleration, *energies(self.inertia, self.applied, posture),
            efforts=efforts, actuators=given if self.acting else {}, reactions=reactions,
        )  # fmt: skip

    def _columns(self, posture: Posture, step: int) -> Array:
        """Return R, n x w x k: the motion of the bodies for the unit rate of each driver, by the groups.

        Cams have no group solver, and at an instant where branches meet a group has no rates of its own: there the
        rows of all joints give the smallest motion.
        """
        if self.mechanics is not None:
            found = self.mechanics.at_step(self.solution, step)
            if found is not None:
                return found.R
        poses = poses_of(self.system, posture)
        linear = Linear(self.system, poses)
        n, w = len(self.model.bodies), width(self.model)
        R = np.zeros((n, w, len(self.drivers)))
        for i, name in enumerate(self.drivers):
            unit = self.system.per_driver({d: float(d == name) for d in self.drivers})
            R[1:, :, i] = linear.solve(unit)[: (n - 1) * w].reshape(n - 1, w)
        return R

    def _actuators(self, posture: Posture, R: Array, wanted: Array) -> dict[str, float]:
        """Return the efforts of the actuators: their power for every unit rate is that of the drivers."""
        rows = self.actuator_rows.jacobian(poses_of(self.actuator_rows, posture))
        n = (len(self.model.bodies) - 1) * width(self.model)
        place = {name: k for k, name in enumerate(self.actuator_rows.names) if self.actuator_rows.of_driver[k]}
        A = np.array([rows[place[c.driver], :n] @ R[1:].reshape(n, -1) for c in self.acting.values()])
        s = np.linalg.svd(A, compute_uv=False)
        if s[-1] <= SINGULAR * max(s[0], 1e-300):
            raise InputError(
                f"{self.model.origin or self.model.name}: [actuators]: at t = {posture.time:.9g} s the efforts of "
                f"{', '.join(self.acting)} cannot carry the motion (their joints stand still, or depend on each other) "
                "- put the actuators at other joints"
            )
        return dict(zip(self.acting, np.linalg.solve(A.T, wanted).tolist(), strict=True))

    def _balance(self, posture: Posture, inertia: Array, loads: Array, pushes: Array) -> None:
        """Note how far the powers of inertia, loads and efforts miss each other, relative to their sizes."""
        parts = [float(np.sum(posture.twist * x)) for x in (inertia, loads, pushes)]
        size = sum(float(np.sum(np.abs(posture.twist * x))) for x in (inertia, loads, pushes))
        if size > 0:
            self.imbalance = max(self.imbalance, abs(parts[0] - parts[1] - parts[2]) / size)


def _coordinate(model: Model, joint: str) -> Coordinate:
    return Coordinate(joint, COORDINATES[model.joints[joint].kind][0])
