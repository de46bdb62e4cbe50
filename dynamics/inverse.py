"""Inverse dynamics: efforts of drivers or actuators, reactions and power along a prescribed motion, over lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from ..mechanism.arguments import times_of
from ..mechanism.mobility import COORDINATES
from ..mechanism.model import Array, Model, TorsionSpring
from ..mechanism.structure import Group, Structure
from ..motion.branches import follow
from ..motion.kinematics import diagnostics, prepare
from ..motion.outcome import Outcome
from ..motion.reported import reported
from ..motion.run import Solution
from ..motion.series import DriverSeries
from ..runtime.program import Program
from ..runtime.time_functions import check_times
from .applied_loads import Applied
from .body_lanes import BodyLanes, in_portions
from .change_point_forces import change_points, passed
from .coordinates import JointCoordinate, driven_by
from .inertia import Inertia
from .joint_forces import Forces, Solved
from .joint_friction import with_friction
from .posture import width
from .reaction_schemes import by_scheme
from .records import Recorded, reactions_of, results
from .velocity_transformation import velocity_columns

SINGULAR = 1e-10  # of the largest: an actuator whose power vanishes cannot carry the motion
STILL = 1e-14  # of the size, or of a radian, for a driver's: a coordinate that moves no further stands still


def inverse(model: Model, times: Array | None = None, progress: Callable[[str], None] = lambda _: None,
            scheme: str = "direct", prepared: tuple[Structure, Program] | None = None) -> Outcome:  # fmt: skip
    """Return efforts and reactions at the given times, or at those of [simulation].

    `prepared` are structure and program of the model where somebody has them already.
    """
    asked, start = times_of(model, times), model.simulation.start
    check_times(model, asked)
    structure, program = prepared or prepare(model, progress)
    _check_actuators(model, structure.mobility)
    grid = asked if asked[0] == start else np.concatenate([[start], asked])
    solution = follow(program, grid)
    notes = dict(diagnostics(solution, structure))
    inside = _Inverse(model, scheme, structure.groups)
    steps = solution.asked[solution.asked < solution.solved]
    record, unbounded = inside.record(solution, steps)
    notes["power_balance"] = inside.miss / inside.power if inside.power > 0.0 else 0.0
    if unbounded:
        notes["unbounded"] = unbounded
    if inside.forces.not_unique:
        notes["reactions"] = {"not_unique": sorted(inside.forces.not_unique)}
    shown = max(0, len(record.time) - (len(grid) - len(asked)))
    tables = reported(solution, steps[len(steps) - shown :])
    drivers = {name: DriverSeries(solution.state[0, program.drivers[name], steps] + d.offset)
               for name, d in model.drivers.items()}  # fmt: skip
    found = results(model, "td", record, notes, asked, (*tables[:3], drivers))
    return Outcome(model, found, solution.stop, structure)


def _check_actuators(model: Model, mobility: int) -> None:
    if model.actuators and len(model.actuators) != mobility:
        raise InputError(
            f"{model.origin or model.name}: [actuators]: there are {len(model.actuators)} for {mobility} free motions "
            f"- give {mobility}, or none to let the drivers carry the efforts"
        )


class _Inverse:
    """The equations of one model along a known motion."""

    def __init__(self, model: Model, scheme: str, groups: tuple[Group, ...]) -> None:
        self.model, self.scheme = model, scheme
        self.inertia = Inertia(model)
        self.applied = Applied(model, self.inertia)
        self.forces = Forces(model, groups)
        self.friction = with_friction(model)
        self.miss, self.power = 0.0, 0.0  # largest error of the balance of powers, and the largest power
        self.acting: Forces | None = None
        if model.actuators:
            acting = [_coordinate(model, a.joint) for a in model.actuators]
            self.acting = Forces(driven_by(replace(model, drivers={}), acting))

    def record(self, solution: Solution, steps: NDArray[np.int64]) -> tuple[Recorded, list[float]]:
        """Return what is reported at the asked steps, and the times at which forces grow without bound.

        Where branches meet a group has no rates of its own: forces follow from steps on both sides.
        """
        change_point = change_points(solution)
        met = [k for k in sorted(change_point) if k in set(steps.tolist())] if change_point else []
        beside = [n for k in met for n in change_point[k].nodes]
        lanes = np.union1d(steps, np.array(beside, dtype=np.int64)) if beside else steps
        singular = np.isin(lanes, np.array(list(change_point), dtype=np.int64))
        columns = velocity_columns(solution, lanes) if self.scheme == "tangent" else None
        count = len(self.model.actuators) or len(self.model.drivers)
        kinetic, potential, efforts = np.empty(len(lanes)), np.empty(len(lanes)), np.empty((count, len(lanes)))
        wrenches = np.empty((len(self.model.joints), width(self.model), len(lanes)))
        springs = self._springs(solution, lanes)
        for at, bodies in in_portions(solution, lanes):
            inertia, kinetic[at] = self.inertia.over(bodies)
            near = {name: angle[at] for name, angle in springs.items()}
            loads, potential[at] = self.applied.over(bodies, near=near), self.applied.potential_over(bodies, near)
            R = None if columns is None else columns[..., at]
            efforts[:, at], wrenches[..., at] = self._solved(bodies, inertia, loads, singular[at], R)
        unbounded = []
        for k in met:
            nodes = np.searchsorted(lanes, change_point[k].nodes)
            if passed(efforts, wrenches, int(np.searchsorted(lanes, k)), nodes, change_point[k].weights):
                unbounded.append(float(solution.time[k]))
        shown = slice(None) if lanes is steps else np.searchsorted(lanes, steps)
        record = Recorded(
            solution.time[steps], {}, kinetic[shown], potential[shown],
            *self._named(efforts[:, shown]), reactions_of(self.model, wrenches[..., shown]),
        )  # fmt: skip
        return record, unbounded

    def _springs(self, solution: Solution, lanes: NDArray[np.int64]) -> dict[str, Array]:
        """Return the continuous angles of the joints that have torsion springs, between the axes of rigid bodies."""
        springs = [load for load in self.model.loads if isinstance(load, TorsionSpring)]
        joints = reported(solution, lanes)[2] if springs else {}
        found = {}
        for spring in springs:
            angle = joints[spring.joint].angle
            assert angle is not None
            found[spring.name] = angle - self.model.joints[spring.joint].offset
        return found

    def _named(self, efforts: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the efforts of drivers and of actuators by their names."""
        if self.acting is None:
            return dict(zip(self.model.drivers, efforts, strict=True)), {}
        acting = dict(zip([a.name for a in self.model.actuators], efforts, strict=True))
        return {d: np.zeros(efforts.shape[1]) for d in self.model.drivers}, acting

    def _solved(
        self, bodies: BodyLanes, inertia: Array, loads: Array, singular: NDArray[np.bool_], columns: Array | None
    ) -> tuple[Array, Array]:
        """Return efforts and the wrenches of the joints, with the friction that these wrenches cause."""
        if self.friction is None:
            return self._balanced(bodies, inertia, loads, singular, columns)
        return self.friction.settled(
            bodies, singular, lambda more: self._balanced(bodies, inertia, loads + more, singular, columns)
        )

    def _balanced(
        self, bodies: BodyLanes, inertia: Array, loads: Array, singular: NDArray[np.bool_], columns: Array | None
    ) -> tuple[Array, Array]:
        """Return efforts (of drivers, or of actuators; each over lanes) and the wrenches of the joints."""
        lack = inertia - loads
        if self.acting is None:
            found = self.forces.solve(bodies, lack[None], singular)
            efforts = found.drivers[0]
            pushes = self.forces.exerted(bodies, efforts)
        else:
            units = [self.acting.exerted(bodies, unit) for unit in _units(len(self.model.actuators), len(bodies))]
            found = self.forces.solve(bodies, np.stack([lack, *units]), singular)
            efforts = self._actuators(bodies, found, singular)
            pushes = self.acting.exerted(bodies, efforts)
        self._balance(bodies, inertia, loads, pushes, singular)
        if self.acting is not None or self.forces.moved_drivers:
            found = self.forces.solve(bodies, (lack - pushes)[None], singular, driven=False)
        if self.scheme == "direct":
            return efforts, found.wrenches
        return efforts, by_scheme(
            self.scheme, self.forces, bodies, lack - pushes, self.inertia, ~singular, found.wrenches, columns
        )

    def _actuators(self, bodies: BodyLanes, found: Solved, singular: NDArray[np.bool_]) -> Array:
        """Return the efforts of the actuators: their power for every unit rate is that of the drivers."""
        A = found.drivers[1:].transpose(2, 0, 1).copy()  # lane, actuator, driver: power at the unit rate of a driver
        A[singular] = np.eye(A.shape[1])  # their forces follow from other lanes
        assert self.acting is not None
        s = np.linalg.svd(A / self.acting.driver_scales[:, None] * self.forces.driver_scales, compute_uv=False)
        stuck = (s[:, -1] <= np.maximum(SINGULAR * s[:, 0], STILL)) & ~singular
        if stuck.any():
            raise InputError(
                f"{self.model.origin or self.model.name}: [actuators]: at t = {bodies.time[np.argmax(stuck)]:.9g} s "
                f"the efforts of {', '.join(a.name for a in self.model.actuators)} cannot carry the motion (their "
                "joints stand still, or depend on each other) - put the actuators at other joints"
            )
        given = np.linalg.solve(A.swapaxes(1, 2), found.drivers[0].T[:, :, None])[:, :, 0]
        return np.ascontiguousarray(given.T)

    def _balance(
        self, bodies: BodyLanes, inertia: Array, loads: Array, pushes: Array, singular: NDArray[np.bool_]
    ) -> None:
        """Note how far the powers of inertia, loads and efforts miss each other, and how large they are."""
        from .body_kernels import imbalance

        miss, power = imbalance(bodies.origin, bodies.turn, inertia, loads, pushes, singular)
        self.miss, self.power = max(self.miss, float(miss)), max(self.power, float(power))


def _units(n: int, lanes: int) -> Array:
    """Return n efforts over lanes, each time one of them the unit and all others zero."""
    return np.repeat(np.eye(n)[:, :, None], lanes, axis=2)


def _coordinate(model: Model, joint: str) -> JointCoordinate:
    return JointCoordinate(joint, COORDINATES[model.joints[joint].kind][0])
