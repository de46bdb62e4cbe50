"""Forward dynamics in absolute coordinates: the augmented system, with positions and velocities projected each step.

    [ M  Jᵀ ] [ a ]   [ Q  ]
    [ J  0  ] [-λ ] = [ -γ ]

All bodies are free and all joints are rows (`generated/joints`): simple, indifferent to the choice of coordinates, and
a comparison for the other methods. The state is centres, angles or Euler parameters, and the twists.
"""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Array, Model
from .applied_loads import Applied
from .body_method import BodyMethod
from .posture import Posture
from .rotations import euler_parameters

RANK = 1e-10  # of the scaled rows: below, some are in excess


class Augmented(BodyMethod):
    """One forward simulation in absolute coordinates."""

    name = "global"

    def __init__(self, model: Model, start: Posture, applied: Applied | None = None, reactions: bool = True) -> None:
        from . import augmented_kernels as kernels

        super().__init__(model, start, applied, reactions)
        system, joints = self.system, self.system.joints
        n, w, d = len(model.bodies), system.w, system.d
        joints.evaluate(start.time)
        joints.remember()
        size = w * (n - 1)
        self.scales = np.concatenate([np.tile([model.size] * d + [1.0] * (w - d), n - 1), joints.scales])
        self._matrix, self._side = np.zeros((len(self.scales), len(self.scales))), np.zeros(len(self.scales))
        system.put({
            kernels.MATRIX: self._matrix, kernels.SIDE: self._side,
            kernels.ORDER: np.zeros(len(self.scales), dtype=np.int64), kernels.COLUMNS: self.scales,
        })  # fmt: skip
        system.head[kernels.REDUNDANT] = self._redundant(size)
        laws = [(joint.name, joint.friction) for joint in model.joints.values() if joint.friction is not None]
        lines = joints.table.joints()
        system.put({
            kernels.BRAKED: np.array([lines[name] for name, _ in laws], dtype=np.int64),
            kernels.LAWS: np.array([[x.coefficient * x.lever, x.speed, 0.0, 0.0] for _, x in laws]),
        })  # fmt: skip
        system.head[kernels.N_BRAKED] = len(laws)
        self.connect()

    def _redundant(self, size: int) -> bool:
        """Return whether the joints hold more than they need, here."""
        rows = self.system.joints.dense() / self.scales[size:, None] * self.scales[:size]
        s = np.linalg.svd(rows, compute_uv=False)
        return bool(len(rows) > size or (len(s) > 0 and s[-1] <= RANK * s[0]))

    def packed(self) -> Array:
        """Return coordinates and velocities of all movable bodies."""
        bodies = self.system.bodies[1:]
        if self.system.d == 2:
            return np.concatenate([bodies[:, :3].ravel(), bodies[:, 5:8].ravel()])
        parameters = euler_parameters(bodies[:, 3:12].reshape(-1, 3, 3))
        return np.concatenate([np.hstack([bodies[:, :3], parameters]).ravel(), bodies[:, 12:].ravel()])

    def strike(self, t: float) -> None:
        """Give the bodies the impulses of drivers whose rates jump: M Δv = Jᵀ p, with J (v + Δv) as the drivers say.

        It is the augmented system with the rates of the rows in place of γ, and no loads, which are finite.
        """
        from .augmented_kernels import strike

        system, joints = self.system, self.system.joints
        self.rates(t, self.y)  # which leaves bodies and rows as they are at this state
        joints.gamma[:] = joints.rate
        bodies = len(self.model.bodies) - 1
        first, size = (3 if system.d == 2 else 7) * bodies, system.w * bodies
        if strike(system.head, joints.head, np.zeros((bodies + 1, system.w))) > 0.0:
            self.y[first : first + size] += self._side[:size] * self.scales[:size]

    def addresses(self) -> tuple[int, int, int]:
        """Return where right-hand side, projection and the end of a step are compiled."""
        from .augmented_kernels import addresses

        return addresses()
