"""Every kind of joint, compiled, against its symbols at high precision and against an independent differentiation.

The independent route knows no rule of differentiation: bodies move with constant velocity and angular velocity, the
rows are evaluated beside the instant with 60 digits, and their differences are Φ̇ = J ν and Φ̈ = γ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from . import joint_codes as code
from .joint_kinds import Kind, gamma, jacobian, kinds
from .joint_module import inputs
from .verification_errors import BOUND, Verification

DIGITS, BESIDE = 60, 15  # of the numbers, and of the way to the instants beside
Numbers = dict[str, Any]
Compiled = Callable[..., None]


def verify_joints(
    space: str, compiled: Compiled, count: int = 5, bound: float = BOUND, seed: int = 1
) -> list[Verification]:
    """Return the errors of all kinds of a space at random configurations; `compiled` is the module's `constraints`."""
    rng, found = np.random.default_rng(seed), []
    with mpmath.workdps(DIGITS):
        for kind in kinds(space == "planar"):
            begin = time.perf_counter()
            result = Verification(f"{space} {kind.name}", count, bound=bound)
            _verify(kind, compiled, result, rng)
            found.append(replace(result, seconds=time.perf_counter() - begin))
    return found


def _verify(kind: Kind, compiled: Compiled, result: Verification, rng: np.random.Generator) -> None:
    motion = _Motion(kind)
    for _ in range(result.configurations):
        state = _State(kind, rng)
        found = state.evaluate(compiled)
        exact_by = {"symbolic": motion.symbolic(state.values), "independent": motion.independent(state.values)}
        for route, truth in exact_by.items():
            for quantity, value, exact in zip(("Phi", "J", "gamma"), found, truth, strict=True):
                want = np.array(exact, dtype=np.float64)
                result.add(quantity, route, float(np.abs(value - want).max() / max(1.0, np.abs(want).max())))


class _State:
    """Random bodies and numbers of one joint: as arrays for compiled code, and by name."""

    def __init__(self, kind: Kind, rng: np.random.Generator) -> None:
        self.kind, planar = kind, kind.planar
        self.bodies = np.zeros((3, code.BODY2 if planar else code.BODY3))
        self.numbers, self.extras = rng.uniform(0.4, 1.2, (1, code.NUMBERS)), np.zeros((1, code.EXTRAS))
        for k in range(3):
            if planar:
                x, y, angle, vx, vy, w = rng.uniform(-1.0, 1.0, 6)
                self.bodies[k] = x, y, angle, np.cos(angle), np.sin(angle), vx, vy, w
            else:
                rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
                self.bodies[k] = [*rng.uniform(-1, 1, 3), *rotation.ravel(), *rng.uniform(-1, 1, 6)]
        self.extras[0, code.DRIVEN :] = rng.uniform(-1, 1, 3)
        arrays = {"one": self.bodies[0], "two": self.bodies[1], "three": self.bodies[2], "numbers": self.numbers[0]}
        if kind.hidden is not None:  # a cam of radius 1 + 0.2 cos u, touched somewhere
            u = rng.uniform(-2.0, 2.0)
            profile = 1 + 0.2 * np.cos(u), -0.2 * np.sin(u), -0.2 * np.cos(u)
            self.extras[0, :6] = np.cos(u), np.sin(u), *profile, 1.0
            self.extras[0, code.DRIVEN] = u
        arrays["extras"] = self.extras[0]
        self.values: Numbers = {}
        for name, place in inputs(planar).items():
            array, index = place.rstrip("]").split("[")
            self.values[name] = mpmath.mpf(float(arrays[array][int(index)]))
        if kind.hidden is not None:
            self._meet()
        elif not planar:
            self.extras[0, code.TURNED] = float(self._turn())
            self.values["turn"] = self.values["spun"] = mpmath.mpf(self.extras[0, code.TURNED])
            if kind.number == code.GEAR3:
                for k, turn in enumerate(wheel_turns(self.values)):
                    self.extras[0, code.TURNED + k] = float(turn)
                    self.values[f"turn{k + 1}"] = mpmath.mpf(self.extras[0, code.TURNED + k])

    def _turn(self) -> Any:
        return turn_of(self.values)

    def _meet(self) -> None:
        """Turn the follower, or move it, so that the contact is where it was drawn."""
        motion = _Motion(self.kind)
        target = "angle2" if self.kind.name == "flat_cam" else "r2_0"

        def gap(x: Any) -> Any:
            values = {**self.values, target: x}
            if target == "angle2":
                values |= {"c2": mpmath.cos(x), "s2": mpmath.sin(x)}
            return motion.tangency(values)

        x = mpmath.findroot(gap, self.values[target])
        double = float(x)
        self.values[target] = mpmath.mpf(double)
        at = {"angle2": code.ANGLE2, "r2_0": code.PLACE2}[target]
        self.bodies[1, at] = double
        if target == "angle2":
            self.bodies[1, 3:5] = np.cos(double), np.sin(double)
            self.values |= {"c2": mpmath.mpf(self.bodies[1, 3]), "s2": mpmath.mpf(self.bodies[1, 4])}

    def evaluate(self, compiled: Compiled) -> tuple[Any, Any, Any]:
        """Return Φ, J (row x velocities of all bodies) and γ of the compiled module."""
        n, w = len(self.kind.rows), 3 if self.kind.planar else 6
        items = np.zeros((1, code.ITEM_SIZE), dtype=np.int64)
        items[0, [code.KIND, code.SECOND, code.THIRD, code.ROWS]] = self.kind.number, 1, 2, n
        phi, J, bend = np.zeros(n), np.zeros((n, 3, w)), np.zeros(n)
        out = np.zeros((6, 2 + 3 * w))
        compiled(items, self.numbers, self.extras, 0, 1, self.bodies, phi, J, bend, out)
        return phi, J[:, : len(self.kind.bodies)].reshape(n, -1), bend


