"""Meetings of branches in forward dynamics: found before they are reached, told from dead points, and bridged.

With one free coordinate every group is a function of it. Where the branches of a group meet (all bars of a
parallelogram in line) the motion goes on smoothly on the branch that continues its tangent, although the group's own
equations lose their rank. Values and slopes on both sides, where enough digits are left, give a polynomial for the way
between. A dead point of the coordinate is different: the distance from singularity falls as a square root, and behind
it the group cannot be closed; another coordinate must take over there.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.polynomial import Chebyshev, chebyshev
from numpy.typing import NDArray

from ..common.status import OK
from ..mechanism.model import Array
from ..runtime.program import GroupStep
from .equations import Equations
from .instant_kinematics import Bridge

NEAR = 0.35  # distance from singularity below which a change point is looked for
SIDE = 0.05  # the same at the inner end of each side, where about 13 digits are left of φ and 11 of its slope
NODES = np.array([1.0, 1.4, 1.8, 2.2])  # of each side, in units of the distance of its inner end
MEETING = 1e-6  # distance from singularity that counts as zero
LOOKS = 40


class Scout:
    """Looks along the one free coordinate from the present state."""

    def __init__(self, equations: Equations, t: float, z: float, way: float) -> None:
        self.equations, self.t, self.z, self.way = equations, t, z, way
        self.steps = {s.plan.name: s for s in equations.mechanics.groups}

    def look(self, z: float) -> dict[str, float] | None:
        """Return the distances from singularity of the groups at a value of the coordinate; None behind its range."""
        if self.equations.instant(self.t, np.array([z]), np.array([self.way])) is None:
            return None
        return self.equations.mechanics.conditioning()

    def change_point(self) -> float | None:
        """Return where the branches of a group meet ahead, or None: too far, only near each other, or a dead point."""
        here, ahead = self.look(self.z), self.look(self.z + 1e-4 * self.way)
        if here is None or ahead is None:
            return None
        best = None
        for name in self.steps:
            slope = (here[name] - ahead[name]) * 1e4
            if here[name] >= NEAR or slope <= 0.0:
                continue
            found = self._zero(name, here[name], slope)
            if found is not None and (best is None or abs(found - self.z) < abs(best - self.z)):
                best = found
        return best

    def _zero(self, name: str, kappa: float, slope: float) -> float | None:
        """Return where a distance from singularity is zero, by secants from this side; it must fall in proportion."""
        z0, k0 = self.z, kappa
        z = z0 + 0.9 * self.way * kappa / slope
        for _ in range(LOOKS):
            found = self.look(z)
            if found is None:  # behind a dead point, or rounding at the change point itself
                z = z0 + 0.5 * (z - z0)
                if abs(z - z0) < 1e-12:
                    return None
                continue
            k = found[name]
            if k < MEETING:
                return z if self._linear(name, z) else None
            if k >= k0 or (z - self.z) * self.way > 4 * kappa / slope:
                return None  # the branches come near and part again
            z0, k0, z = z, k, z + 0.95 * (z - z0) * k / (k0 - k)
        return None

    def _linear(self, name: str, z: float) -> bool:
        far, near = self.look(z - 1e-2 * self.way), self.look(z - 2.5e-3 * self.way)
        return far is not None and near is not None and near[name] < 0.35 * far[name]


def bridge_ahead(equations: Equations, t: float, z: float, zdot: float) -> Bridge | None:
    """Return the bridge over a change point of branches ahead, None where there is none to be made."""
    way = 1.0 if zdot >= 0 else -1.0
    scout = Scout(equations, t, z, way)
    centre = scout.change_point()
    if centre is None:
        return None
    probe = scout.look(centre - 0.01 * way)
    if probe is None:
        return None
    nearer = scout.look(centre - 1e-3 * way)
    singular = [] if nearer is None else [n for n, k in probe.items() if k < 0.5 * NEAR and nearer[n] < 0.2 * k]
    if not singular:
        return None
    reach = min(SIDE * 0.01 / min(probe[n] for n in singular), 0.2)
    bridge = Bridge(centre, reach, way)
    before = _side(scout, [centre - way * reach * x for x in NODES[::-1]])
    if before is None:
        return None
    after = _behind(scout, bridge, singular, before)
    if after is None:
        return None
    places = np.concatenate([-NODES[::-1], NODES])
    for name in singular:
        values = np.concatenate([before[name][0], after[name][0]])
        slopes = np.concatenate([before[name][1], after[name][1]]) * way * reach
        bridge.series[name] = _series(places, values, slopes)
    return bridge


def _state(scout: Scout, step: GroupStep) -> tuple[Array, Array]:
    state = scout.equations.mechanics.state
    return state[0, step.phi_rows, -1].copy(), state[1, step.phi_rows, -1] * scout.way  # the rate is 1 along the way


def _side(scout: Scout, places: list[float]) -> dict[str, tuple[Array, Array]] | None:
    """Return φ and dφ/dz of every group at places on this side, (places x φ) each."""
    found: dict[str, list[tuple[Array, Array]]] = {n: [] for n in scout.steps}
    for z in places:
        if scout.look(z) is None:
            return None
        for name, step in scout.steps.items():
            found[name].append(_state(scout, step))
    return {n: (np.array([x for x, _ in pairs]), np.array([s for _, s in pairs])) for n, pairs in found.items()}


def _behind(
    scout: Scout, bridge: Bridge, singular: list[str], before: dict[str, tuple[Array, Array]]
) -> dict[str, tuple[Array, Array]] | None:
    """Find the signs behind the change point, group by group: those that continue the tangent. Return the far side."""
    mechanics = scout.equations.mechanics
    held = dict(mechanics.signs)
    first = bridge.z + bridge.way * bridge.reach
    try:
        for name in singular:
            step = scout.steps[name]
            value, slope = before[name][0][-1], before[name][1][-1]
            expected = value + 2 * bridge.way * bridge.reach * slope
            misses: list[tuple[float, Array]] = []
            for factors in itertools.product((1.0, -1.0), repeat=len(held[name])):
                signs = held[name] * np.array(factors)
                phi = _solved(scout, step, first, signs)
                if phi is not None:
                    misses.append((float(np.abs(phi - expected).max()), signs))
            if not misses:
                return None
            mechanics.signs[name] = min(misses, key=lambda m: m[0])[1]
        after = _side(scout, [bridge.z + bridge.way * bridge.reach * x for x in NODES])
        bridge.after = {name: mechanics.signs[name] for name in singular}
    finally:
        mechanics.signs = held
    return after


def _solved(scout: Scout, step: GroupStep, z: float, signs: Array) -> Array | None:
    """Return φ of a group at z with these signs, everything before it as the signs in use say."""
    scout.look(z)  # fills h; groups behind this one may fail
    mechanics = scout.equations.mechanics
    phi, solver, sequence = np.zeros(len(step.phi_rows)), step.solver, mechanics.program.sequence
    par, _ = sequence.numbers_of(step, sequence.numbers)
    h = np.ascontiguousarray(mechanics.state[0, step.h_rows, 0])
    module = solver.group.module
    if not solver.closed_form or module.position(phi, h, par, scout.t, signs, np.zeros(module.WORK)) != OK:
        return None
    return phi


def _series(places: Array, values: Array, slopes: Array) -> NDArray[np.object_]:
    """Return for every column of φ its series over the place (scaled to the outermost nodes) and two derivatives."""
    outer = float(places[-1])
    x = places / outer
    degree = 2 * len(x) - 1
    unit = np.eye(degree + 1)
    V = chebyshev.chebvander(x, degree)
    dV = np.stack([chebyshev.chebval(x, chebyshev.chebder(unit[k])) if k else 0 * x for k in range(degree + 1)], axis=1)
    found = np.empty((values.shape[1], 3), dtype=object)
    for column in range(values.shape[1]):
        rhs = np.concatenate([values[:, column], slopes[:, column] * outer])
        series = Chebyshev(np.linalg.solve(np.vstack([V, dV]), rhs), domain=[-outer, outer])
        found[column] = [series, series.deriv(1), series.deriv(2)]
    return found
