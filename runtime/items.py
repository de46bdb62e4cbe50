"""Items that belong to no type: constants, combinations of rows, continuous angles, and how changes go through them.

They have the signature of all items; a combination is written as its number of terms, then row and place of the factor
of each. Imported only where something runs, because it loads Numba.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from ..common import turns
from ..common.turns import LARGEST_MISS, LARGEST_WAY, TURN
from . import lanemath as math
from .sequencer import CHANGE_STRIDE, COLUMN_STRIDE, COLUMNS, FAR, INTERNAL, ORDERS, START, STRIDE
from .sources import dated


def constants(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Rows that never change. item: their number, then row and place of each."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    for i in range(item[0]):
        row = np.uint64(item[1 + 2 * i] * call[STRIDE])
        value = numbers[item[2 + 2 * i]]
        for k in range(np.uint64(first), np.uint64(last)):
            out[row + k] = value
        for k in range(np.uint64(first), np.uint64(last)):
            outdot[row + k] = 0.0
        for k in range(np.uint64(first), np.uint64(last)):
            outddot[row + k] = 0.0
    return 0


def constant_values(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The values of rows that never change, where their rates stand as zeros already."""
    item, numbers, call, out = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR), carray(out_at, FAR)
    for i in range(item[0]):
        row = np.uint64(item[1 + 2 * i] * call[STRIDE])
        value = numbers[item[2 + 2 * i]]
        for k in range(np.uint64(first), np.uint64(last)):
            out[row + k] = value
    return 0


