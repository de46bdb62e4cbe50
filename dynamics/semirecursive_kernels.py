"""Compiled semi-recursive methods: right-hand side, projection and notes in relative coordinates, by address.

Imported only where it runs, because it loads Numba. A state holds the relative coordinates z of the spanning tree (four
Euler parameters for a ball), then their rates. Loops are closed by the rows of cut joints and drivers in absolute
coordinates (`generated/joints`) on the bodies of the tree (Eq. 56 to 63 of Yu et al.). The pieces call each other by
their addresses too: each is optimised once, not with everybody who calls it, and those of loops only where there are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numba import carray, cfunc, njit

from ..codegen import joint_codes as code
from ..motion.global_kernels import call2
from ..runtime.sources import dated
from . import array_heads as heads
from . import body_head as place
from . import tree_head
from .augmented_kernels import SIGNATURE, finish_address, parameter_rates, turn_parameters
from .body_forces import wrenches
from .joint_kernels import CALLED, FAR, INTERNAL, doubles, integers
from .tree_dynamics import articulate, body_inertia, carry_motion, mass_matrix
from .tree_head import BALL
from .tree_kinematics import make_columns, move_first, move_second, pose
from .tree_loops import BEND, CLOSING_SIGNATURE, call3, close, closing, own_tree_head, solve


@dated
def _kinematics(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Bodies, columns and bias accelerations of the tree."""
    ints, state = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    q = state[ints[heads.Y] :]
    v = q[head[tree_head.N_Q] :]
    n, w = head[place.COUNT], head[place.WIDTH]
    nv, second = head[tree_head.N_V], head[tree_head.SECOND] != 0
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    bias = carray(doubles(head[place.ACCELERATION]), (n, w))
    parent, order = carray(integers(head[tree_head.PARENT]), n), carray(integers(head[tree_head.ORDER]), n - 1)
    motion = carray(integers(head[tree_head.FIRST_MOTION]), n + 1)
    a, b = carray(doubles(head[tree_head.POINT_A]), (n, 3)), carray(doubles(head[tree_head.POINT_B]), (n, 3))
    turn = carray(doubles(head[tree_head.TURN]), (n, 9))
    kinds = carray(integers(head[tree_head.MOTION_KIND]), FAR)
    axes = carray(doubles(head[tree_head.MOTION_AXIS]), (FAR, 3))
    pitch = carray(doubles(head[tree_head.PITCH]), FAR)
    at, to = carray(integers(head[tree_head.MOTION_Q]), FAR), carray(integers(head[tree_head.MOTION_V]), FAR)
    columns, x = carray(doubles(head[tree_head.COLUMNS]), (nv, w)), carray(doubles(head[tree_head.REFERENCE]), (n, 3))
    Z = carray(doubles(head[tree_head.INTERMEDIATE]), (n, 2 * w))
    for m in range(n - 1):
        i = order[m]
        p, first, last = parent[i], motion[i], motion[i + 1]
        pose(i, p, first, last, kinds, axes, pitch, at, q, a, b, turn, bodies)
        if second:
            make_columns(i, p, first, last, kinds, axes, pitch, to, a, b, bodies, x, columns)
            move_second(i, p, first, last, kinds, axes, pitch, to, a, b, v, columns, bodies, Z, bias)
        else:
            for c in range(w // 3 + 1):
                x[i, c] = bodies[i, c]
            make_columns(i, p, first, last, kinds, axes, pitch, to, a, b, bodies, x, columns)
            move_first(i, p, first, last, kinds, axes, pitch, to, a, b, v, bodies, bias)
    return 0


@njit(**INTERNAL)
@dated
def recursion(head):  # type: ignore[no-untyped-def]
    """Inertia and missing forces M q̈_bias - Q of every body at its point of reference."""
    n, w = head[place.COUNT], head[place.WIDTH]
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    bias, wrench = carray(doubles(head[place.ACCELERATION]), (n, w)), carray(doubles(head[place.WRENCH]), (n, w))
    mass, about = carray(doubles(head[place.MASS]), n), carray(doubles(head[place.ABOUT]), (n, 9))
    turned = carray(doubles(head[place.INERTIA]), (n, 9))
    M, force = (
        carray(doubles(head[tree_head.RECURSIVE_INERTIA]), (n, w, w)),
        carray(doubles(head[tree_head.RECURSIVE_FORCE]), (n, w)),
    )
    x = carray(doubles(head[tree_head.REFERENCE]), (n, 3))
    d = 2 if w == 3 else 3
    for k in range(1, n):
        cx, cy = bodies[k, 0] - x[k, 0], bodies[k, 1] - x[k, 1]
        cz = bodies[k, 2] - x[k, 2] if w == 6 else 0.0
        body_inertia(k, mass, about, turned, cx, cy, cz, M)
        for c in range(d):
            force[k, c] = mass[k] * bias[k, c] - wrench[k, c]
        if w == 3:
            force[k, 2] = about[k, 0] * bias[k, 2] - wrench[k, 2] + cx * force[k, 1] - cy * force[k, 0]
        else:
            fx, fy, fz = force[k, 0], force[k, 1], force[k, 2]
            for c in range(3):
                force[k, 3 + c] = -wrench[k, 3 + c]
                for j in range(3):
                    force[k, 3 + c] += turned[k, 3 * c + j] * bias[k, 3 + j]
            force[k, 3] += cy * fz - cz * fy
            force[k, 4] += cz * fx - cx * fz
            force[k, 5] += cx * fy - cy * fx


# ---- the equations of motion --------------------------------------------------------------------------------------
@dated
def _open_tree(ints_at, x_at):  # type: ignore[no-untyped-def]
    """z̈ of an open tree, and the accelerations of its bodies; 1 where a joint moves no mass."""
    ints, state = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    out = state[ints[heads.Y] + 2 * ints[heads.FREE] + head[tree_head.N_Q] :]
    n, w, nv = head[place.COUNT], head[place.WIDTH], head[tree_head.N_V]
    parent, order = carray(integers(head[tree_head.PARENT]), n), carray(integers(head[tree_head.ORDER]), n - 1)
    start, count = carray(integers(head[tree_head.FIRST_COLUMN]), n), carray(integers(head[tree_head.N_COLUMNS]), n)
    columns, x = carray(doubles(head[tree_head.COLUMNS]), (nv, w)), carray(doubles(head[tree_head.REFERENCE]), (n, 3))
    M = carray(doubles(head[tree_head.RECURSIVE_INERTIA]), (n, w, w))
    force = carray(doubles(head[tree_head.RECURSIVE_FORCE]), (n, w))
    kept = carray(doubles(head[tree_head.KEPT]), (n, 3, 7, 6))
    recursion(head)
    if not articulate(order, parent, start, count, x, columns, M, force, head[tree_head.SECOND] != 0, kept, out):
        return 1
    accelerations(head)
    return 0


@dated
def _closed_loops(ints_at, x_at):  # type: ignore[no-untyped-def]
    """z̈ from Eq. 61, 63, and the accelerations of the bodies; 1 where there are none."""
    ints, state = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    nv = head[tree_head.N_V]
    total = nv + head[tree_head.N_ROWS]
    out = state[ints[heads.Y] + 2 * ints[heads.FREE] + head[tree_head.N_Q] :]
    A, b = carray(doubles(head[tree_head.MATRIX]), (total, total)), carray(doubles(head[tree_head.SIDE]), total)
    for i in range(total):
        for j in range(total):
            A[i, j] = 0.0
    recursion(head)
    masses(head, A, b)
    call3(head[tree_head.CLOSING_CODE], (ints[heads.OWN_INTS], ints[heads.OWN_FLOATS], BEND))
    scales, weight = carray(doubles(head[tree_head.SCALES]), FAR), 1e-300
    for i in range(nv):
        for j in range(nv):
            A[i, j] *= scales[i] * scales[j]
        weight = max(weight, A[i, i])
    for i in range(nv):
        for j in range(nv):
            A[i, j] /= weight
        b[i] *= scales[i] / weight
    if call2(head[tree_head.ELIMINATE_CODE], (ints[heads.OWN_INTS], ints[heads.OWN_FLOATS])) != 0:
        return 1
    for i in range(nv):
        out[i] = b[i] * scales[i]
    carry(head, out)
    accelerations(head)
    return 0


@njit(**INTERNAL)
@dated
def masses(head, A, b):  # type: ignore[no-untyped-def]
    """M̄ and Q̄ from the recursion's inertia and forces, which are spent."""
    n, w, nv = head[place.COUNT], head[place.WIDTH], head[tree_head.N_V]
    mass_matrix(
        carray(integers(head[tree_head.ORDER]), n - 1), carray(integers(head[tree_head.PARENT]), n),
        carray(integers(head[tree_head.FIRST_COLUMN]), n), carray(integers(head[tree_head.N_COLUMNS]), n),
        carray(doubles(head[tree_head.REFERENCE]), (n, 3)), carray(doubles(head[tree_head.COLUMNS]), (nv, w)),
        carray(doubles(head[tree_head.RECURSIVE_INERTIA]), (n, w, w)),
        carray(doubles(head[tree_head.RECURSIVE_FORCE]), (n, w)), head[tree_head.SECOND] != 0,
        carray(doubles(head[tree_head.SPARE]), (8, w)), A, b,
    )  # fmt: skip


@njit(**INTERNAL)
@dated
def carry(head, zddot):  # type: ignore[no-untyped-def]
    """V z̈ of all bodies at their points of reference, into the recursion's forces."""
    n, w, nv = head[place.COUNT], head[place.WIDTH], head[tree_head.N_V]
    parent, order = carray(integers(head[tree_head.PARENT]), n), carray(integers(head[tree_head.ORDER]), n - 1)
    start, count = carray(integers(head[tree_head.FIRST_COLUMN]), n), carray(integers(head[tree_head.N_COLUMNS]), n)
    columns, x = carray(doubles(head[tree_head.COLUMNS]), (nv, w)), carray(doubles(head[tree_head.REFERENCE]), (n, 3))
    moved = carray(doubles(head[tree_head.RECURSIVE_FORCE]), (n, w))
    for c in range(w):
        moved[0, c] = 0.0
    for m in range(n - 1):
        i = order[m]
        p = parent[i]
        carry_motion(moved, p, i, x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2])
        for j in range(start[i], start[i] + count[i]):
            for r in range(w):
                moved[i, r] += columns[j, r] * zddot[j]


