"""The two scalable mechanisms of the paper as layouts of groups, with their motion in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..library import load
from ..motion.plan import Array
from ..motion.tables import Entry, Layout
from .jets import Jet, constant

ZERO, ONE, DRIVER = 0, 1, 2
PLANAR_SPEED, PLANAR_STEP = 34.96, 0.005
SPATIAL_SPEEDS = (34.9e-5, 34.9e-2, 34.9)
CRANK, ROD = 2.0, 6.0


@dataclass(eq=False)
class Chain:
    """A mechanism ready to run: its layout, its constants by row, and how the driver moves."""

    layout: Layout
    constants: dict[int, float]
    start: float
    speed: float
    rows: NDArray[np.int64]  # whose motion `exact` gives
    n_equations: int
    first: dict[int, float]  # values at the start that no closed form of a group gives

    def state(self, n: int, step: float = PLANAR_STEP) -> tuple[Array, Array]:
        """Return times and an unsolved state (order, row, lane), its lanes on the cache's lines."""
        time = np.asarray(np.arange(n) * step, dtype=np.float64)
        state = aligned((3, self.layout.n_rows, n))
        for row, value in {ZERO: 0.0, ONE: 1.0, **self.constants}.items():
            state[0, row] = value
        state[0, DRIVER] = self.start + self.speed * time
        state[1, DRIVER] = self.speed
        for row, value in self.first.items():
            state[0, row, 0] = value
        return time, state


def aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin on a line of the cache, so that no vector of lanes straddles two."""
    count = int(np.prod(shape))
    room = np.zeros(count + 8)
    skip = (-room.ctypes.data % 64) // 8
    return room[skip : skip + count].reshape(shape)


def planar(k: int) -> Chain:
    """Return the scalable four-bar: a crank of 2 m and k dyads, all other lengths 6 m; nEq = 2k + 2."""
    crank, dyad = load("R").module, load("RRR").module
    phi = 3 + k
    items = [Entry(crank, (ZERO, ZERO, ONE, ZERO, DRIVER), (phi, phi + 1), (CRANK,), ())]
    for i in range(k):
        at = phi + 2 * i
        items.append(Entry(dyad, (at, at + 1, 3 + i, ZERO), (at + 2, at + 3), (ROD, ROD), (-1.0,)))
    constants = {3 + i: ROD * (i + 1) for i in range(k)}
    n_rows = phi + 2 * k + 2
    layout = Layout(tuple(items), frozenset({ZERO, ONE, *constants}), (DRIVER,), n_rows)
    return Chain(layout, constants, np.pi / 2, PLANAR_SPEED, np.arange(phi, n_rows), 2 * k + 2, {})


def planar_exact(k: int, time: Array) -> Array:
    """Return position, velocity and acceleration of B, C_1 to C_k (order, row, time) from circles that meet."""
    theta = Jet(np.pi / 2 + PLANAR_SPEED * time, np.full_like(time, PLANAR_SPEED), np.zeros_like(time))
    x, y = theta.cos().times(CRANK), theta.sin().times(CRANK)
    found = [x, y]
    for i in range(k):
        dx, dy = constant(ROD * (i + 1), x) - x, constant(0.0, x) - y
        square = dx * dx + dy * dy
        half = ((constant(ROD * ROD, x) - square.times(0.25)) * square.inverse()).sqrt()
        x, y = x + dx.times(0.5) - half * dy, y + dy.times(0.5) + half * dx
        found += [x, y]
    return np.stack([f.array() for f in found], axis=1)


def _guides(k: int) -> Array:
    """Return the directions of the guides: spread over a cone about the y axis, away from the crank's own axis."""
    turn = 2 * np.pi * np.arange(k) / max(k, 1) + 0.3
    lines = np.stack([0.45 * np.cos(turn), np.ones(k), 0.45 * np.sin(turn)], axis=1)
    return np.asarray(lines / np.linalg.norm(lines, axis=1)[:, None])


