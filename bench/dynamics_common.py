"""What the peers of the benchmark of dynamics share: their interface, and the mechanism at rest as they want it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..dynamics.coordinates import cut_joints
from ..dynamics.inertia import Inertia
from ..dynamics.initial_state import begin
from ..mechanism.model import FRAME, Array, Joint, Model, Torque
from .dynamics_cases import Case


@dataclass(frozen=True, eq=False)
class Run:
    """One integration: processor time in seconds, places of the joints at its end, number of evaluations or steps."""

    seconds: float
    places: Array
    count: int


@dataclass(frozen=True, eq=False)
class Prepared:
    """A peer's own model of a case: `run` integrates with a resolution, `evaluate` is one right-hand side or step.

    `record` integrates with a resolution and keeps a number of states, equally far apart: its processor time, and how
    many numbers were kept.
    """

    run: Callable[[float], Run]
    evaluate: Callable[[], Any]
    what: str  # what one evaluation is
    resolutions: tuple[float, ...]  # coarse to fine
    record: Callable[[float, int], tuple[float, int]] | None = None


@dataclass(frozen=True)
class DynamicsPeer:
    """A program to compare with."""

    name: str
    package: str
    how: str
    prepare: Callable[[Case], Prepared]

    def version(self) -> str | None:
        """Return the version that is installed, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def clocked(action: Callable[[], Any]) -> float:
    """Return the processor time of an action in this thread, as `timing` takes it; all programs here use one thread.

    The time of NumPy's helper threads, which spin while they wait, says more about the machine's load than about work.
    """
    begins = time.thread_time()
    action()
    return time.thread_time() - begins


@dataclass(frozen=True, eq=False)
class Tree:
    """The mechanism at rest as others want it: poses of bodies, a spanning tree, and the joints that close loops."""

    model: Model
    inertia: Inertia
    origin: Array
    rotation: Array
    angle: Array
    parents: dict[str, tuple[str, Joint]]  # body -> parent and joint, branch after branch: Pinocchio needs it so
    closing: tuple[Joint, ...]

    def index(self, body: str) -> int:
        return list(self.model.bodies).index(body)

    def local(self, joint: Joint, body: str) -> Array:
        return joint.a if joint.first == body else joint.b


def tree_of(model: Model) -> Tree:
    """Return a mechanism's start and its spanning tree."""
    posture = begin(model).posture
    cut = set(cut_joints(model))
    parents: dict[str, tuple[str, Joint]] = {}

    def reach(body: str) -> None:
        for joint in model.joints.values():
            if joint.name not in cut and body in (joint.first, joint.second):
                other = joint.second if joint.first == body else joint.first
                if other != FRAME and other not in parents:
                    parents[other] = (body, joint)
                    reach(other)

    reach(FRAME)
    closing = tuple(model.joints[n] for n in sorted(cut))
    return Tree(model, Inertia(model), posture.origin, posture.rotation, posture.angle, parents, closing)


def turned(angle: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.moveaxis(np.array([[c, -s], [s, c]]), -1, 0)


def torques(model: Model) -> dict[str, float]:
    found: dict[str, float] = {}
    for load in model.loads:
        if isinstance(load, Torque):
            found[load.body] = found.get(load.body, 0.0) + float(load.torque[0](np.zeros(1))[0, 0])
    return found


def halved(case: Case) -> tuple[float, ...]:
    """Return fixed steps from a 60th of the time on; every second one is a half."""
    return tuple(case.end / 60 / 2 ** (0.5 * k) for k in range(28))


def gravity_of(model: Model) -> list[float]:
    return [float(model.gravity[0]), float(model.gravity[1]), 0.0] if len(model.gravity) else [0.0, 0.0, 0.0]
