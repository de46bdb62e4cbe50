"""The verdict: what the product says of a case against what the oracle says.

Tolerances. Data are rounded (relative 2e-16 of a coordinate, also of one that lies far from the origin, and of a large
time) and the Jacobian passes that on: an error of positions of `condition` times it, of velocities `condition` times
that again, and so on. Beside it stands 1e-8 of the size for positions, of the largest rate for rates.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .case import Answer, Case, answered
from .motion import SINGULAR, Motion, solve
from .reading import Problem, from_data
from .rods import rods

Array = NDArray[np.float64]
VERDICTS = ("right", "other", "refused", "lost", "undecided", "unclear", "different")
EPS = 2.2e-16


@dataclass
class Verdict:
    """right; other (another assembly of a rough sketch, followed rightly); refused; lost (as the reference, at the same
    time); undecided (a driver rests where branches meet, the product stops there); unclear (the oracle gives up);
    different."""

    kind: str
    why: str = ""


def judged(case: Case) -> Verdict:
    """Return the verdict of one case."""
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder))
        try:
            problem = from_data(case.data, Path(folder))
        except (ValueError, KeyError, StopIteration, IndexError, np.linalg.LinAlgError) as error:
            return Verdict("unclear", f"the oracle cannot read it: {error!r}")
        answer = answered(case)
        if answer.kind == "crashed":
            return Verdict("different", f"crashed: {answer.error!r}")
        if answer.kind == "refused":
            return Verdict("refused", str(answer.error))
        if case.task == "simulate":
            from .dynamics import simulated

            return simulated(case, problem, answer)
        start = float(case.data.get("simulation", {}).get("start", 0.0))
        oracle = solve(problem, case.times(), start)
        found = compared(case, oracle, answer)
        rough = oracle.misfit > 1e-7 and case.at is None and answer.results is not None and len(answer.results.time)
        if found.kind == "different" and rough:
            # another way to assemble a rough sketch: follow it from there
            again = solve(problem, case.times(), start, anchored(problem, answer))
            if compared(case, again, answer).kind in ("right", "lost"):
                return Verdict("other", found.why)
        if case.task == "inverse" and found.kind == "right":
            from .dynamics import inverse_compared

            return inverse_compared(oracle, answer)
        return found


def anchored(problem: Problem, answer: Answer) -> Array:
    """Return the product's first configuration in the coordinates of the oracle."""
    q = problem.start()
    results = answer.results
    for n, name in enumerate(problem.names):
        if n == 0:
            continue
        point = next((q for q in problem.local[n] if problem.home(q) == n), next(iter(problem.local[n])))
        place = (results.points[point].position[0] - problem.origin) / problem.size
        local = problem.local[n][point]
        if problem.space == 2:
            angle = float(results.bodies[name].angle[0])
            angle += 2 * math.pi * round((q[3 * n + 2] - angle) / (2 * math.pi))
            c, s = math.cos(angle), math.sin(angle)
            q[3 * n : 3 * n + 3] = [*(place - [c * local[0] - s * local[1], s * local[0] + c * local[1]]), angle]
        else:
            R = results.bodies[name].rotation[0]
            q[12 * n : 12 * n + 12] = [*(place - R @ local), *R.ravel()]
    return q


def compared(case: Case, oracle: Motion, answer: Answer) -> Verdict:
    """Return the verdict on a motion."""
    times = case.times()
    span = float(times[-1] - times[0]) if len(times) else 0.0
    solved = len(answer.results.time) if answer.results is not None else 0
    if oracle.status in ("endless", "not square"):
        return Verdict("unclear", oracle.status)
    if oracle.status == "apart":
        lost = answer.kind == "lost" and solved == 0
        return Verdict("lost" if lost else "unclear", "the oracle does not close it")
    close = 1e-6 * max(span, 1e-300)
    surely = int(np.sum(times < oracle.lost - close))  # instants before the loss for certain
    at_most = int(np.sum(times < oracle.lost + close))
    n = min(solved, len(oracle.time))
    wrong = motions(oracle, answer, n)
    if wrong:
        return Verdict("different", wrong)
    gone = "goes to infinity" if oracle.infinite else "comes apart"
    if answer.kind == "whole" and oracle.status == "lost" and at_most < len(times):
        return Verdict("different", f"goes on, although the mechanism {gone} at t = {oracle.lost!r}")
    passed = float(times[solved - 1]) - close if solved else -math.inf
    if any(t < passed for t in oracle.resting):
        return Verdict("different", "goes on, although a driver rests where branches meet")
    if answer.kind == "lost":
        if oracle.status == "lost" and surely <= solved <= at_most:
            return Verdict("lost")
        if oracle.status == "lost" and solved > at_most:
            return Verdict("different", f"goes on, although the mechanism {gone} at t = {oracle.lost!r}")
        digits = np.flatnonzero(oracle.condition[solved:] < SINGULAR)  # of those without, none is shown before a stop
        after = float(times[solved + digits[0]] if len(digits) else times[-1])
        before = float(times[solved - 1] if solved else times[0])
        if any(before - close <= t <= after + close for t in oracle.resting):
            return Verdict("undecided", str(answer.error))
        if solved < surely:
            goes = "on" if oracle.status == "whole" else f"on to t = {oracle.lost!r}"
            return Verdict("different", f"stops after t = {before!r} ({answer.error}), the reference goes {goes}")
        return Verdict("different", f"stops after t = {before!r}, the reference goes on")
    return Verdict("right")


def slack(oracle: Motion, n: int) -> tuple[Array, Array, Array]:
    """Return relative tolerances of position, velocity and acceleration at the first n instants (see above)."""
    p = oracle.problem
    far = float(np.max(np.abs(p.origin), initial=0.0)) / p.size
    late = float(np.max(np.abs(oracle.time), initial=0.0)) * oracle.speed
    c = oracle.condition[:n]
    base = 10 * EPS * (10 + far + late) * c
    return 1e-8 + base, 1e-8 + c * base, 1e-8 + c * c * base


