"""A run through dead points: where its driver cannot lead a group, another coordinate drives the mechanism for a while.

At a dead point the driver's coordinate d has reached the end of its range: along the path of the mechanism, told by
another joint coordinate z, d has an extremum there. A driver that turns back at that place, but not exactly so (a
measured table, rounded numbers), asks for positions that do not exist. Between an instant before, at which the group is
well conditioned, and one behind, at which the driver has come back as far, z leads with the position, velocity and
acceleration of both ends: the structure changes and changes back (the paper's section 6.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..common.errors import AssurgentError, InputError
from ..common.status import OTHER_MOTION
from ..mechanism.model import FRAME, Array, Driver, Model
from ..runtime.program import GroupStep
from .branches import follow
from .closer_look import conditioning
from .kinematics import asked_times, prepare, report, run
from .outcome import Outcome
from .results import Results
from .run import Solution
from .series import DriverSeries

CLEAR = 0.05  # conditioning at which the driver gives way, and takes over again
BEYOND = 1e-3  # of the size (or radians): farther beyond its range a driver asks for another motion
MOST = 200  # dead points of a run
PATH = 401  # places of the path that is looked at
WAYS = {"R": "angle", "C": "angle", "H": "angle", "P": "displacement", "slot": "displacement"}


@dataclass
class _Polynomial:
    """A driver's motion: a polynomial of the time since t0."""

    t0: float
    coefficients: tuple[float, ...]  # constant first
    text: str = "a polynomial in time"

    def __call__(self, x: Array) -> Array:
        p = np.polynomial.Polynomial(self.coefficients)
        return np.array([(p.deriv(k) if k else p)(np.asarray(x) - self.t0) for k in range(4)])

    def check(self, times: Array, where: str) -> None:
        """A polynomial has a value at all times."""


@dataclass(frozen=True, eq=False)
class _Passage:
    """One dead point: from when to when, which joint leads, and the mechanism that it leads."""

    begin: float
    end: float
    joint: str
    model: Model  # posed at `begin`, led by the joint
    group: str


def run_through(
    model: Model,
    times: Array | None = None,
    method: str = "td",
    progress: Callable[[str], None] = lambda _: None,
    jerk: bool = False,
    threads: int = 1,
) -> Outcome:
    """Return the motion at the asked times, led by another coordinate through dead points where that is possible."""
    check_through(model)
    asked = asked_times(model, times, method)
    last = run(model, asked, method, progress, jerk, threads)
    told: list[dict[str, object]] = []
    parts, now, first = [last.results], model, last
    while last.stop is not None and len(told) < MOST:
        passage = _passage(now, last, float(asked[-1]), progress)
        if passage is None:
            break
        within = asked[(asked > passage.begin) & (asked < passage.end)]
        led = run(passage.model, _ends(passage.begin, within, passage.end), method, progress, jerk, threads)
        if led.stop is not None:
            break
        driver = next(iter(model.drivers.values()))
        follows = _followed(_joined(_upto(parts[-1], passage.begin), led.results), driver)
        off = np.abs(follows.drivers[driver.name].value - driver.motion(follows.time)[0])
        told.append({
            "group": passage.group, "from": passage.begin, "to": passage.end, "driver": driver.name,
            "virtual_driver": f"joint {passage.joint}",
            "off_by": float(off[follows.time >= passage.begin].max(initial=0.0)),
        })  # fmt: skip
        now = _posed(replace(model, assembly={}), led.results, -1, passage.end)
        later = asked[asked >= passage.end]
        last = run(now, np.unique(np.append(passage.end, later)), method, progress, jerk, threads)
        parts.append(_joined(follows, last.results))
    whole = _at(parts[-1], asked)
    notes = {**first.results.diagnostics, **last.results.diagnostics, **({"through": told} if told else {})}
    if last.stop is None:
        notes.pop("stopped", None)
    else:
        notes["stopped"] = last.stop.message
    return Outcome(model, replace(whole, diagnostics=notes), last.stop, first.structure)


def _ends(begin: float, within: Array, end: float) -> Array:
    return np.concatenate([[begin], within, [end]])


# ---- the passage --------------------------------------------------------------------------------------------------
def _passage(model: Model, outcome: Outcome, stop: float, progress: Callable[[str], None]) -> _Passage | None:
    """Return how to pass the dead point at which a run ended; None where its motion is not defined beyond."""
    ended = outcome.stop
    assert ended is not None
    drivers = list(model.drivers.values())
    if (
        ended.status == OTHER_MOTION
        or len(drivers) != 1
        or drivers[0].joint is None
        or drivers[0].kind not in ("angle", "displacement")
    ):
        return None
    found = _before(model, ended.group, ended.time, progress)
    if found is None:
        return None
    begin, here = found
    for joint in ended.joints:
        way = WAYS.get(model.joints[joint].kind)
        if joint == drivers[0].joint or way is None or joint not in here.joints:
            continue
        try:
            passage = _led(model, drivers[0], joint, way, begin, here, stop, ended.group, progress)
        except AssurgentError:  # the structure with that driver is none
            continue
        if passage is not None:
            return passage
    return None


