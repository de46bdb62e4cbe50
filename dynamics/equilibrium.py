"""Static equilibrium of a mechanism under its loads, and the small vibrations about it.

At rest the generalised force along every independent coordinate vanishes: Q_z(z) = Rᵀ Q = 0, by Newton-Raphson from
the sketch. Linearised about it, M z̈ + C ż + K z = 0 with M = Rᵀ M R, K = -∂Q_z/∂z and C = -∂Q_z/∂ż. The second
derivatives that K needs are exact: the accelerations of bodies that move with constant rates, z̈ = 0, are quadratic in
the rates, and their coefficients are those derivatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..common.errors import AssemblyError, InputError
from ..common.turns import LARGEST_WAY
from ..mechanism.model import Array, Model, PointForce, Spring, Torque, TorsionSpring
from ..runtime.time_functions import check_times
from .applied_loads import Applied
from .body_lanes import one_lane
from .coordinates import JointCoordinate, shown_name
from .equations import Equations
from .initial_state import begin
from .instant_kinematics import Instant
from .nullspace import check_inertia
from .partition import NoCoordinatesError, Partition
from .posture import Posture

Followed = tuple[
    tuple[float, Array] | None, dict[int, float], tuple[float, Array, Array, Array] | None, dict[str, float]
]

ITERATIONS = 60
MOST_STEPS = 50_000  # in which a change of the coordinates is followed: some seconds
REST = 1e-11  # of the largest generalised force of the loads one by one
LONGEST = 0.3  # radians, or parts of the size: the largest change of a coordinate in one iteration
NONE = 1e-12  # of the terms whose sum a stiffness is: below, it is none


@dataclass(frozen=True)
class VibrationMode:
    """One small vibration: angular frequency (0 where it does not swing) and rate of decay (negative: it grows)."""

    angular: float
    decay: float

    @property
    def frequency(self) -> float:
        return self.angular / (2 * np.pi)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A position of rest: joint coordinates, places of the points, matrices of the linearised system, its modes."""

    coordinates: dict[str, float]
    points: dict[str, tuple[float, ...]]
    potential: float
    mass: Array
    damping: Array
    stiffness: Array
    modes: tuple[VibrationMode, ...]
    stable: bool
    iterations: int

    @property
    def neutral(self) -> bool:
        """Whether the mechanism stays in any position beside this one: a mode neither swings, creeps nor grows."""
        return self.stable and any(m.angular == m.decay == 0.0 for m in self.modes)

    def to_json(self) -> dict[str, Any]:
        """Return what `assurgent equilibrium --json` prints."""
        modes = [{"frequency": m.frequency, "angular_frequency": m.angular, "decay": m.decay} for m in self.modes]
        return {
            "coordinates": self.coordinates,
            "points": {p: list(x) for p, x in self.points.items()},
            "potential": self.potential,
            "stable": self.stable,
            "neutral": self.neutral,
            "modes": modes,
            "iterations": self.iterations,
        }


def equilibrium(model: Model, progress: Callable[[str], None] = lambda _: None) -> Equilibrium:
    """Return the equilibrium nearest to the sketch (or to [initial]), with drivers held where they start."""
    check_times(model, np.array([model.simulation.start]))
    start = begin(model)
    if start.free == 0:
        raise InputError(
            f"{model.origin or model.name}: [drivers]: the drivers hold the whole mechanism - nothing is left to find "
            "its equilibrium; remove a driver"
        )
    check_inertia(model, start)
    try:
        run = Partition(model, start, progress, reactions=False)
    except NoCoordinatesError as error:
        raise InputError(f"{error} - write U as two R joints with a body between them, S as three") from None
    system = _Still(run.equations, start.posture.time)
    scale = np.array([1.0 if c.kind == "angle" else model.size for c in run.chosen])
    z, iterations = _rest(model, system, run.z, scale)
    linear = system.linearised(z)
    posture = system.instant(z, 0 * z).posture
    modes, stable = _modes(linear)
    places = {
        p: tuple((posture.origin[k] + posture.carried(k, x)).tolist())
        for k, body in enumerate(model.bodies.values())
        for p, x in body.points.items()
    }
    values = {shown_name(model, c): float(x) + _offset(model, c) for c, x in zip(run.chosen, z, strict=True)}
    potential = run.applied.potential(posture)
    return Equilibrium(values, places, potential, linear.M, linear.C, linear.K, modes, stable, iterations)


def _offset(model: Model, coordinate: JointCoordinate) -> float:
    """Return what the angle between the parts that the user named has over that of the bodies they are welded into."""
    return model.joints[coordinate.joint].offset if coordinate.kind == "angle" else 0.0


