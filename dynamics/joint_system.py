"""The joints and drivers of a model for compiled code in absolute coordinates: tables, memory and room for the rows.

Φ, the Jacobians and γ come from the emitted modules of `generated/joints`. Everything lies in arrays of this object;
compiled code reaches them through `head`, an array of sizes and addresses (`joint_kernels`), so that a caller needs
one argument, and no call allocates. See docs/joint-library.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..codegen import joint_codes as code
from ..mechanism.absolute import Absolute
from ..mechanism.model import Array, Model
from ..runtime.time_functions import TimeFunctions, write
from . import joint_head as head
from .coordinates import screw_turn
from .joint_lanes import JointTable
from .posture import Posture, poses_of, width

Ints = NDArray[np.int64]


class JointSystem:
    """The rows of all joints, rods without spin and drivers of a model, on bodies that are given by reference points.

    `reference` (n x d, in the axes of the bodies; default: their centres of mass) is the point of each body whose place
    and velocity stand in `bodies`, and about which its Jacobian's moments act.
    """

    def __init__(self, model: Model, reference: Array) -> None:
        self.model, self.table = model, JointTable(model)
        n, self.w, d = len(model.bodies), width(model), model.dimension
        self.reference = np.zeros((n, 3))
        self.reference[:, :d] = reference
        self.items, self.numbers = self.table.items, self.table.numbers.copy()
        placed = self.items[:, code.KIND] != code.GEAR3  # which has no point
        for role, at in ((code.FIRST, code.A), (code.SECOND, code.B)):
            self.numbers[placed, at : at + 3] -= self.reference[self.items[placed, role]]
        rows, lines = self.table.n_rows, len(self.items)
        self.bodies = np.zeros((n, code.BODY2 if d == 2 else code.BODY3))
        self.extras = np.zeros((lines, code.EXTRAS))
        self.memory = np.zeros(lines)  # last known turns of screws and wheels, contacts of cams
        self.phi, self.rate, self.gamma = np.zeros(rows), np.zeros(rows), np.zeros(rows)
        self.J = np.zeros((rows, 3, self.w))
        self.scales = self.table.scales  # of the rows: lengths by the size of the mechanism
        self.work = np.zeros((6, 2 + 3 * self.w))
        drivers = self.table.drivers()
        self.driver_lines = np.array([drivers[d] for d in model.drivers], dtype=np.int64)
        self._functions = write([d.motion for d in model.drivers.values()])
        self.cam_lines = np.array([e for e, k in enumerate(self.items[:, code.KIND]) if k in CAMS], dtype=np.int64)
        profiles = [model.joints[self.table.names[e]].profile for e in self.cam_lines]
        self._profiles = write([p for p in profiles if p is not None], lines=False)
        self.turning = np.flatnonzero(np.isin(self.items[:, code.KIND], (code.H3, code.TURN3, code.GEAR3)))
        self.head = np.zeros(head.SIZE, dtype=np.int64)
        self._connect(planar=d == 2)

    def _connect(self, planar: bool) -> None:
        """Write sizes and addresses; what a model has none of is not compiled."""
        from . import joint_kernels

        h = self.head
        h[head.BODIES_N], h[head.LINES], h[head.ROWS], h[head.WIDTH] = (
            len(self.bodies), len(self.items), len(self.phi), self.w,
        )  # fmt: skip
        arrays = {
            head.ITEMS: self.items, head.NUMBERS: self.numbers, head.EXTRAS: self.extras, head.BODIES: self.bodies,
            head.PHI: self.phi, head.RATE: self.rate, head.GAMMA: self.gamma, head.J: self.J, head.WORK: self.work,
            head.MEMORY: self.memory, head.TURNING: self.turning, head.DRIVER_LINES: self.driver_lines,
            head.CAM_LINES: self.cam_lines,
        }  # fmt: skip
        self._kept = [np.ascontiguousarray(x) for x in arrays.values()]
        for place, array in zip(arrays, self._kept, strict=True):
            h[place] = array.ctypes.data
        h[head.N_TURNING], h[head.N_DRIVERS], h[head.N_CAMS] = map(
            len, (self.turning, self.driver_lines, self.cam_lines)
        )
        for functions, first in ((self._functions, head.DRIVER_FUNCTIONS), (self._profiles, head.PROFILES)):
            self._kept += place_functions(h, first, functions)
        h[head.CONSTRAINTS] = joint_kernels.constraints_address(planar)
        if len(self.driver_lines):
            h[head.DRIVE] = joint_kernels.driving_address()
        if len(self.cam_lines):
            h[head.TOUCH] = joint_kernels.touching_address()

    @property
    def names(self) -> Sequence[str]:
        """The joint, rod or driver of each line."""
        return self.table.names

    def begin(self, posture: Posture) -> None:
        """Find turns and contacts at a posture, from which the next ones are counted."""
        if not len(self.turning) and not len(self.cam_lines):
            return
        system, lines = Absolute(self.model), self.table.joints()
        poses = system.remember(poses_of(system, posture))
        for batch in system.batches:
            for k, name in enumerate(batch.names):
                if batch.kind.startswith("cam"):
                    self.memory[lines[name]] = poses.contact[batch.memory[k]]
                elif batch.kind == "H":
                    self.memory[lines[name]] = screw_turn(self.model.joints[name], system, poses)
                elif batch.kind == "gear":
                    self.memory[lines[name]] = poses.turn[batch.memory[k]]

    def evaluate(self, t: float) -> None:
        """Put Φ, Φ̇, J and γ at a time, of what stands in `bodies`, into their arrays."""
        from .joint_kernels import evaluate

        evaluate(self.head, t)

    def dense(self) -> Array:
        """Return the Jacobian of all rows on the movable bodies, row x column."""
        found = np.zeros((len(self.phi), len(self.bodies), self.w))
        for item in self.items:
            rows = slice(item[code.ROW], item[code.ROW] + item[code.ROWS])
            for role in range(3):
                found[rows, item[code.FIRST + role]] += self.J[rows, role]
        return found[:, 1:].reshape(len(found), (len(self.bodies) - 1) * self.w)

    def remember(self) -> None:
        """Keep turns and contacts of the last evaluation as those that the next ones are counted from."""
        from .joint_kernels import remember

        remember(self.head)


CAMS = (code.CAM2, code.FLAT2)


def place_functions(h: Ints, first: int, functions: TimeFunctions) -> list[NDArray[np.generic]]:
    """Write the addresses of functions of one variable: code, numbers, work, rows, values; behind them the count."""
    arrays: list[NDArray[np.generic]] = [
        functions.code, functions.numbers, functions.work(), np.arange(max(1, functions.count)),
        np.zeros(3 * functions.count + 1),
    ]  # fmt: skip
    h[first : first + len(arrays)] = [x.ctypes.data for x in arrays]
    h[first + len(arrays)] = functions.count
    return arrays