def _before(model: Model, group: str, t: float, progress: Callable[[str], None]) -> tuple[float, Results] | None:
    """Return the last instant before t at which the group is well conditioned, and the motion there."""
    start = model.simulation.start
    times = t - (t - start) * np.exp2(-np.arange(40.0) / 2)
    times = np.unique(times[times < t])
    if len(times) == 0:  # it begins at its dead point: nothing tells which way it came
        return None
    structure, program = prepare(model, progress)
    solution: Solution = follow(program, times, "td")
    step = next((s for s in program.steps if isinstance(s, GroupStep) and s.plan.name == group), None)
    lanes = solution.asked[solution.asked < solution.solved]
    if step is None or len(lanes) == 0:
        return None
    clear = np.flatnonzero(conditioning(solution, step, lanes) >= CLEAR)
    if len(clear) == 0:
        return None
    lane = lanes[clear[-1] : clear[-1] + 1]
    return float(solution.time[lane[0]]), report(solution, lane, "td", structure)


def _led(
    model: Model, driver: Driver, joint: str, way: str, begin: float, here: Results, stop: float, group: str,
    progress: Callable[[str], None],
) -> _Passage | None:  # fmt: skip
    """Return the passage led by a joint; None where the path has no turning point, or the driver does not come back."""
    value, rate, _ = _coordinate(here, joint, way, 0)
    scale = 1.0 if driver.kind == "angle" else float(model.size)
    if rate == 0.0:
        return None

    turn = model.joints[joint].offset if way == "angle" else 0.0

    def posed(coefficients: Sequence[float]) -> Model:
        motion = _Polynomial(begin, tuple(value + c if i == 0 else c for i, c in enumerate(coefficients)))
        virtual = Driver("through", way, motion, joint, _bodies(model, joint), offset=turn)
        bare = replace(model, drivers={"through": virtual}, assembly={}, groups={})
        return _posed(bare, here, 0, begin)

    def along(tau: Array) -> Array | None:
        outcome = run(posed((0.0, rate)), begin + tau, "td", progress)
        assert driver.joint is not None
        columns = range(len(outcome.results.time))
        found = np.array([_coordinate(outcome.results, driver.joint, driver.kind, i) for i in columns])
        return found.T if outcome.stop is None else None

    t = np.linspace(begin, stop, 20_001)
    wanted = driver.motion(t)[0]
    for width in (1.5, 4.0, 10.0, 30.0):  # of the way to the dead point, as the speed before it tells
        tau = np.linspace(0.0, width * _to_the_end(here, driver), PATH)
        d = along(tau)
        if d is None:
            return None
        turned = np.flatnonzero(np.sign(d[1]) != np.sign(d[1, 0]))
        if len(turned) and np.abs(d[0, -1] - d[0, turned[0]]) >= np.abs(d[0, 0] - d[0, turned[0]]):
            break
    else:
        return None
    side, extreme = np.sign(d[1, 0]), float(d[0, turned[0]])
    back = np.flatnonzero((np.arange(len(t)) > 0) & (side * (extreme - wanted) >= side * (extreme - d[0, 0])))
    if len(back) == 0 or (side * (wanted[: back[0]] - extreme)).max() > BEYOND * scale:
        return None
    end = float(t[back[0]])
    jet = driver.motion(np.array([end]))[:3, 0]
    place = float(np.interp(side * -jet[0], side * -d[0, turned[0] :], tau[turned[0] :]))
    at = d
    for _ in range(6):
        found = along(np.array([0.0, place]))
        if found is None:
            return None
        at = found
        place -= (at[0, 1] - jet[0]) / at[1, 1]
    speed = jet[1] / at[1, 1]
    if speed <= 0.0 or place <= tau[turned[0]]:
        return None
    jet0 = driver.motion(np.array([begin]))[:3, 0]
    first = (0.0, jet0[1] / at[1, 0], (jet0[2] - at[2, 0] * (jet0[1] / at[1, 0]) ** 2) / at[1, 0])
    final = (place, speed, (jet[2] - at[2, 1] * speed**2) / at[1, 1])
    return _Passage(begin, end, joint, posed([rate * c for c in _quintic(first, final, end - begin)]), group)


def _bodies(model: Model, joint: str) -> tuple[str, str]:
    return model.joints[joint].first, model.joints[joint].second


def _to_the_end(here: Results, driver: Driver) -> float:
    """Return about how long it takes to the dead point: there the driver's speed, by the path, has fallen to zero."""
    assert driver.joint is not None
    _, rate, acceleration = _coordinate(here, driver.joint, driver.kind, 0)
    return abs(rate / acceleration) if acceleration * rate < 0.0 else 1.0


