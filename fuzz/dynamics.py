"""Dynamics of the oracle: Newton-Euler equations of single bodies with multipliers, and their verdicts.

Coordinates are those of the motion, lengths in sizes of the mechanism: a force times the size is what belongs to them.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from . import following as fo
from . import spatial_rows as sr
from .case import Answer, Case
from .compare import Verdict, slack
from .formulas import evaluate
from .motion import Motion, closed, solve
from .reading import Problem, from_data

Array = NDArray[np.float64]
Run = tuple[Array, Array]  # configurations and rates over time
UNIT = "(forces times the size)"


class Loads:
    """Masses and applied forces of a problem."""

    def __init__(self, p: Problem) -> None:
        self.p = p
        self.d = p.space
        self.f = 3 if p.space == 2 else 6
        self.gravity = p.vector(p.data.get("gravity", [0.0] * p.space))
        self.masses: list[tuple[float, Array, Any]] = []
        for n, name in enumerate(p.names):
            body = p.data["bodies"][name]
            centre = self._centre(n, name, body)
            inertia = body.get("inertia", 0.0 if self.d == 2 else [0.0] * 6)
            if self.d == 3:
                xx, yy, zz, xy, xz, yz = inertia
                inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            self.masses.append((float(body.get("mass", 0.0)), centre, inertia))
        self.forces = list(p.data.get("forces", {}).values())
        self.tapes = []
        for force in self.forces:
            formulas = force.get("force") or ([force["torque"]] if "torque" in force else [])
            self.tapes.append([p.tapes.add(x) for x in formulas])
        self.arrays = p.tapes.arrays()
        self.turns: dict[str, float] = {}  # whole turns between the oracle's angle of a joint and its own

    def _centre(self, n: int, name: str, body: dict[str, Any]) -> Array:
        p = self.p
        if isinstance(body.get("centre"), str):
            return p.local[n][body["centre"]]
        if "centre" in body:
            return p.vector(body["centre"]) / p.size
        joints = p.data.get("joints", {}).values()
        at = {j["at"] for j in joints if "at" in j and name in j["bodies"]}
        places = [x for q, x in p.local[n].items() if q in at] or list(p.local[n].values()) or [np.zeros(self.d)]
        return np.asarray(np.mean(places, axis=0))

    # ---- kinematics of one instant ----------------------------------------------------------------------------------
    def arm(self, q: Array, n: int, local: Array) -> Array:
        if self.d == 2:
            c, s = math.cos(q[3 * n + 2]), math.sin(q[3 * n + 2])
            return np.array([c * local[0] - s * local[1], s * local[0] + c * local[1]])
        return np.asarray(q[12 * n + 3 : 12 * n + 12].reshape(3, 3) @ local)

    def place(self, q: Array, v: Array, n: int, local: Array) -> tuple[Array, Array, Array]:
        """Return place and velocity of a point of a body, and its arm."""
        r = self.arm(q, n, local)
        if self.d == 2:
            return q[3 * n : 3 * n + 2] + r, v[3 * n : 3 * n + 2] + v[3 * n + 2] * np.array([-r[1], r[0]]), r
        return q[12 * n : 12 * n + 3] + r, v[6 * n : 6 * n + 3] + np.cross(v[6 * n + 3 : 6 * n + 6], r), r

    def push(self, out: Array, n: int, r: Array, force: Array) -> None:
        """Add a force (in newtons) at an arm of a body."""
        F = force * self.p.size
        f = self.f
        out[f * n : f * n + self.d] += F
        out[f * n + self.d : f * n + f] += r[0] * F[1] - r[1] * F[0] if self.d == 2 else np.cross(r, F)

    # ---- the equations ----------------------------------------------------------------------------------------------
    def inertia(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the mass matrix on twists and the part of the inertia forces that is quadratic in the rates."""
        f, d = self.f, self.d
        M, h = np.zeros((len(v), len(v))), np.zeros(len(v))
        for n, (m, c, inertia) in enumerate(self.masses):
            if n == 0:
                continue
            m = m * self.p.size**2
            r = self.arm(q, n, c)
            b = f * n
            M[range(b, b + d), range(b, b + d)] = m
            if d == 2:
                w = v[b + 2]
                M[b, b + 2] = M[b + 2, b] = -m * r[1]
                M[b + 1, b + 2] = M[b + 2, b + 1] = m * r[0]
                M[b + 2, b + 2] = float(inertia) + m * (r @ r)
                h[b : b + 2] = -m * w * w * r
            else:
                w = v[b + 3 : b + 6]
                R = q[12 * n + 3 : 12 * n + 12].reshape(3, 3)
                J = R @ inertia @ R.T
                K = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
                M[b : b + 3, b + 3 : b + 6] = -m * K
                M[b + 3 : b + 6, b : b + 3] = m * K
                M[b + 3 : b + 6, b + 3 : b + 6] = J - m * K @ K
                centripetal = m * np.cross(w, np.cross(w, r))
                h[b : b + 3] = centripetal
                h[b + 3 : b + 6] = np.cross(r, centripetal) + np.cross(w, J @ w)
        return M, h

    def applied(self, q: Array, v: Array, t: float) -> Array:
        """Return the applied forces on the twists."""
        p = self.p
        out = np.zeros(len(v))
        for n, (m, c, _) in enumerate(self.masses):
            if n and m:
                self.push(out, n, self.arm(q, n, c), m * self.gravity)
        for force, tapes in zip(self.forces, self.tapes, strict=True):
            values = np.array([evaluate(*self.arrays, k, t)[0] for k in tapes])
            if force.get("type") == "spring":
                self._spring(out, force, q, v)
            elif force.get("type") == "torsion-spring":
                i, j = (p.body(b) for b in p.data["joints"][force["joint"]]["bodies"])
                angle, rate = q[3 * j + 2] - q[3 * i + 2], v[3 * j + 2] - v[3 * i + 2]
                angle += 2 * math.pi * self.turns.get(force["joint"], 0.0)
                torque = -force["stiffness"] * (angle - force.get("angle", 0.0)) - force.get("damping", 0.0) * rate
                out[3 * j + 2] += torque
                out[3 * i + 2] -= torque
            else:
                n = p.body(force["body"])
                if "torque" in force:
                    out[self.f * n + self.d : self.f * (n + 1)] += values
                else:
                    point = force["point"]
                    local = p.local[n][point] if isinstance(point, str) else p.vector(point) / p.size
                    self.push(out, n, self.arm(q, n, local), values)
        return out

    def _spring(self, out: Array, force: dict[str, Any], q: Array, v: Array) -> None:
        p = self.p
        i, j = (p.home(x) for x in force["between"])
        (xi, vi, ri), (xj, vj, rj) = (
            self.place(q, v, n, p.local[n][x]) for n, x in zip((i, j), force["between"], strict=True)
        )
        way = (xj - xi) * p.size
        length = float(np.linalg.norm(way))
        u = way / length
        pull = force["stiffness"] * (length - force.get("length", 0.0))
        pull += force.get("damping", 0.0) * float(u @ (vj - vi)) * p.size
        self.push(out, j, rj, -pull * u)
        self.push(out, i, ri, pull * u)


