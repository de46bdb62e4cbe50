"""The heads of the two flat arrays of a simulation, and how a group follows its polynomials over a bridge.

Imported only where a simulation runs, because it loads Numba. All data of one set of coordinates lie in two flat
arrays, `ints` and `x`, so that every compiled part has the same two arguments and can be called by its address: the
integrator is compiled once for all mechanisms. Rows of the state are addressed by their place in x; q, q̇, q̈ and one
column of R per free coordinate follow each other there, each as long as there are rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import carray, njit

from ..runtime.sequencer import FAR, STRIDE
from ..runtime.sources import digest

# places in ints
(
    FREE, ALONE, ROWS, STATE, BASE, TABLES, N_TABLES, NUMBERS, N_NUMBERS, SIGNS, N_SIGNS, WORK, N_WORK, CALL, LOST,
    EDGES, SOLVING, N_SOLVING, CARRYING, N_CARRYING, QUALITY, N_QUALITY, KAPPA, REPORT, PREDICTED, PREDICTED_AT,
    BRIDGED, BRIDGE, BRIDGE_AT, OWN_INTS, OWN_FLOATS, FUNCTIONS, N_FUNCTIONS, FUNCTION, FUNCTION_ROWS, FUNCTION_NUMBERS,
    FUNCTION_WORK, VALUES, DRIVEN, DRIVEN_AT, FREE_AT, DIMENSION, MASSES, MASS_AT, WEIGHT, LOADS, LOAD_AT, CANDIDATES,
    CANDIDATE_AT, LENGTHS, BODIES, BODY_AT, ANGLES, MATRIX, VECTOR, TURNS, Y, RATES, ACCEPT, LOOK, DISTANCES, SMOOTH,
    LOAD_CODE, TURN_CODE, HEAD,
) = range(65)  # fmt: skip
# places in x
TIME, BASE_TIME, DISTANCE, GAIN, KINETIC, POWER, JUMP, HEAD_FLOATS = range(8)
# of a group on a bridge: its step, the step's own address and table, those of the bridge, place and number of its
# signs, place of the signs before and behind the change point
STEP, OWN_ADDRESS, OWN_TABLE, BRIDGE_ADDRESS, BRIDGE_TABLE, SIGN_AT, SIGN_COUNT, SIDES, BRIDGED_SIZE = range(9)
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
def series(x, at, u):  # type: ignore[no-untyped-def]
    """A Chebyshev series (Clenshaw)."""
    b1, b2 = 0.0, 0.0
    for k in range(TERMS - 1, 0, -1):
        b1, b2 = x[at + k] + 2.0 * u * b1 - b2, b1
    return x[at] + u * b1 - b2


@dated
def bridge(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """φ and its rates on a bridge from polynomials over the one free coordinate.

    item: number of φ, row of the coordinate, place of the bridge (centre, reach, way), place of the series, rows of φ.
    """
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, z, place, at = call[STRIDE], item[1] * call[STRIDE], item[2], item[3]
    slope = numbers[place + 2] / numbers[place + 1]
    for k in range(first, last):
        u, rate = slope * (q[z + k] - numbers[place]) / OUTER, qdot[z + k]
        for i in range(item[0]):
            row, e = item[4 + i] * n + k, at + 3 * TERMS * i
            d1, d2 = series(numbers, e + TERMS, u) * slope, series(numbers, e + 2 * TERMS, u) * slope * slope
            out[row] = series(numbers, e, u)
            outdot[row] = d1 * rate
            outddot[row] = d1 * qddot[z + k] + d2 * rate * rate
    return 0
