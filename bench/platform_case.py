"""The Stewart platform as a case: through the pipeline of any mechanism, from points and drivers to its program."""

from __future__ import annotations

import numpy as np

from ..facade import Mechanism
from ..mechanism.plans.plan import Array
from ..motion.kinematics import prepare
from ..runtime.program import Terms
from . import chains
from .chains import Chain
from .competitors import Check
from .newton_cases import length_error
from .time_derivatives import Jet, constant

SPEED = 2 * np.pi / 4
BASE, TOP, HEIGHT, STROKE = 1.0, 0.6, 1.1, 0.08
HALF_BASE, HALF_TOP = 0.2, 0.35  # half the angles between neighbouring joints


def platform() -> tuple[Chain, Check]:
    """Return a platform on six legs of given lengths; its check is by the legs' lengths and their rates."""
    mechanism = Mechanism("stewart-platform", "spatial")
    sides = [np.pi / 3 * (2 * (i // 2) + 1) for i in range(6)]  # of the base's sides, of the legs' pairs
    base = [2 * np.pi / 3 * ((i + 1) // 2) + (HALF_BASE if i % 2 == 0 else -HALF_BASE) for i in range(6)]
    top = [side + (HALF_TOP if i % 2 else -HALF_TOP) for i, side in enumerate(sides)]
    for i in range(6):
        mechanism.point(f"A{i}", [BASE * float(np.cos(base[i])), BASE * float(np.sin(base[i])), 0.0])
        mechanism.point(f"B{i}", [TOP * float(np.cos(top[i])), TOP * float(np.sin(top[i])), HEIGHT])
    mechanism.body("frame", [f"A{i}" for i in range(6)])
    mechanism.body("platform", [f"B{i}" for i in range(6)])
    gap = np.pi / 3 - HALF_BASE - HALF_TOP
    rest = float(np.sqrt(BASE**2 + TOP**2 - 2 * BASE * TOP * np.cos(gap) + HEIGHT**2))
    for i in range(6):
        motion = f"{rest!r} + {STROKE}*sin({SPEED!r}*t + {i}*pi/3)"
        mechanism.driver(f"leg{i}", between=[f"A{i}", f"B{i}"], distance=motion)
    model = mechanism.model()
    program = prepare(model)[1]
    carrier, body = program.carriers["platform"], model.bodies["platform"]

    def check(state: Array) -> float:
        def sum_of(terms: Terms) -> Jet:
            return Jet(*chains.sum_of(state, terms))

        origin = [sum_of(x) for x in carrier.origin]
        e, f = ([sum_of(x) for x in axis] for axis in carrier.axes[:2])
        g = [e[i - 2] * f[i - 1] - e[i - 1] * f[i - 2] for i in range(3)]
        legs = []
        for i in range(6):
            x, y, z = (float(v) for v in body.points[f"B{i}"])
            B = tuple(o + a.times(x) + b.times(y) + c.times(z) for o, a, b, c in zip(origin, e, f, g, strict=True))
            A = tuple(constant(float(v), B[0]) for v in model.points[f"A{i}"])
            legs.append((A, B, Jet(*state[:, program.drivers[f"leg{i}"]])))
        return length_error(legs)

    return Chain(program, (*carrier.origin, *carrier.axes[0], *carrier.axes[1]), 9), check