class _Still:
    """Generalised forces and inertias of one set of coordinates at rest or in slow motion."""

    def __init__(self, equations: Equations, t: float) -> None:
        self.equations, self.t = equations, t

    def instant(self, z: Array, zdot: Array) -> Instant:
        """Return the kinematics with z̈ = 0, the drivers held."""
        equations, held = self.equations, np.zeros(len(self.equations.driven))
        values = np.concatenate([equations.prescribed(self.t)[0], z])
        rates = np.concatenate([held, zdot])
        found = equations.mechanics.evaluate(self.t, values, rates, 0 * rates)
        if found is None:
            raise AssemblyError(
                f"{equations.model.origin or equations.model.name}: the mechanism cannot be closed on the way to an "
                "equilibrium - put the sketch nearer to it"
            )
        return found

    def follow(self, z: Array, to: Array) -> None:
        """Go from one position to another in steps so small that every angle is followed, whole turns and all."""
        equations, count = self.equations, 1
        turned = self.instant(z, 0 * z).R[:, equations.model.dimension :, equations.free] @ (to - z)
        count += int(min(np.abs(turned).max(initial=0.0) / LARGEST_WAY, MOST_STEPS))
        if count > MOST_STEPS:
            raise AssemblyError(
                f"{equations.model.origin or equations.model.name}: a body turns too often on the way to an "
                "equilibrium - put the sketch nearer to it"
            )
        for part in np.linspace(0.0, 1.0, count + 1)[1:]:
            found = self.instant(z + part * (to - z), 0 * z)
            equations.mechanics.accept(found, equations.free, 0 * z)
            equations.applied.remember(found.posture)

    def followed(self) -> Followed:
        """Return what is known of the place that was followed to last."""
        mechanics = self.equations.mechanics
        return mechanics.known, mechanics.near, mechanics.angles, dict(self.equations.applied.turns)

    def back(self, followed: Followed) -> None:
        """Return to a place that was left."""
        mechanics = self.equations.mechanics
        mechanics.known, mechanics.near, mechanics.angles, turns = followed
        self.equations.applied.turns = dict(turns)

    def force(self, z: Array, zdot: Array) -> Array:
        """Return Q_z, the power of the loads for the unit rate of each coordinate."""
        found = self.instant(z, zdot)
        return self._along(found, self.equations.applied.wrenches(found.posture))

    def size(self, z: Array) -> float:
        """Return the size that the generalised forces would have if nothing cancelled."""
        found = self.instant(z, 0 * z)
        R = found.R[:, :, self.equations.free]
        applied, inertia = self.equations.applied, self.equations.inertia
        loads = applied.wrenches(found.posture, weight=False)
        total = np.einsum("nwk,nw->k", np.abs(R), np.abs(loads))
        # a weight counts by the way of its centre, so that it has a size even where it does no work
        M = inertia.matrices(found.posture)
        speed = np.sqrt(np.maximum(np.einsum("nwk,nwv,nvk->nk", R, M, R), 0.0))
        total = total + np.linalg.norm(applied.gravity) * np.sqrt(inertia.mass) @ speed
        return float(total.max(initial=0.0))

    def _along(self, found: Instant, wrenches: Array) -> Array:
        return np.asarray(np.einsum("nwk,nw->k", found.R[:, :, self.equations.free], wrenches))

    def linearised(self, z: Array) -> LinearizedMotion:
        """Return M, C and K at a position, all exact."""
        equations, f = self.equations, len(z)
        found, unit = self.instant(z, 0 * z), np.eye(f)
        R = found.R[:, :, equations.free]
        M = np.einsum("nwi,nwv,nvj->ij", R, equations.inertia.matrices(found.posture), R)
        bend = np.empty((*R.shape[:2], f, f))
        for i in range(f):
            bend[:, :, i, i] = self.instant(z, unit[i]).c
        for i, j in itertools.combinations(range(f), 2):
            both = self.instant(z, unit[i] + unit[j]).c
            bend[:, :, i, j] = bend[:, :, j, i] = 0.5 * (both - bend[:, :, i, i] - bend[:, :, j, j])
        tangents = _Tangents(equations.applied, found.posture, R, bend)
        return LinearizedMotion(M, tangents.C, tangents.K, tangents.size)


@dataclass(frozen=True, eq=False)
class LinearizedMotion:
    """M z̈ + C ż + K z = 0, and the size of the terms whose sum K is."""

    M: Array
    C: Array
    K: Array
    size: Array


class _Way(NamedTuple):
    """How something moves: its first derivatives (component x i), the second (component x i x j), their terms' size."""

    rate: Array
    bend: Array
    size: Array


