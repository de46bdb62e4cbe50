"""The loads of a model for compiled code in absolute coordinates: weights, forces, torques, springs, torsion springs.

Wrenches act about the reference points of the bodies of a `JointSystem`, whose table of bodies is read. What depends on
time is evaluated once per call; turns of torsion springs are counted from the remembered ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen import jointcodes as code
from ..mechanism.model import Array, Function, Model, PointForce, Spring, Torque, TorsionSpring
from ..runtime.timefunctions import write
from .inertia import Inertia

Ints = NDArray[np.int64]
FORCE, TORQUE, SPRING, TORSION = range(4)
KIND, ONE, TWO, FUNCTION, LOAD_SIZE = range(5)
# behind the columns of a joint (local points, axis and normals)
STIFFNESS, FREE, DAMPING, TURN, LOAD_NUMBERS = range(code.NUMBERS, code.NUMBERS + 5)
FUNCTIONS, EVALUATE, HEAD_SIZE = 0, 5, 6  # of the head: addresses of functions of time, and of what evaluates them


class LoadTables(NamedTuple):
    """What compiled code reads; `weights` are force (3) and arm (3, in the axes of the body) of every body."""

    items: Ints
    numbers: Array
    weights: Array
    head: Ints
    values: Array


class BodyLoads:
    """The loads of a model on bodies that are given by reference points (n x d, in their axes)."""

    def __init__(self, model: Model, inertia: Inertia, reference: Array) -> None:
        index = {name: k for k, name in enumerate(model.bodies)}
        n, d = len(model.bodies), model.dimension
        weights = np.zeros((n, 6))
        if len(model.gravity):
            weights[:, :d] = inertia.mass[:, None] * np.asarray(model.gravity, dtype=np.float64)
        weights[:, 3 : 3 + d] = inertia.centre - reference
        items = np.zeros((len(model.loads), LOAD_SIZE), dtype=np.int64)
        numbers = np.zeros((len(model.loads), LOAD_NUMBERS))
        functions: list[Function] = []
        self.springs = {load.name: k for k, load in enumerate(model.loads) if isinstance(load, TorsionSpring)}
        for item, number, load in zip(items, numbers, model.loads, strict=True):
            item[FUNCTION] = len(functions)
            match load:
                case PointForce():
                    item[KIND], item[ONE] = FORCE, index[load.body]
                    number[:d] = load.point - reference[item[ONE]]
                    functions += load.force
                case Torque():
                    item[KIND], item[ONE] = TORQUE, index[load.body]
                    functions += load.torque
                case Spring():
                    item[KIND], item[ONE], item[TWO] = SPRING, *(index[b] for b in load.bodies)
                    for body, at, end in zip(item[[ONE, TWO]], (code.A, code.B), load.ends, strict=True):
                        number[at : at + d] = end - reference[body]
                    number[[STIFFNESS, FREE, DAMPING]] = load.stiffness, load.length, load.damping
                case TorsionSpring():
                    joint = model.joints[load.joint]
                    item[KIND], item[ONE], item[TWO] = TORSION, index[joint.first], index[joint.second]
                    if d == 3:
                        places = (code.AXIS_A, joint.axis_a), (code.NORMAL_A, joint.normal_a), (code.NORMAL_B, joint.normal_b)
                        for at, vector in places:
                            number[at : at + 3] = vector
                    number[[STIFFNESS, FREE, DAMPING]] = load.stiffness, load.angle, load.damping
        self._connect(functions)
        self.tables = LoadTables(items, numbers, weights, self._head, self._values)

    def _connect(self, functions: Sequence[Function]) -> None:
        """Write the functions of time; without any nothing is compiled for them."""
        self._head = np.zeros(HEAD_SIZE, dtype=np.int64)
        written, count = write(functions), len(functions)
        self._values = np.zeros(3 * count + 1)  # with two derivatives; behind them the time
        self._kept = (written.code, written.numbers, written.work(), np.arange(max(count, 1)), self._values)
        self._head[FUNCTIONS : FUNCTIONS + len(self._kept)] = [x.ctypes.data for x in self._kept]
        if functions:
            from .bodyloadkernels import evaluating_address

            self._head[EVALUATE] = evaluating_address()

    @property
    def turns(self) -> Array:
        """The turns of the torsion springs, in their order, from which the next ones are counted."""
        return np.asarray(self.tables.numbers[list(self.springs.values()), TURN])

    @turns.setter
    def turns(self, values: Array) -> None:
        self.tables.numbers[list(self.springs.values()), TURN] = values