def _quintic(first: Sequence[float], last: Sequence[float], h: float) -> list[float]:
    """Return the polynomial of least degree with value, rate and acceleration at 0 and at h."""
    a0, a1, a2 = first[0], first[1], first[2] / 2
    rest = [
        last[0] - (a0 + a1 * h + a2 * h * h),
        (last[1] - (a1 + 2 * a2 * h)) * h,
        (last[2] - 2 * a2) * h * h,
    ]
    b = np.linalg.solve([[1.0, 1.0, 1.0], [3.0, 4.0, 5.0], [6.0, 12.0, 20.0]], rest)
    return [a0, a1, a2, *(float(c) / h**k for k, c in enumerate(b, 3))]


def _coordinate(results: Results, joint: str, way: str, i: int) -> tuple[float, float, float]:
    """Return a joint's coordinate and its rates at one instant."""
    j = results.joints[joint]
    if way == "angle":
        assert j.angle is not None
        return float(j.angle[i]), float(j.rate[i]), float(j.acceleration[i])
    assert j.displacement is not None
    if j.displacement_rate is not None and j.displacement_acceleration is not None:
        return float(j.displacement[i]), float(j.displacement_rate[i]), float(j.displacement_acceleration[i])
    return float(j.displacement[i]), float(j.rate[i]), float(j.acceleration[i])


def _posed(model: Model, results: Results, i: int, start: float) -> Model:
    """Return the model with its first configuration where results have the bodies at one instant."""
    bodies = {FRAME: model.bodies[FRAME]}
    for name, body in model.bodies.items():
        if name == FRAME:
            continue
        part = body.parts[0]
        series = results.bodies[part.name]
        if series.rotation is not None:
            rotation = np.asarray(series.rotation[i] @ part.rotation.T)
        else:
            assert series.angle is not None
            c, s = np.cos(series.angle[i]), np.sin(series.angle[i])
            rotation = np.array([[c, -s], [s, c]]) @ part.rotation.T
        point, local = next(iter(body.points.items()))
        origin = results.points[point].position[i] - rotation @ local
        bodies[name] = replace(body, origin=origin, rotation=rotation)
    places = {p: b.outside(x) for b in bodies.values() for p, x in b.points.items()}
    simulation = replace(model.simulation, start=start, stop=max(start, model.simulation.stop))
    return replace(model, bodies=bodies, points={**model.points, **places}, simulation=simulation)


# ---- results one behind the other ---------------------------------------------------------------------------------
def _followed(results: Results, driver: Driver) -> Results:
    """Return results with the driver's coordinate as its joint has it, where something else led."""
    assert driver.joint is not None
    joint = results.joints[driver.joint]
    value = joint.angle if driver.kind == "angle" else joint.displacement
    assert value is not None
    return replace(results, drivers={driver.name: DriverSeries(value)})


def _upto(results: Results, t: float) -> Results:
    return _chosen(results, np.flatnonzero(results.time <= t))


def _at(results: Results, asked: Array) -> Results:
    return _chosen(results, np.flatnonzero(np.isin(results.time, asked)))


def _chosen(results: Results, places: Any) -> Results:
    def series(s: Any) -> Any:
        found = {f.name: getattr(s, f.name) for f in fields(s)}
        return replace(s, **{k: None if v is None else v[places] for k, v in found.items()})

    tables: dict[str, Any] = {}
    for name in _TABLES:
        table = getattr(results, name)
        tables[name] = None if table is None else {k: series(s) for k, s in table.items()}
    return replace(results, time=results.time[places], **tables)


_TABLES = ("points", "bodies", "joints", "drivers", "vectors")


def _joined(before: Results, behind: Results) -> Results:
    """Return two results one behind the other; angles go on where they were, the first instant behind is new."""
    new = behind.time > (before.time[-1] if len(before.time) else -np.inf)

    def series(one: Any, two: Any) -> Any:
        found: dict[str, Any] = {}
        for f in fields(one):
            a, b = getattr(one, f.name), getattr(two, f.name)
            if a is None or b is None:
                found[f.name] = None
                continue
            if f.name == "angle" and len(a) and len(b):
                rate = getattr(two, "angular_velocity", None)
                rate = two.rate if rate is None else rate
                expected = a[-1] + rate[0] * (behind.time[0] - before.time[-1])
                b = b + 2 * np.pi * np.round((expected - b[0]) / (2 * np.pi))
            found[f.name] = np.concatenate([a, b[new]])
        return replace(one, **found)

    tables: dict[str, Any] = {}
    for name in _TABLES:
        one, two = getattr(before, name), getattr(behind, name)
        if name == "drivers":
            tables[name] = {k: series(v, two[k]) for k, v in one.items() if k in two} or dict(one)
        else:
            tables[name] = None if one is None else {k: series(v, two[k]) for k, v in one.items()}
    return replace(before, time=np.concatenate([before.time, behind.time[new]]), **tables)


def check_through(model: Model) -> None:
    """Refuse a mechanism that cannot be led through dead points: it needs one driver, on a joint."""
    drivers = list(model.drivers.values())
    if len(drivers) != 1 or drivers[0].joint is None:
        where = model.origin or model.name
        raise InputError(
            f"{where}: [drivers]: to lead it through dead points, a mechanism has one driver, on a joint; this one has "
            f"{', '.join(d.name for d in drivers) or 'none'} - run it without that"
        )
