"""What users call, each beside what it is measured by: a row with the ratio and its bound, or why there is none."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError, nearest
from ..facade import Mechanism
from ..mechanism.plans.plan import Array
from . import chains, design_rows, dynamics_cases, inverse_rows, startup
from . import dynamics_study as dynamics
from .called import Called, missing
from .claims import Claim
from .data_files import FOLDER
from .dynamics_common import clocked
from .dynamics_peers import PEERS
from .peers import _module
from .timing import least

ROUNDS = 3  # of what takes a second; shorter actions are repeated more often
INSTANTS = 361
DESIGNS = 100_000  # of a sweep
KEPT = 2  # calls after which all is made that is kept from one call to the next, and compiled
LOOP = 50  # designs one after the other, as a search would ask for them
EXAMPLES = Path(__file__).parents[1] / "examples"


def arrays(results: Any) -> list[Array]:
    """Return all arrays that a result holds, each read once."""
    found = [results.time]
    for part in (results.points, results.bodies, results.joints, results.drivers):
        for entry in part.values():
            found += [value for value in vars(entry).values() if isinstance(value, np.ndarray)]
    for value in found:
        value.sum()
    return found


def _long_run(steps: int, rounds: int) -> Called:
    """100 dyads: a run with all arrays read once, beside the fill of these arrays."""
    m = chains.four_bars(100)
    times: Any = chains.PLANAR_STEP * np.arange(steps)
    for _ in range(KEPT):
        room = [np.empty(a.shape) for a in arrays(m.run(times=times))]

    def fill() -> None:
        for a in room:
            a.fill(1.5)

    s = least({"run": lambda: arrays(m.run(times=times)), "fill": fill}, rounds)
    what = f"Mechanism.run, 100 dyads x {steps} instants, all arrays read / fill of them"
    return Called(what, Claim(what, s["run"] / s["fill"], 8, False))


def _leg(rounds: int) -> Called:
    """Jansen's leg over a turn, another parameter at every call."""
    what = f"ms: Mechanism.run of Jansen's leg, {INSTANTS} instants, a parameter changed"
    path = EXAMPLES / "jansen-leg.toml"
    if not path.is_file():
        return Called(what, why="the examples are not installed")
    m = Mechanism.load(path)
    simulation = m.model().simulation
    times: Any = np.linspace(simulation.start, simulation.stop, INSTANTS)
    calls = iter(range(10**9))

    def run() -> None:
        for _ in range(LOOP):
            m.run(times=times, b=0.415 + 1e-6 * next(calls))

    run()
    s = least({"run": run}, rounds)
    return Called(what, Claim(what, 1e3 * s["run"] / LOOP, 1, False))


# ---- designs ------------------------------------------------------------------------------------------------------
def four_bar() -> Mechanism:
    """Return a four-bar with a point on its coupler; lengths a, b, c are parameters."""
    return Mechanism.load(FOLDER / "coupler-four-bar.toml")


