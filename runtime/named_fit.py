"""Whether a named type is right for a group: its equations against postures of the mechanism's own joints.

A type that holds where the mechanism starts may describe another motion: an angle counted the other way round, a guide
with the opposite direction. So the drivers are moved a little, each on its own and all together, and the joints closed
again in absolute coordinates: the equations must hold in those postures, too
(those with explicit time a little later). With full rank the type then finds the motion of the joints there, in all
directions in which the drivers can move it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..common.errors import AssemblyError
from ..mechanism.absolute import Absolute
from ..mechanism.assembly import assemble, close
from ..mechanism.joint_equations import Poses
from ..mechanism.model import Array, Model
from ..mechanism.numbers.nominal import nominal
from .group_type import GroupType

HOLDS = 1e-9  # of what a row makes of coordinates of the mechanism's size
FULL_RANK = 1e-9  # least singular value over the largest, rows and columns made alike
BESIDE = 0.05  # radians, or parts of the size: a term that is wrong in the sixth order still leaves 1e-8
EACH = 6  # drivers that are moved each on its own


@dataclass(frozen=True, eq=False)
class FitPosture:
    """A model whose bodies stand where its joints are closed, with the values that its drivers have there."""

    model: Model
    values: Mapping[str, float]
    t: float
    place: str  # in messages


def postures(model: Model, posed: Model | None = None) -> tuple[FitPosture, ...]:
    """Return the first configuration of the nominal model, assembled at the start, and some beside it.

    `posed` is a model that stands assembled. None where it cannot be assembled, which a run says.
    """
    base = nominal(model) if posed is None else posed
    values = driver_values(base)
    try:
        poses = assemble(base, values) if posed is None else Absolute(base).first()
    except AssemblyError:
        return ()
    first = FitPosture(_at(base, poses), values, float(base.simulation.start), "in the assembled first configuration")
    return (first, *_beside(base, poses, values))


def driver_values(model: Model, t: float | None = None) -> dict[str, float]:
    """Return the values of the drivers at a time, by default at the start."""
    at = np.array([model.simulation.start if t is None else t])
    return {name: float(driver.motion(at)[0, 0]) for name, driver in model.drivers.items()}


def _beside(model: Model, poses: Poses, values: Mapping[str, float]) -> list[FitPosture]:
    """Return the postures with each driver moved, with all of them moved, and a little later, as far as they close."""
    system, found = Absolute(model), []
    scale = {system.names[k]: float(system.row_scale[k]) for k in np.flatnonzero(system.of_driver)}
    start = float(model.simulation.start)

    def add(moved: Mapping[str, float], t: float, named: Iterable[str]) -> bool:
        closed = close(system, poses, moved)
        if closed is not None:
            place = f"where {', '.join(f'{d} = {moved[d]:.6g}' for d in named)}"
            found.append(FitPosture(_at(model, closed), moved, t, place))
        return closed is not None

    ways = [{d: 1.0} for d in values] if 1 < len(values) <= EACH else []
    ways.append({d: 1.0 - 0.37 * (k % 5) for k, d in enumerate(values)})
    for way in ways if values else ():
        for sign in (1, -1):  # at the end of its range a driver can go one way only
            if add({d: v + sign * BESIDE * scale[d] * way.get(d, 0.0) for d, v in values.items()}, start, way):
                break
    span = float(model.simulation.stop) - start
    for halvings in range(40):
        later = driver_values(model, start + span / 2**halvings)
        if all(abs(later[d] - v) <= BESIDE * scale[d] for d, v in values.items()):
            add(later, start + span / 2**halvings, values)
            break
    return found


def _at(model: Model, poses: Poses) -> Model:
    d = model.dimension
    bodies = {
        name: replace(body, origin=poses.origin[k, :d].copy(), rotation=poses.rotation[k, :d, :d].copy())
        for k, (name, body) in enumerate(model.bodies.items())
    }
    return replace(model, bodies=bodies)


@dataclass(frozen=True, eq=False)
class FitCoordinates:
    """What a mechanism has of a type in a posture; φ as far as it has it, not a number elsewhere."""

    t: float
    phi: Array
    h: Array
    points: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Fit:
    """One type for one group, with its parameters; `scales` are what φ and h are measured by."""

    type: GroupType
    par: Array
    size: float
    scales: tuple[Array, Array]

    def misfit(self, phi: Array, found: FitCoordinates) -> str:
        """Return what is left of the worst constraint, or the point that is elsewhere; nothing where all hold."""
        rows = self.type.constraint(phi, found.h, self.par, found.t)
        sizes, _ = self._rows(phi, found)
        relative = np.abs(rows) / sizes
        worst = int(np.argmax(relative))
        if not relative[worst] <= HOLDS:
            return (
                f"its constraint '{self.type.constraints[worst]}' does not hold {{place}}, it leaves {rows[worst]:.6g} "
                f"({relative[worst]:.2g} of the size; {HOLDS:g} is allowed)"
            )
        return self._elsewhere(phi, found)

    def _elsewhere(self, phi: Array, found: FitCoordinates) -> str:
        """Return which of the type's [points] is not where the mechanism has it."""
        if not found.points:
            return ""
        still = np.zeros(len(phi)), np.zeros(len(found.h))
        places = self.type.points(phi, found.h, self.par, still[0], still[1], still[0], still[1], found.t)
        for name, place in found.points.items():
            off = float(np.linalg.norm(places[name][0] - place))
            if not off <= HOLDS * max(self.size, float(np.abs(place).max())):
                return f"its point '{name}' is {off:.6g} away from where the mechanism has it {{place}}"
        return ""

    def deficiency(self, phi: Array, found: FitCoordinates) -> str:
        """Return that the equations do not determine the group; nothing where they do."""
        _, by_phi = self._rows(phi, found)
        values = np.linalg.svd(by_phi, compute_uv=False)
        if values[-1] > FULL_RANK * values[0]:
            return ""
        return (
            f"in the assembled first configuration its {len(by_phi)} equations have only rank "
            f"{int(np.sum(values > FULL_RANK * values[0]))} of {len(phi)}"
        )

    def _rows(self, phi: Array, found: FitCoordinates) -> tuple[Array, Array]:
        """Return what each row makes of coordinates of their sizes, and Φ_φ with rows and columns made alike."""
        Phi_phi, Phi_h = self.type.jacobians(phi, found.h, self.par, found.t)
        by_phi, by_h = Phi_phi * self.scales[0], Phi_h * self.scales[1]
        sizes = np.linalg.norm(np.hstack([by_phi, by_h]), axis=1)
        sizes = np.where(sizes > 0, sizes, 1.0)
        return sizes, by_phi / sizes[:, None]


