"""The compiled interpreter of formulas, and of tables, over lanes: see `time_functions` for what the arrays hold.

Each operation is one loop over the lanes of a block, straight-line where its functions allow it, so that it
vectorises. All orders are computed together: they are what a loop has in its registers anyway.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import carray, cfunc, njit

from .formula_operations import (
    ADD,
    ATAN2,
    COS,
    DIVIDE,
    END,
    IF,
    INTERNAL,
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
from .sources import dated
from .time_functions import ENTRY, HEAD, LINEAR, STEP, TABLE
from .time_functions import LANES as BLOCK
from .time_kernels import ARGUMENTS, INTEGERS, PLAIN


@njit(**INTERNAL)
def apply(op, x, d, a, b, exponent, n):  # type: ignore[no-untyped-def]
    """Powers and functions of one argument."""
    if op == POWER:
        power(x, a, b, n)
    elif op == WHOLE:
        whole(x, a, exponent, n)
    elif op <= COS:
        waves(op, x, a, n)
    else:
        outer(op, x, a, n)
    compose(x, d, a, n)


@njit(**INTERNAL)
def operate(op, x, d, a, b, c, n):  # type: ignore[no-untyped-def]
    """Operations of two or three arguments."""
    if op in (ADD, SUBTRACT):
        add(op, x, d, a, b, n)
    elif op == MULTIPLY:
        multiply(x, d, a, b, n)
    elif op == DIVIDE:
        divide(x, d, a, b, n)
    elif op <= NEGATE:
        scale(op, x, d, a, b, n)
    elif op == IF:
        select(x, d, a, b, c, n)
    elif op in (MIN, MAX):
        extreme(op, x, d, a, b, n)
    elif op == ATAN2:
        arctangent(x, d, a, b, n)
    elif op == RAISE:
        raised(x, d, a, b, n)
    else:
        compare(op, x, d, a, b, n)


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
                d, a = np.uint64(code[e + np.uint64(1)]), np.uint64(code[e + np.uint64(2)])
                b, c = np.uint64(code[e + np.uint64(3)]), np.uint64(code[e + np.uint64(4)])
                if op >= POWER:
                    apply(op, x, d, a, b, code[e + np.uint64(3)], n)
                elif op <= LEVEL:
                    if op == ROW:
                        spread(x, d, par, a * u_designs, u_instants, start, n)
                    else:
                        fill(op, x, d, numbers[own + a], n)
                elif op <= SCALE:
                    affine(op, x, d, a, numbers[own + b], n)
                else:
                    operate(op, x, d, a, b, c, n)
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