def _designs(rounds: int) -> Iterator[Called]:
    """Designs of a four-bar, one by one and a thousand at once, beside pylinkage; and sensitivities."""
    one = "one design of a four-bar by c(...) / pylinkage, set and stepped"
    many = "pylinkage / a design of 1,000 by c.batch, one thread"
    tangents = "sensitivities to {} parameters / positions with rates"
    lacking = missing("pylinkage")
    ours = four_bar().compile(times=np.linspace(0.0, 1.0, INSTANTS), points=["P"])
    if lacking:
        yield Called(one, why=lacking)
        yield Called(many, why=lacking)
    else:
        sizes = np.random.default_rng(1).uniform(-0.1, 0.1, (3, 1000)) + np.array([[2.0], [6.0], [5.0]])
        designs = dict(zip("abc", sizes, strict=True))
        calls = iter(range(10**9))

        peer = _pylinkage()

        def single() -> None:
            for _ in range(LOOP):
                k = next(calls) % 1000
                ours(**{name: float(x[k]) for name, x in designs.items()})

        def set_and_stepped() -> None:
            for _ in range(LOOP):
                peer()

        s = least({"c": single, "batch": lambda: ours.batch(designs), "peer": set_and_stepped}, rounds)
        s = {name: took / (1 if name == "batch" else LOOP) for name, took in s.items()}
        yield Called(one, Claim(one, s["c"] / s["peer"], 0.5, False))
        yield Called(many, Claim(many, s["peer"] / (s["batch"] / 1000), 30, True))
    shifted = {"a": np.linspace(1.9, 2.1, 4000)}
    yield _by_two_threads("4,000 designs by c.batch", lambda threads: ours.batch(shifted, threads=threads), rounds)
    long = np.linspace(0.0, 1.0, 10 * (INSTANTS - 1) + 1)
    for more in (0, 7):
        m = four_bar()
        for i in range(more):  # places and angles that other parameters shift
            m.parameter(f"p{i}", 0.0)
        if more:
            m.points["D"] = ["6 + p0", "p1"]
            m.bodies["rod"]["local"] = {"B": [0, 0], "C": ["b + p2", "p3"], "P": ["3 + p4", "1 + p5"]}
            m.drivers["theta"]["angle"] = "2*pi*t + p6"
        c = m.compile(times=long, points=["C", "P"])
        s = least({"c": c, "columns": lambda c=c: c.sensitivities(orders=1)}, rounds)  # type: ignore[misc]
        text = tangents.format(len(c.names))
        yield Called(text, Claim(text, s["columns"] / s["c"], 1 + 0.7 * len(c.names), False))


def _by_two_threads(action: str, run: Callable[[int], Any], rounds: int) -> Called:
    """Designs by one thread and by two, by the clock: only a machine that has nothing else to do tells."""
    what = f"{action}: one thread / two threads, by the clock"
    if (os.cpu_count() or 1) < 2:
        return Called(what, why="one processor alone")
    took = {1: np.inf, 2: np.inf}
    for _ in range(5 * rounds):
        for threads in took:
            begin = time.perf_counter()
            run(threads)
            took[threads] = min(took[threads], time.perf_counter() - begin)
    return Called(what, Claim(what, took[1] / took[2], 1.6, True))


def _pylinkage(rates: bool = True) -> Callable[[], Any]:
    """Return the same four-bar in pylinkage: lengths set, then a turn, with velocities and accelerations or without."""
    Crank, Ground = _module("pylinkage.actuators").Crank, _module("pylinkage.components").Ground
    RRRDyad, Linkage = _module("pylinkage.dyads").RRRDyad, _module("pylinkage.simulation").Linkage
    step = 2 * np.pi / (INSTANTS - 1)
    crank = Crank(Ground(0.0, 0.0), 2.0, angular_velocity=step, initial_angle=0.0)
    fixed = Ground(6.0, 0.0)
    pin = RRRDyad(crank.output, fixed, 6.0, 5.0, x=5.0, y=4.9)
    coupler = RRRDyad(crank.output, pin, 10**0.5, 10**0.5, x=4.0, y=4.0)
    linkage = Linkage([crank.anchor, crank, fixed, pin, coupler])
    linkage.compile()
    linkage.set_input_velocity(crank, 2 * np.pi)
    lengths, places = linkage.get_constraints(), linkage.get_coords()

    def run() -> Any:
        linkage.set_constraints(lengths)
        linkage.set_coords(places)
        return linkage.step_fast_with_kinematics(INSTANTS) if rates else [linkage.step_fast(INSTANTS)]

    return run