def spatial(k: int, speed: float, paper: bool) -> Chain:
    """Return the spatial slider-crank with k rods; `paper`: each rod and slider by the paper's eight unknowns."""
    crank, rod = load("R3D").module, load("2E1P" if paper else "2S1P").module
    guides = _guides(k)
    constants: dict[int, float] = {}
    first: dict[int, float] = {}
    first_guide = 3
    for i in range(k):
        constants.update({first_guide + 3 * i + j: float(guides[i, j]) for j in range(3)})
    phi = first_guide + 3 * k
    h = (ZERO, ZERO, ZERO, ZERO, ZERO, ONE, ONE, ZERO, ZERO, DRIVER)
    items = [Entry(crank, h, (phi, phi + 1, phi + 2), (CRANK,), ())]
    b, at = (phi, phi + 1, phi + 2), phi + 3
    rows = list(b)
    for i in range(k):
        guide = tuple(first_guide + 3 * i + j for j in range(3))
        if not paper:
            items.append(Entry(rod, (*b, ZERO, ZERO, ZERO, *guide), (at,), (ROD,), (1.0,)))
            rows.append(at)
            at += 1
            continue
        found = tuple(range(at, at + 8))
        across = (ONE, ZERO, ZERO, ZERO, ONE, ZERO)  # V7 and V8 stand in no equation
        items.append(Entry(rod, (*b, ZERO, *guide, *across), found, (0.0, 0.0, 0.0, ROD), ()))
        first.update(zip(found, _first(guides[i]), strict=True))
        rows += found[:3]
        at += 8
    layout = Layout(tuple(items), frozenset({ZERO, ONE, *constants}), (DRIVER,), at)
    first.update(zip(b, (CRANK, 0.0, 0.0), strict=True))
    return Chain(layout, constants, 0.0, speed, np.array(rows), (8 if paper else 1) * k + 3, first)


def _first(guide: Array) -> list[float]:
    """Return C, V4 (x, y) and V5 of one rod at the start, where B is on the x axis; V4 is level."""
    B = np.array([CRANK, 0.0, 0.0])
    s = guide @ B + np.sqrt((guide @ B) ** 2 - B @ B + ROD**2)
    e = (B - s * guide) / ROD
    V4 = np.array([-e[1], e[0], 0.0]) / np.hypot(e[0], e[1])
    return [*(s * guide), V4[0], V4[1], *np.cross(e, V4)]


def spatial_exact(k: int, speed: float, time: Array, paper: bool) -> Array:
    """Return B and the sliders (their displacements, or their points) over time from one quadratic each."""
    theta = Jet(speed * time, np.full_like(time, speed), np.zeros_like(time))
    x, y = theta.cos().times(CRANK), theta.sin().times(CRANK)
    found = [x, y, constant(0.0, x)]
    for u in _guides(k):
        along = x.times(float(u[0])) + y.times(float(u[1]))
        s = along + (along * along + constant(ROD**2 - CRANK**2, x)).sqrt()
        found += [s.times(float(c)) for c in u] if paper else [s]
    return np.stack([f.array() for f in found], axis=1)


def triad() -> Chain:
    """Return a triad whose leg A hangs on a crank; B and C are fixed. The legs stand across the platform's radii."""
    crank, group = load("R").module, load("triad-6R").module
    angles = np.radians([210.0, 330.0, 90.0])
    D, E, F = (np.array([np.cos(a), np.sin(a)]) for a in angles)
    A, B, C = (np.array([np.cos(a) - 2 * np.sin(a), np.sin(a) + 2 * np.cos(a)]) for a in angles)
    centre, arm = A - np.array([0.25, 0.0]), 0.25
    constants = {3: B[0], 4: B[1], 5: C[0], 6: C[1], 13: centre[0], 14: centre[1]}
    along = (F - D) @ (E - D) / ((E - D) @ (E - D))
    up = (F - D) @ np.array([-(E - D)[1], (E - D)[0]]) / ((E - D) @ (E - D))
    par = (np.hypot(*(D - A)), np.hypot(*(E - B)), np.hypot(*(F - C)), np.hypot(*(E - D)), along, up)
    items = (
        Entry(crank, (13, 14, ONE, ZERO, DRIVER), (7, 8), (arm,), ()),
        Entry(group, (7, 8, 3, 4, 5, 6), (9, 10, 11, 12), tuple(float(p) for p in par), ()),
    )
    layout = Layout(items, frozenset({ZERO, ONE, *constants}), (DRIVER,), 15)
    first = {7: A[0], 8: A[1], 9: D[0], 10: D[1], 11: E[0], 12: E[1]}
    return Chain(layout, constants, 0.0, PLANAR_SPEED, np.arange(7, 13), 6, first)


def triad_residual(state: Array) -> float:
    """Return how far the lengths of the triad's rods are from those at the start, relative."""
    q = state[0]
    pairs = ((7, 9), (3, 11), (9, 11))
    lengths = [np.hypot(q[b] - q[a], q[b + 1] - q[a + 1]) for a, b in pairs]
    return max(float(np.abs(x / x[0] - 1.0).max()) for x in lengths)
