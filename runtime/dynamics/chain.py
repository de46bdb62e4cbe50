"""What emitted transform modules share: the heads of the two flat arrays, and the steps that belong to no group type.

Imported only where a simulation runs, because it loads Numba. All data of one set of coordinates lie in two flat
arrays, `ints` and `x`, so that every compiled part has the same two arguments and can be called by its address: the
integrator is compiled once, and of a mechanism only its group types. Rows of the state are addressed by their place
in x: q, q̇, q̈ and one entry of R per free coordinate follow each other there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from ..sources import digest

# places in ints
(
    WIDTH, FREE, ITEMS, ITEM, STATE, ROWS, BASE, TRANSFORM, DISTANCES, FUNCTIONS, OWN_INTS, OWN_FLOATS, N_FUNCTIONS,
    FUNCTION, VALUES, DRIVEN, DRIVEN_AT, FREE_AT, MASSES, MASS_AT, WEIGHT, LOADS, LOAD_AT, CANDIDATES, CANDIDATE_AT,
    LENGTHS, BODIES, BODY_AT, ANGLES, MATRIX, VECTOR, FUNCTION_WORK, BRIDGED, BRIDGE, POINTS, DIMENSION, TURNS, Y,
    RATES, ACCEPT, LOOK, LOAD_CODE, TURN_CODE, FUNCTION_ROWS, FUNCTION_NUMBERS, HEAD,
) = range(46)  # fmt: skip
# places in x
TIME, BASE_TIME, DISTANCE, GAIN, HEAD_FLOATS = range(5)
ITEM_SIZE = 8
COMBINED, ANGLE = -1, -2  # kinds of steps; groups have the numbers of their variants
BEFORE, ON_BRIDGE, BEHIND = range(3)  # sides of a meeting of branches
TERMS = 16  # of a series over a bridge
OUTER = 2.2  # the outermost node of a bridge, in units of its reach

OPTIONS: dict[str, Any] = {
    "cache": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True, "_nrt": False,
}  # fmt: skip
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True}


def _dated_modules() -> list[str]:
    """Return the modules beside this one whose compiled functions are dated."""
    package = __name__.rpartition(".")[0]
    beside = sorted(Path(__file__).parent.glob("*.py"))
    return [f"{package}.{path.stem}" for path in beside if "dated\ndef " in path.read_text("utf-8")]


DIGEST = digest(*_dated_modules())[:12]


def dated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a name in Numba's cache that tells the sources of all compiled parts and what these import.

    Numba compares the file of a function only; machine code made with another version of a second file would be
    taken as good, and read the arrays wrongly.
    """
    function.__qualname__ = f"{function.__name__}_{DIGEST}"
    return function


@njit(**INTERNAL)
@dated
def combine(ints, x, o, last):  # type: ignore[no-untyped-def]
    """Rows that are linear combinations of rows."""
    table = ints[o + 2]
    for i in range(ints[o + 1]):
        e = table + 4 * i
        row, terms, count, factors = ints[e], ints[e + 1], ints[e + 2], ints[e + 3]
        for j in range(last):
            total = 0.0
            for k in range(count):
                total += x[factors + k] * x[ints[terms + k] + j]
            x[row + j] = total


@njit(**INTERNAL)
@dated
def angle(ints, x, o, dt, last):  # type: ignore[no-untyped-def]
    """A row that is the continuous angle of a direction: of all values the one next to its prediction."""
    row, px, py, base = ints[o + 1], ints[o + 2], ints[o + 3], ints[o + 4]
    ex, ey = x[px], x[py]
    inverse = 1.0 / (ex * ex + ey * ey)
    value = np.arctan2(ey, ex)
    ahead = x[base] + dt * (x[base + 1] + 0.5 * dt * x[base + 2])
    x[row] = value + 2.0 * np.pi * np.round((ahead - value) / (2.0 * np.pi))
    rate = (ex * x[py + 1] - ey * x[px + 1]) * inverse
    x[row + 1] = rate
    x[row + 2] = (ex * x[py + 2] - ey * x[px + 2] - 2.0 * rate * (ex * x[px + 1] + ey * x[py + 1])) * inverse
    for j in range(3, last):
        x[row + j] = (ex * x[py + j] - ey * x[px + j]) * inverse


@njit(**INTERNAL)
@dated
def series(x, at, u):  # type: ignore[no-untyped-def]
    """A Chebyshev series (Clenshaw)."""
    b1, b2 = 0.0, 0.0
    for k in range(TERMS - 1, 0, -1):
        b1, b2 = x[at + k] + 2.0 * u * b1 - b2, b1
    return x[at] + u * b1 - b2


@njit(**INTERNAL)
@dated
def cross(ints, x, o, r):  # type: ignore[no-untyped-def]
    """On which side of a bridge a group is; on it, φ and its derivatives come from polynomials over the coordinate."""
    if ints[BRIDGED] == 0 or x[ints[o + 5]] == 0.0:
        return BEFORE
    z = ints[ints[FREE_AT]]
    centre, reach, way = x[ints[BRIDGE]], x[ints[BRIDGE] + 1], x[ints[BRIDGE] + 2]
    place = way * (x[z] - centre) / reach
    if place > 1.0:
        return BEHIND
    if place < -1.0:
        return BEFORE
    slope, rate, bend = way / reach, x[z + 1], x[z + 2]
    block = ints[o + 5] + 1 + ints[ints[o + 2] + 2 * r]  # behind the flag and the signs
    for i in range(r):
        p = ints[ints[o + 2] + i]
        at = block + 3 * TERMS * i
        u = place / OUTER
        d1 = series(x, at + TERMS, u) * slope
        d2 = series(x, at + 2 * TERMS, u) * slope * slope
        x[p] = series(x, at, u)
        x[p + 1] = d1 * rate
        x[p + 2] = d1 * bend + d2 * rate * rate
        x[p + 3] = d1
    return ON_BRIDGE
