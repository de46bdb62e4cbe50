"""Functions of an unknown, such as the outline of a cam: what a type's kernels know of them at a place, by numbers.

A type has no function in it, only a Taylor polynomial about a place; these functions give its coefficients where the
unknown is, so that everything derived from the polynomial is exact. The functions themselves are written as those of
time are; where they stand is told in the table of an item, from a place on, by the columns below.
"""

from __future__ import annotations

from numba import njit

from .sequencer import OPTIONS, caller
from .sources import dated

# the interpreter; code and numbers of the function, of its derivative (0: none), of its derivatives by constants;
# whole numbers from 0 on; number of those constants, then their places among the numbers
INTERPRETER, CODE, FIXED, SLOPE, SLOPE_FIXED, PARTIALS, PARTIALS_FIXED, COUNTED, N_SOURCES, SOURCES = range(10)
VALUES = 8  # of the work array, from where the unknown stands; then four orders of every derivative, then registers
call_interpreter = caller(21)


@njit(**OPTIONS)
@dated
def evaluated(item, at, which, numbers, work, u, to, stride):  # type: ignore[no-untyped-def]
    """Write value and three derivatives of functions at u into work[to], work[to + stride], ..."""
    work[0] = u
    w = work.ctypes.data
    registers = w + 8 * (VALUES + 4 * item[at + N_SOURCES])
    q, one, none = w + 8 * to, 8 * stride, item[at + COUNTED]
    call_interpreter(item[at + INTERPRETER], (
        item[at + which], item[at + which + 1], numbers.ctypes.data, 1, 1, w, 1, q, q + one, q + 2 * one, q + 3 * one,
        1, item[at + COUNTED], 3, 0, 1, registers, 0, none, none, 0,
    ))  # fmt: skip


@njit(**OPTIONS)
@dated
def developed(item, at, numbers, work, u, fourth):  # type: ignore[no-untyped-def]
    """u and the five Taylor coefficients of a function there; the last one only where it is asked for."""
    last = 0.0
    if fourth and item[at + SLOPE] != 0:
        evaluated(item, at, SLOPE, numbers, work, u, 1, 1)
        last = work[4] / 24.0
    evaluated(item, at, CODE, numbers, work, u, 1, 1)
    return u, work[1], work[2], work[3] / 2.0, work[4] / 6.0, last


@njit(**OPTIONS)
@dated
def varied(item, at, numbers, work, u, changes):  # type: ignore[no-untyped-def]
    """By how much they change with the numbers; no type needs the change of the last one."""
    n = item[at + N_SOURCES]
    if n > 0:
        evaluated(item, at, PARTIALS, numbers, work, u, VALUES, n)
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        change = changes[item[at + SOURCES + i]]
        a += change * work[VALUES + i]
        b += change * work[VALUES + n + i]
        c += change * work[VALUES + 2 * n + i] / 2.0
        d += change * work[VALUES + 3 * n + i] / 6.0
    return 0.0, a, b, c, d, 0.0
