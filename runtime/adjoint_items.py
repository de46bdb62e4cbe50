"""Reverse mode through items that belong to no type: from the adjoints of what an item finds to those of what it takes.

The adjoint of a row or number, its worth, is the derivative of an objective by it. Rows stand in `out`, numbers in
`changes`; an item adds what it passes on. They have the signature of all items. Imported only where something runs: it
loads Numba.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from .sequencer import CALL_SIZE, FAR, INTERNAL, STRIDE
from .sources import dated

SUMS = {**INTERNAL, "fastmath": {"contract", "nsz", "reassoc"}}


@njit(**SUMS)
@dated
def lane_sum(values, row, first, last):  # type: ignore[no-untyped-def]
    """The sum of lanes of a row, in any order."""
    total = 0.0
    for k in range(row + np.uint64(first), row + np.uint64(last)):
        total += values[k]
    return total


@njit(**SUMS)
@dated
def lane_product(a, b, row, other, first, last):  # type: ignore[no-untyped-def]
    """The sum of the products of two rows, in any order."""
    total = 0.0
    for k in range(np.uint64(first), np.uint64(last)):
        total += a[row + k] * b[other + k]
    return total


def constants_worth(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """A number that stands in a row of all lanes is worth the sum of these."""
    item, changes, call, out = carray(item_at, FAR), carray(changes_at, FAR), carray(call_at, FAR), carray(out_at, FAR)
    for i in range(item[0]):
        changes[item[2 + 2 * i]] += lane_sum(out, np.uint64(item[1 + 2 * i] * call[STRIDE]), first, last)
    return 0


def combination_worth(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Adjoint of a row y = Σ f q: every q gets f times the adjoint of y, every f gets q times it."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, out, changes = carray(q_at, FAR), carray(out_at, FAR), carray(changes_at, FAR)
    n, at = call[STRIDE], 1
    for _ in range(item[0]):
        row = np.uint64(item[at] * n)
        for j in range(item[at + 1]):
            source, place = np.uint64(item[at + 2 + 2 * j] * n), item[at + 3 + 2 * j]
            f = numbers[place]
            changes[place] += lane_product(out, q, row, source, first, last)
            for k in range(np.uint64(first), np.uint64(last)):
                out[source + k] += f * out[row + k]
        at += 2 + 2 * item[at + 1]
    return 0


def angle_worth(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """A continuous angle changes with its direction, which is two single rows."""
    item, call, q, out = carray(item_at, FAR), carray(call_at, FAR), carray(q_at, FAR), carray(out_at, FAR)
    n = np.uint64(call[STRIDE])
    a, i, j = np.uint64(item[0]) * n, np.uint64(item[3]) * n, np.uint64(item[6]) * n
    for k in range(np.uint64(first), np.uint64(last)):
        x, y = q[i + k], q[j + k]
        share = out[a + k] / (x * x + y * y)
        out[i + k] -= y * share
        out[j + k] += x * share
    return 0


def rows_worth(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Of a point that is written, whose worth stands in outdot: its rows at the asked lanes, and their factors."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, out, changes, given = carray(q_at, FAR), carray(out_at, FAR), carray(changes_at, FAR), carray(outdot_at, FAR)
    n, width, e = call[STRIDE], item[3], 4
    for c in range(width):
        for j in range(item[e]):
            row, place = item[e + 1 + 2 * j] * n, item[e + 2 + 2 * j]
            f, total = numbers[place], 0.0
            for i in range(first, last):
                k = row + call[CALL_SIZE + i]
                worth = given[item[0] + i * width + c]
                out[k] += f * worth
                total += q[k] * worth
            changes[place] += total
        e += 1 + 2 * item[e]
    return 0
