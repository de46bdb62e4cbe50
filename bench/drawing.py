"""Programs of planar groups drawn one after the other, each beside its motion by an elementary construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanism.plans.plan import Array
from .chains import Chain, drafted, turning
from .drafts import ProgramDraft
from .time_derivatives import Jet, Vector, constant, lines_meet, meet


@dataclass(frozen=True, eq=False)
class DrawnPlace:
    """A point or direction: its two rows, and its motion by construction."""

    rows: tuple[int, int]
    motion: Vector


class DrawnProgram:
    """A mechanism under construction; `time`: the instants at which the construction is made."""

    def __init__(self, time: Array, speed: float) -> None:
        self.speed = speed
        self.theta = turning(0.0, speed, time)
        self.draft = ProgramDraft("drawing")
        self.n_equations = 0
        self.checked: list[int] = []
        self.exact: list[Jet] = []

    def chain(self) -> tuple[Chain, Array]:
        """Return the mechanism, and the motion of its points by construction (order, row, time)."""
        chain = drafted(self.draft, self.checked, self.n_equations, 0.0, self.speed)
        return chain, np.stack([x.array() for x in self.exact], axis=1)

    def fixed(self, x: float, y: float) -> DrawnPlace:
        """Return a fixed point or direction."""
        rows = self.draft.constant(x), self.draft.constant(y)
        return DrawnPlace(rows, (constant(x, self.theta), constant(y, self.theta)))

    def _new(self, rows: tuple[int, ...], motion: Vector) -> DrawnPlace:
        place = DrawnPlace((rows[0], rows[1]), motion)
        self.checked += place.rows
        self.exact += motion
        return place

    def _group(
        self, name: str, known: Sequence[DrawnPlace], par: tuple[float, ...], motion: Vector, angle: bool
    ) -> DrawnPlace:
        """Add a group with two unknowns, its sketch where the construction is at the start."""
        h_rows = [r for place in known for r in place.rows]
        if angle:
            h_rows.append(self.draft.driver)
        self.n_equations += 2
        return self._new(self.draft.group(name, h_rows, par, [float(x.x[0]) for x in motion]), motion)

    # ---- groups ---------------------------------------------------------------------------------------------------
    def crank(self, A: DrawnPlace, length: float, phase: float) -> DrawnPlace:
        """Return the end of a crank that is turned by the driver."""
        u = self.fixed(float(np.cos(phase)), float(np.sin(phase)))
        angle = self.theta + constant(phase, self.theta)
        B = A.motion[0] + angle.cos().times(length), A.motion[1] + angle.sin().times(length)
        return self._group("R", (A, u), (length,), B, angle=True)

    def RRR(self, A: DrawnPlace, B: DrawnPlace, a: float, b: float, side: float) -> DrawnPlace:
        """Return the common end of two bars."""
        return self._group("RRR", (A, B), (a, b), meet(A.motion, B.motion, a, b, side), angle=False)

    def RRP(self, A: DrawnPlace, B: DrawnPlace, u: DrawnPlace, length: float) -> DrawnPlace:
        """Return the end of a bar that slides on the line through B along u, on the side of u."""
        dx, dy = A.motion[0] - B.motion[0], A.motion[1] - B.motion[1]
        ux, uy = u.motion
        along, off = dx * ux + dy * uy, ux * dy - uy * dx
        s = along + (constant(length**2, off) - off * off).sqrt()
        C = B.motion[0] + s * ux, B.motion[1] + s * uy
        return self._group("RRP", (A, B, u), (length, 0.0), C, angle=False)

    def RPR(self, A: DrawnPlace, B: DrawnPlace, offset: float) -> DrawnPlace:
        """Return the direction of a line through A that passes B at a distance."""
        dx, dy = B.motion[0] - A.motion[0], B.motion[1] - A.motion[1]
        square = dx * dx + dy * dy
        over = square.inverse()
        c, s = (square - constant(offset**2, square)).sqrt() * over, over.times(offset)
        w = c * dx + s * dy, c * dy - s * dx
        return self._group("RPR", (A, B), (offset,), w, angle=False)

    def PRP(self, A: DrawnPlace, u: DrawnPlace, a: float, B: DrawnPlace, v: DrawnPlace, b: float) -> DrawnPlace:
        """Return the pin of two sliders on two lines."""
        C = lines_meet(A.motion, u.motion, a, B.motion, v.motion, b)
        return self._group("PRP", (A, u, B, v), (a, b), C, angle=False)

    def RPP(self, A: DrawnPlace, v: DrawnPlace, a: float, B: DrawnPlace, u: DrawnPlace, b: float) -> DrawnPlace:
        """Return the point of a slider on the line through B along u, off which A keeps its distance along v."""
        C = lines_meet(A.motion, v.motion, -a, B.motion, u.motion, b)  # cross(v, A - C) = a
        return self._group("RPP", (A, v, B, u), (a, b), C, angle=False)

    def corner(self, P: DrawnPlace, Q: DrawnPlace, along: float, across: float) -> DrawnPlace:
        """Return P + along (Q - P) + across perp(Q - P): a further point of a body."""
        (px, py), (qx, qy) = P.motion, Q.motion
        dx, dy = qx - px, qy - py
        motion = px + dx.times(along) - dy.times(across), py + dy.times(along) + dx.times(across)
        (ax, ay), (bx, by) = P.rows, Q.rows
        x = ((ax, 1 - along), (bx, along), (ay, across), (by, -across))
        y = ((ay, 1 - along), (by, along), (ax, -across), (bx, across))
        return self._new(self.draft.combine((x, y)), motion)


def zoo(k: int, time: Array, speed: float) -> tuple[Chain, Array]:
    """Return k units on cranks of different phase: the dyads RRR, RRP, RPR, PRP and RPP, one on the other."""
    drawing = DrawnProgram(time, speed)
    origin, D, level = drawing.fixed(0.0, 0.0), drawing.fixed(4.0, 0.0), drawing.fixed(1.0, 0.0)
    floor, pivot, post = drawing.fixed(0.0, -1.0), drawing.fixed(8.0, 6.0), drawing.fixed(12.0, 0.0)
    steep, slant = drawing.fixed(0.28, 0.96), drawing.fixed(0.6, 0.8)
    for i in range(k):
        B = drawing.crank(origin, 1.0, 2 * np.pi * i / k + 0.2)
        C = drawing.RRR(B, D, 3.5, 3.0, 1.0)
        drawing.RRP(C, floor, level, 5.0)
        w = drawing.RPR(C, pivot, 0.5)
        E = drawing.PRP(C, w, 0.2, post, steep, 0.3)
        drawing.RPP(E, slant, 0.1, floor, level, -0.4)
    return drawing.chain()


JANSEN = {"a": 38.0, "b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7, "h": 65.7, "i": 49.0,
          "j": 50.0, "k": 61.9, "l": 7.8, "m": 15.0}  # fmt: skip


def jansen(k: int, time: Array, speed: float) -> tuple[Chain, Array]:
    """Return k legs of Jansen's walker on cranks of different phase: three dyads and two further points a leg."""
    n = {name: 0.01 * x for name, x in JANSEN.items()}
    drawing = DrawnProgram(time, speed)
    origin, Z = drawing.fixed(0.0, 0.0), drawing.fixed(-n["a"], -n["l"])

    def triangle(side: float, left: float, right: float) -> tuple[float, float]:
        x = (side**2 + left**2 - right**2) / (2 * side)
        return x / side, float(np.sqrt(left**2 - x**2)) / side

    for i in range(k):
        P = drawing.crank(origin, n["m"], 2 * np.pi * i / k)
        U = drawing.RRR(Z, P, n["b"], n["j"], 1.0)
        L = drawing.RRR(Z, P, n["c"], n["k"], -1.0)
        V = drawing.corner(Z, U, *triangle(n["b"], n["d"], n["e"]))
        W = drawing.RRR(V, L, n["f"], n["g"], -1.0)
        drawing.corner(L, W, *triangle(n["g"], n["i"], n["h"]))
    return drawing.chain()
