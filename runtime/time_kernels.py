"""The compiled entries of functions of time, over lanes: see `time_functions` for what the arrays hold.

Lines a + b*t, which most drivers are, are written here. The interpreter of all others is called by its address, so
that it is compiled once, whoever calls it, and not even loaded for those who have lines only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .sequencer import caller
from .sources import dated
from .time_functions import ADDRESS, ENTRY, HEAD, LINEAR

OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True, "forceinline": True}

# what the interpreter is called with: addresses of arrays of doubles, of integers, and plain integers
ARGUMENTS = (
    "code", "numbers", "par", "designs", "instants", "t", "period", "q", "qdot", "qddot", "qdddot", "stride", "rows",
    "order", "first", "last", "work", "columns", "sources", "tangents", "apart",
)  # fmt: skip
INTEGERS = ("code", "rows", "sources")
PLAIN = ("designs", "instants", "period", "stride", "order", "first", "last", "columns", "apart")
call21 = caller(len(ARGUMENTS))


@njit(**INTERNAL)
def quotient(lane, length):  # type: ignore[no-untyped-def]
    """lane // length; a division takes longer than all else that one lane of a simple function needs."""
    return np.uint64(0) if lane < length else lane // length


@njit(**INTERNAL)
def constant(code, at, numbers, own, par, designs, design):  # type: ignore[no-untyped-def]
    """A number of a line: fixed, or of the design."""
    place = code[at]
    return numbers[own + np.uint64(place)] if place >= 0 else par[np.uint64(-1 - place) * designs + design]


@njit(**INTERNAL)
def line(  # type: ignore[no-untyped-def]
    code, at, numbers, own, par, designs, instants, t, period, q, qdot, qddot, qdddot, row, order, first, last
):
    """Write (a + b t) + c and its derivatives straight into the rows; the number of lanes that are not finite."""
    bad, lane = 0, first
    while lane < last:
        design, place = quotient(lane, instants), lane - period * quotient(lane, period)
        run = min((design + np.uint64(1)) * instants - lane, period - place, last - lane)
        a = constant(code, at, numbers, own, par, designs, design)
        b = constant(code, at + np.uint64(1), numbers, own, par, designs, design)
        c = constant(code, at + np.uint64(2), numbers, own, par, designs, design)
        o = row + lane
        for k in range(run):
            v = (a + b * t[place + k]) + c
            q[o + k] = v
            bad += 0 if v - v == 0.0 else 1
        if order >= 1:
            for k in range(run):
                qdot[o + k] = b
        if order >= 2:
            for k in range(run):
                qddot[o + k] = 0.0
        if order >= 3:
            for k in range(run):
                qdddot[o + k] = 0.0
        lane += run
    return bad


# ---- entries --------------------------------------------------------------------------------------------------------
@njit(cache=True, forceinline=True, **OPTIONS)
@dated
def evaluate(  # type: ignore[no-untyped-def]
    code, numbers, par, designs, instants, t, period, q, qdot, qddot, qdddot, stride, rows, order, first, last, work
):
    """Write value and derivatives up to `order` of every function for the lanes first to last - 1.

    All arrays are flat. Function i goes to q[rows[i] * stride + lane], its derivatives to qdot, qddot, qdddot likewise
    (what lies beyond `order` is not touched). Constants of designs are par[row * designs + lane // instants], the
    variable is t[lane % period]. Returns how many values, rates and accelerations are not finite.
    """
    bad = 0
    for i in range(code[0]):
        e = HEAD + ENTRY * i
        if code[e] == LINEAR:
            bad += line(
                code, np.uint64(code[e + 1]), numbers, np.uint64(code[e + 3]), par, np.uint64(designs),
                np.uint64(instants), t, np.uint64(period), q, qdot, qddot, qdddot, np.uint64(rows[i] * stride), order,
                np.uint64(first), np.uint64(last),
            )  # fmt: skip
    if code[ADDRESS] != 0:
        none = rows.ctypes.data  # no columns: neither sources nor tangents are read
        bad += call21(code[ADDRESS], (
            code.ctypes.data, numbers.ctypes.data, par.ctypes.data, designs, instants, t.ctypes.data, period,
            q.ctypes.data, qdot.ctypes.data, qddot.ctypes.data, qdddot.ctypes.data, stride, rows.ctypes.data, order,
            first, last, work.ctypes.data, 0, none, none, 0,
        ))  # fmt: skip
    return bad


@njit(cache=True, forceinline=True, **OPTIONS)
@dated
def differentiate(  # type: ignore[no-untyped-def]
    code, numbers, par, designs, instants, t, period, q, qdot, qddot, qdddot, stride, rows, order, first, last, work,
    columns, sources, tangents, apart,
):  # fmt: skip
    """Add what parameters change: the code holds derivatives of functions by constants (`partials.Partials`).

    Derivative i, of the function in row rows[i] by the constant in row sources[i] of par, is weighted by
    tangents[(sources[i] * columns + column) * designs + design], the derivative of that constant by a parameter, and
    added to q[column * apart + rows[i] * stride + lane], and its own derivatives to qdot, qddot, qdddot.
    """
    call21(code[ADDRESS], (
        code.ctypes.data, numbers.ctypes.data, par.ctypes.data, designs, instants, t.ctypes.data, period,
        q.ctypes.data, qdot.ctypes.data, qddot.ctypes.data, qdddot.ctypes.data, stride, rows.ctypes.data, order,
        first, last, work.ctypes.data, columns, sources.ctypes.data, tangents.ctypes.data, apart,
    ))  # fmt: skip