def turn_of(values: Numbers) -> Any:
    """Return the spatial angle from normal_a to normal_b about axis_a, from rotation matrices and local vectors."""
    return _turn_of(values, 1, 2, "axis_a", "normal_a", "normal_b")


def wheel_turns(values: Numbers) -> tuple[Any, Any]:
    """Return the turns of both wheels of a gear about axes of the carrier, from its normal to theirs."""
    return _turn_of(values, 3, 1, "axis_a", "a", "normal_a"), _turn_of(values, 3, 2, "axis_b", "a", "normal_b")


def _turn_of(values: Numbers, first: int, second: int, *vectors: str) -> Any:
    R1, R2 = (mpmath.matrix(3, 3) for _ in range(2))
    for n in range(9):
        R1[n // 3, n % 3], R2[n // 3, n % 3] = values[f"R{first}_{n}"], values[f"R{second}_{n}"]
    axis, normal, other = (mpmath.matrix([values[f"local_{v}_{n}"] for n in range(3)]) for v in vectors)
    binormal = _cross(axis, normal)
    seen = R1.T * R2 * other
    return mpmath.atan2(sum(binormal[i] * seen[i] for i in range(3)), sum(normal[i] * seen[i] for i in range(3)))


def _cross(a: Any, b: Any) -> Any:
    return mpmath.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


class _Motion:
    """A kind evaluated with many digits: from its symbolic derivatives, and from differences of its rows alone."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.speeds = [v.name for b in kind.bodies for v in b.velocities]
        self.names = [*inputs(kind.planar)]
        self.arguments = [*map(sp.Symbol, self.names)]
        extra = list(kind.definitions)
        self.known = [self._function([kind.definitions[s]], extra[:n]) for n, s in enumerate(extra)]
        self.rows = self._function(kind.rows, extra)
        self.J = self._function(
            [x for r in range(len(kind.rows)) for b in range(len(kind.bodies)) for x in jacobian(kind, b).row(r)], extra
        )
        hidden = [kind.hidden[0]] if kind.hidden else []
        self.hidden = self._function([kind.hidden[1]], extra) if kind.hidden else None
        self.gamma = self._function(gamma(kind), [*extra, *hidden])

    def _function(self, expressions: Sequence[sp.Expr], more: Sequence[sp.Symbol]) -> Callable[..., list[Any]]:
        found: Callable[..., list[Any]] = sp.lambdify([*self.arguments, *more], list(expressions), "mpmath")
        return found

    def _defined(self, values: Numbers) -> list[Any]:
        given = [values[n] for n in self.names]
        for function in self.known:
            given.append(function(*given)[0])
        return given

    def symbolic(self, values: Numbers) -> tuple[Any, Any, Any]:
        given = self._defined(values)
        n = len(self.kind.rows)
        J = np.array(self.J(*given), dtype=object).reshape(n, -1)
        bend = self.gamma(*given, *(self.hidden(*given) if self.hidden else []))
        return self.rows(*given), J, bend

    # ---- without derivatives --------------------------------------------------------------------------------------
    def tangency(self, values: Numbers) -> Any:
        """Return what is zero where an outline is touched, written out once more."""
        place, tangent, away, across = self._outline(values)
        if self.kind.name == "flat_cam":
            return sum(across[i] * tangent[i] for i in range(2))
        return sum(tangent[i] * (away[i] - place[i]) for i in range(2))

    def _outline(self, v: Numbers) -> tuple[Any, Any, Any, Any]:
        """Return place and tangent of the outline, way to the follower's point, and across its face: cam's axes."""
        r, r1, cu, su = v["radius"], v["radius_1"], v["cos_u"], v["sin_u"]
        place, tangent = [r * cu, r * su], [r1 * cu - r * su, r1 * su + r * cu]
        x = v["r2_0"] + v["c2"] * v["local_b_0"] - v["s2"] * v["local_b_1"] - v["r1_0"]
        y = v["r2_1"] + v["s2"] * v["local_b_0"] + v["c2"] * v["local_b_1"] - v["r1_1"]
        away = [v["c1"] * x + v["s1"] * y - v["local_a_0"], v["c1"] * y - v["s1"] * x - v["local_a_1"]]
        a, b = (
            v["c2"] * v["local_axis_b_0"] - v["s2"] * v["local_axis_b_1"],
            (v["s2"] * v["local_axis_b_0"] + v["c2"] * v["local_axis_b_1"]),
        )
        return place, tangent, away, [v["c1"] * -b + v["s1"] * a, v["c1"] * a + v["s1"] * b]

    def _moved(self, values: Numbers, speeds: Numbers, t: Any) -> Numbers:
        """Return everything at a time, bodies moving with constant velocities."""
        v = {**values, **speeds}
        for k in (1, 2, 3):
            places = 2 if self.kind.planar else 3
            for n in range(places):
                v[f"r{k}_{n}"] = values[f"r{k}_{n}"] + t * speeds.get(f"v{k}_{n}", 0)
            if self.kind.planar:
                turn = t * speeds.get(f"w{k}_0", 0)
                c, s = values[f"c{k}"], values[f"s{k}"]
                v[f"angle{k}"] = values[f"angle{k}"] + turn
                v[f"c{k}"], v[f"s{k}"] = (
                    c * mpmath.cos(turn) - s * mpmath.sin(turn), s * mpmath.cos(turn) + c * mpmath.sin(turn),
                )  # fmt: skip
            else:
                x, y, z = (t * speeds.get(f"w{k}_{n}", mpmath.mpf(0)) for n in range(3))
                R = mpmath.matrix(3, 3)
                for n in range(9):
                    R[n // 3, n % 3] = values[f"R{k}_{n}"]
                R = mpmath.expm(mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])) * R
                v.update({f"R{k}_{n}": R[n // 3, n % 3] for n in range(9)})
        if self.kind.hidden is not None:
            u0 = values["driven_0"]

            def touched(u: Any) -> Numbers:
                radius = {"radius": 1 + mpmath.cos(u) / 5, "radius_1": -mpmath.sin(u) / 5}
                return {**v, **radius, "cos_u": mpmath.cos(u), "sin_u": mpmath.sin(u)}

            v = touched(mpmath.findroot(lambda u: self.tangency(touched(u)), u0))
        elif not self.kind.planar:
            v["turn"] = turn_of(v)
            if self.kind.number == code.GEAR3:
                v["turn1"], v["turn2"] = wheel_turns(v)
        v["driven_0"] = values["driven_0"] + t * t * values["driven_2"] / 2
        return v

    def _rows(self, values: Numbers, speeds: Numbers, t: Any) -> list[Any]:
        return self.rows(*self._defined(self._moved(values, speeds, t)))

    def independent(self, values: Numbers) -> tuple[Any, Any, Any]:
        n, h = len(self.kind.rows), mpmath.mpf(10) ** -BESIDE
        still = dict.fromkeys(self.speeds, mpmath.mpf(0))
        phi = self.symbolic(values)[0]
        if self.kind.name == "spin":  # it has no value: its rate is the spin about the line
            exact = self.symbolic(values)
            return phi, exact[1], [mpmath.mpf(0)]
        J = np.empty((n, len(self.speeds)), dtype=object)
        for c, name in enumerate(self.speeds):
            one, two = (self._rows(values, {**still, name: mpmath.mpf(1)}, s * h) for s in (1, -1))
            J[:, c] = [(a - b) / (2 * h) for a, b in zip(one, two, strict=True)]
        own = {name: values[name] for name in self.speeds}
        before, now, after = (self._rows(values, own, s * h) for s in (-1, 0, 1))
        bend = [(a - 2 * b + c) / h**2 for a, b, c in zip(before, now, after, strict=True)]
        return phi, J, bend
