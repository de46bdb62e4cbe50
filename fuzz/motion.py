"""What the oracle says of a motion: assembly from the sketch, continuation, and points, bodies and joints over time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from . import following as fo
from .reading import Problem
from .resting import resting

Array = NDArray[np.float64]
SINGULAR = 3e5  # condition from which values come from both sides of the instant
MET = 1e9  # condition at which branches do meet, as far as digits tell
SOON = 1e-4  # of the run: in so little time a body that has come as far as it is followed is at infinity
TORN = 1e-3  # of the size: by so much quintics from both sides do not miss each other where branches meet
PAD = 0.02  # of the run: how far the oracle looks beyond its end


@dataclass
class Motion:
    """The motion at the asked times as far as it goes; lengths in the units of the file."""

    problem: Problem
    status: str = "whole"  # or "lost", "apart" (cannot be assembled), "endless" (the oracle gave up), "not square"
    lost: float = math.inf  # time of the loss
    misfit: float = 0.0  # of the sketch
    time: Array = field(default_factory=lambda: np.zeros(0))
    q: Array = field(default_factory=lambda: np.zeros((0, 0)))
    v: Array = field(default_factory=lambda: np.zeros((0, 0)))
    a: Array = field(default_factory=lambda: np.zeros((0, 0)))
    condition: Array = field(default_factory=lambda: np.zeros(0))
    blur: Array = field(default_factory=lambda: np.zeros((0, 3)))  # error of values where branches meet
    worst: float = 0.0  # condition anywhere on the way
    singular: list[float] = field(default_factory=list)  # times at which branches come very near
    keep: Any = None
    resting: list[float] = field(default_factory=list)  # drivers rest where branches meet: a run has to stop there
    infinite: bool = False  # lost because a body goes to infinity
    begin: Array = field(default_factory=lambda: np.zeros(0))  # configuration at the start
    speed: float = 0.0  # fastest turn or translation between instants

    # ---- places -----------------------------------------------------------------------------------------------------
    def point(self, name: str) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration of a point, n x d."""
        p = self.problem
        for rod, ends in p.rods.items():
            if name in p.data["bodies"][rod]["points"] and name not in ends:
                raise KeyError(name)
        n = p.home(name)
        x, v, a = self.of_body(n, p.local[n][name])
        return x * p.size + p.origin, v * p.size, a * p.size

    def of_body(self, n: int, local: Array) -> tuple[Array, Array, Array]:
        """Return the motion of a place of a body in the units of the oracle."""
        q, v, a = self.q, self.v, self.a
        if self.problem.space == 2:
            angle = q[:, 3 * n + 2]
            w, alpha = v[:, 3 * n + 2, None], a[:, 3 * n + 2, None]
            c, s = np.cos(angle), np.sin(angle)
            r = np.stack([c * local[0] - s * local[1], s * local[0] + c * local[1]], 1)
            t = np.stack([-r[:, 1], r[:, 0]], 1)
            at = slice(3 * n, 3 * n + 2)
            return q[:, at] + r, v[:, at] + w * t, a[:, at] + alpha * t - w**2 * r
        r = self.rotation(n) @ local
        w, alpha = v[:, 6 * n + 3 : 6 * n + 6], a[:, 6 * n + 3 : 6 * n + 6]
        t = np.cross(w, r)
        return (
            q[:, 12 * n : 12 * n + 3] + r,
            v[:, 6 * n : 6 * n + 3] + t,
            a[:, 6 * n : 6 * n + 3] + np.cross(alpha, r) + np.cross(w, t),
        )

    def rotation(self, n: int) -> Array:
        return self.q[:, 12 * n + 3 : 12 * n + 12].reshape(-1, 3, 3)

    def first_angle(self, name: str) -> float:
        """Return the angle of a joint at the start of the run, as the oracle counts it."""
        if self.problem.space == 3:
            return float(self.begin[12 * len(self.problem.names) + self.problem.own[name]])
        i, j = (self.problem.body(b) for b in self.problem.data["joints"][name]["bodies"])
        return float(self.begin[3 * j + 2] - self.begin[3 * i + 2])

    def joint(self, name: str) -> tuple[Array, Array, Array] | None:
        """Return the coordinate of a joint with its rates: an angle (first in (-pi, pi]) or a displacement."""
        p = self.problem
        joint = p.data["joints"][name]
        if any(b not in p.names for b in joint["bodies"]):
            return None
        i, j = (p.body(b) for b in joint["bodies"])
        if joint["type"] == "R" and p.space == 2:
            found = [x[:, 3 * j + 2] - x[:, 3 * i + 2] for x in (self.q, self.v, self.a)]
            return found[0], found[1], found[2]
        if joint["type"] in ("R", "C", "H"):
            k = p.own[name]
            m = len(p.names)
            return self.q[:, 12 * m + k], self.v[:, 6 * m + k], self.a[:, 6 * m + k]
        if joint["type"] in ("P", "slot"):
            row = next(r for r, owner in enumerate(p.owners) if owner == name)
            r = p.reals[row]
            d = p.space
            a, b = np.array(r[:d]), np.array(r[d : 2 * d])
            u = p.turned_in(i, p.vector(joint["axis"]))
            u /= np.linalg.norm(u)
            return self._along(i, j, a, b, u)
        return None

    def _along(self, i: int, j: int, a: Array, b: Array, u: Array) -> tuple[Array, Array, Array]:
        """Return the displacement along a direction of the first body: exactly, as this direction is a unit vector."""
        size = self.problem.size
        xi, vi, ai = self.of_body(i, a)
        xj, vj, aj = self.of_body(j, b)
        e0, e1, e2 = (t - o for t, o in zip(self.of_body(i, a + u), (xi, vi, ai), strict=True))
        d0, d1, d2 = xj - xi, vj - vi, aj - ai
        s = np.sum(e0 * d0, 1)
        s1 = np.sum(e1 * d0 + e0 * d1, 1)
        s2 = np.sum(e2 * d0 + 2 * e1 * d1 + e0 * d2, 1)
        return s * size, s1 * size, s2 * size


