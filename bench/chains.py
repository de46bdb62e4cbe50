"""The two scalable mechanisms of the paper, ready to run, with their motion in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..facade import Mechanism
from ..mechanism.plans.plan import Array
from ..motion.kinematics import prepare
from ..motion.run import begin
from ..runtime.program import GroupStep, Program, Terms
from .drafts import ProgramDraft
from .time_derivatives import Jet, constant, meet, point

PLANAR_SPEED, PLANAR_STEP = 34.96, 0.005
SPATIAL_SPEEDS = (34.9e-5, 34.9e-2, 34.9)
CRANK, ROD = 2.0, 6.0
Given = Callable[[Array], Mapping[int, Array]]  # time -> row: value and two rates


@dataclass(eq=False)
class Chain:
    """A mechanism ready to run: its program, what is compared with another route, and its number of equations.

    `checked` are combinations of rows. `given` tells rows over time that neither drivers nor groups give. `step` is the
    time between two instants.
    """

    program: Program
    checked: Sequence[Terms]
    n_equations: int
    given: Given | None = None
    step: float = PLANAR_STEP

    def state(self, n: int, step: float | None = None) -> tuple[Array, Array]:
        """Return times and an unsolved state (order, row, lane) as `run` begins with."""
        time = np.asarray(np.arange(n) * (step or self.step), dtype=np.float64)
        state = begin(self.program, time).state
        for row, motion in (self.given(time) if self.given else {}).items():
            state[:, row] = motion
        return time, state

    @property
    def driven(self) -> list[int]:
        """The rows that are given over time."""
        return [*self.program.drivers.values(), *(self.given(np.zeros(1)) if self.given else ())]

    @property
    def redundant(self) -> bool:
        """Whether a group has more equations than unknowns."""
        types = [s.solver.group for s in self.program.steps if isinstance(s, GroupStep)]
        return any(len(g.constraints) > len(g.dependent) for g in types)

    def read(self, state: Array) -> Array:
        """Return what is compared (order, place, lane)."""
        return np.stack([sum_of(state, terms) for terms in self.checked], axis=1)


def sum_of(state: Array, terms: Terms) -> Array:
    """Return a combination of rows with its rates (order, lane)."""
    found = np.zeros((3, state.shape[2]))
    for row, c in terms:
        found += c * state[:, row]
    return found


def single(rows: Sequence[int]) -> list[Terms]:
    """Return rows as combinations."""
    return [((int(row), 1.0),) for row in rows]


def drafted(
    draft: ProgramDraft,
    rows: Sequence[int],
    n_equations: int,
    start: float,
    speed: float,
    given: Given | None = None,
    step: float = PLANAR_STEP,
) -> Chain:
    """Return a chain written by hand, whose driver is start + speed·t unless other rows are given."""

    def turned(time: Array) -> dict[int, Array]:
        return {draft.driver: turning(start, speed, time).array()}

    return Chain(draft.program, single(rows), n_equations, given or turned, step)


def turning(start: float, speed: float, time: Array) -> Jet:
    """Return an angle that grows evenly."""
    return Jet(start + speed * time, np.full_like(time, speed), np.zeros_like(time))


def four_bars(k: int) -> Mechanism:
    """Return the scalable four-bar: a crank of 2 m and k dyads, all other lengths 6 m."""
    m = Mechanism(f"scalable-four-bar-{k}", omega=PLANAR_SPEED)
    m.point("A", [0, 0])
    m.point("B", [0, CRANK])
    for i in range(1, k + 1):
        m.point(f"C{i}", [4.6 + ROD * (i - 1), 5.8])
        m.point(f"D{i}", [ROD * i, 0])
    m.body("frame", ["A", *(f"D{i}" for i in range(1, k + 1))])
    m.body("crank", ["A", "B"], length=CRANK)
    m.joint("A", "R", ["frame", "crank"], at="A")
    last, pin = "crank", "B"
    for i in range(1, k + 1):
        m.body(f"rod{i}", [pin, f"C{i}"], length=ROD)
        m.body(f"rocker{i}", [f"D{i}", f"C{i}"], length=ROD)
        m.joint(f"B{i}", "R", [last, f"rod{i}"], at=pin)
        m.joint(f"C{i}", "R", [f"rod{i}", f"rocker{i}"], at=f"C{i}")
        m.joint(f"D{i}", "R", ["frame", f"rocker{i}"], at=f"D{i}")
        last, pin = f"rocker{i}", f"C{i}"
    m.driver("theta", joint="A", angle="pi/2 + omega*t")
    m.simulation.update(start=0, stop=120, step=PLANAR_STEP)
    return m


def planar(k: int) -> Chain:
    """Return the scalable four-bar, read as any mechanism; nEq = 2k + 2."""
    model = four_bars(k).model()
    program = prepare(model)[1]
    places = [("crank", "B"), *((f"rocker{i}", f"C{i}") for i in range(1, k + 1))]
    checked = [terms for b, p in places for terms in program.carriers[b].point(model.bodies[b].points[p])]
    return Chain(program, checked, 2 * k + 2)


def planar_exact(k: int, time: Array) -> Array:
    """Return position, velocity and acceleration of B, C_1 to C_k (order, row, time) from circles that meet."""
    theta = turning(np.pi / 2, PLANAR_SPEED, time)
    at = theta.cos().times(CRANK), theta.sin().times(CRANK)
    found = [*at]
    for i in range(k):
        at = meet(at, point(ROD * (i + 1), 0.0, theta), ROD, ROD, 1.0)
        found += at
    return np.stack([f.array() for f in found], axis=1)


def guides(k: int) -> Array:
    """Return the directions of the guides: spread over a cone about the y axis, away from the crank's own axis."""
    turn = 2 * np.pi * np.arange(k) / max(k, 1) + 0.3
    lines = np.stack([0.45 * np.cos(turn), np.ones(k), 0.45 * np.sin(turn)], axis=1)
    return np.asarray(lines / np.linalg.norm(lines, axis=1)[:, None])