def constant_changes(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Changes of rows that never change in time: those of their numbers, and none of their rates."""
    item, changes, call = carray(item_at, FAR), carray(changes_at, FAR), carray(call_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    for c in range(call[COLUMNS]):
        for i in range(item[0]):
            row = np.uint64(item[1 + 2 * i] * call[STRIDE] + c * call[COLUMN_STRIDE])
            value = changes[c * call[CHANGE_STRIDE] + item[2 + 2 * i]]
            for k in range(np.uint64(first), np.uint64(last)):
                out[row + k] = value
            if call[ORDERS] != 1:
                for k in range(np.uint64(first), np.uint64(last)):
                    outdot[row + k] = 0.0
                    outddot[row + k] = 0.0
    return 0


@njit(**INTERNAL)
@dated
def combined(item, at, numbers, source, target, o, n, first, last):  # type: ignore[no-untyped-def]
    """Write one combination of rows of `source` into `target`; item[at]: its row, number of terms, rows and places."""
    row, count = np.uint64(item[at] * n + o), item[at + 1]
    begin, end = np.uint64(first), np.uint64(last)
    done = 0
    while done < count or done == 0:
        left = min(count - done, 4)
        e = at + 2 + 2 * done
        a = numbers[item[e + 1]] if left > 0 else 0.0
        b = numbers[item[e + 3]] if left > 1 else 0.0
        c = numbers[item[e + 5]] if left > 2 else 0.0
        d = numbers[item[e + 7]] if left > 3 else 0.0
        p = np.uint64(item[e] * n + o) if left > 0 else row
        q = np.uint64(item[e + 2] * n + o) if left > 1 else row
        r = np.uint64(item[e + 4] * n + o) if left > 2 else row
        s = np.uint64(item[e + 6] * n + o) if left > 3 else row
        if done > 0:
            for k in range(begin, end):
                value = target[row + k] + a * source[p + k]
                if left > 1:
                    value += b * source[q + k]
                if left > 2:
                    value += c * source[r + k]
                if left > 3:
                    value += d * source[s + k]
                target[row + k] = value
        elif left <= 0:
            for k in range(begin, end):
                target[row + k] = 0.0
        elif left == 1:
            for k in range(begin, end):
                target[row + k] = a * source[p + k]
        elif left == 2:
            for k in range(begin, end):
                target[row + k] = a * source[p + k] + b * source[q + k]
        elif left == 3:
            for k in range(begin, end):
                target[row + k] = a * source[p + k] + b * source[q + k] + c * source[r + k]
        else:
            for k in range(begin, end):
                target[row + k] = (a * source[p + k] + b * source[q + k]) + (c * source[r + k] + d * source[s + k])
        done += 4


def combination(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Rows that are linear combinations. item: their number, then each: row, number of terms, rows and places."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    at = 1
    for _ in range(item[0]):
        combined(item, at, numbers, q, out, 0, call[STRIDE], first, last)
        combined(item, at, numbers, qdot, outdot, 0, call[STRIDE], first, last)
        combined(item, at, numbers, qddot, outddot, 0, call[STRIDE], first, last)
        at += 2 + 2 * item[at + 1]
    return 0


def combination_columns(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The same combinations of the columns in out (or of third derivatives, which are one column)."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    out, again = carray(out_at, FAR), carray(out_at, FAR)
    for c in range(call[COLUMNS]):
        at = 1
        for _ in range(item[0]):
            combined(item, at, numbers, again, out, c * call[COLUMN_STRIDE], call[STRIDE], first, last)
            at += 2 + 2 * item[at + 1]
    return 0


def affine(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """φ = base + Σ parameter * slope. item: number of φ and of parameters, their place; then of each φ its row, its
    base, whose slopes are in the rows behind it, and whether the base is the same at all lanes.
    """
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, out, n = carray(q_at, FAR), carray(out_at, FAR), call[STRIDE]
    for i in range(item[0]):
        row, base = np.uint64(item[3 + 3 * i] * n), np.uint64(item[4 + 3 * i] * n)
        for j in range(item[1]):
            p, slope = numbers[item[2] + j], np.uint64((item[4 + 3 * i] + 1 + j) * n)
            if j == 0 and item[5 + 3 * i]:
                still = q[base]
                for k in range(np.uint64(first), np.uint64(last)):
                    out[row + k] = still + p * q[slope + k]
                continue
            source = base if j == 0 else row
            for k in range(np.uint64(first), np.uint64(last)):
                out[row + k] = q[source + k] + p * q[slope + k]
    return 0


@njit(**INTERNAL)
@dated
def combined_changes(item, at, numbers, changes, source, target, again, o, n, first, last):  # type: ignore[no-untyped-def]
    """Write the change of one combination: of its rows in `again` times factors, and of the factors times rows."""
    row = np.uint64(item[at] * n + o)
    for k in range(np.uint64(first), np.uint64(last)):
        target[row + k] = 0.0
    for j in range(item[at + 1]):
        e = at + 2 + 2 * j
        f, df = numbers[item[e + 1]], changes[item[e + 1]]
        p, base = np.uint64(item[e] * n + o), np.uint64(item[e] * n)
        for k in range(np.uint64(first), np.uint64(last)):
            target[row + k] += f * again[p + k] + df * source[base + k]


def combination_changes(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Changes of rows that are linear combinations, with those of the parameters, for the columns in out."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    every = carray(changes_at, FAR)
    n = call[STRIDE]
    for c in range(call[COLUMNS]):
        changes, o = every[c * call[CHANGE_STRIDE] :], c * call[COLUMN_STRIDE]
        at = 1
        for _ in range(item[0]):
            combined_changes(item, at, numbers, changes, q, out, out, o, n, first, last)
            if call[ORDERS] != 1:
                combined_changes(item, at, numbers, changes, qdot, outdot, outdot, o, n, first, last)
                combined_changes(item, at, numbers, changes, qddot, outddot, outddot, o, n, first, last)
            at += 2 + 2 * item[at + 1]
    return 0


next_to, begun, way = (njit(**INTERNAL)(dated(f)) for f in (turns.next_to, turns.begun, turns.way))


@njit(**INTERNAL)
@dated
def combine_at(item, e, numbers, q, n, k):  # type: ignore[no-untyped-def]
    """The combination at item[e] (number of terms, then row and place of each) in lane k."""
    total = numbers[item[e + 2]] * q[np.uint64(item[e + 1]) * n + k]
    for j in range(1, item[e]):
        total += numbers[item[e + 2 + 2 * j]] * q[np.uint64(item[e + 1 + 2 * j]) * n + k]
    return total


@njit(**INTERNAL)
@dated
def principal(item, numbers, q, qdot, qddot, out, outdot, outddot, n, first, last):  # type: ignore[no-untyped-def]
    """Write the angle between -π and π of a direction whose components are one or two terms each, and its rates."""
    nx = item[2]
    ny = item[3 + 2 * nx]
    a, e = np.uint64(item[0]) * n, 3 + 2 * nx
    x0, f0 = np.uint64(item[3]) * n, numbers[item[4]]
    x1, f1 = (np.uint64(item[5]) * n, numbers[item[6]]) if nx > 1 else (x0, 0.0)
    y0, g0 = np.uint64(item[e + 1]) * n, numbers[item[e + 2]]
    y1, g1 = (np.uint64(item[e + 3]) * n, numbers[item[e + 4]]) if ny > 1 else (y0, 0.0)
    for k in range(np.uint64(first), np.uint64(last)):
        x = f0 * q[x0 + k] + f1 * q[x1 + k]
        y = g0 * q[y0 + k] + g1 * q[y1 + k]
        xd = f0 * qdot[x0 + k] + f1 * qdot[x1 + k]
        yd = g0 * qdot[y0 + k] + g1 * qdot[y1 + k]
        xdd = f0 * qddot[x0 + k] + f1 * qddot[x1 + k]
        ydd = g0 * qddot[y0 + k] + g1 * qddot[y1 + k]
        inverse = 1.0 / (x * x + y * y)
        rate = (x * yd - y * xd) * inverse
        out[a + k] = math.atan2(y, x)
        outdot[a + k] = rate
        outddot[a + k] = (x * ydd - y * xdd - 2.0 * rate * (x * xd + y * yd)) * inverse


def angle(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The continuous angle of a direction. item: its row, place of the value next to which it begins, both components.

    From lane to lane the angle follows its own rates. Returns the number of lanes too far from the one before them.
    """
    item, numbers, call, t = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR), carray(t_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, start = np.uint64(call[STRIDE]), np.uint64(call[START])
    a, begin, end = np.uint64(item[0]) * n, np.uint64(first), np.uint64(last)
    before = out[a + begin - np.uint64(1)] if begin != start else 0.0
    if item[2] <= 2 and item[3 + 2 * item[2]] <= 2:
        principal(item, numbers, q, qdot, qddot, out, outdot, outddot, n, first, last)
    else:
        e = 3 + 2 * item[2]
        for k in range(begin, end):
            x, y = combine_at(item, 2, numbers, q, n, k), combine_at(item, e, numbers, q, n, k)
            xd, yd = combine_at(item, 2, numbers, qdot, n, k), combine_at(item, e, numbers, qdot, n, k)
            xdd, ydd = combine_at(item, 2, numbers, qddot, n, k), combine_at(item, e, numbers, qddot, n, k)
            inverse = 1.0 / (x * x + y * y)
            rate = (x * yd - y * xd) * inverse
            out[a + k], outdot[a + k] = math.atan2(y, x), rate
            outddot[a + k] = (x * ydd - y * xdd - 2.0 * rate * (x * xd + y * yd)) * inverse
    # whole turns: what the rates say of the way from one lane to the next, less what the values say
    coarse, whole = 0, 0.0  # whole turns are counted: a sum of them would gather rounding errors
    value = out[a + begin]
    if begin == start:
        whole = np.round((numbers[item[1]] - value) / TURN)
        out[a + begin] = value + TURN * whole
        begin += np.uint64(1)
    else:
        value = before
    for k in range(begin, end):
        j = k - np.uint64(1)
        dt = t[k] - t[j]
        far = way(dt, outdot[a + j], outddot[a + j], outdot[a + k], outddot[a + k])
        far = far if far - far == 0.0 else 0.0
        here = out[a + k]
        off = value + far - here
        if abs(off) > np.pi:
            more = np.round(off / TURN)
            whole += more
            off -= TURN * more
        fastest = dt * max(abs(outdot[a + j]), abs(outdot[a + k]))
        if abs(off) > LARGEST_MISS or abs(far) > LARGEST_WAY or fastest > LARGEST_WAY:
            coarse += 1
        value = here
        out[a + k] = here + TURN * whole
    return coarse


def angle_columns(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Columns of a continuous angle: what its direction turns by."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, out = carray(q_at, FAR), carray(out_at, FAR)
    n, e = np.uint64(call[STRIDE]), 3 + 2 * item[2]
    a = np.uint64(item[0]) * n
    for c in range(call[COLUMNS]):
        o = np.uint64(c * call[COLUMN_STRIDE])
        for k in range(np.uint64(first), np.uint64(last)):
            x, y = combine_at(item, 2, numbers, q, n, k), combine_at(item, e, numbers, q, n, k)
            dx, dy = combine_at(item, 2, numbers, out, n, o + k), combine_at(item, e, numbers, out, n, o + k)
            out[o + a + k] = (x * dy - y * dx) / (x * x + y * y)
    return 0


def angle_changes(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Changes of a continuous angle and its rates with those of its direction, for the columns in out.

    With ρ = x² + y²: ρ θ̇ = x ẏ - y ẋ and ρ θ̈ = x ÿ - y ẍ - ρ̇ θ̇, each varied. Angles are followed along single rows,
    whose factors are ones and have no changes.
    """
    item, call = carray(item_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n = np.uint64(call[STRIDE])
    a, i, j = np.uint64(item[0]) * n, np.uint64(item[3]) * n, np.uint64(item[6]) * n
    for c in range(call[COLUMNS]):
        o = np.uint64(c * call[COLUMN_STRIDE])
        for k in range(np.uint64(first), np.uint64(last)):
            x, y, dx, dy = q[i + k], q[j + k], out[o + i + k], out[o + j + k]
            square = x * x + y * y
            out[o + a + k] = (x * dy - y * dx) / square
            if call[ORDERS] != 1:
                xd, yd, dxd, dyd = qdot[i + k], qdot[j + k], outdot[o + i + k], outdot[o + j + k]
                xdd, ydd, dxdd, dydd = qddot[i + k], qddot[j + k], outddot[o + i + k], outddot[o + j + k]
                rate, bend, change = qdot[a + k], qddot[a + k], 2.0 * (x * dx + y * dy)
                drate = (dx * yd + x * dyd - dy * xd - y * dxd - rate * change) / square
                outdot[o + a + k] = drate
                growth, dgrowth = 2.0 * (x * xd + y * yd), 2.0 * (dx * xd + x * dxd + dy * yd + y * dyd)
                turning = dx * ydd + x * dydd - dy * xdd - y * dxdd
                outddot[o + a + k] = (turning - change * bend - drate * growth - rate * dgrowth) / square
    return 0


def angle_jerks(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The third derivative of a continuous angle, from those of its direction in out.

    With ρ = x² + y²: ρ θ⃛ = x y⃛ - y x⃛ + ẋ ÿ - ẏ ẍ - 2 ρ̇ θ̈ - ρ̈ θ̇.
    """
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot, out = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR), carray(out_at, FAR)
    n, e = np.uint64(call[STRIDE]), 3 + 2 * item[2]
    a = np.uint64(item[0]) * n
    for k in range(np.uint64(first), np.uint64(last)):
        x, y = combine_at(item, 2, numbers, q, n, k), combine_at(item, e, numbers, q, n, k)
        xd, yd = combine_at(item, 2, numbers, qdot, n, k), combine_at(item, e, numbers, qdot, n, k)
        xdd, ydd = combine_at(item, 2, numbers, qddot, n, k), combine_at(item, e, numbers, qddot, n, k)
        xddd, yddd = combine_at(item, 2, numbers, out, n, k), combine_at(item, e, numbers, out, n, k)
        square = x * x + y * y
        first_rate, second_rate = 2.0 * (x * xd + y * yd), 2.0 * (xd * xd + yd * yd + x * xdd + y * ydd)
        bend = x * yddd - y * xddd + xd * ydd - yd * xdd
        out[a + k] = (bend - 2.0 * first_rate * qddot[a + k] - second_rate * qdot[a + k]) / square
    return 0
