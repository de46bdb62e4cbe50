"""Dry friction in hinges and slides over lanes: efforts along their coordinates that follow from their reactions.

Coulomb's law, made smooth where the motion turns back: a hinge resists by μ r |F| tanh(ω / ω₀), a slide by
μ |N| tanh(v / v₀). Reactions and friction depend on each other; each solution of the reactions gives the next friction,
which settles as a geometric series with about μ for its ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from ..mechanism.mobility import COORDINATES
from ..mechanism.model import Array, Model
from .body_lanes import BodyLanes
from .coordinates import JointCoordinate, driven_by
from .joint_forces import Forces

Found = tuple[Any, Array]  # what is asked for, and the wrenches of all joints
SETTLED = 1e-13  # of the largest friction of a joint
ROUNDS = 500  # after which friction does not settle: the mechanism jams


class JammedError(InputError):
    """Friction grows with the reactions that it causes."""


class JointFriction:
    """The joints of a model with friction, as coordinates along which efforts act."""

    def __init__(self, model: Model) -> None:
        names = [name for name, joint in model.joints.items() if joint.friction is not None]
        kinds = [COORDINATES[model.joints[name].kind][0] for name in names]
        coordinates = [JointCoordinate(name, kind) for name, kind in zip(names, kinds, strict=True)]
        self.names, self.d, self.where = names, model.dimension, str(model.origin or model.name)
        self.forces = Forces(driven_by(replace(model, drivers={}), coordinates))
        self.lines = [list(model.joints).index(name) for name in names]
        laws = [law for j in model.joints.values() if (law := j.friction) is not None]
        self.factors = np.array([law.coefficient * law.lever for law in laws])[:, None]
        self.speeds = np.array([law.speed for law in laws])[:, None]

    def directions(self, bodies: BodyLanes) -> Array:
        """Return the factors tanh(rate / speed), joint x lane; a rate is the power of a unit effort."""
        twists, n = bodies.twists(), len(self.names)
        rates = np.empty((n, len(bodies)))
        for k in range(n):
            unit = np.zeros((n, len(bodies)))
            unit[k] = 1.0
            rates[k] = np.einsum("ncl,ncl->l", self.forces.exerted(bodies, unit), twists)
        return np.asarray(np.tanh(rates / self.speeds))

    def efforts(self, directions: Array, wrenches: Array) -> Array:
        """Return the efforts of friction, joint x lane, from the reactions of all joints (joint x w x lane)."""
        size = np.sqrt(np.square(wrenches[self.lines, : self.d]).sum(axis=1))
        return np.asarray(-self.factors * size * directions)

    def settled(self, bodies: BodyLanes, blind: NDArray[np.bool_], solve: Callable[[Array], Found]) -> Found:
        """Return what `solve` finds under the wrenches of friction that its own reactions cause."""
        directions = self.directions(bodies)
        resisting = np.zeros_like(directions)
        with np.errstate(over="ignore", invalid="ignore"):  # of friction that grows without bound
            for _ in range(ROUNDS):
                found, wrenches = solve(self.exerted(bodies, resisting))
                fresh = np.where(blind, 0.0, self.efforts(directions, wrenches))
                change, size = np.abs(fresh - resisting).max(axis=0, initial=0.0), np.abs(fresh).max(initial=0.0)
                resisting = fresh
                if not np.isfinite(size):
                    break
                if change.max(initial=0.0) <= SETTLED * size:
                    return found, wrenches
        raise JammedError(
            f"{self.where}: [joints] friction: at t = {bodies.time[np.argmax(change)]:.9g} s it grows with the "
            "reactions that it causes, and the mechanism jams - give smaller coefficients, or drive it elsewhere"
        )

    def exerted(self, bodies: BodyLanes, efforts: Array) -> Array:
        """Return the wrenches of friction on all bodies, n x w x lane."""
        return self.forces.exerted(bodies, efforts)


def with_friction(model: Model) -> JointFriction | None:
    """Return the friction of a model, None where its joints have none."""
    return JointFriction(model) if any(joint.friction for joint in model.joints.values()) else None
