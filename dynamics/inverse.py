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
from ..motion.course import ChangePoint
from ..motion.kinematics import diagnostics, prepare
from ..motion.outcome import Outcome
from ..motion.reported import reported
from ..motion.run import Solution
from ..motion.series import DriverSeries
from ..runtime.program import Program
from ..runtime.sequence import Ints
from ..runtime.time_functions import check_times
from .applied_loads import Applied
from .body_lanes import BodyLanes, in_portions
from .change_point_forces import bridged, finer, limits, near_singular
from .coordinates import JointCoordinate, driven_by
from .inertia import Inertia
from .joint_forces import Forces, Solved
from .joint_friction import JammedError, with_friction
from .posture import width
from .reaction_schemes import by_scheme
from .records import Recorded, reactions_of, results, told_of_reactions
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
    notes |= told_of_reactions(model, inside.forces.not_unique)
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

    def record(self, solution: Solution, steps: Ints) -> tuple[Recorded, list[float]]:
        """Return what is reported at the asked steps, and the times at which forces grow without bound.

        Those are no numbers there.
        """
        near = near_singular(solution, steps, self.forces)
        blind = np.concatenate([b.blind for b in near]) if near else np.zeros(0, dtype=np.int64)
        kinetic, potential, efforts, wrenches = self._along(solution, steps, np.isin(steps, blind))
        unbounded = np.asarray(np.isnan(efforts).any(axis=0) | np.isnan(wrenches).any(axis=(0, 1)))
        if near:
            fine, points = finer(solution, near)
            for b, point in zip(near, points, strict=True):
                limit, smooth = self._limit(fine, point, solution.time[b.steps])
                taken = np.isin(b.steps, b.steps if smooth else b.blind)
                at = np.searchsorted(steps, b.steps[taken])
                efforts[:, at], wrenches[..., at] = (x[..., taken] for x in limit)
                unbounded[at] = not smooth
        record = Recorded(
            solution.time[steps], {}, kinetic, potential, *self._named(efforts), reactions_of(self.model, wrenches)
        )
        return record, solution.time[steps[unbounded]].tolist()

    def _along(self, solution: Solution, lanes: Ints, blind: NDArray[np.bool_]) -> tuple[Array, Array, Array, Array]:
        """Return energies, efforts and wrenches of the joints at some lanes; forces not where these are blind."""
        beside = np.isin(lanes, list(bridged(solution, lanes)) if self.friction is not None else [])
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
            efforts[:, at], wrenches[..., at] = self._solved(bodies, inertia, loads, blind[at], beside[at], R)
        return kinetic, potential, efforts, wrenches

    def _limit(self, fine: Solution, point: ChangePoint, times: Array) -> tuple[tuple[Array, Array], bool]:
        """Return efforts and wrenches as their limits from instants beside a change point, and whether all have one.

        What has no limit is no number. Efforts may have one where joints, on which they do not depend, have none.
        """
        scales, shape = (self.acting or self.forces).driver_scales, (len(self.model.joints), width(self.model))
        efforts, wrenches = np.full((len(scales), len(times)), np.nan), np.full((*shape, len(times)), np.nan)
        lanes = point.found(fine.time)
        if len(lanes) == 0 or lanes.max() >= fine.solved:
            return (efforts, wrenches), False
        order, miss, power = np.argsort(lanes), self.miss, self.power
        beside = self._along(fine, lanes[order], np.zeros(len(lanes), dtype=bool))
        self.miss, self.power = miss, power  # of the asked instants only
        back, d = np.argsort(order), self.model.dimension
        units = np.array([self.model.size] * d + [1.0] * (shape[1] - d))[:, None]
        pushing = beside[2][:, back] * scales[:, None]
        every = np.concatenate([pushing, (beside[3][..., back] * units).reshape(-1, len(lanes))])
        found = limits(point, times, every)
        if found is not None:
            wrenches = found[len(scales) :].reshape(wrenches.shape) / units
        alone = limits(point, times, pushing) if found is None else found[: len(scales)]
        return (efforts if alone is None else alone / scales[:, None], wrenches), found is not None

    def _springs(self, solution: Solution, lanes: Ints) -> dict[str, Array]:
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
        self, bodies: BodyLanes, inertia: Array, loads: Array, blind: NDArray[np.bool_], beside: NDArray[np.bool_],
        columns: Array | None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return efforts and the wrenches of the joints, with the friction that these wrenches cause.

        Beside change points the driver's lever may be shorter than that of friction, which holds the mechanism there
        whatever the driver does: forces are no numbers then.
        """
        if self.friction is None:
            return self._balanced(bodies, inertia, loads, blind, columns)
        friction = self.friction

        def rubbing(lanes: Ints) -> tuple[Array, Array]:
            few, R = bodies.at(lanes), None if columns is None else columns[..., lanes]
            mine, lost = (np.ascontiguousarray(x[..., lanes]) for x in (inertia, loads)), blind[lanes]
            inert, loaded = mine
            return friction.settled(few, lost, lambda more: self._balanced(few, inert, loaded + more, lost, R))

        if not beside.any():
            return rubbing(np.arange(len(bodies)))
        count = len(self.model.actuators) or len(self.model.drivers)
        efforts = np.full((count, len(bodies)), np.nan)
        wrenches = np.full((len(self.model.joints), width(self.model), len(bodies)), np.nan)
        free = np.flatnonzero(~beside)
        if len(free):
            efforts[:, free], wrenches[..., free] = rubbing(free)
        for lane in np.flatnonzero(beside)[:, None]:
            try:
                efforts[:, lane], wrenches[..., lane] = rubbing(lane)
            except JammedError:
                continue
        return efforts, wrenches

    def _balanced(
        self, bodies: BodyLanes, inertia: Array, loads: Array, blind: NDArray[np.bool_], columns: Array | None
    ) -> tuple[Array, Array]:
        """Return efforts (of drivers, or of actuators; each over lanes) and the wrenches of the joints."""
        lack = inertia - loads
        if self.acting is None:
            found = self.forces.solve(bodies, lack[None], blind)
            efforts = found.drivers[0]
            pushes = self.forces.exerted(bodies, efforts)
        else:
            units = [self.acting.exerted(bodies, unit) for unit in _units(len(self.model.actuators), len(bodies))]
            found = self.forces.solve(bodies, np.stack([lack, *units]), blind)
            efforts = self._actuators(bodies, found, blind)
            pushes = self.acting.exerted(bodies, efforts)
        self._balance(bodies, inertia, loads, pushes, blind)
        if self.acting is not None or self.forces.moved_drivers:
            found = self.forces.solve(bodies, (lack - pushes)[None], blind, driven=False)
        if self.scheme == "direct":
            return efforts, found.wrenches
        return efforts, by_scheme(
            self.scheme, self.forces, bodies, lack - pushes, self.inertia, ~blind, found.wrenches, columns
        )

    def _actuators(self, bodies: BodyLanes, found: Solved, blind: NDArray[np.bool_]) -> Array:
        """Return the efforts of the actuators: their power for every unit rate is that of the drivers."""
        A = found.drivers[1:].transpose(2, 0, 1).copy()  # lane, actuator, driver: power at the unit rate of a driver
        A[blind] = np.eye(A.shape[1])  # their forces follow from other lanes
        assert self.acting is not None
        s = np.linalg.svd(A / self.acting.driver_scales[:, None] * self.forces.driver_scales, compute_uv=False)
        stuck = (s[:, -1] <= np.maximum(SINGULAR * s[:, 0], STILL)) & ~blind
        if stuck.any():
            raise InputError(
                f"{self.model.origin or self.model.name}: [actuators]: at t = {bodies.time[np.argmax(stuck)]:.9g} s "
                f"the efforts of {', '.join(a.name for a in self.model.actuators)} cannot carry the motion (their "
                "joints stand still, or depend on each other) - put the actuators at other joints"
            )
        given = np.linalg.solve(A.swapaxes(1, 2), found.drivers[0].T[:, :, None])[:, :, 0]
        return np.ascontiguousarray(given.T)

    def _balance(
        self, bodies: BodyLanes, inertia: Array, loads: Array, pushes: Array, blind: NDArray[np.bool_]
    ) -> None:
        """Note how far the powers of inertia, loads and efforts miss each other, and how large they are."""
        from .body_kernels import imbalance

        miss, power = imbalance(bodies.origin, bodies.turn, inertia, loads, pushes, blind)
        self.miss, self.power = max(self.miss, float(miss)), max(self.power, float(power))


def _units(n: int, lanes: int) -> Array:
    """Return n efforts over lanes, each time one of them the unit and all others zero."""
    return np.repeat(np.eye(n)[:, :, None], lanes, axis=2)


def _coordinate(model: Model, joint: str) -> JointCoordinate:
    return JointCoordinate(joint, COORDINATES[model.joints[joint].kind][0])
