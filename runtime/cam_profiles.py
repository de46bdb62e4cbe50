"""A profile of a cam written down for compiled code: the function, its derivative, and those by its constants."""

from __future__ import annotations

import numpy as np

from ..mechanism.functions import Expression
from ..mechanism.model import Function
from .partials import by_constants, by_names
from .time_functions import REGISTER, Rows, TimeFunctions, write

ROOM = 8  # doubles before the derivatives by constants


class WrittenProfile:
    """The arrays of a function and the table with their addresses, in the order of `runtime/profiles.py`.

    The fourth derivative is the third of the derivative; a table of cubics has none.
    """

    def __init__(self, function: Function, rows: Rows) -> None:
        from .formula_kernels import interpreter

        partials = by_constants(function, rows)
        slope = by_names(function, frozenset({function.variable})) if isinstance(function, Expression) else None
        sets: tuple[list[Function], ...] = ([function], [slope] if slope else [], list(partials.values()))
        own, further, changes = (write(functions, rows, lines=False) for functions in sets)
        self.kept: list[TimeFunctions] = [own, further, changes]
        self.counted = np.arange(max(1, len(partials)))
        self.table = [
            interpreter(), *_addresses(own), *_addresses(further), *_addresses(changes), self.counted.ctypes.data,
            len(partials), *partials,
        ]  # fmt: skip
        self.work = ROOM + 4 * len(partials) + REGISTER * max(f.registers for f in self.kept)


def _addresses(functions: TimeFunctions) -> tuple[int, int]:
    return (functions.code.ctypes.data if functions.count else 0, functions.numbers.ctypes.data)
