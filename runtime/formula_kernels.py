"""The compiled interpreter of formulas, and of tables, over lanes: see `time_functions` for what the arrays hold.

Sums and products with numbers it does itself; every other operation is called by the address that stands in the step,
so that only those are compiled which somebody's formulas have.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, cfunc

from .formula_operations import (
    ADD,
    ATAN2,
    COS,
    DIVIDE,
    DIVIDE_BY,
    END,
    GREATER,
    GREATER_EQUAL,
    IF,
    LESS,
    LESS_EQUAL,
    LEVEL,
    MAX,
    MIN,
    MULTIPLY,
    NEGATE,
    POWER,
    R1,
    R2,
    R3,
    RAISE,
    ROW,
    SCALE,
    SCALE_BY,
    SIN,
    SUBTRACT,
    WHOLE,
    G,
    add,
    affine,
    arctangent,
    compare,
    compose,
    divide,
    extreme,
    fill,
    gather,
    lifted_line,
    multiply,
    outer,
    power,
    raised,
    scale,
    select,
    spline,
    spread,
    store,
    take,
    waves,
    whole,
)
from .sequencer import caller
from .sources import dated
from .time_functions import ENTRY, HEAD, LINEAR, STEP, TABLE
from .time_functions import LANES as BLOCK
from .time_kernels import ARGUMENTS, INTEGERS, PLAIN


# ---- operations, each compiled where a formula has it ---------------------------------------------------------------
# x: registers; d, a, b, c: where result and arguments stand; n: lanes of the block
def powers(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    x = carray(x_at, END)
    power(x, np.uint64(a), np.uint64(b), np.uint64(n))
    compose(x, np.uint64(d), np.uint64(a), np.uint64(n))
    return 0


def whole_powers(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    x = carray(x_at, END)
    whole(x, np.uint64(a), b, np.uint64(n))
    compose(x, np.uint64(d), np.uint64(a), np.uint64(n))
    return 0


def sines(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    x = carray(x_at, END)
    waves(op, x, np.uint64(a), np.uint64(n))
    compose(x, np.uint64(d), np.uint64(a), np.uint64(n))
    return 0


def functions(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    x = carray(x_at, END)
    outer(op, x, np.uint64(a), np.uint64(n))
    compose(x, np.uint64(d), np.uint64(a), np.uint64(n))
    return 0


def sums(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    add(op, carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def products(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    multiply(carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def quotients(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    divide(carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def scalings(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    scale(op, carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def choices(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    select(carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(n))
    return 0


def extremes(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    extreme(op, carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def arctangents(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    arctangent(carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def moving_powers(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    raised(carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


def comparisons(x_at, op, d, a, b, c, n):  # type: ignore[no-untyped-def]
    compare(op, carray(x_at, END), np.uint64(d), np.uint64(a), np.uint64(b), np.uint64(n))
    return 0


CALLED: dict[int, Callable[..., Any]] = {
    POWER: powers, WHOLE: whole_powers, SIN: sines, COS: sines, ADD: sums, SUBTRACT: sums, MULTIPLY: products,
    DIVIDE: quotients, SCALE_BY: scalings, DIVIDE_BY: scalings, NEGATE: scalings, IF: choices, MIN: extremes,
    MAX: extremes, ATAN2: arctangents, RAISE: moving_powers, LESS: comparisons, LESS_EQUAL: comparisons,
    GREATER: comparisons, GREATER_EQUAL: comparisons,
}  # fmt: skip


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    return cfunc(f"int64(CPointer(float64){', int64' * 6})", cache=True, error_model="numpy")(dated(function))


def operation(op: int) -> int:
    """Return the address of the compiled operation; 0 of those that the interpreter does itself."""
    return int(_compiled(CALLED.get(op, functions)).address) if op > SCALE else 0


# ---- the interpreter ------------------------------------------------------------------------------------------------
call7 = caller(7)


@dated
def _interpret(  # type: ignore[no-untyped-def]
    code_at, numbers_at, par_at, designs, instants, t_at, period, q_at, qdot_at, qddot_at, qdddot_at, stride, rows_at,
    order, first, last, work_at, columns, sources_at, tangents_at, apart,
):  # fmt: skip
    """All functions but lines, block by block; with columns all functions, weighted and added to the columns' rows.

    Few functions on purpose: every further level of calls costs time to compile.
    """
    code, numbers, par, t = carray(code_at, END), carray(numbers_at, END), carray(par_at, END), carray(t_at, END)
    q, qdot, qddot, qdddot = carray(q_at, END), carray(qdot_at, END), carray(qddot_at, END), carray(qdddot_at, END)
    rows, sources, tangents = carray(rows_at, END), carray(sources_at, END), carray(tangents_at, END)
    x = carray(work_at, END)
    registers = x.ctypes.data
    bad, u_designs, u_instants = 0, np.uint64(designs), np.uint64(instants)
    for begin in range(first, last, BLOCK):
        start, n = np.uint64(begin), np.uint64(min(BLOCK, last - begin))
        take(x, t, np.uint64(period), start, n)
        for i in range(code[0]):
            entry = HEAD + ENTRY * i
            kind, at, size, own = code[entry], np.uint64(code[entry + 1]), code[entry + 2], np.uint64(code[entry + 3])
            steps = 0
            if kind == LINEAR:
                if columns == 0:
                    continue
                found = lifted_line(code, at, numbers, own, par, u_designs, u_instants, start, n, x)
            elif kind == TABLE:
                found = spline(numbers, own, np.uint64(size), x, n)
            else:
                found, steps = np.uint64(code[at]), size
            for step in range(steps):
                e = at + np.uint64(1 + STEP * step)
                op = code[e]
                d, a, b = code[e + np.uint64(1)], code[e + np.uint64(2)], code[e + np.uint64(3)]
                if op > SCALE:
                    call7(code[e + np.uint64(5)], (registers, op, d, a, b, code[e + np.uint64(4)], np.int64(n)))
                elif op > LEVEL:
                    affine(op, x, np.uint64(d), np.uint64(a), numbers[own + np.uint64(b)], n)
                elif op == ROW:
                    spread(x, np.uint64(d), par, np.uint64(a) * u_designs, u_instants, start, n)
                else:
                    fill(op, x, np.uint64(d), numbers[own + np.uint64(a)], n)
            o = np.uint64(rows[i] * stride) + start
            for column in range(columns):
                spread(x, G, tangents, np.uint64((sources[i] * columns + column) * designs), u_instants, start, n)
                into = o + np.uint64(column * apart)
                gather(x, found, 1.0, q, into, n)
                if order >= 1:
                    gather(x, found + R1, 1.0, qdot, into, n)
                if order >= 2:
                    gather(x, found + R2, 2.0, qddot, into, n)
                if order >= 3:
                    gather(x, found + R3, 6.0, qdddot, into, n)
            if columns == 0:
                bad += store(x, found, 1.0, q, o, n)
                if order >= 1:
                    bad += store(x, found + R1, 1.0, qdot, o, n)
                if order >= 2:
                    bad += store(x, found + R2, 2.0, qddot, o, n)
                if order >= 3:
                    store(x, found + R3, 6.0, qdddot, o, n)
    return bad


@functools.cache
def interpreter() -> int:
    """Return the address of the compiled interpreter; only formulas that are no lines, tables and tangents need it."""
    kinds = {**dict.fromkeys(INTEGERS, "CPointer(int64)"), **dict.fromkeys(PLAIN, "int64")}
    signature = f"int64({', '.join(kinds.get(name, 'CPointer(float64)') for name in ARGUMENTS)})"
    _kept.append(cfunc(signature, cache=True, error_model="numpy")(_interpret))
    return int(_kept[-1].address)


_kept: list[Any] = []  # machine code must outlive its address