def _many(rounds: int) -> Iterator[Called]:
    """A sweep beside a loop with pylinkage, and by two threads; a population beside LInK's batch in NumPy."""
    # the five numbers are of positions, so that pylinkage's loop without rates is the same loop; the other row is the
    # loop of those who ask for rates as well
    ours = design_rows.sweep_of(DESIGNS, INSTANTS)
    for rates, function in ((False, "step_fast"), (True, "step_fast_with_kinematics")):
        what = f"pylinkage {function} / a design of a sweep, 361 instants reduced to five numbers, one thread"
        if lacking := missing("pylinkage"):
            yield Called(what, why=lacking)
            continue
        peer = design_rows.five_numbers(_pylinkage(rates))

        def stepped(peer: Callable[[], Any] = peer) -> None:
            for _ in range(LOOP):
                peer()

        s = least({"sweep": lambda: ours(1), "peer": stepped}, rounds)
        yield Called(what, Claim(what, s["peer"] / LOOP / (s["sweep"] / DESIGNS), 100, True))
    yield _by_two_threads(f"a sweep of {DESIGNS:,} designs to five numbers", ours, rounds)
    what = "value with all 13 gradients of Jansen's leg / its value"
    if not (EXAMPLES / "jansen-leg.toml").is_file():
        yield Called(what, why="the examples are not installed")
    else:
        s = least(design_rows.gradients(EXAMPLES / "jansen-leg.toml", INSTANTS), rounds)
        for method, limit in (("forward", 8), ("adjoint", 4)):
            yield Called(what, Claim(f"{what}, {method}", s[method] / s["value"], limit, False))
    one, other = design_rows.population(500, 20, 200)
    s = least({"one": one, "other": other}, rounds)
    what = "mechanisms a second: batch of 500 linkages of 20 joints, 200 instants"
    yield Called(what, Claim(what, 500 / s["one"], 50_000, True))
    what = "LInK's batch in NumPy / the same by assurgent.batch"
    yield Called(what, Claim(what, s["other"] / s["one"], 20, True))


# ---- dynamics -----------------------------------------------------------------------------------------------------
def _mechanism(text: str) -> Mechanism:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mechanism.toml"
        path.write_text(text, "utf-8")
        return Mechanism.load(path)


def _simulation(outputs: int, rounds: int) -> Iterator[Called]:
    """Simulations with many recorded outputs beside the same with two."""
    case = dynamics_cases.four_bar()
    m = _mechanism(case.text)
    ends: Any = np.array([0.0, case.end])
    many: Any = np.linspace(0.0, case.end, outputs)
    s = least({"many": lambda: m.simulate(times=many), "two": lambda: m.simulate(times=ends)}, rounds)
    what = f"simulate, free four-bar over 1 s: {outputs} outputs / 2 outputs"
    yield Called(what, Claim(what, s["many"] / s["two"], 1.5, False))
    case = dynamics_cases.chain(40)
    m, ends = _mechanism(case.text), np.array([0.0, case.end])
    some: Any = np.linspace(0.0, case.end, 202)
    for _ in range(KEPT):
        m.simulate(times=ends)
    s = least({"some": lambda: m.simulate(times=some), "two": lambda: m.simulate(times=ends)}, rounds)
    what = "ms: one output of simulate, chain of 40 loops"
    yield Called(what, Claim(what, max(1e3 * (s["some"] - s["two"]) / 200, 0.0), 0.1, False))
    yield from _recorded(outputs, rounds)
    yield _again(outputs, rounds)


def _recorded(outputs: int, rounds: int) -> Iterator[Called]:
    """A free four-bar: others keep states, ours makes whole results, each as coarse as the accuracy allows."""
    case = dynamics_cases.four_bar()
    m, exact = _mechanism(case.text), dynamics.reference(case)
    ours = dynamics.measure("ours", "", case, dynamics.partition(case), exact, 1)
    m.simulation["tolerance"] = ours.resolution
    times: Any = np.linspace(0.0, case.end, outputs)
    for _ in range(KEPT):
        m.simulate(times=times)
    seconds = min(clocked(lambda: m.simulate(times=times)) for _ in range(rounds))
    for peer in PEERS:
        text = f"{peer.name}, {outputs} states recorded / simulate with all results, equal accuracy"
        prepared = peer.prepare(case) if missing(peer.package) is None else None
        if prepared is None or prepared.record is None:
            if peer.name != "Pinocchio":  # whose integrator is SciPy's
                yield Called(text, why=missing(peer.package) or "")
            continue
        found = dynamics.measure(peer.name, "", case, prepared, exact, 1)
        theirs, kept = min(prepared.record(found.resolution, outputs) for _ in range(rounds))
        if not found.reached or kept < outputs:
            yield Called(text, why=f"an error of {found.error:.0e}, {kept} numbers kept")
            continue
        yield Called(text, Claim(text, theirs / seconds, 1, True))


