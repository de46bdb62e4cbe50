"""The time of a right-hand side of `dca` for an open chain and a ladder of loops of any length."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..dynamics.applied_loads import Applied
from ..dynamics.body_system import BodySystem
from ..dynamics.dca_head import N_SETTINGS, OPEN
from ..dynamics.dca_system import DcaSystem
from ..dynamics.inertia import Inertia
from ..mechanism.model import Array, AugmentedLagrangian, Model
from ..mechanism.reader import loads

REPEATS = 5
HEAD = 'format = 1\nname = "{}"\nspace = "planar"\ngravity = [0, -9.81]\n'
BAR = "mass = 1\ninertia = 0.01"


def pendulum(n: int) -> Model:
    """Return an open chain of n bars."""
    lines = [HEAD.format("pendulum"), "[points]", *(f"P{k} = [{0.1 * k}, {0.03 * (k % 2)}]" for k in range(n + 1))]
    lines += ["[bodies.frame]", 'points = ["P0"]']
    for k in range(n):
        lines += [f"[bodies.b{k}]", f'points = ["P{k}", "P{k + 1}"]', BAR]
    before = ["frame", *(f"b{k}" for k in range(n))]
    joints = [f'J{k} = {{ type = "R", bodies = ["{before[k]}", "b{k}"], at = "P{k}" }}' for k in range(n)]
    return loads("\n".join([*lines, "[joints]", *joints]), "pendulum.toml")


def ladder(n: int) -> Model:
    """Return about n bars: two rails that hang on the ground, tied by a rung at every joint."""
    steps = max(1, n // 3)
    lines = [HEAD.format("ladder"), "[points]"]
    lines += [f"{side}{k} = [{x}, {-0.1 * k}]" for k in range(steps + 1) for side, x in (("A", 0.0), ("B", 0.2))]
    lines += ["[bodies.frame]", 'points = ["A0", "B0"]']
    joints = []
    for k in range(1, steps + 1):
        for side in "AB":
            lines += [f"[bodies.{side}{k}]", f'points = ["{side}{k - 1}", "{side}{k}"]', BAR]
            above = f"{side}{k - 1}" if k > 1 else "frame"
            joints.append(f'{side}{k} = {{ type = "R", bodies = ["{above}", "{side}{k}"], at = "{side}{k - 1}" }}')
            joints.append(f'{side}R{k} = {{ type = "R", bodies = ["{side}{k}", "R{k}"], at = "{side}{k}" }}')
        lines += [f"[bodies.R{k}]", f'points = ["A{k}", "B{k}"]', BAR]
    return loads("\n".join([*lines, "[joints]", *joints]), "ladder.toml")


def prepared(model: Model) -> tuple[DcaSystem, Array]:
    """Return the tables of a model and its state at rest in the first configuration."""
    inertia, given = Inertia(model), AugmentedLagrangian()
    bodies = BodySystem(model, inertia, Applied(model, inertia))
    bodies.bodies[0, 3] = 1.0
    settings = np.ones(N_SETTINGS)
    settings[:OPEN] = (
        given.penalty, given.omega, given.damping, given.position, given.velocity, given.acceleration,
    )  # fmt: skip
    places = [(*b.outside(inertia.centre[k]), b.angle) for k, b in enumerate(model.bodies.values())][1:]
    state = np.array(places, dtype=np.float64).ravel()
    return DcaSystem(bodies, settings, given.iterations), np.concatenate([state, np.zeros(len(state))])


def seconds(system: DcaSystem, y: Array, threads: int = 1, clock: Callable[[], float] = time.thread_time) -> float:
    """Return the shortest time of a right-hand side: of the processor, or by another clock."""
    from ..dynamics.dca_equations import rates
    from ..dynamics.dca_threads import connect

    connect(system.head, threads)
    out, best = np.zeros_like(y), np.inf
    assert rates(system.head, 0.0, y, out)
    count = max(1, 3000 // len(y))
    for _ in range(REPEATS):
        begun = clock()
        for _ in range(count):
            rates(system.head, 0.0, y, out)
        best = min(best, (clock() - begun) / count)
    return best
