"""Methods of run or of simulate side by side on one mechanism: time, iterations, differences, drift, energy."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.errors import AssemblyError, InputError, nearest
from ..dynamics.forward import simulate
from ..dynamics.methods import METHODS as SIMULATED
from ..mechanism.absolute import Absolute
from ..mechanism.arguments import times_of
from ..mechanism.joint_equations import Indices
from ..mechanism.model import Model
from ..mechanism.plans.plan import Array
from ..mechanism.structure import Structure
from ..motion.kinematics import METHODS, asked_times, prepare, run_program
from ..motion.outcome import Outcome, raise_stop
from ..motion.results import Results
from ..runtime.driver_motions import driver_values
from ..runtime.program import Program
from ..runtime.time_functions import check_times
from . import paper_method
from .whole_turns import counted_turns, turns_at_first, without_turns

KINDS = ("position", "velocity", "acceleration")
SAMPLED = 101  # instants at which the constraints are looked at, in Python
REPEATS = 3
CONTACTS = 8  # Newton steps from a grid of half degrees


@dataclass(frozen=True, eq=False)
class Compared:
    """One method: seconds (least of three runs, compiled before), iterations, and how far it is from the reference.

    `over_time` are the differences of positions, velocities and accelerations (3 x n), `drift` the largest norms of
    Φ, Φ̇ and Φ̈ in absolute coordinates, lengths measured by the size of the mechanism. Of simulations, evaluations are
    right-hand sides and iterations are steps.
    """

    name: str
    seconds: float
    evaluations: int
    iterations: int
    residual: float
    over_time: Array
    drifts: Array  # 3 x instant of `sampled`: norms of Φ, Φ̇, Φ̈
    energies: Array | None = None  # of simulations: change of the total energy over time, relative to its size

    @property
    def drift(self) -> tuple[float, float, float]:
        position, velocity, acceleration = (float(x) for x in self.drifts.max(axis=1, initial=0.0))
        return position, velocity, acceleration

    @property
    def energy(self) -> float | None:
        return None if self.energies is None else float(np.abs(self.energies).max(initial=0.0))

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
            "drift": {**dict(zip(KINDS, self.drift, strict=True)), "energy": self.energy},
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods, the first being the reference."""

    mechanism: str
    time: Array
    methods: tuple[Compared, ...]

    @property
    def dynamic(self) -> bool:
        """Whether these are methods of simulate."""
        return self.methods[0].energies is not None

    @property
    def sampled(self) -> Array:
        """The instants at which the constraints were looked at."""
        return self.time[_sampled(len(self.time))]

    def to_json(self) -> dict[str, Any]:
        return {"reference": self.methods[0].name, "methods": [m.to_json() for m in self.methods]}


def compare(
    model: Model,
    methods: Sequence[str] = METHODS,
    times: Array | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Return methods of run (td-paper and 3ot-paper among them), or of simulate, each compared with the first."""
    known = (*METHODS, *paper_method.METHODS)
    for name in methods:
        if name not in (*known, *SIMULATED):
            raise InputError(
                f"methods {name}: there is no such method of run or simulate{nearest(name, (*known, *SIMULATED))} - "
                f"they are {', '.join(known)}; {', '.join(SIMULATED)}"
            )
    if not set(methods) <= set(known):
        return _simulations(model, methods, times, progress)
    asked = asked_times(model, times, "td")
    check_times(model, asked)
    structure, program = prepare(model, progress)
    found: list[Compared] = []
    reference: Results | None = None
    for name in methods:
        progress(f"method {name}")
        seconds, outcome = _timed(structure, program, asked, name)
        if outcome.stop is not None:
            raise_stop(outcome.stop, outcome.results)
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
                drifts(model, results),
            )
        )
    return Comparison(model.name, asked, tuple(found))


def _simulations(
    model: Model, methods: Sequence[str], times: Array | None, progress: Callable[[str], None]
) -> Comparison:
    """Return the methods of simulate on one mechanism, each compared with the first."""
    for name in methods:
        if name not in SIMULATED:
            raise InputError(
                f"methods {name}: is a method of run, the others are of simulate - compare methods of one of them"
            )
    asked = times_of(model, times)
    found: list[Compared] = []
    reference: Results | None = None
    for name in methods:
        progress(f"method {name}")
        least = np.inf
        for _ in range(REPEATS):  # the first compiles
            begin = clock.perf_counter()
            outcome = simulate(model, asked, name, progress)
            least = min(least, clock.perf_counter() - begin)
        results = outcome.results
        if outcome.stop is not None:
            raise AssemblyError(f"methods {name}: {outcome.stop.message}", results)
        reference = results if reference is None else reference
        d = results.diagnostics
        found.append(
            Compared(
                name,
                least,
                int(str(d.get("evaluations", 0))),
                int(str(d.get("steps", 0))),
                float(str(d["max_residual"])),
                _differences(model, results, reference),
                drifts(model, results),
                _energies(results),
            )
        )
    return Comparison(model.name, asked, tuple(found))


def _energies(results: Results) -> Array:
    """Return the change of the total energy over time, relative to the largest of the energies."""
    energy = results.energy
    if energy is None or len(results.time) == 0:
        return np.zeros(len(results.time))
    changes = (energy.kinetic, energy.potential - energy.potential[0], energy.total - energy.total[0])
    size = max(float(np.abs(part).max()) for part in changes)
    return np.asarray((energy.total - energy.total[0]) / size if size > 0 else 0.0 * energy.total)


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


def _sampled(n: int) -> Indices:
    return np.unique(np.linspace(0, n - 1, min(SAMPLED, n)).round().astype(np.int64))


def drifts(model: Model, results: Results) -> Array:
    """Return the norms of Φ, Φ̇ and Φ̈ of all joints and drivers at sampled instants, in absolute coordinates."""
    system = Absolute(model)
    kept = np.array([not name.startswith("spin of ") for name in system.names], dtype=bool)
    lanes = _sampled(len(results.time))
    values = driver_values(model, results.time)
    found = np.zeros((3, len(lanes)))
    turns, meshed = counted_turns(model, results), np.zeros(system.n_rows)
    for n, k in enumerate(lanes):
        places, velocity, acceleration = _absolute_motion(model, system, results, int(k))
        poses = system.at_turns(system.posed(places), {name: float(turn[k]) for name, turn in turns.items()})
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
        gap = system.rows(poses, now[0])
        meshed = turns_at_first(system, gap) if n == 0 else meshed
        for order, rows in enumerate((without_turns(system, gap, meshed), first, second)):
            found[order, n] = float(np.linalg.norm((rows / system.row_scale)[kept]))
    return found


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
