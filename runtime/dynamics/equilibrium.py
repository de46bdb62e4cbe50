"""Static equilibrium of a mechanism under its loads, and the small vibrations about it.

At rest the generalised force along every independent coordinate vanishes: Q_z(z) = Rᵀ Q = 0, by Newton-Raphson from
the sketch. Linearised about it, M z̈ + C ż + K z = 0 with M = Rᵀ M R, K = -∂Q_z/∂z and C = -∂Q_z/∂ż.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import AssemblyError, InputError
from ..mechanism.model import Array, Model
from ..motion.timefunctions import check_times
from .coordinates import Coordinate, shown_name
from .equations import Equations
from .nullspace import check_inertia
from .partition import NoCoordinatesError, Partition
from .start import begin

ITERATIONS = 60
REST = 1e-11  # of the largest generalised force of the loads one by one
LONGEST = 0.3  # radians, or parts of the size: the largest change of a coordinate in one iteration
STEP = 1e-4  # of differences; fourth order, so that about 12 digits are left


@dataclass(frozen=True)
class Mode:
    """One small vibration: angular frequency (0 where it does not swing) and rate of decay (negative: it grows)."""

    angular: float
    decay: float

    @property
    def frequency(self) -> float:
        return self.angular / (2 * np.pi)


STILL = 1e-6  # rate of a mode, of the largest or of 1/s, that counts as none


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A position of rest: joint coordinates, places of the points, matrices of the linearised system, its modes."""

    coordinates: dict[str, float]
    points: dict[str, tuple[float, ...]]
    potential: float
    mass: Array
    damping: Array
    stiffness: Array
    modes: tuple[Mode, ...]
    stable: bool
    iterations: int

    @property
    def neutral(self) -> bool:
        """Whether the mechanism stays in any position beside this one: a mode neither swings, creeps nor grows."""
        largest = max([1.0, *(max(m.angular, abs(m.decay)) for m in self.modes)])
        return self.stable and any(max(m.angular, abs(m.decay)) < STILL * largest for m in self.modes)

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
    M, C, K = system.linearised(z, scale)
    posture = system.instant(z, 0 * z).posture
    modes, stable = _modes(M, C, K)
    places = {
        p: tuple((posture.origin[k] + posture.carried(k, x)).tolist())
        for k, body in enumerate(model.bodies.values())
        for p, x in body.points.items()
    }
    values = {shown_name(model, c): float(x) + _offset(model, c) for c, x in zip(run.chosen, z, strict=True)}
    potential = run.applied.potential(posture)
    return Equilibrium(values, places, potential, M, C, K, modes, stable, iterations)


def _offset(model: Model, coordinate: Coordinate) -> float:
    """Return what the angle between the parts that the user named has over that of the bodies they are welded into."""
    return model.joints[coordinate.joint].offset if coordinate.kind == "angle" else 0.0


class _Still:
    """Generalised forces and inertias of one set of coordinates at rest or in slow motion."""

    def __init__(self, equations: Equations, t: float) -> None:
        self.equations, self.t = equations, t

    def instant(self, z: Array, zdot: Array) -> Any:
        found = self.equations.instant(self.t, z, zdot)
        if found is None:
            raise AssemblyError(
                f"{self.equations.model.origin or self.equations.model.name}: the mechanism cannot be closed on the "
                "way to an equilibrium - put the sketch nearer to it"
            )
        return found

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

    def _along(self, found: Any, wrenches: Array) -> Array:
        return np.asarray(np.einsum("nwk,nw->k", found.R[:, :, self.equations.free], wrenches))

    def linearised(self, z: Array, scale: Array) -> tuple[Array, Array, Array]:
        """Return M, C and K about a position of rest, by central differences of fourth order."""
        found = self.instant(z, 0 * z)
        R = found.R[:, :, self.equations.free]
        M = np.einsum("nwi,nwv,nvj->ij", R, self.equations.inertia.matrices(found.posture), R)
        K = -_derivative(lambda x: self.force(x, 0 * z), z, scale)
        C = -_derivative(lambda v: self.force(z, v), 0 * z, scale)
        return M, C, K


def _derivative(function: Callable[[Array], Array], x: Array, scale: Array) -> Array:
    columns = []
    for i in range(len(x)):
        e = np.zeros(len(x))
        e[i] = h = 10 * STEP * scale[i]
        near, far = function(x + e) - function(x - e), function(x + 2 * e) - function(x - 2 * e)
        columns.append((8 * near - far) / (12 * h))
    return np.stack(columns, axis=1)


def _rest(model: Model, system: _Still, z: Array, scale: Array) -> tuple[Array, int]:
    """Return the coordinates at which all generalised forces vanish."""
    size = system.size(z)
    force = system.force(z, 0 * z)
    for iteration in range(ITERATIONS):
        size = max(size, system.size(z))
        K = -_derivative(lambda x: system.force(x, 0 * x), z, scale)
        small = float(np.abs(force).max(initial=0.0)) <= REST * size
        change = np.linalg.lstsq(K, force, rcond=1e-13)[0]
        largest = float(np.abs(change / scale).max())
        change *= min(1.0, LONGEST / largest) if largest > 0 else 1.0
        factor = 1.0
        while True:
            try:
                tried = z + factor * change
                fresh = system.force(tried, 0 * z)
                if small or np.linalg.norm(fresh) < (1 - 1e-4 * factor) * np.linalg.norm(force):
                    break
            except AssemblyError:
                fresh = force
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


def _along_the_forces(system: _Still, z: Array, force: Array, scale: Array) -> tuple[Array, Array] | None:
    """Return a place where the forces lead to, with the forces there: Newton finds no way where they are largest.

    So it is with a pendulum that is drawn level.
    """
    way = scale**2 * force
    way *= LONGEST / float(np.abs(way / scale).max())
    for _ in range(5):
        try:
            return z + way, system.force(z + way, 0 * z)
        except AssemblyError:
            way = 0.5 * way
    return None


def _nowhere(model: Model) -> str:
    return f"{model.origin or model.name}: no equilibrium was found from the sketch - put [points] nearer to one"


def _modes(M: Array, C: Array, K: Array) -> tuple[tuple[Mode, ...], bool]:
    """Return the modes by rising frequency, and whether none of them grows."""
    f = len(M)
    A = np.block([[np.zeros((f, f)), np.eye(f)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    if not np.abs(C).max(initial=0.0) > 1e-9 * np.sqrt(np.abs(M).max() * np.abs(K).max()):
        # without damping: ω² of the symmetric problem, so that no rounding shows as decay
        L = np.linalg.cholesky(M)
        B = np.linalg.solve(L, np.linalg.solve(L, 0.5 * (K + K.T)).T)
        squares = np.linalg.eigvalsh(0.5 * (B + B.T))
        values = np.sqrt(squares.astype(complex)) * -1j  # a negative square grows
    else:
        values = np.linalg.eigvals(A)
        values = values[values.imag >= -1e-9 * np.abs(values).max(initial=0.0)]
    modes = [Mode(abs(float(v.imag)), 0.0 - float(v.real)) for v in values]
    growing = any(m.decay < -1e-7 * max(m.angular, 1e-300) for m in modes)
    return tuple(sorted(modes, key=lambda m: (m.angular, m.decay))), not growing