# ---- coordinates that the mechanism does not have -----------------------------------------------------------------
TRIES, ROUNDS, SEED = 40, 60, 11


def completed(fit: Fit, found: FitCoordinates, near: Array | None = None) -> Array:
    """Return φ with what the mechanism does not have found from the type's equations.

    From `near`, another posture's, or the best of some tries.
    """
    given = np.asarray(found.phi, dtype=float)
    open_ = np.isnan(given)
    if not open_.any():
        return given
    rng = np.random.default_rng(SEED)
    best, least = np.zeros(0), np.inf
    for _ in range(TRIES if near is None else 1):
        phi = np.where(open_, rng.normal(size=len(open_)) if near is None else near, np.nan_to_num(given))
        gap = _close(fit, phi, open_, found)
        if gap < least:
            best, least = phi, gap
        if least < 1e-12 * (1.0 + fit.size):
            break
    return best


def _close(fit: Fit, phi: Array, open_: NDArray[np.bool_], found: FitCoordinates) -> float:
    """Change the open entries of φ to the least residual that damped Gauss-Newton finds; what is left of it."""
    h, t = found.h, found.t
    gap, damping = fit.type.constraint(phi, h, fit.par, t), 1e-3
    for _ in range(ROUNDS):
        J = fit.type.jacobians(phi, h, fit.par, t)[0][:, open_]
        step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), -J.T @ gap)
        trial = phi.copy()
        trial[open_] += step
        fresh = fit.type.constraint(trial, h, fit.par, t)
        if np.linalg.norm(fresh) < np.linalg.norm(gap):
            phi[:], gap, damping = trial, fresh, max(0.1 * damping, 1e-14)
        else:
            damping *= 10
        if np.abs(step).max() < 1e-15 or damping > 1e6:
            break
    return float(np.linalg.norm(gap))
