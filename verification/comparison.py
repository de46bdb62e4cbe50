"""Methods of a run side by side on one mechanism: time, iterations, differences from the first, drift."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.errors import InputError, nearest
from ..mechanism.absolute import Absolute
from ..mechanism.model import Model
from ..mechanism.plans.plan import Array
from ..mechanism.structure import Structure
from ..motion.kinematics import METHODS, Outcome, asked_times, prepare, run_program
from ..motion.results import Results
from ..motion.run import raise_failure
from ..runtime.driver_motions import driver_values
from ..runtime.program import Program
from ..runtime.timefunctions import check_times
from . import paper_method

KINDS = ("position", "velocity", "acceleration")
SAMPLED = 101  # instants at which the constraints are looked at, in Python
REPEATS = 3
CONTACTS = 8  # Newton steps from a grid of half degrees


@dataclass(frozen=True, eq=False)
class Compared:
    """One method: seconds (least of three runs, compiled before), iterations, and how far it is from the reference.

    `over_time` are the differences of positions, velocities and accelerations (3 x n), `drift` the largest norms of
    Φ, Φ̇ and Φ̈ in absolute coordinates, lengths measured by the size of the mechanism.
    """

    name: str
    seconds: float
    evaluations: int
    iterations: int
    residual: float
    over_time: Array
    drift: tuple[float, float, float]

    @property
    def difference(self) -> dict[str, float]:
        return dict(zip(KINDS, (float(x) for x in self.over_time.max(axis=1, initial=0.0)), strict=True))

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "seconds": self.seconds,
            "evaluations": self.evaluations,
            "iterations": self.iterations,
            "difference": self.difference,
            "drift": {**dict(zip(KINDS, self.drift, strict=True)), "energy": None},
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods, the first being the reference."""

    mechanism: str
    time: Array
    methods: tuple[Compared, ...]

    def to_json(self) -> dict[str, Any]:
        return {"reference": self.methods[0].name, "methods": [m.to_json() for m in self.methods]}


