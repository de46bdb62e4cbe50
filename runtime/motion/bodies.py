"""The motion of planar rigid bodies from the rows of a solved state: what groups in absolute coordinates hang on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..mechanism.bodymotion import BodyMotion
from .plan import Array
from .program import Carrier, Terms
from .run import Solution
from .threads import each


def body_motions(solution: Solution, steps: NDArray[np.int64] | None = None) -> dict[str, BodyMotion]:
    """Return the motion of the movable bodies at the given steps (all solved ones by default)."""
    return carried(solution, solution.program.model.movable, steps)


def carried(solution: Solution, names: Sequence[str], steps: NDArray[np.int64] | None = None) -> dict[str, BodyMotion]:
    """Return the motion of some bodies that are solved."""
    program = solution.program
    chosen = np.arange(solution.solved) if steps is None else steps

    def motion(name: str) -> BodyMotion:
        return _planar(program.carriers[name], solution, chosen)

    return dict(zip(names, each(motion, names), strict=True))


def _rows(parts: tuple[Terms, ...], state: Array, n: int) -> Array:
    """Return components given as combinations of rows, (order, component, step)."""
    out = np.zeros((3, len(parts), n))
    for i, terms in enumerate(parts):
        for row, c in terms:
            out[:, i] += c * state[:, row, :n]
    return out


def _planar(carrier: Carrier, solution: Solution, steps: NDArray[np.int64]) -> BodyMotion:
    n = solution.solved
    origin = _rows(carrier.origin, solution.state, n)
    angle = np.zeros((3, n))
    if carrier.angle is not None:
        row, offset = carrier.angle
        angle = solution.state[:, row, :n].copy()
        angle[0] += offset
    else:
        x, y = _rows(carrier.axes[0], solution.state, n).transpose(1, 0, 2)
        square = x[0] ** 2 + y[0] ** 2
        angle[0] = np.unwrap(np.arctan2(y[0], x[0]))
        angle[1] = (x[0] * y[1] - y[0] * x[1]) / square
        angle[2] = (x[0] * y[2] - y[0] * x[2] - 2 * angle[1] * (x[0] * x[1] + y[0] * y[1])) / square
    return BodyMotion(np.ascontiguousarray(origin[:, :, steps]), angle=np.ascontiguousarray(angle[:, steps]))
