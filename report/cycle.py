"""One cycle of a mechanism looked at closely: conditioning, transmission angles, ranges of motion, dead points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Model
from ..mechanism.plans.plan import Array
from ..mechanism.structure import Structure
from ..motion.branches import follow
from ..motion.closer_look import quality
from ..motion.kinematics import report as results_of
from ..motion.outcome import Stop
from ..motion.results import Results
from ..motion.series import JointSeries
from ..runtime.program import GroupStep, Program

INSTANTS = 361
WHOLE_TURN = 2 * np.pi * (1 - 1e-9)
STILL = 1e-9  # of the largest rate: below it a coordinate does not move
MOVES = 1e-3  # of the largest rate: above it it does
MOST_REVERSALS = 12  # of one joint that are listed
# Types whose conditioning is the sine of the transmission angle: of rod and rocker, of rod and the guide's normal.
TRANSMITTING = {"RRR": "between the two links", "RRP": "between the link and the normal of the guide"}


@dataclass(frozen=True, eq=False)
class GroupQuality:
    """How far a group is from a singular configuration over the cycle, 0 (a dead point) to 1."""

    name: str
    type: str
    conditioning: Array
    time: Array
    change_points: tuple[float, ...]  # change points that the motion passes

    @property
    def least(self) -> float:
        return float(self.conditioning.min())

    @property
    def at(self) -> float:
        return float(self.time[int(self.conditioning.argmin())])

    @property
    def transmission(self) -> Array | None:
        """The transmission angle (0 to π/2) of dyads that have one."""
        if self.type not in TRANSMITTING:
            return None
        return np.asarray(np.arcsin(np.clip(self.conditioning, 0.0, 1.0)))


@dataclass(frozen=True)
class Range:
    """How far a joint moves, or a driver that stands on none.

    At its reversals, where it stands still while the mechanism moves, the mechanism could not be driven by this joint.
    """

    joint: str
    quantity: str  # "angle" | "displacement"
    low: float
    high: float
    whole_turns: bool
    reversals: tuple[tuple[float, float], ...]  # time and value
    driven: bool = False

    @property
    def extent(self) -> float:
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Cycle:
    """A part of the run at many instants: its results, groups and ranges, and why it ends early (None: it does not)."""

    results: Results
    groups: tuple[GroupQuality, ...]
    ranges: tuple[Range, ...]
    stop: Stop | None


def cycle_of(model: Model, structure: Structure, program: Program, start: float, stop: float) -> Cycle:
    """Return the motion from start to stop at many instants, with everything that a report says about it."""
    solution = follow(program, _grid(model, start, stop))
    lanes = np.searchsorted(solution.time, np.linspace(start, stop, INSTANTS if stop > start else 1))
    results = results_of(solution, np.unique(lanes[lanes < solution.solved]), "td", structure)
    groups = []
    for step in program.steps:
        if isinstance(step, GroupStep) and solution.solved and not step.solver.group.steady:
            kappa, _, _ = quality(solution, step)
            inside = solution.time[: solution.solved] >= start
            change_points = solution.course.change_points.get(step.plan.name, [])
            groups.append(
                GroupQuality(
                    step.plan.name,
                    step.plan.type,
                    kappa[inside],
                    solution.time[: solution.solved][inside],
                    tuple(sorted(m.centre for m in change_points if start <= m.centre <= stop)),
                )
            )
    ranges = tuple(_ranges(model, structure, program, results))
    return Cycle(results, tuple(groups), ranges, solution.stop)


def _grid(model: Model, start: float, stop: float) -> Array:
    """The instants; a cycle that begins later is followed from the start of the simulation."""
    times = np.linspace(start, stop, INSTANTS) if stop > start else np.array([start])
    first = float(model.simulation.start)
    return times if start <= first else np.concatenate([np.linspace(first, start, INSTANTS)[:-1], times])


def _coordinates(series: JointSeries) -> list[tuple[str, Array, Array, Array]]:
    """Return quantity, values, rates and accelerations of what a joint measures."""
    found = []
    if series.angle is not None:
        found.append(("angle", series.angle, series.rate, series.acceleration))
    if series.displacement is not None and series.angle is None:
        found.append(("displacement", series.displacement, series.rate, series.acceleration))
    elif series.displacement is not None:
        assert series.displacement_rate is not None
        assert series.displacement_acceleration is not None
        rates = series.displacement_rate, series.displacement_acceleration
        found.append(("displacement", series.displacement, *rates))
    return found


def _ranges(model: Model, structure: Structure, program: Program, results: Results) -> list[Range]:
    """Return the ranges of all joints that move, their reversals solved for and not merely sampled."""
    turning: dict[tuple[str, str], Array] = {}  # times of reversals, by joint and quantity
    moving, driven = _moving(results), {(d.joint, d.kind) for d in model.drivers.values()}
    for name, series in results.joints.items():
        for quantity, _, rate, _ in _coordinates(series):
            turning[name, quantity] = _zeros(results.time, rate, moving)
    times = np.unique(np.concatenate([np.zeros(0), *turning.values()]))
    closer: Results | None = None
    if len(times):
        closer = _at(model, structure, program, times)
    found = []
    for name, series in results.joints.items():
        for quantity, values, rate, _ in _coordinates(series):
            if not len(values) or np.abs(rate).max() == 0:
                continue
            known: list[tuple[float, float]] = []
            if closer is not None and name in closer.joints:
                known = _settled(closer, name, quantity, turning[name, quantity])
            ends = [float(values.min()), float(values.max()), *(v for _, v in known)]
            low, high = min(ends), max(ends)
            whole = quantity == "angle" and high - low >= WHOLE_TURN
            reversals = tuple(known[:MOST_REVERSALS])
            found.append(Range(name, quantity, low, high, whole, reversals, (name, quantity) in driven))
    for name, driver in model.drivers.items():
        values = results.drivers[name].value
        if driver.joint is None and len(values) and np.ptp(values) > 0:
            low, high = float(values.min()), float(values.max())
            found.append(Range(name, driver.kind, low, high, False, (), True))
    return found


def _moving(results: Results) -> NDArray[np.bool_]:
    """Return at which instants something moves: where the drivers themselves turn back, nothing does."""
    moves = np.zeros(len(results.time), dtype=np.bool_)
    for series in results.joints.values():
        for _, _, rate, _ in _coordinates(series):
            moves |= np.abs(rate) > MOVES * np.abs(rate).max(initial=0.0)
    return moves


def _zeros(time: Array, rate: Array, moving: NDArray[np.bool_]) -> Array:
    """Return where a rate is zero while others are not: by the straight line between two instants, or at an instant."""
    if len(rate) < 2 or np.abs(rate).max() == 0:
        return np.zeros(0)
    clear = np.where(np.abs(rate) < STILL * np.abs(rate).max(), 0.0, rate)
    k = np.flatnonzero((clear[:-1] * clear[1:] < 0) & moving[:-1] & moving[1:])
    at = time[k] - clear[k] * (time[k + 1] - time[k]) / (clear[k + 1] - clear[k])
    beside = np.concatenate([-clear[1:2], clear, -clear[-2:-1]])  # a cycle that begins or ends at rest turns back there
    touched = np.flatnonzero((clear == 0) & (beside[:-2] * beside[2:] < 0) & moving)
    return np.asarray(np.sort(np.concatenate([at, time[touched]])))


def _at(model: Model, structure: Structure, program: Program, times: Array) -> Results:
    first = float(model.simulation.start)
    way = np.linspace(first, float(times[-1]), INSTANTS)  # from the first assembly on, in steps that keep the branch
    solution = follow(program, np.union1d(way, times))
    lanes = np.searchsorted(solution.time, times)
    return results_of(solution, lanes[lanes < solution.solved], "td", structure)


def _settled(closer: Results, name: str, quantity: str, times: Array) -> list[tuple[float, float]]:
    """Return time and value of reversals: one Newton step from where the straight line had put them."""
    found = []
    (values, rate, acceleration), *_ = [c[1:] for c in _coordinates(closer.joints[name]) if c[0] == quantity]
    for t in times:
        k = int(np.searchsorted(closer.time, t))
        if k < len(closer.time) and closer.time[k] == t and acceleration[k] != 0:
            step = rate[k] / acceleration[k]
            found.append((float(t - step), float(values[k] - 0.5 * rate[k] * step)))
    return found
