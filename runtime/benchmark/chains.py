"""The two scalable mechanisms of the paper as layouts of groups, with their motion in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..library import load
from ..motion.plan import Array
from ..motion.tables import Entry, Layout
from .jets import Jet, constant, meet, point

ZERO, ONE, DRIVER = 0, 1, 2
PLANAR_SPEED, PLANAR_STEP = 34.96, 0.005
SPATIAL_SPEEDS = (34.9e-5, 34.9e-2, 34.9)
CRANK, ROD = 2.0, 6.0


@dataclass(eq=False)
class Chain:
    """A mechanism ready to run: its layout, its constants by row, and how it is driven.

    The phase of its motion is start + speed·t; it is the value of the row DRIVER unless `given` tells other rows.
    """

    layout: Layout
    constants: dict[int, float]
    start: float
    speed: float
    rows: NDArray[np.int64]  # whose motion is known by another route
    n_equations: int
    first: dict[int, float]  # values at the start that no closed form of a group gives
    given: Callable[[Array], Mapping[int, Array]] | None = None  # time -> row: value and two rates

    def state(self, n: int, step: float = PLANAR_STEP) -> tuple[Array, Array]:
        """Return times and an unsolved state (order, row, lane), its lanes on the cache's lines."""
        time = np.asarray(np.arange(n) * step, dtype=np.float64)
        state = aligned((3, self.layout.n_rows, n))
        for row, value in {ZERO: 0.0, ONE: 1.0, **self.constants}.items():
            state[0, row] = value
        if self.given is None:
            state[0, DRIVER], state[1, DRIVER] = self.phase(time)
        else:
            for row, motion in self.given(time).items():
                state[:, row] = motion
        for row, value in self.first.items():
            state[0, row, 0] = value
        return time, state

    def phase(self, time: Array) -> tuple[Array, Array]:
        """Return the angle after which the motion repeats, and its rate."""
        return self.start + self.speed * time, np.full_like(time, self.speed)


def aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin on a line of the cache, so that no vector of lanes straddles two."""
    count = int(np.prod(shape))
    room = np.zeros(count + 8)
    skip = (-room.ctypes.data % 64) // 8
    return room[skip : skip + count].reshape(shape)


def turning(start: float, speed: float, time: Array) -> Jet:
    """Return an angle that grows evenly."""
    return Jet(start + speed * time, np.full_like(time, speed), np.zeros_like(time))


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
    crank, rod = load("R3D").module, load("2E1P" if paper else "2S1P").module
    lines = guides(k)
    constants: dict[int, float] = {}
    first: dict[int, float] = {}
    first_guide = 3
    for i in range(k):
        constants.update({first_guide + 3 * i + j: float(lines[i, j]) for j in range(3)})
    at = first_guide + 3 * k
    b, V1 = (at, at + 1, at + 2), (ZERO, ZERO, ONE)
    origin = (ZERO, ZERO, ZERO)
    items = [Entry(crank, (*origin, *V1, ONE, ZERO, ZERO, DRIVER), b, (CRANK,), ())]
    at += 3
    if paper:
        items.append(Entry(crank, (*origin, *V1, ZERO, ONE, ZERO, DRIVER), (at, at + 1, at + 2), (1.0,), ()))
        first.update({at: 0.0, at + 1: 1.0, at + 2: 0.0})
        at += 3
    rows = list(b)
    for i in range(k):
        guide = tuple(first_guide + 3 * i + j for j in range(3))
        if not paper:
            items.append(Entry(rod, (*b, *origin, *guide), (at,), (ROD,), (1.0,)))
            rows.append(at)
            at += 1
            continue
        found = tuple(range(at, at + 8))
        across = (ONE, ZERO, ZERO, ZERO, ONE, ZERO)  # V7 and V8 stand in no equation
        items.append(Entry(rod, (*b, ZERO, *guide, *across), found, (0.0, 0.0, 0.0, ROD), ()))
        first.update(zip(found, rod_start(lines[i]), strict=True))
        rows += found[:3]
        at += 8
    layout = Layout(tuple(items), frozenset({ZERO, ONE, *constants}), (DRIVER,), at)
    first.update(zip(b, (CRANK, 0.0, 0.0), strict=True))
    return Chain(layout, constants, 0.0, speed, np.array(rows), 8 * k + 6 if paper else k + 3, first)


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