def slider_cranks(k: int, speed: float) -> Mechanism:
    """Return the spatial slider-crank with k rods in the paper's coordinates: 1R3D and k times 2E1P by [groups]."""
    m = Mechanism(f"spatial-slider-crank-{k}", "spatial", omega=speed)
    m.point("A", [0, 0, 0])
    m.point("B", [CRANK, 0, 0])
    m.body("frame", ["A"])
    m.body("crank", ["A", "B"], length=CRANK)
    m.joint("A", "R", ["frame", "crank"], at="A", axis=[0, 0, 1])
    m.group("R_1", "1R3D", {"V1": "joint A", "V3": "frame.x", "V2": "crank.y", "L_crank": CRANK})
    for i, line in enumerate(guides(k), 1):
        rod, slider, C = f"rod{i:03d}", f"slider{i:03d}", f"C{i:03d}"
        m.point(C, rod_start(line).tolist())
        m.body(rod, ["B", C], length=ROD)
        m.body(slider, [C])
        m.joint(f"B{i:03d}", "S", ["crank", rod], at="B")
        m.joint(C, "S", [rod, slider], at=C)
        m.joint(f"G{i:03d}", "P", ["frame", slider], at=C, through="A", axis=line.tolist())
        where = {"C": C, "D": "A", "V6": f"joint G{i:03d}", "V7": "frame.x", "V8": "frame.y", "V4_z": 0, "L_rod": ROD}
        m.group(f"SSP_{i}", "2E1P", where)
    m.driver("theta", joint="A", angle="omega*t")
    m.simulation.update(start=0, stop=120, step=PLANAR_STEP)
    return m


def paper_spatial(k: int, speed: float) -> Chain:
    """Return the spatial slider-crank with k rods in the paper's coordinates, read as any mechanism; nEq = 8k + 6."""
    model = slider_cranks(k, speed).model()
    program = prepare(model)[1]
    places = [("crank", "B"), *((f"rod{i:03d}", f"C{i:03d}") for i in range(1, k + 1))]
    checked = [terms for b, p in places for terms in program.carriers[b].point(model.bodies[b].points[p])]
    return Chain(program, checked, 8 * k + 6)


def spatial(k: int, speed: float) -> Chain:
    """Return the spatial slider-crank with k rods in our own coordinates: one unknown a rod, nEq = k + 3."""
    draft = ProgramDraft("spatial slider-crank", "spatial")
    lines = guides(k)
    origin, V1 = draft.constants((0.0, 0.0, 0.0)), draft.constants((0.0, 0.0, 1.0))
    B = draft.group("R3D", (*origin, *V1, *draft.constants((1.0, 0.0, 0.0)), draft.driver), (CRANK,), (CRANK, 0.0, 0.0))
    rows = list(B)
    for line in lines:
        place = float(line @ rod_start(line))
        rows += draft.group("2S1P", (*B, *origin, *draft.constants(line)), (ROD,), (place,))
    return drafted(draft, rows, k + 3, 0.0, speed)


def rod_start(guide: Array) -> Array:
    """Return C of one rod at the start, where B is on the x axis."""
    B = np.array([CRANK, 0.0, 0.0])
    return np.asarray((guide @ B + np.sqrt((guide @ B) ** 2 - B @ B + ROD**2)) * guide)


def spatial_exact(k: int, speed: float, time: Array, paper: bool) -> Array:
    """Return B and the sliders (their displacements, or their points) over time from one quadratic each."""
    theta = turning(0.0, speed, time)
    x, y = theta.cos().times(CRANK), theta.sin().times(CRANK)
    found = [x, y, constant(0.0, x)]
    for u in guides(k):
        along = x.times(float(u[0])) + y.times(float(u[1]))
        s = along + (along * along + constant(ROD**2 - CRANK**2, x)).sqrt()
        found += [s.times(float(c)) for c in u] if paper else [s]
    return np.stack([f.array() for f in found], axis=1)
