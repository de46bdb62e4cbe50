"""The two scalable mechanisms of the paper, ready to run, with their motion in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..builder import Mechanism
from ..mechanism.plans.plan import Array
from ..motion.kinematics import prepare
from ..motion.run import begin
from ..runtime.program import Program, Terms
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


def spatial(k: int, speed: float, paper: bool) -> Chain:
    """Return the spatial slider-crank with k rods.

    With `paper` its unknowns are those of the paper, nEq = 8k + 6: B and V2 of the crank, and eight of each rod with
    its slider. The crank's six come from explicit equations, which no pose makes singular, in place of Eq. 50a, of
    whose nine rows any fixed choice of six is singular somewhere in a turn. Otherwise one unknown a rod, nEq = k + 3.
    """
    draft = ProgramDraft("spatial slider-crank", "spatial")
    lines = guides(k)
    origin, V1 = draft.constants((0.0, 0.0, 0.0)), draft.constants((0.0, 0.0, 1.0))
    along, across = draft.constants((1.0, 0.0, 0.0)), draft.constants((0.0, 1.0, 0.0))
    first = (CRANK, 0.0, 0.0)
    B = draft.group("R3D", (*origin, *V1, *along, draft.driver), (CRANK,), first)
    rows = list(B)
    if paper:
        draft.group("R3D", (*origin, *V1, *across, draft.driver), (1.0,), (0.0, 1.0, 0.0))
    for line in lines:
        guide, start = draft.constants(line), rod_start(line)
        if paper:  # V7 and V8 stand in no equation
            known = (*B, origin[0], *guide, *along, *across)
            rows += draft.group("2E1P", known, (0.0, 0.0, 0.0, ROD), start)[:3]
        else:
            rows += draft.group("2S1P", (*B, *origin, *guide), (ROD,), (float(line @ start[:3]),))
    return drafted(draft, rows, 8 * k + 6 if paper else k + 3, 0.0, speed)


def spatial_redundant(k: int, speed: float) -> Chain:
    """Return the same by the paper's own groups, 1R3D (Eq. 50a) and 2E1P (Eq. 50b), with nine rows each.

    V4_z is a row of its own that happens to stand still: Table 2 counts it among the independent coordinates.
    """
    draft = ProgramDraft("spatial slider-crank", "spatial")
    origin, V1 = draft.constants((0.0, 0.0, 0.0)), draft.constants((0.0, 0.0, 1.0))
    along, across = draft.constants((1.0, 0.0, 0.0)), draft.constants((0.0, 1.0, 0.0))
    level = draft.row()
    crank = draft.group("1R3D", (*origin, *V1, *along, draft.driver), (CRANK,), (CRANK, 0.0, 0.0, 0.0, 1.0, 0.0))
    rows = list(crank[:3])
    for line in guides(k):
        known = (*crank[:3], level, *draft.constants(line), *along, *across)
        rows += draft.group("2E1P", known, (0.0, 0.0, 0.0, ROD), rod_start(line))[:3]

    def given(time: Array) -> dict[int, Array]:
        return {draft.driver: turning(0.0, speed, time).array(), level: np.zeros((3, len(time)))}

    return drafted(draft, rows, 8 * k + 6, 0.0, speed, given)


def rod_start(guide: Array) -> list[float]:
    """Return C, V4 (x, y) and V5 of one rod at the start, where B is on the x axis; V4 is level."""
    B = np.array([CRANK, 0.0, 0.0])
    s = guide @ B + np.sqrt((guide @ B) ** 2 - B @ B + ROD**2)
    e = (B - s * guide) / ROD
    V4 = np.array([-e[1], e[0], 0.0]) / np.hypot(e[0], e[1])
    return [*(s * guide), V4[0], V4[1], *np.cross(e, V4)]


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