def inverse_compared(oracle: Motion, answer: Answer) -> Verdict:
    """Return the verdict on efforts and unique reactions."""
    p, results = oracle.problem, answer.results
    loads = Loads(p)
    turns_of(loads, oracle)
    model = p.model()
    f = loads.f
    drivers = {owner: m for m, owner in enumerate(p.owners) if owner in p.data["drivers"]}
    square = len(p.owners) == len(oracle.v[0]) - f
    n = min(len(results.time), len(oracle.time))
    looseness = slack(oracle, n)[2] * oracle.condition[:n]
    for k in range(n):
        q, v, a, t = oracle.q[k], oracle.v[k], oracle.a[k], float(oracle.time[k])
        M, h = loads.inertia(q, v)
        inertial, applied = M @ a + h, loads.applied(q, v, t)
        J = fo.fill(model, q, v, fo.drive_at(model, t))[1]
        multipliers = np.linalg.lstsq(J[:, f:].T, (inertial - applied)[f:], rcond=1e-12)[0]
        scale = max(np.max(np.abs(inertial)), np.max(np.abs(applied)), np.max(np.abs(multipliers))) + 1e-300
        bound = (1e-7 + 10 * looseness[k]) * scale
        if bound > 0.01 * scale:
            continue
        for name, m in drivers.items():
            effort = float(multipliers[m])
            got = float(results.drivers[name].effort[k]) / p.scales[p.ints[m][4]]
            if not abs(got - effort) <= bound:
                return Verdict("different", f"effort of {name} at t = {t!r}: {got!r} instead of {effort!r} {UNIT}")
        unsure = set(results.diagnostics.get("reactions", {}).get("not_unique", ()))
        if square and not unsure:
            wrong = reactions(loads, J, multipliers, q, results, k, bound)
            if wrong:
                return Verdict("different", f"{wrong} at t = {t!r}")
    balance = float(results.diagnostics["power_balance"])
    if not balance <= 1e-7 + 10 * float(np.max(looseness, initial=0.0)):
        return Verdict("different", f"powers miss each other by {balance:.1e} of the largest")
    return Verdict("right")