def compare(
    model: Model,
    methods: Sequence[str] = METHODS,
    times: Array | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Return the methods of run on one mechanism, each compared with the first; td-paper and 3ot-paper among them."""
    known = (*METHODS, *paper_method.METHODS)
    for name in methods:
        if name not in known:
            raise InputError(
                f"methods {name}: there is no such method of run{nearest(name, known)} - they are {', '.join(known)}"
            )
    asked = asked_times(model, times, "td")
    check_times(model, asked)
    structure, program = prepare(model, progress)
    found: list[Compared] = []
    reference: Results | None = None
    for name in methods:
        progress(f"method {name}")
        seconds, outcome = _timed(structure, program, asked, name)
        if outcome.failure is not None:
            raise_failure(outcome.failure, outcome.results)
        results = outcome.results
        reference = results if reference is None else reference
        d = results.diagnostics
        found.append(
            Compared(
                name,
                seconds,
                int(str(d.get("inner_steps", len(results.time)))),
                int(str(d["iterations"])),
                float(str(d["max_residual"])),
                _differences(model, results, reference),
                drift(model, results),
            )
        )
    return Comparison(model.name, asked, tuple(found))


def _timed(structure: Structure, program: Program, asked: Array, method: str) -> tuple[float, Outcome]:
    """Return the least time of some runs, and the last outcome; the first run, which compiles, does not count."""
    if method in paper_method.METHODS:
        runs = [paper_method.run_paper(structure, program, asked, method) for _ in range(1 + REPEATS)]
        return min(seconds for seconds, _ in runs[1:]), runs[-1][1]
    outcome = run_program(structure, program, asked, method)
    least = np.inf
    for _ in range(REPEATS):
        begin = clock.perf_counter()
        outcome = run_program(structure, program, asked, method)
        least = min(least, clock.perf_counter() - begin)
    return least, outcome


def _differences(model: Model, results: Results, reference: Results) -> Array:
    """Return the differences of points and turns over time, each order relative to the largest of its kind."""
    gaps, scale = np.zeros((3, len(results.time))), np.array([1.0, 0.0, 0.0])  # of lengths divided by the size
    jointed = {j.at for j in model.joints.values()}

    def note(ours: Sequence[Array], theirs: Sequence[Array], unit: float) -> None:
        for order, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            gaps[order] = np.maximum(gaps[order], np.abs(a - b).reshape(len(a), -1).max(axis=1) / unit)
            if order:
                scale[order] = max(scale[order], float(np.abs(b).max(initial=0.0)) / unit)

    for name, series in results.points.items():
        owners = [b for b in model.bodies.values() if name in b.points]
        if all(b.rod for b in owners) and name not in jointed:
            continue  # beside the line of a rod, whose spin is of no account
        other = reference.points[name]
        ours = (series.position, series.velocity, series.acceleration)
        note(ours, (other.position, other.velocity, other.acceleration), model.size)
    for name, body in results.bodies.items():
        if name not in model.bodies or not model.bodies[name].rod:
            note(_turns(body), _turns(reference.bodies[name]), 1.0)
    scale[2] = max(scale[2], scale[1] ** 2)  # accelerations of a motion with this speed are of this order
    return np.asarray(gaps / np.maximum(scale, 1e-300)[:, None])


def _turns(body: Any) -> tuple[Array, Array, Array]:
    return (body.rotation if body.angle is None else body.angle), body.angular_velocity, body.angular_acceleration


def drift(model: Model, results: Results) -> tuple[float, float, float]:
    """Return the largest norms of Φ, Φ̇ and Φ̈ of all joints and drivers over the run, in absolute coordinates."""
    system = Absolute(model)
    kept = np.array([not name.startswith("spin of ") for name in system.names], dtype=bool)
    lanes = np.unique(np.linspace(0, len(results.time) - 1, min(SAMPLED, len(results.time))).round().astype(int))
    values = driver_values(model, results.time)
    worst = np.zeros(3)
    for k in lanes:
        places, velocity, acceleration = _absolute_motion(model, system, results, int(k))
        poses = system.touching(system.posed(places))
        now = [{d: float(values[d][order, k]) for d in system.drivers} for order in range(3)]
        touching = system.contact_column[system.contact_column >= 0]
        for _ in range(CONTACTS if len(touching) else 0):  # where a cam touches is not reported: it is found again
            step = np.zeros(system.n_columns)
            gap = system.rows(poses, now[0])
            step[touching] = -np.linalg.lstsq(system.jacobian(poses)[:, touching], gap, rcond=None)[0]
            poses = poses.moved(*system.spread(step))
        J = system.jacobian(poses)
        first = J @ velocity - system.per_driver(now[1])
        velocity[touching] = -np.linalg.lstsq(J[:, touching], first, rcond=None)[0]
        first = J @ velocity - system.per_driver(now[1])
        second = J @ acceleration + system.gamma(poses, velocity) - system.per_driver(now[2])
        acceleration[touching] = -np.linalg.lstsq(J[:, touching], second, rcond=None)[0]
        second = second + J[:, touching] @ acceleration[touching]
        for order, rows in enumerate((system.rows(poses, now[0]), first, second)):
            worst[order] = max(worst[order], float(np.linalg.norm((rows / system.row_scale)[kept])))
    return float(worst[0]), float(worst[1]), float(worst[2])


def _absolute_motion(
    model: Model, system: Absolute, results: Results, k: int
) -> tuple[dict[str, tuple[Array, Array | float]], Array, Array]:
    """Return poses, velocities and accelerations (one entry per column) of the bodies at one instant of results."""
    places: dict[str, tuple[Array, Array | float]] = {}
    width = len(system.components)
    rates = np.zeros((2, system.n_columns))
    for n, name in enumerate(system.bodies):
        body, found = model.bodies[name], results.bodies[name]
        point, local = next(iter(body.points.items()))
        series = results.points[point]
        if found.angle is not None:
            c, s = np.cos(found.angle[k]), np.sin(found.angle[k])
            pose: Array | float = float(found.angle[k])
            r = np.array([c * local[0] - s * local[1], s * local[0] + c * local[1]])
            w, alpha = float(found.angular_velocity[k]), float(found.angular_acceleration[k])
            across = np.array([-r[1], r[0]])
            v, a = w * across, alpha * across - w**2 * r
        else:
            assert found.rotation is not None
            pose = found.rotation[k]
            r, w, alpha = found.rotation[k] @ local, found.angular_velocity[k], found.angular_acceleration[k]
            v = np.cross(w, r)
            a = np.cross(alpha, r) + np.cross(w, v)
        places[name] = (series.position[k] - r, pose)
        rates[0, n * width : (n + 1) * width] = np.append(series.velocity[k] - v, w)
        rates[1, n * width : (n + 1) * width] = np.append(series.acceleration[k] - a, alpha)
    return places, rates[0], rates[1]