def _again(outputs: int, rounds: int) -> Called:
    """A free four-bar with another length at every call: what is neither integration nor record."""
    from ..dynamics import forward
    from ..dynamics.partition import Partition
    from ..dynamics.partition_records import Noted

    m = _mechanism(dynamics_cases.four_bar().text)
    m.parameter("crank", m.bodies["crank"]["length"])
    m.bodies["crank"]["length"] = "crank"
    times: Any = np.linspace(0.0, 1.0, outputs)
    inside = [0.0]

    def timed(action: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            found: list[Any] = []
            inside[0] += clocked(lambda: found.append(action(*given)))
            return found[0]

        return called

    places: tuple[tuple[Any, str], ...] = (Partition, "integrate"), (Noted, "record"), (forward, "results")
    kept = [getattr(owner, name) for owner, name in places]
    outside = []
    try:
        for (owner, name), action in zip(places, kept, strict=True):
            setattr(owner, name, timed(action))
        for k in range(10 * rounds):
            inside[0] = 0.0
            outside.append(clocked(partial(m.simulate, times=times, crank=0.3 + 1e-4 * k)) - inside[0])
    finally:
        for (owner, name), action in zip(places, kept, strict=True):
            setattr(owner, name, action)
    what = "ms: simulate of the free four-bar, a parameter changed, outside integration and records"
    return Called(what, Claim(what, 1e3 * min(outside), 3, False))


def _starting() -> Called:
    """A new process that runs the four-bar, all caches warm, over one that imports Numba."""
    import sys

    what = "s: warm `assurgent run` of the four-bar over `import numba`"
    command = [sys.executable, "-m", "assurgent", "run", str(FOLDER / "four-bar.toml")]
    warm = startup.usual(os.environ)
    startup.seconds(command, warm, 1)
    run = startup.seconds(command, warm, ROUNDS)
    base = startup.seconds([sys.executable, "-c", startup.NUMBA], warm, ROUNDS)
    return Called(what, Claim(what, run.processor - base.processor, 0.5, False))


# name of a part: what measures its rows, from the steps of the long run (few shorten the others) and the rounds
PARTS: dict[str, Callable[[int, int], Iterable[Called]]] = {
    "run": lambda steps, rounds: (_long_run(steps, min(rounds, ROUNDS)), _leg(rounds)),
    "designs": lambda _, rounds: _designs(rounds),
    "populations": lambda _, rounds: _many(rounds),
    "inverse": lambda steps, rounds: (
        inverse_rows.beside_kinepy(min(10_001, max(steps, 401)), min(rounds, ROUNDS)),
        inverse_rows.of_many_dyads(min(10_001, steps), min(rounds, ROUNDS)),
    ),
    "simulate": lambda steps, rounds: _simulation(min(1_001, max(steps, 3)), min(rounds, ROUNDS)),
    "busy": lambda _, rounds: (inverse_rows.on_busy_processors(min(rounds, ROUNDS)),),
    "start": lambda *_: (_starting(),),
}


def measure(steps: int, rounds: int, parts: Sequence[str] = ()) -> list[Called]:
    """Return the rows of some parts, of all without a name."""
    for name in parts:
        if name not in PARTS:
            raise InputError(f"{name}: the parts of --case users are {', '.join(PARTS)}{nearest(name, PARTS)}")
    return [row for name, rows in PARTS.items() if not parts or name in parts for row in rows(steps, rounds)]