def turns_of(loads: Loads, oracle: Motion) -> None:
    """Set the whole turns of the joints that have torsion springs: driven as the driver, others begin in (-pi, pi]."""
    p = loads.p
    for force in loads.forces:
        if force.get("type") != "torsion-spring":
            continue
        name = force["joint"]
        first = oracle.first_angle(name)
        number = next((n for n, d in enumerate(p.data.get("drivers", {}).values()) if d.get("joint") == name), None)
        loads.turns[name] = -math.ceil((first - math.pi) / (2 * math.pi) - 1e-12)
        if number is not None:
            loads.turns[name] = -round(p.offsets[number] / (2 * math.pi))


def reactions(loads: Loads, J: Array, multipliers: Array, q: Array, results: Any, k: int, bound: float) -> str:
    """Return a wrong reaction: what the rows of a joint exert on its second body, about the joint's point."""
    p, f, d = loads.p, loads.f, loads.d
    for name, joint in p.data["joints"].items():
        if joint["type"] not in ("R", "P", "slot", "S", "U") or joint["bodies"][1] not in p.names:
            continue
        j = p.body(joint["bodies"][1])
        # the row of a spatial joint's own angle carries the driver's effort, which is no reaction
        rows = [m for m, owner in enumerate(p.owners) if owner == name and (d == 2 or p.ints[m][0] != sr.TURN)]
        wrench = multipliers[rows] @ J[rows][:, f * j : f * j + f]
        r = loads.arm(q, j, p.local[j][joint["at"]])
        F, moment = wrench[:d], wrench[d:]
        about = moment - (r[0] * F[1] - r[1] * F[0] if d == 2 else np.cross(r, F))
        got = results.reactions[name]
        if np.max(np.abs(got.force[k] * p.size - F)) > bound or np.max(np.abs(got.moment[k] - about)) > bound:
            return f"reaction of {name}: {got.force[k] * p.size}, {got.moment[k]} instead of {F}, {about} {UNIT}"
    return ""


# ---- forward --------------------------------------------------------------------------------------------------------
def simulated(case: Case, p: Problem, answer: Answer) -> Verdict:
    """Return the verdict on a simulation: the whole way, and the energy where nothing takes or gives any."""
    times = case.times()
    started = copy.deepcopy(case.data)
    start = float(times[0])
    for name, entry in started.pop("initial", {}).items():
        key = "angle" if "angle" in entry else "displacement"
        formula = f"{float(entry[key])!r} + {float(entry['rate'])!r}*(t - {start!r})"
        started.setdefault("drivers", {})[name] = {"joint": entry["joint"], key: formula}
    if "initial" in case.data:
        first = solve(from_data(started, p.folder), times[:1], start)
        if first.status != "whole":
            return Verdict("unclear", f"start: {first.status}")
    else:  # from rest at the sketch
        q, _, left = closed(p.model(), p.start(), start)
        if left > 1e-9 or p.data.get("drivers"):
            return Verdict("unclear", "start from rest")
        zero = np.zeros((1, (3 if p.space == 2 else 6) * len(p.names) + len(p.first)))
        first = Motion(p, time=times[:1], q=q[None], v=zero, a=zero)
    rest = Motion(p, begin=first.q[0])
    loads = Loads(p)
    if any(x.get("type") == "torsion-spring" for x in loads.forces):
        turns_of(loads, rest)
    runs = [integrated(p, loads, first.q[0], first.v[0] * (1 + nudge), times) for nudge in (0.0, 1e-7)]
    if runs[0] is None or runs[1] is None:
        return Verdict("unclear", "the oracle's integration ends early")
    solved = len(answer.results.time) if answer.results is not None else 0
    wrong = forward_motion(p, runs[0], runs[1], answer, solved)
    if wrong:
        return Verdict("different", wrong)
    if answer.kind == "lost" and solved < len(times):
        why = f"stops after {solved} of {len(times)} instants, the reference goes on: {answer.error}"
        return Verdict("different", why)
    energy = answer.results.energy
    conservative = not p.data.get("drivers") and not any("damping" in x or "type" not in x for x in loads.forces)
    if conservative and len(energy.total):
        drift = np.max(np.abs(energy.total - energy.total[0]))
        size = np.max(np.abs(energy.kinetic)) + np.ptp(energy.potential) + 1e-300
        if drift > 1e-6 * size:
            return Verdict("different", f"total energy changes by {drift!r} of {size!r} J")
    return Verdict("right")