class _Tangents:
    """The derivatives of the generalised forces by the coordinates and their rates, load by load."""

    def __init__(self, applied: Applied, posture: Posture, R: Array, bend: Array) -> None:
        f = R.shape[2]
        self.model, self.index, self.posture = applied.model, applied.index, posture
        self.R, self.bend = _in_space(R), _in_space(bend)
        self.C, self.K, self.size = np.zeros((3, f, f))
        d, none, at = self.model.dimension, np.zeros((3, 3)), np.array([posture.time])
        for k, (mass, centre) in enumerate(zip(applied.inertia.mass, applied.inertia.centre, strict=True)):
            self._add(np.pad(mass * applied.gravity, (0, 3 - d)), self._point(k, centre), none, none)
        for load in self.model.loads:
            match load:
                case PointForce():
                    force = np.pad([part(at)[0, 0] for part in load.force], (0, 3 - d))
                    self._add(force, self._point(self.index[load.body], load.point), none, none)
                case Torque():
                    torque = np.pad([part(at)[0, 0] for part in load.torque], (3 - len(load.torque), 0))
                    self._add(torque, self._turning(load.body), none, none)
                case Spring():
                    self._spring(load)
                case TorsionSpring():
                    self._torsion(applied, load)

    def _add(self, force: Array, way: _Way, stiffness: Array, damping: Array) -> None:
        """A force on something that moves."""
        self.K += way.rate.T @ stiffness @ way.rate - np.einsum("c,cij->ij", force, way.bend)
        self.C += way.rate.T @ damping @ way.rate
        self.size += np.abs(way.rate).T @ np.abs(stiffness) @ np.abs(way.rate)
        self.size += np.einsum("c,cij->ij", np.abs(force), way.size)

    def _point(self, k: int, local: Array) -> _Way:
        """Return how the place of a point of a body changes."""
        r = np.pad(self.posture.carried(k, local), (0, 3 - len(local)))[:, None]
        (v, w), (a, alpha) = np.split(self.R[k], 2), np.split(self.bend[k], 2)
        arm, across = np.cross(w, r, axis=0), np.cross(alpha, r[:, :, None], axis=0)
        inwards = np.cross(w[:, :, None], arm[:, None, :], axis=0)
        inwards = 0.5 * (inwards + inwards.swapaxes(1, 2))
        return _Way(v + arm, a + across + inwards, np.abs(a) + np.abs(across) + np.abs(inwards))

    def _turning(self, body: str) -> _Way:
        """Return the angular velocities w_i, and ∂w_i/∂z_j: in space these differ from ∂w_j/∂z_i by w_j × w_i.

        Of a rod, whose spin is left out, by twice as much.
        """
        w, alpha = self.R[self.index[body], 3:], self.bend[self.index[body], 3:]
        half = 1.0 if self.model.bodies[body].rod else 0.5
        bend = alpha + half * np.cross(w[:, None, :], w[:, :, None], axis=0)
        return _Way(w, bend, np.abs(bend))

    def _spring(self, spring: Spring) -> None:
        ends = [(self.index[body], end) for body, end in zip(spring.bodies, spring.ends, strict=True)]
        p, q = (self.posture.origin[k] + self.posture.carried(k, end) for k, end in ends)
        one, two = (self._point(k, end) for k, end in ends)
        way = np.pad(q - p, (0, 3 - len(p)))
        length = float(np.linalg.norm(way))
        along = np.outer(way, way) / length**2 if length > 0 else np.zeros((3, 3))
        across = spring.stiffness * (1 - spring.length / length if length > 0 else float(spring.length == 0))
        stiffness = spring.stiffness * along + across * (np.eye(3) - along)
        moved = _Way(two.rate - one.rate, two.bend - one.bend, two.size + one.size)
        self._add(-across * way, moved, stiffness, spring.damping * along)

    def _torsion(self, applied: Applied, spring: TorsionSpring) -> None:
        joint = self.model.joints[spring.joint]
        one, two = self.index[joint.first], self.index[joint.second]
        angle, _, axis = applied.turn(one_lane(self.posture), spring)
        u = np.pad(axis[:, 0], (3 - len(axis), 0))
        w = self.R[two, 3:] - self.R[one, 3:]
        moved = np.einsum("ci,cj->ij", np.cross(self.R[one, 3:], u[:, None], axis=0), w)
        bend = np.einsum("c,cij->ij", u, self.bend[two, 3:] - self.bend[one, 3:]) + 0.5 * (moved + moved.T)
        torque = -spring.stiffness * (angle - spring.angle)
        way = _Way(u[None] @ w, bend[None], np.abs(bend)[None])
        self._add(torque, way, np.array([[spring.stiffness]]), np.array([[spring.damping]]))