def solve(problem: Problem, times: Array, start: float, anchor: Array | None = None) -> Motion:
    """Return the motion at the times, followed from `start`; `anchor` is a configuration to begin with."""
    model = problem.model()
    found = Motion(problem)
    q = problem.start() if anchor is None else anchor
    q = _whole_turns(problem, q, start)
    model = problem.model()
    q, found.misfit, left = closed(model, q, start)
    if left > 1e-9:
        found.status = "apart"
        return found
    f = 3 if problem.space == 2 else 6
    drive = fo.drive_at(model, start)
    J = fo.fill(model, q, np.zeros(f * len(problem.names) + len(problem.first)), drive)[1][:, f:]
    if J.shape[0] < J.shape[1]:
        found.status = "not square"
        return found
    # Joints may hold more than they need: as many rows as there are unknowns, the most independent ones.
    R, order = qr(J.T, pivoting=True)[1:]
    found.keep = np.sort(order[: J.shape[1]]).astype(np.int64)
    if abs(R[J.shape[1] - 1, J.shape[1] - 1]) < 1e-12:
        found.status = "not square"
        return found
    q, _, _ = fo.newton(model, found.keep, q, drive, 8)
    found.begin = q
    stop = float(times[-1]) if len(times) else start
    _follow(found, model, q, start, stop, times)
    return found


def _whole_turns(problem: Problem, q: Array, start: float) -> Array:
    """Set the whole turns of driven planar angles: the formula's value within half a turn of the sketch."""
    if problem.space == 3:
        return q
    problem.offsets = [0.0] * len(problem.offsets)
    model = problem.model()
    drive = fo.drive_at(model, start)
    for (_, i, j, _, d), r in zip(problem.ints, problem.reals, strict=True):
        if d >= 0 and r[6] == -1 and r[7] == 1:
            turned = q[3 * j + 2] - q[3 * i + 2]
            problem.offsets[d] = -2 * math.pi * round((drive[d, 0] - turned) / (2 * math.pi))
    return q


def closed(model: tuple[Any, ...], q: Array, start: float) -> tuple[Array, float, float]:
    """Return the configuration nearest to the sketch (damped Gauss-Newton), the first and the last residual."""
    f = 3 if model[0] == 2 else 6
    bodies = model[1]
    own = len(q) - (3 if model[0] == 2 else 12) * bodies
    zero = np.zeros(f * bodies + own)
    drive = fo.drive_at(model, start)
    first = size = math.inf
    for _ in range(100):
        phi, J, _g = fo.fill(model, q, zero, drive)
        size = float(np.max(np.abs(phi), initial=0.0))
        first = min(first, size) if math.isfinite(first) else size
        dx = np.zeros_like(zero)
        dx[f:] = np.linalg.lstsq(J[:, f:], -phi, rcond=1e-10)[0]
        step = float(np.max(np.abs(dx)))
        if not math.isfinite(step) or step < 1e-14:
            break
        q = fo.moved(model, q, dx * min(1.0, 0.2 / step))
    phi, _, _ = fo.fill(model, q, zero, drive)
    return q, first, float(np.max(np.abs(phi), initial=0.0))


