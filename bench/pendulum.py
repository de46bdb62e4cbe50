"""Open chains of any length: N equal rods on revolute joints, planar or spatial, at a posture without an assembly."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

import numpy as np

from ..dynamics.methods import body_method
from ..dynamics.posture import Posture
from ..mechanism.model import FRAME, Array, Body, Joint, Mass, Model, Simulation

REPEATED, ROUNDS = 20_000, 9  # bodies of all evaluations of a round; of the rounds the first is not counted


def pendulum(n: int, spatial: bool = False, angle: float = 0.1) -> tuple[Model, Posture]:
    """Return a chain of n rods of 1 m and 1 kg that hang zigzag, each `angle` from the last, and its posture at rest.

    In space the axes of the joints are in turn y and z, so that the chain leaves its plane.
    """
    d = 3 if spatial else 2
    x, zero = np.eye(d)[0], np.zeros(d)
    none = np.zeros(d)
    bodies = {FRAME: Body(FRAME, {"O": zero}, zero, np.eye(d))}
    joints: dict[str, Joint] = {}
    origin, turn = np.zeros((n + 1, d)), np.zeros(n + 1)
    rotation = np.tile(np.eye(d), (n + 1, 1, 1))
    about: Array = np.array(1.0 / 12.0) if not spatial else np.diag([0.001, 1.0 / 12.0, 1.0 / 12.0])
    for k in range(1, n + 1):
        name = f"rod{k}"
        bodies[name] = Body(name, {}, zero, np.eye(d), mass=Mass(1.0, 0.5 * x, about))
        axis, normal = (np.eye(3)[1 + k % 2], np.eye(3)[2 - k % 2]) if spatial else (none, none)
        first = FRAME if k == 1 else f"rod{k - 1}"
        a = zero if k == 1 else x
        joints[f"J{k}"] = Joint(f"J{k}", "R", first, name, None, a, zero, axis, axis, normal, normal)
        step = angle * (1 if k % 2 else -1) if k > 1 else -0.5
        rotation[k] = rotation[k - 1] @ _turned(d, axis, step)
        turn[k] = turn[k - 1] + step
        origin[k] = origin[k - 1] + (rotation[k - 1] @ a if k > 1 else zero)
    gravity = -9.81 * np.eye(d)[-1]
    model = Model(
        f"pendulum of {n}", "spatial" if spatial else "planar", {"O": zero, "T": n * x}, bodies, joints, {},
        gravity=gravity, simulation=Simulation(stop=1.0),
    )  # fmt: skip
    return model, Posture(0.0, origin, rotation, turn, np.zeros((n + 1, 6 if spatial else 3)))


def _turned(d: int, axis: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    if d == 2:
        return np.array([[c, -s], [s, c]])
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + s * K + (1 - c) * K @ K)


@functools.cache
def repeated() -> Callable[..., None]:
    """Return what evaluates a right-hand side so many times."""
    from numba import njit

    from ..dynamics import integrator

    @njit
    def many(ints, x, y, K, count):  # type: ignore[no-untyped-def]
        for _ in range(count):
            integrator.rates(ints, x, 0.0, y, K, np.int64(0))

    found: Callable[..., None] = many
    return found


def seconds(name: str, spatial: bool, counts: Sequence[int]) -> list[float]:
    """Return the processor time of a right-hand side of a method, by the number of bodies, which take turns."""
    many = repeated()
    methods = [body_method(name)(*pendulum(n, spatial)) for n in counts]
    slopes = [np.zeros((1, len(method.y))) for method in methods]
    best = np.full(len(counts), np.inf)
    for turn in range(ROUNDS):
        for k, (n, method, K) in enumerate(zip(counts, methods, slopes, strict=True)):
            repeats = max(1, REPEATED // n) if turn else 1
            begin = time.thread_time()
            many(method.ints, method.x, method.y, K, repeats)
            if turn:
                best[k] = min(best[k], (time.thread_time() - begin) / repeats)
    return [float(x) for x in best]