def _in_space(x: Array) -> Array:
    """Return twists of the plane (n x 3 x ..) as those of space."""
    if x.shape[1] == 6:
        return x
    found = np.zeros((len(x), 6, *x.shape[2:]))
    found[:, [0, 1, 5]] = x
    return found


def _rest(model: Model, system: _Still, z: Array, scale: Array) -> tuple[Array, int]:
    """Return the coordinates at which all generalised forces vanish."""
    size = system.size(z)
    force = system.force(z, 0 * z)
    for iteration in range(ITERATIONS):
        size = max(size, system.size(z))
        small = float(np.abs(force).max(initial=0.0)) <= REST * size
        change = scale * _newton(system.linearised(z), force * scale, scale)
        largest = float(np.abs(change / scale).max())
        change *= min(1.0, LONGEST / largest) if largest > 0 else 1.0
        factor, here = 1.0, system.followed()
        while True:
            try:
                tried = z + factor * change
                system.follow(z, tried)
                fresh = system.force(tried, 0 * z)
                if small or np.linalg.norm(fresh) < (1 - 1e-4 * factor) * np.linalg.norm(force):
                    break
            except AssemblyError:
                fresh = force
            system.back(here)
            factor *= 0.5
            if factor < 1e-8:
                if float(np.abs(force).max()) <= 1e3 * REST * size:
                    return z, iteration
                walked = _along_the_forces(system, z, force, scale)
                if walked is None:
                    raise AssemblyError(_nowhere(model))
                tried, fresh = walked
                break
        z, force = tried, fresh
        if small:
            return z, iteration + 1
    raise AssemblyError(_nowhere(model))


def _newton(linear: LinearizedMotion, force: Array, scale: Array) -> Array:
    """Return the change of the scaled coordinates to where the forces vanish; none where there is no stiffness."""
    units = np.outer(scale, scale)
    left, values, right = np.linalg.svd(linear.K * units)
    kept = values > NONE * np.linalg.norm(linear.size * units, 2)
    return np.asarray(right[kept].T @ (left.T[kept] @ force / values[kept]))


def _along_the_forces(system: _Still, z: Array, force: Array, scale: Array) -> tuple[Array, Array] | None:
    """Return a place where the forces lead to, with the forces there: Newton finds no way where they are largest.

    So it is with a pendulum that is drawn level.
    """
    way = scale**2 * force
    way *= LONGEST / float(np.abs(way / scale).max())
    here = system.followed()
    for _ in range(5):
        try:
            system.follow(z, z + way)
            return z + way, system.force(z + way, 0 * z)
        except AssemblyError:
            system.back(here)
            way = 0.5 * way
    return None


def _nowhere(model: Model) -> str:
    return f"{model.origin or model.name}: no equilibrium was found from the sketch - put [points] nearer to one"


def _modes(linear: LinearizedMotion) -> tuple[tuple[VibrationMode, ...], bool]:
    """Return the modes by rising frequency, and whether none of them grows."""
    M, C, K, f = linear.M, linear.C, linear.K, len(linear.M)
    L = np.linalg.cholesky(M)

    def by_mass(x: Array) -> Array:
        return np.asarray(np.linalg.solve(L, np.linalg.solve(L, x).T).T)

    B = by_mass(K)
    # a stiffness that its terms cancel to rounding is none, and so is what it is for the masses
    none = NONE * float(np.linalg.norm(by_mass(linear.size), 2))
    if not C.any():
        # without damping: ω² of the symmetric problem, so that no rounding shows as decay
        squares = np.linalg.eigvalsh(0.5 * (B + B.T))
        squares[np.abs(squares) <= none] = 0.0
        values = np.sqrt(squares.astype(complex)) * -1j  # a negative square grows
    else:
        values = np.linalg.eigvals(np.block([[np.zeros((f, f)), np.eye(f)], [-B, -by_mass(C)]]))
        free = int((np.linalg.svd(B, compute_uv=False) <= none).sum())  # positions without stiffness
        size = np.sqrt(none / NONE) + float(np.abs(values).max())
        still = np.argsort(np.abs(values))[: 2 * free]  # undamped too, they are double and lose half of the digits
        values[still[np.abs(values[still]) <= 1e-7 * size]] = 0.0
        values = values[values.imag >= -1e-9 * np.abs(values).max(initial=0.0)]
    modes = [VibrationMode(abs(float(v.imag)), 0.0 - float(v.real)) for v in values]
    growing = any(m.decay < -1e-7 * m.angular for m in modes)
    return tuple(sorted(modes, key=lambda m: (m.angular, m.decay))), not growing
