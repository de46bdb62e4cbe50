"""Functions of time for compiled code: formulas and tables written once into two flat arrays, evaluated over lanes.

A formula becomes a short program for a machine of registers. A register holds the jets (f⁽ᵏ⁾/k!, k = 0 to 3) of one
block of lanes, so that the cost of interpreting is spread over the block; `time_kernels` runs it. What does not depend
on the variable is worked out here, once; a constant that differs from design to design is a row of an array `par`.
The meaning of every operation is that of `mechanism/jets.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism import jets
from ..mechanism.functions import LARGEST, Expression, expression
from ..mechanism.model import Array, Function, Model, PointForce, Torque
from ..mechanism.tables import Table

Ints = NDArray[np.int64]
Rows = Callable[[str, object], "int | None"]  # name and value of a constant -> its row of par, None where it is fixed

LANES = 64  # of a block
ORDERS = 4
REGISTER = ORDERS * LANES
SPARE, VARIABLE = 0, REGISTER  # registers of every program: derivatives of outer functions, and the variable itself
COUNT, ADDRESS = range(2)  # head of the code: number of functions, address of the interpreter if it is needed
# lengths: head of the code, entry of a function, step of a program (operation, four places, address of what does it)
HEAD, ENTRY, STEP = 2, 4, 6
LINEAR, FORMULA, TABLE = range(3)

OPERATIONS = (
    "number", "row", "level", "shift", "scale", "+", "-", "*", "/", "scale by", "divide by", "neg", "if", "atan2",
    "min", "max", "^", "<", "<=", ">", ">=", "power", "whole",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "sign", "floor",
)  # fmt: skip
CODE = {name: i for i, name in enumerate(OPERATIONS)}
LARGEST_WHOLE = 8  # exponents up to here are products, which keep all digits but the last


@dataclass(frozen=True)
class _Row:
    """A constant that stands in a row of par."""

    row: int


@dataclass(frozen=True)
class _Register:
    """A register; `constant`: it does not depend on the variable, and only its first row is filled unless levelled."""

    at: int
    constant: bool


@dataclass(frozen=True)
class _Line:
    """(a + b*variable) + c with fixed numbers or rows; None stands for nothing."""

    a: float | _Row | None
    b: float | _Row
    c: float | _Row | None


_Item = Any  # a fixed number or truth value, _Row, _Register


def _leaf(what: str, item: Any, function: Expression, rows: Rows | None) -> _Item:
    """Return what a leaf stands for: the variable (None), a row, or a fixed number."""
    if what == "number":
        return np.float64(item)
    if item == function.variable:
        return None
    value: Any = function.constants[item]
    row = rows(item, value) if rows is not None else None
    return _Row(row) if row is not None else np.float64(getattr(value, "value", value))


def _fixed(*items: _Item) -> bool:
    return all(isinstance(i, (float, np.bool_)) for i in items)


# ---- a + b*t ------------------------------------------------------------------------------------------------------
def _line(function: Expression, rows: Rows | None) -> _Line | None:
    """Return a formula as a line, where evaluating it as one takes the very same roundings; else None."""
    stack: list[Any] = []
    for what, name, count in function.steps:
        if what != "call":
            leaf = _leaf(what, name, function, rows)
            stack.append(_Line(None, np.float64(1.0), None) if leaf is None else leaf)
            continue
        arguments = stack[-count:]
        del stack[-count:]
        if _fixed(*arguments):
            with np.errstate(all="ignore"):
                found = jets.apply(name, arguments)
        else:
            found = _combined(name, arguments)
            if found is None:
                return None
        stack.append(found)
    (last,) = stack
    return last if isinstance(last, _Line) else _Line(last, np.float64(0.0), None)


def _negative(line: Any) -> _Line | None:
    """Return the negative of a line without constants, or None."""
    plain = isinstance(line, _Line) and line.a is None and line.c is None and not isinstance(line.b, _Row)
    return _Line(None, -line.b, None) if plain else None


def _combined(name: str, arguments: list[Any]) -> _Line | None:
    """Return a line from lines and constants, or None."""
    if name == "neg":
        return _negative(arguments[0])
    if name not in ("+", "-", "*"):
        return None
    first, second = arguments
    if isinstance(first, _Line) == isinstance(second, _Line):
        return None
    line, constant = (first, second) if isinstance(first, _Line) else (second, first)
    bare = line.a is None and line.c is None
    if name == "*":
        sound = not _fixed(constant) or np.isfinite(constant)  # jets make inf * 0 of a slope without end
        return _Line(None, constant, None) if sound and bare and _fixed(line.b) and line.b == 1.0 else None
    if name == "-" and line is first:
        if not _fixed(constant):
            return None
        constant = -constant
    elif name == "-":
        line = _negative(line)
        if line is None:
            return None
    if line.a is None:
        return _Line(constant, line.b, None)
    return _Line(line.a, line.b, constant) if line.c is None else None


# ---- programs -----------------------------------------------------------------------------------------------------
@dataclass
class _Program:
    """The program of one formula while it grows; places of numbers count from its own first number."""

    steps: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    registers: int = 2
    levelled: set[int] = field(default_factory=set)

    def number(self, value: float) -> int:
        self.numbers.append(float(value))
        return len(self.numbers) - 1

    def take(self) -> int:
        if self.free:
            return self.free.pop()
        self.registers += 1
        return REGISTER * (self.registers - 1)

    def write(self, name: str, *operands: int, constant: bool = False) -> _Register:
        """Append an operation; its result has a register apart from its operands, which loops need to vectorise."""
        found = self.take()
        a, b, c = (*operands, 0, 0, 0)[:3]
        self.steps.append((CODE[name], found, a, b, c))
        self.levelled.discard(found)
        return _Register(found, constant)

    def release(self, *items: _Item) -> None:
        for at in {i.at for i in items if isinstance(i, _Register) and i.at != VARIABLE}:
            self.free.append(at)

    def load(self, item: _Item) -> _Register:
        """Return a register that holds an item; of constants only the values."""
        if isinstance(item, _Register):
            return item
        if isinstance(item, _Row):
            return self.write("row", item.row, constant=True)
        return self.write("number", self.number(float(item)), constant=True)

    def level(self, register: _Register) -> _Register:
        """Make sure that a constant has derivatives, which are zero."""
        if register.constant and register.at not in self.levelled:
            self.steps.append((CODE["level"], register.at, 0, 0, 0))
            self.levelled.add(register.at)
        return register

    def apply(self, name: str, arguments: list[_Item]) -> _Item:
        """Append an operator or function; the case of one constant and one jet is told apart where jets do so."""
        if _fixed(*arguments):
            with np.errstate(all="ignore"):
                return jets.apply(name, arguments)
        if name == "if" and _fixed(arguments[0]):
            chosen, other = arguments[1:] if arguments[0] else arguments[:0:-1]
            self.release(other)
            return chosen
        if name in ("min", "max") and len(arguments) > 2:
            *others, last = arguments
            return self.apply(name, [self.apply(name, others), last])
        found = self._special(name, arguments)
        if found is not None:
            return found
        loaded = [self.level(self.load(a)) for a in arguments]
        constant = all(r.constant for r in loaded)
        found = self.write(name, *(r.at for r in loaded), constant=constant)
        self.release(*loaded)
        return found

    def _special(self, name: str, arguments: list[_Item]) -> _Register | None:
        """Append an operation of a jet and a constant, or return None."""
        if len(arguments) != 2:
            return None
        first, second = arguments
        jet = [isinstance(a, _Register) and not a.constant for a in arguments]
        if jet[0] == jet[1]:
            return None
        x, y = (first, second) if jet[0] else (second, first)  # the jet, the constant
        if _fixed(y) and name in ("+", "-") and (name == "+" or jet[0]):
            found = self.write("shift", x.at, self.number(y if name == "+" else -y))
        elif _fixed(y) and name == "*":
            found = self.write("scale", x.at, self.number(y))
        elif _fixed(y) and name == "^" and jet[0] and y in range(2, LARGEST_WHOLE + 1):
            found = self.write("whole", x.at, int(y))
        elif name == "*" or (name in ("/", "^") and jet[0]):
            y = self.load(y)
            found = self.write({"*": "scale by", "/": "divide by", "^": "power"}[name], x.at, y.at)
        else:
            return None
        self.release(x, y)
        return found


@dataclass(frozen=True)
class _Written:
    """One function: its kind, its code (places of numbers count from its first) and its numbers."""

    kind: int
    code: list[int]
    numbers: list[float]
    size: int = 0  # of a program in steps, of a table in knots
    registers: int = 3


def _formula(function: Expression, rows: Rows | None, lines: bool = True) -> _Written:
    line = _line(function, rows) if lines else None
    if line is not None:
        code: list[int] = []
        numbers: list[float] = []
        for part in (line.a, line.b, line.c):
            if isinstance(part, _Row):
                code.append(-1 - part.row)
            else:
                code.append(len(numbers))
                numbers.append(0.0 if part is None else float(part))
        return _Written(LINEAR, code, numbers)
    program = _Program()
    stack: list[_Item] = []
    for what, name, count in function.steps:
        if what == "call":
            arguments = stack[-count:]
            del stack[-count:]
            stack.append(program.apply(name, arguments))
        else:
            leaf = _leaf(what, name, function, rows)
            stack.append(_Register(VARIABLE, False) if leaf is None else leaf)
    last = program.level(program.load(stack[0]))
    from .formula_kernels import operation

    steps = [e for step in program.steps for e in (*step, operation(step[0]))]
    return _Written(FORMULA, [last.at, *steps], program.numbers, len(program.steps), program.registers)


def _table(function: Table) -> _Written:
    numbers = [function.period, *function.knots.tolist(), *function.coefficients.ravel().tolist()]
    return _Written(TABLE, [], numbers, len(function.knots))


_known: weakref.WeakKeyDictionary[Any, _Written] = weakref.WeakKeyDictionary()


def _written(function: Function, rows: Rows | None, lines: bool) -> _Written:
    if isinstance(function, Table):
        return _table(function)
    assert isinstance(function, Expression)
    if rows is not None:
        return _formula(function, rows, lines)
    found = _known.get(function)
    if found is None:
        found = _known[function] = _formula(function, None)
    return found


@dataclass(frozen=True, eq=False)
class TimeFunctions:
    """Functions of one variable in the two flat arrays that compiled code reads; `work` is its scratch space."""

    count: int
    code: Ints
    numbers: Array
    registers: int

    def work(self) -> Array:
        """Return scratch space for one thread."""
        return np.empty(REGISTER * self.registers)

    def __call__(self, x: Array, order: int = 3) -> tuple[Array, int]:
        """Return value and derivatives (order, function, lane), and how many lanes are not finite in the first three.

        A table goes on with its outermost cubics where it ends.
        """
        return self.at(x, NO_NUMBERS, order)

    def at(self, x: Array, par: Array, order: int = 3) -> tuple[Array, int]:
        """Return the same for one design, whose constants stand in `par`."""
        from .time_kernels import evaluate

        n = len(x)
        found = np.empty((order + 1, self.count, n))
        flat = [part.ravel() for part in found]
        outputs = [*flat, *[flat[-1]] * (3 - order)]
        bad = evaluate(
            self.code, self.numbers, par, 1, max(n, 1), x, max(n, 1), *outputs, n, np.arange(self.count), order,
            0, n, self.work(),
        )  # fmt: skip
        return found, int(bad)


NO_NUMBERS = np.zeros(1)


def write(
    functions: Sequence[Function], rows: Rows | None = None, columns: bool = False, lines: bool = True
) -> TimeFunctions:
    """Write functions; `rows` says which constants of formulas are rows of par, `columns` that they are derivatives.

    `lines`: functions a + b*t are told apart, which is for those who call the interpreter through `time_kernels`.
    """
    parts = [_written(f, rows, lines) for f in functions]
    code = [len(parts), 0]
    place, at = HEAD + ENTRY * len(parts), 0
    for part in parts:
        code += [part.kind, place, part.size, at]
        place, at = place + len(part.code), at + len(part.numbers)
    code += [e for part in parts for e in part.code]
    numbers = np.array([e for part in parts for e in part.numbers] or [0.0])
    if any(p.kind != LINEAR for p in parts) or columns:
        from .formula_kernels import interpreter

        code[ADDRESS] = interpreter()
    return TimeFunctions(
        len(parts), np.array(code, dtype=np.int64), numbers, max((p.registers for p in parts), default=3)
    )


def values(functions: Sequence[Function], x: Array, order: int = 3) -> tuple[Array, int]:
    """Return what `TimeFunctions` gives; a table refuses what it does not reach.

    A function that is neither formula nor table is somebody's own code, and called as it is.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    own = [i for i, f in enumerate(functions) if not isinstance(f, (Expression, Table))]
    for function in functions:
        if isinstance(function, Table):
            function.check(x, function.text)
    found, bad = write([expression("0", {}) if i in own else f for i, f in enumerate(functions)])(x, order)
    for i in own:
        found[:, i] = functions[i](x)[: order + 1]
        bad += int(np.count_nonzero(~np.isfinite(found[:3, i])))
    return found, bad


# ---- what the user hears ------------------------------------------------------------------------------------------
def check_times(model: Model, times: Array) -> None:
    """Refuse times at which a driver or a load has no value, or too large a one, or that its table does not reach."""
    origin = str(model.origin or model.name or "mechanism")
    named: list[tuple[Any, str]] = [(d.motion, f"{origin}: [drivers] {d.name}") for d in model.drivers.values()]
    for item in model.loads:
        parts = item.force if isinstance(item, PointForce) else item.torque if isinstance(item, Torque) else ()
        named += [(part, f"{origin}: [forces] {item.name}") for part in parts]
    for function, where in named:
        if not isinstance(function, Expression):
            function.check(times, where)
    formulas = [(f, where) for f, where in named if isinstance(f, Expression)]
    found, bad = write([f for f, _ in formulas])(np.ascontiguousarray(times, dtype=np.float64), 2)
    if bad or np.abs(found).max(initial=0.0) > LARGEST:
        for function, where in formulas:
            function.check(times, where)
