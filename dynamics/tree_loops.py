"""Compiled closing of the loops of a spanning tree: rows of cut joints and drivers on its rates, and what closes them.

Imported only where it runs, because it loads Numba. Pieces of `semirecursive_kernels`, compiled where there are loops.
"""

from __future__ import annotations

from numba import carray, njit

from ..codegen import joint_codes as code
from ..motion.global_kernels import call2
from ..runtime.sequencer import caller
from ..runtime.sources import dated
from . import array_heads as heads
from . import body_head as place
from . import joint_head, tree_head
from .augmented_kernels import CLOSED, CLOSING, turn_parameters
from .elimination_kernels import eliminate
from .joint_kernels import FAR, INTERNAL, doubles, integers, lines, prepare, rates
from .tree_dynamics import add_row
from .tree_head import BALL

CLOSING_SIGNATURE = "int64(CPointer(int64), CPointer(float64), int64)"
PHI, RATE, BEND = range(3)  # which right-hand side the closing rows get
call3 = caller(3)


@njit(**INTERNAL)
@dated
def own_tree_head(ints):  # type: ignore[no-untyped-def]
    return carray(integers(ints[heads.HEAD + place.OWN_BODIES]), place.SIZE)


@dated
def closing(ints_at, x_at, what):  # type: ignore[no-untyped-def]
    """C_z of all closing rows, scaled, into the matrix behind the rates, its transpose, and their right-hand sides.

    These are less Φ, Φ̇, or γ + J q̈_bias with Baumgarte's terms (Eq. 60).
    """
    ints, state = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    n, w, nv = head[place.COUNT], head[place.WIDTH], head[tree_head.N_V]
    total = nv + head[tree_head.N_ROWS]
    A, b = carray(doubles(head[tree_head.MATRIX]), (total, total)), carray(doubles(head[tree_head.SIDE]), total)
    joints = carray(integers(head[place.JOINTS]), joint_head.SIZE)
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    parent, start = carray(integers(head[tree_head.PARENT]), n), carray(integers(head[tree_head.FIRST_COLUMN]), n)
    count, bias = carray(integers(head[tree_head.N_COLUMNS]), n), carray(doubles(head[place.ACCELERATION]), (n, w))
    columns, x = carray(doubles(head[tree_head.COLUMNS]), (nv, w)), carray(doubles(head[tree_head.REFERENCE]), (n, 3))
    scales, listed = carray(doubles(head[tree_head.SCALES]), FAR), carray(integers(head[tree_head.CLOSING]), FAR)
    items = carray(integers(joints[joint_head.ITEMS]), (joints[joint_head.LINES], code.ITEM_SIZE))
    J = carray(doubles(joints[joint_head.J]), (joints[joint_head.ROWS], 3, w))
    phi, rate = carray(doubles(joints[joint_head.PHI]), FAR), carray(doubles(joints[joint_head.RATE]), FAR)
    gamma, numbers = carray(doubles(joints[joint_head.GAMMA]), FAR), carray(doubles(head[tree_head.STABILISING]), 2)
    work, spare = (
        carray(doubles(joints[joint_head.WORK]), (6, 2 + 3 * w)),
        carray(doubles(head[tree_head.SPARE]), (8, w)),
    )
    prepare(joints, state[heads.TIME])
    at = nv
    for m in range(head[tree_head.N_CLOSING]):
        e = listed[m]
        lines(joints, e, e + 1, work)
        rates(joints, e, e + 1)
        roles = 3 if items[e, code.KIND] in code.THREE_BODIES else 2
        for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
            for c in range(nv):
                A[at, c] = 0.0
            bend = gamma[row]
            for role in range(roles):
                k = items[e, code.FIRST + role]
                if k > 0:
                    dx, dy = bodies[k, 0] - x[k, 0], bodies[k, 1] - x[k, 1]
                    dz = bodies[k, 2] - x[k, 2] if w == 6 else 0.0
                    for c in range(w):
                        bend += J[row, role, c] * bias[k, c]
                    add_row(k, J[row, role], dx, dy, dz, parent, start, count, x, columns, spare, A[at])
            for c in range(nv):
                A[at, c] *= scales[c] / scales[at]
                A[c, at] = A[at, c]
            if head[tree_head.LOOPS] == tree_head.STABILISED:
                bend += 2.0 * numbers[0] * rate[row] + numbers[1] * numbers[1] * phi[row]
            side = phi[row] if what == PHI else rate[row] if what == RATE else bend
            b[at] = -side / scales[at]
            at += 1
    return 0


@njit(**INTERNAL)
@dated
def displace(head, q, change):  # type: ignore[no-untyped-def]
    """Move the relative coordinates by small changes of their rates' kind; Euler parameters are turned."""
    n = head[place.COUNT]
    motion = carray(integers(head[tree_head.FIRST_MOTION]), n + 1)
    kinds = carray(integers(head[tree_head.MOTION_KIND]), FAR)
    at, to = carray(integers(head[tree_head.MOTION_Q]), FAR), carray(integers(head[tree_head.MOTION_V]), FAR)
    for m in range(motion[n]):
        if kinds[m] == BALL:
            turn_parameters(q, at[m], change[to[m]], change[to[m] + 1], change[to[m] + 2])
        else:
            q[at[m]] += change[to[m]]


@dated
def close(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Close the loops by the smallest changes of coordinates, then of rates; 1 where that fails.

    Where loops are closed by partitioning, the independent coordinates and rates stay.
    """
    ints, state = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    q = state[ints[heads.Y] :]
    v = q[head[tree_head.N_Q] :]
    nv, rows = head[tree_head.N_V], head[tree_head.N_ROWS]
    total, held = nv + rows, head[tree_head.LOOPS] == tree_head.PARTITIONED
    A, b = carray(doubles(head[tree_head.MATRIX]), (total, total)), carray(doubles(head[tree_head.SIDE]), total)
    scales, free = carray(doubles(head[tree_head.SCALES]), FAR), carray(integers(head[tree_head.INDEPENDENT]), nv)
    own, numbers = ints[heads.OWN_INTS], ints[heads.OWN_FLOATS]
    closed = False
    for step in range(CLOSING + 1):
        call2(head[tree_head.KINEMATICS_CODE], (own, numbers))
        for i in range(total):
            for j in range(total):
                A[i, j] = 0.0
        call3(head[tree_head.CLOSING_CODE], (own, numbers, RATE if closed else PHI))
        for i in range(nv):
            A[i, i], b[i] = 1.0, 0.0
            if held and free[i] != 0:
                for row in range(nv, total):
                    A[row, i] = A[i, row] = 0.0
        if call2(head[tree_head.ELIMINATE_CODE], (own, numbers)) != 0:
            return 1
        largest = 0.0
        for i in range(nv):
            largest = max(largest, abs(b[i]))
            b[i] *= scales[i]
        if closed:
            for i in range(nv):
                v[i] += b[i]
            return 0
        displace(head, q, b)
        closed = largest < CLOSED
        if step == CLOSING - 1 and not closed:
            return 1
    return 1


@dated
def solve(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Solve the system of rates and closing rows; 1 where it has no solution."""
    head = own_tree_head(carray(ints_at, FAR))
    total = head[tree_head.N_V] + head[tree_head.N_ROWS]
    A, b = carray(doubles(head[tree_head.MATRIX]), (total, total)), carray(doubles(head[tree_head.SIDE]), total)
    order = carray(integers(head[tree_head.PIVOTS]), total)
    return 1 if eliminate(A, b, order, total, head[tree_head.REDUNDANT] != 0) < 0 else 0