@dataclass
class Measure:
    """What may be between the two answers at each of the first n instants, for values and their two rates."""

    n: int
    slacks: tuple[Array, Array, Array]
    scales: tuple[Array, Array, Array]  # the size, and the largest velocity and acceleration of any point or turn
    sound: NDArray[np.bool_]
    blur: Array  # of the oracle where branches meet, in lengths

    def first(self, order: int, got: Array, want: Array, unit: float = 1.0) -> int | None:
        """Return the first instant at which two series differ; `unit` 1 for lengths, 1 / size for angles."""
        off = np.max(np.abs(got[: self.n] - want[: self.n]).reshape(self.n, -1), axis=1) / (self.scales[order] * unit)
        bad = np.flatnonzero(~(off <= self.slacks[order] + self.blur[:, order] / self.scales[order]) & self.sound)
        return int(bad[0]) if len(bad) else None


def measure(oracle: Motion, n: int) -> Measure:
    """Return the measure of the first n instants."""
    p = oracle.problem
    v = np.max(np.abs(oracle.v[:n]), axis=1, initial=0.0) * p.size
    a = np.max(np.abs(oracle.a[:n]), axis=1, initial=0.0) * p.size
    v = np.maximum(v, 1e-3 * np.max(v)) + 1e-300
    a = np.maximum(a, 1e-3 * np.max(a)) + v * v / p.size + 1e-300
    sound = oracle.condition[:n] < (4e5 if p.space == 2 else 1e5)  # in space nothing is taken from both sides
    return Measure(n, slack(oracle, n), (np.full(n, p.size), v, a), sound, 2 * oracle.blur[:n] * p.size)


def motions(oracle: Motion, answer: Answer, n: int) -> str:
    """Return the first difference of points, joints or bodies over the first n instants, or nothing."""
    if n == 0:
        return ""
    results, m = answer.results, measure(oracle, n)
    known = {}
    for name in results.points:
        try:
            known[name] = oracle.point(name)
        except (KeyError, IndexError, StopIteration):  # a point of a rod beside its ends
            continue
    for order, quantity in enumerate(("position", "velocity", "acceleration")):
        for name, expected in known.items():
            got = getattr(results.points[name], quantity)
            k = m.first(order, got, expected[order])
            if k is not None:
                return said(f"{quantity} of {name}", results.time[k], got[k], expected[order][k])
    return joints(oracle, answer, m) or bodies(oracle, answer, m) or rods(oracle, answer, n)


def said(what: str, t: float, got: Any, want: Any) -> str:
    return f"{what} at t = {float(t)!r}: {got} instead of {want}"


def whole_turns(oracle: Motion, joint: str, driver: int | None, seen: float) -> int:
    """Return the turns to add to the oracle's angle: driven it is its driver's, any other begins in (-pi, pi]."""
    if driver is not None:
        return -round(oracle.problem.offsets[driver] / (2 * math.pi))
    first = oracle.first_angle(joint)
    if abs(abs(math.remainder(first, 2 * math.pi)) - math.pi) < 1e-6:  # to rounding both ends are right
        return round(seen / (2 * math.pi))
    return -math.ceil((first - math.pi) / (2 * math.pi))


def joints(oracle: Motion, answer: Answer, m: Measure) -> str:
    """Return the first difference of joint coordinates."""
    p, results = oracle.problem, answer.results
    driven = {d["joint"]: n for n, d in enumerate(p.data.get("drivers", {}).values()) if "joint" in d}
    for name, series in results.joints.items():
        expected = oracle.joint(name)
        if expected is None:
            continue
        turns = p.data["joints"][name]["type"] in ("R", "C", "H")
        value = series.angle if turns else series.displacement
        zero = expected[0]
        if turns and (p.space == 2 or name not in driven):
            zero = zero + 2 * math.pi * whole_turns(oracle, name, driven.get(name), float(value[0] - zero[0]))
        pairs = ((value, zero), (series.rate, expected[1]), (series.acceleration, expected[2]))
        for order, (got, want) in enumerate(pairs):
            k = m.first(order, got, want, 2 / p.size if turns else 2.0)
            if k is not None:
                what = ("coordinate", "rate", "acceleration")[order]
                return said(f"{what} of joint {name}", results.time[k], got[k], want[k])
    return ""


def bodies(oracle: Motion, answer: Answer, m: Measure) -> str:
    """Return the first difference of the bodies' angles or rotations; planar angles to whole turns."""
    p, results = oracle.problem, answer.results
    for name, series in results.bodies.items():
        if name not in p.names:
            continue
        b = p.body(name)
        if p.space == 2:
            at, angle = 3 * b + 2, oracle.q[:, 3 * b + 2]
            whole = 2 * math.pi * round(float(series.angle[0] - angle[0]) / (2 * math.pi))
            pairs = [(series.angle, angle + whole)]
            pairs += [(series.angular_velocity, oracle.v[:, at]), (series.angular_acceleration, oracle.a[:, at])]
        else:
            turn = slice(6 * b + 3, 6 * b + 6)
            pairs = [(series.rotation, oracle.rotation(b))]
            pairs += [(series.angular_velocity, oracle.v[:, turn]), (series.angular_acceleration, oracle.a[:, turn])]
        for order, (got, want) in enumerate(pairs):
            k = m.first(order, got, want, 2 / p.size)
            if k is not None:
                what = ("angle", "angular velocity", "angular acceleration")[order]
                return said(f"{what} of {name}", results.time[k], got[k], want[k])
    return ""