@njit(**INTERNAL)
@dated
def accelerations(head):  # type: ignore[no-untyped-def]
    """Add what the rates' accelerations move to the bias, at the centres (D, Eq. 28)."""
    n, w = head[place.COUNT], head[place.WIDTH]
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    bias, x = carray(doubles(head[place.ACCELERATION]), (n, w)), carray(doubles(head[tree_head.REFERENCE]), (n, 3))
    moved, spare = (
        carray(doubles(head[tree_head.RECURSIVE_FORCE]), (n, w)),
        carray(doubles(head[tree_head.SPARE]), (8, w)),
    )
    here, there = np.int64(0), np.int64(1)  # a literal would be compiled for anew
    for k in range(1, n):
        for c in range(w):
            spare[0, c] = moved[k, c]
        dz = bodies[k, 2] - x[k, 2] if w == 6 else 0.0
        carry_motion(spare, here, there, bodies[k, 0] - x[k, 0], bodies[k, 1] - x[k, 1], dz)
        for c in range(w):
            bias[k, c] += spare[1, c]


@dated
def _rates(ints_at, x_at):  # type: ignore[no-untyped-def]
    """ż and z̈ at a state; bodies and their accelerations are left behind."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    own, numbers = ints[heads.OWN_INTS], ints[heads.OWN_FLOATS]
    partitioned = head[tree_head.LOOPS] == tree_head.PARTITIONED and head[tree_head.CLOSE_CODE] != 0
    if partitioned and call2(head[tree_head.CLOSE_CODE], (own, numbers)) != 0:
        return 1
    call2(head[tree_head.KINEMATICS_CODE], (own, numbers))
    wrenches(head, x[heads.TIME])
    if call2(head[tree_head.MOTION_CODE], (own, numbers)) != 0:
        return 1
    q = x[ints[heads.Y] :]
    coordinate_rates(head, q, q[head[tree_head.N_Q] :], q[2 * ints[heads.FREE] :])
    return 0


@njit(**INTERNAL)
@dated
def coordinate_rates(head, q, v, out):  # type: ignore[no-untyped-def]
    """The rates of the coordinates: those of Euler parameters from the relative angular velocity."""
    n = head[place.COUNT]
    motion = carray(integers(head[tree_head.FIRST_MOTION]), n + 1)
    kinds = carray(integers(head[tree_head.MOTION_KIND]), FAR)
    at, to = carray(integers(head[tree_head.MOTION_Q]), FAR), carray(integers(head[tree_head.MOTION_V]), FAR)
    for m in range(motion[n]):
        i, j = at[m], to[m]
        if kinds[m] == BALL:
            parameter_rates(q, i, v[j], v[j + 1], v[j + 2], out)
        else:
            out[i] = v[j]


@dated
def _project(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Put a state onto the closing rows, as far as the way of closing loops asks for it."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    head = own_tree_head(ints)
    q = x[ints[heads.Y] :]
    n = head[place.COUNT]
    motion, kinds = (
        carray(integers(head[tree_head.FIRST_MOTION]), n + 1),
        carray(integers(head[tree_head.MOTION_KIND]), FAR),
    )
    at = carray(integers(head[tree_head.MOTION_Q]), FAR)
    for m in range(motion[n]):
        if kinds[m] == BALL:
            turn_parameters(q, at[m], 0.0, 0.0, 0.0)  # of unit length again
    if head[tree_head.CLOSE_CODE] == 0 or head[tree_head.LOOPS] == tree_head.STABILISED:
        return 0
    return call2(head[tree_head.CLOSE_CODE], (ints[heads.OWN_INTS], ints[heads.OWN_FLOATS]))


@functools.cache
def _address(piece: Callable[..., int], signature: str = SIGNATURE) -> int:
    return int(cfunc(signature, **CALLED)(piece).address)


def addresses() -> tuple[int, int, int]:
    """Return the addresses of right-hand side, projection, and what follows an accepted step."""
    return _address(_rates), _address(_project), finish_address()


def piece_addresses(loops: bool) -> dict[int, int]:
    """Return the addresses of what right-hand side and projection call, by their places in the head."""
    found = {tree_head.KINEMATICS_CODE: _address(_kinematics)}
    if not loops:
        return found | {tree_head.MOTION_CODE: _address(_open_tree)}
    return found | {
        tree_head.MOTION_CODE: _address(_closed_loops), tree_head.CLOSE_CODE: _address(close),
        tree_head.ELIMINATE_CODE: _address(solve), tree_head.CLOSING_CODE: _address(closing, CLOSING_SIGNATURE),
    }  # fmt: skip