def _follow(found: Motion, model: tuple[Any, ...], q: Array, start: float, stop: float, times: Array) -> None:
    """Fill in the motion, piece by piece between the times at which a formula jumps."""
    problem = found.problem
    span = max(stop - start, 0.0)
    breaks = sorted(b for b in problem.tapes.breaks if start < b < stop)
    tables = bool(problem.tapes.knots)
    ends = [*breaks, stop + (0.0 if tables else PAD * span)]
    pieces: list[tuple[Array, ...]] = []
    left = start
    solved: list[tuple[Array, ...]] = []
    for end in ends:
        eps = 1e-9 * max(span, 1e-300)
        inner = left + eps if pieces else left
        last = end - eps if end in breaks else end
        T, Q, V, A, C, status = fo.follow(model, found.keep, q, inner, last, max(span, 1e-300) / 4)
        pieces.append((T, Q, V, A, C))
        found.worst = max(found.worst, float(np.max(C)))
        found.speed = max(found.speed, float(np.max(np.abs(V))))
        found.resting += resting(model, found.keep, (T, Q, V, A, C), np.linspace(T[0], T[-1], 2001))
        found.singular += [float(t) for t in T[C > SINGULAR]]
        if len(T) == 1 and fo.NEARLY < C[0] < MET:  # beside a dead point, and too near for the oracle's own steps
            status = fo.ENDLESS
        if status == fo.ENDLESS:
            found.status = "endless"
            return
        if status == fo.LOST:
            if T[-1] < stop:
                found.status, found.lost = "lost", float(T[-1])
                found.infinite = bool(np.max(np.abs(Q[-1])) > 30 + np.max(np.abs(Q[0])))
                further = _left(Q[-1], V[-1], A[-1]) if found.infinite and problem.space == 2 else 0.0
                # else another body is lost, and this one merely far away
                found.lost += further if further < SOON * span else 0.0
            break
        if end in breaks:
            q, ok = fo.carried(model, found.keep, Q[-1], fo.drive_at(model, last), fo.drive_at(model, end + eps))
            if not ok:
                found.status, found.lost = "lost", float(end)
                break
        left = end
    asked = times[times < found.lost - 1e-12 * span] if found.status == "lost" else times
    for T, Q, V, A, C in pieces:
        mine = asked[(asked >= T[0] - 2e-9 * span) & (asked <= T[-1] + (2e-9 * span if T[-1] < stop else 0))]
        if solved:
            mine = mine[mine > solved[-1][0][-1]] if len(solved[-1][0]) else mine
        q_, v_, a_, c_ = fo.sampled(model, found.keep, T, Q, V, A, mine)
        blur = np.zeros((len(mine), 3))
        if problem.space == 2:
            blur = _both_sides(model, (T, Q, V, A, C), mine, q_, v_, a_, c_)
        solved.append((mine, q_, v_, a_, c_, blur))
    joined = [np.concatenate(x) for x in zip(*solved, strict=True)]
    found.time, found.q, found.v, found.a, found.condition, found.blur = joined


def _left(q: Array, v: Array, a: Array) -> float:
    """Return the time that is left to a body that goes to infinity: x = c / (t∞ - t) has x / ẋ and x ẍ = 2 ẋ²."""
    places = [k for k in range(len(q)) if k % 3 != 2]  # not the angles
    far = max(places, key=lambda k: abs(q[k]))
    pole = abs(q[far] * a[far] / v[far] ** 2 - 2) < 0.1
    return float(abs(q[far] / v[far])) if pole else 0.0


def _both_sides(
    model: tuple[Any, ...], nodes: tuple[Array, ...], times: Array, q: Array, v: Array, a: Array, condition: Array
) -> Array:
    """Replace values where branches meet by the quintic through well-conditioned nodes on both sides.

    Returned is how far a quintic through the next wider nodes is from it, n x 3 for values and rates: beyond its error.
    Where the quintic leaves the constraints by more, or says nothing, no branches meet: a point is merely far away
    between the nodes.
    """
    T, C = nodes[0], nodes[4]
    blur = np.zeros((len(times), 3))
    good = np.flatnonzero(C < SINGULAR / 100)
    for k in np.flatnonzero(condition > SINGULAR):
        before, after = good[T[good] < times[k]], good[T[good] > times[k]]
        if len(before) < 2 or len(after) < 2:
            continue
        near, wide = (_quintic(nodes, before[-n], after[n - 1], times[k]) for n in (1, 2))
        apart = [np.max(np.abs(x - y)) for x, y in zip(near, wide, strict=True)]
        phi, _, _ = fo.fill(model, near[0], np.zeros_like(near[0]), fo.drive_at(model, times[k]))
        if apart[0] > TORN or np.max(np.abs(phi)) > 2 * apart[0] + 1e-9:
            continue
        q[k], v[k], a[k] = near
        blur[k] = apart
        condition[k] = SINGULAR
    return blur


def _quintic(nodes: tuple[Array, ...], i: int, j: int, t: float) -> tuple[Array, Array, Array]:
    """Return value and rates at a time from two nodes with their rates."""
    T, Q, V, A, _ = nodes
    h = T[j] - T[i]
    s = (t - T[i]) / h
    basis = np.linalg.inv([
        [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
        [1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20],
    ])  # fmt: skip
    y = basis @ np.array([Q[i], V[i] * h, A[i] * h**2, Q[j], V[j] * h, A[j] * h**2])
    n = np.arange(6)
    return s**n @ y, (n[1:] * s ** n[:-1]) @ y[1:] / h, (n[2:] * n[1:-1] * s ** n[:-2]) @ y[2:] / h**2
