"""Linkages of different structure one after the other through the sequencer. Imported only where they run: Numba."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..runtime.sequencer import OPTIONS, sequence
from ..runtime.sources import dated
from ..runtime.streaming import WORTH, settle, stream
from .design_kernels import NEVER

FIXED, CRANK = -1, -2
ITEM = 10  # integers of a dyad: four rows known, two found, places of lengths, sketch, size and sign


@njit(**OPTIONS)
@dated
def prepare(joints, places, side, steps, tables, numbers, signs, address):  # type: ignore[no-untyped-def]
    """Write the steps of one linkage: a dyad for every joint that is linked to two others; their number."""
    count = 0
    for j in range(len(joints)):
        if joints[j, 0] < 0:
            continue
        a, b, at = joints[j, 1], joints[j, 2], ITEM * count
        tables[at], tables[at + 1], tables[at + 2], tables[at + 3] = 2 * a, 2 * a + 1, 2 * b, 2 * b + 1
        tables[at + 4], tables[at + 5] = 2 * j, 2 * j + 1
        tables[at + 6], tables[at + 7], tables[at + 8], tables[at + 9] = 2 * count, 0, 0, count
        ux, uy = places[j, 0] - places[a, 0], places[j, 1] - places[a, 1]
        vx, vy = places[j, 0] - places[b, 0], places[j, 1] - places[b, 1]
        numbers[2 * count], numbers[2 * count + 1] = math.sqrt(ux * ux + uy * uy), math.sqrt(vx * vx + vy * vy)
        wx, wy = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1]
        signs[0, count] = side if wx * uy - wy * ux >= 0.0 else -side
        steps[count, 0], steps[count, 1], steps[count, 2] = address, 0, at
        steps[count, 3], steps[count, 4], steps[count, 5] = 4, -2, 0
        count += 1
    return count


@njit(**OPTIONS)
@dated
def run_population(address, side, begins, joints, places, cosine, sine, t, scratch, rows, whole):  # type: ignore[no-untyped-def]
    """Write rows[linkage, twice the joint plus component, lane] and whether each is assembled at every lane.

    begins: where the joints of each linkage begin among all. There are three linkages more than asked for, two for the
    pointers to rates, which nobody follows: the sequencer works where the positions are to stand, or, where the caches
    cannot hold all of them, in the first of the three.
    """
    steps, tables, numbers, signs, call, work, lost, edges, none = scratch
    n = len(t)
    edges[0], edges[1] = 0, n
    streamed, size = 8 * rows.size > WORTH, rows.shape[1] * n
    for i in range(len(begins) - 1):
        first = len(rows) - 3 if streamed else i
        state = rows[first : first + 3]
        own, place = joints[begins[i] : begins[i + 1]], places[begins[i] : begins[i + 1]]
        for j in range(len(own)):
            x, y = 2 * j, 2 * j + 1
            if own[j, 0] == FIXED:
                for k in range(np.uint64(n)):
                    state[0, x, k], state[0, y, k] = place[j, 0], place[j, 1]
            elif own[j, 0] == CRANK:
                ox, oy = place[own[j, 1], 0], place[own[j, 1], 1]
                dx, dy = place[j, 0] - ox, place[j, 1] - oy
                for k in range(np.uint64(n)):
                    ex, ey = cosine[k] * dx - sine[k] * dy, sine[k] * dx + cosine[k] * dy
                    state[0, x, k], state[0, y, k] = ox + ex, oy + ey
        state[0, 2 * len(own) :] = np.nan
        count = prepare(own, place, side, steps, tables, numbers, signs, address)
        lost[:] = NEVER
        sequence(
            steps[:count], tables, numbers, none, signs, edges, t, state, state, call, work, n, lost, edges[:0], none
        )
        if streamed:
            stream(rows[i].reshape(size), state[0].reshape(size))
        held = True
        for j in range(count):
            held = held and lost[j] == NEVER
        whole[i] = held
    settle()