def forward_motion(p: Problem, run: Run, nudged: Run, answer: Answer, solved: int) -> str:
    """Return the first difference of places and velocities; a chaotic motion is given what a small push does to it."""
    pair = [Motion(p, time=answer.results.time, q=q[:solved], v=v[:solved], a=v[:solved]) for q, v in (run, nudged)]
    # of whatever moves fastest; what stays balanced at rest has the rounding of the loads for a speed
    speed = max(float(np.max(np.abs(run[1]), initial=0.0)), 1e-6) * p.size
    for name, series in answer.results.points.items():
        try:
            x, y = pair[0].point(name), pair[1].point(name)
        except KeyError:
            continue
        for order, got in enumerate((series.position, series.velocity)):
            scale = p.size if order == 0 else speed
            pushed = np.maximum.accumulate(np.max(np.abs(x[order] - y[order]), axis=1))
            bound = 1e-6 * scale + pushed  # a push of 1e-7 of the rates; the integrator's tolerance is 1e-9 per step
            off = np.max(np.abs(got[:solved] - x[order]), axis=1)
            bad = np.flatnonzero(~(off <= bound))
            if len(bad):
                k = int(bad[0])
                what = ("position", "velocity")[order]
                return f"{what} of {name} at t = {float(answer.results.time[k])!r}: {got[k]} instead of {x[order][k]}"
    return ""


def integrated(p: Problem, loads: Loads, q: Array, v: Array, times: Array) -> Run | None:
    """Return configurations and rates at the times by the augmented equations, or None where they become singular."""
    model = p.model()
    f = loads.f
    bodies = len(p.names)

    def rate(t: float, y: Array) -> Array:
        q, v = y[: len(q0)], y[len(q0) :]
        M, h = loads.inertia(q, v)
        _, J, gamma = fo.fill(model, q, v, fo.drive_at(model, t))
        n, m = len(v) - f, len(gamma)
        K = np.zeros((n + m, n + m))
        K[:n, :n], K[:n, n:], K[n:, :n] = M[f:, f:], J[:, f:].T, J[:, f:]
        right = np.concatenate([(loads.applied(q, v, t) - h)[f:], gamma])
        try:
            a = np.linalg.solve(K, right)[:n]
        except np.linalg.LinAlgError:
            a = np.linalg.lstsq(K, right, rcond=1e-12)[0][:n]
        dq = np.zeros_like(q)
        if p.space == 2:
            dq[:] = v
        else:
            for b in range(1, bodies):
                dq[12 * b : 12 * b + 3] = v[6 * b : 6 * b + 3]
                R = q[12 * b + 3 : 12 * b + 12].reshape(3, 3)
                dq[12 * b + 3 : 12 * b + 12] = np.cross(v[6 * b + 3 : 6 * b + 6], R.T).T.ravel()
            dq[12 * bodies :] = v[6 * bodies :]
        return np.concatenate([dq, np.zeros(f), a])

    q0 = q
    y = np.concatenate([q, v])
    # loads that are functions of time may be short: no step is longer than the shortest one that is drawn
    struck = any("t" in str(x.get("torque", "")) for x in loads.forces)
    longest = 2e-3 if struck else np.inf
    with np.errstate(invalid="ignore"):  # of SciPy's estimate where everything is at rest
        found = solve_ivp(rate, (times[0], times[-1]), y, "DOP853", times, rtol=1e-11, atol=1e-11, max_step=longest)
    if not found.success or found.y.shape[1] < len(times):
        return None
    Q, V = found.y.T[:, : len(q)], found.y.T[:, len(q) :]
    residuals = [fo.fill(model, x, u, fo.drive_at(model, t))[0] for x, u, t in zip(Q, V, times, strict=True)]
    left = float(np.max(np.abs(residuals), initial=0.0))
    return (Q, V) if left < 1e-7 else None
