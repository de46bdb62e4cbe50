"""Compiled dynamics of a spanning tree, one lane: M̄, forces and accelerations accumulated from the tips to the base.

Imported only where it runs, because it loads Numba. Equation numbers: Yu, Mikkola, Pan, Escalona (2022). Everything
stands at the bodies' points of reference: their centres (semi-recursive I, with the matrices B between them, Eq. 18) or
the global origin (II, where B is the identity and sums are all that is left, Eq. 39).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..runtime.sources import dated
from .joint_kernels import INTERNAL, OPTIONS


@njit(**OPTIONS)
@dated
def body_inertia(k, mass, about, turned, cx, cy, cz, M):  # type: ignore[no-untyped-def]
    """The mass matrix of a body about a point from which its centre is at (cx, cy, cz): M (I), Dᵀ M D (II, Eq. 51)."""
    m = mass[k]
    if M.shape[1] == 3:
        M[k, 0, 0] = M[k, 1, 1] = m
        M[k, 0, 1] = M[k, 1, 0] = 0.0
        M[k, 0, 2] = M[k, 2, 0] = -m * cy
        M[k, 1, 2] = M[k, 2, 1] = m * cx
        M[k, 2, 2] = about[k, 0] + m * (cx * cx + cy * cy)
        return
    for i in range(6):
        for j in range(6):
            M[k, i, j] = 0.0
    for c in range(3):
        M[k, c, c] = m
    M[k, 0, 4] = M[k, 4, 0] = m * cz
    M[k, 0, 5] = M[k, 5, 0] = -m * cy
    M[k, 1, 3] = M[k, 3, 1] = -m * cz
    M[k, 1, 5] = M[k, 5, 1] = m * cx
    M[k, 2, 3] = M[k, 3, 2] = m * cy
    M[k, 2, 4] = M[k, 4, 2] = -m * cx
    square = cx * cx + cy * cy + cz * cz
    for i in range(3):
        a = cx if i == 0 else cy if i == 1 else cz
        for j in range(3):
            b = cx if j == 0 else cy if j == 1 else cz
            M[k, 3 + i, 3 + j] = turned[k, 3 * i + j] + m * ((square if i == j else 0.0) - a * b)


@njit(**INTERNAL)
@dated
def shift_force(f, i, to, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Add a force at a point to that at another, from which the first is at d."""
    if f.shape[1] == 3:
        f[to, 0] += f[i, 0]
        f[to, 1] += f[i, 1]
        f[to, 2] += f[i, 2] + dx * f[i, 1] - dy * f[i, 0]
        return
    for c in range(6):
        f[to, c] += f[i, c]
    f[to, 3] += dy * f[i, 2] - dz * f[i, 1]
    f[to, 4] += dz * f[i, 0] - dx * f[i, 2]
    f[to, 5] += dx * f[i, 1] - dy * f[i, 0]


@njit(**INTERNAL)
@dated
def moved_columns(A, i, dx, dy, dz):  # type: ignore[no-untyped-def]
    """A[i] times B (Eq. 18): the columns of turns gain what their lever d moves."""
    if A.shape[1] == 3:
        for r in range(3):
            A[i, r, 2] += A[i, r, 1] * dx - A[i, r, 0] * dy
        return
    for r in range(6):
        a, b, c = A[i, r, 0], A[i, r, 1], A[i, r, 2]
        A[i, r, 3] += c * dy - b * dz
        A[i, r, 4] += a * dz - c * dx
        A[i, r, 5] += b * dx - a * dy


@njit(**INTERNAL)
@dated
def shift_inertia(M, i, to, dx, dy, dz, second):  # type: ignore[no-untyped-def]
    """Add Bᵀ M B of body i to its parent's; M[i] is spent. For II B is the identity."""
    n = M.shape[1]
    if not second:
        moved_columns(M, i, dx, dy, dz)
        for r in range(n):  # the same for the rows
            for c in range(r):
                M[i, r, c], M[i, c, r] = M[i, c, r], M[i, r, c]
        moved_columns(M, i, dx, dy, dz)
    for r in range(n):
        for c in range(n):
            M[to, r, c] += M[i, r, c]


@njit(**INTERNAL)
@dated
def solve_small(D, b, n, columns):  # type: ignore[no-untyped-def]
    """Solve a small symmetric positive system for some right-hand sides (rows of b) in place; False where it is not."""
    for k in range(n):
        if not D[k, k] > 0.0:
            return False
        for i in range(k + 1, n):
            f = D[i, k] / D[k, k]
            for j in range(k + 1, n):
                D[i, j] -= f * D[k, j]
            for c in range(columns):
                b[c, i] -= f * b[c, k]
    for c in range(columns):
        for i in range(n - 1, -1, -1):
            total = b[c, i]
            for j in range(i + 1, n):
                total -= D[i, j] * b[c, j]
            b[c, i] = total / D[i, i]
    return True


@njit(**INTERNAL)
@dated
def articulate(order, parent, start, count, x, columns, M, force, second, reduced, out):  # type: ignore[no-untyped-def]
    """z̈ of a tree in one way to the base and one back: cost linear in the number of bodies; False where singular.

    M[i] becomes the inertia of what hangs on body i with its joints free, force[i] what it lacks. `reduced` keeps of
    each joint U = M S and D⁻¹ [Uᵀ, u] for the way back; `out` is z̈, accelerations end in force.
    """
    w = M.shape[1]
    for n in range(len(order) - 1, -1, -1):
        i = order[n]
        p, at, k = parent[i], start[i], count[i]
        U, E, D = reduced[i, 0], reduced[i, 1], reduced[i, 2]
        for c in range(k):
            for r in range(w):
                total = 0.0
                for j in range(w):
                    total += M[i, r, j] * columns[at + c, j]
                U[c, r] = total
        for c in range(k):
            for j in range(k):
                total = 0.0
                for r in range(w):
                    total += columns[at + c, r] * U[j, r]
                D[c, j] = total
            total = 0.0
            for r in range(w):
                E[r, c] = U[c, r]
                total -= columns[at + c, r] * force[i, r]
            E[w, c] = total
        if not solve_small(D, E, k, w + 1):
            return False
        dx, dy = x[i, 0] - x[p, 0], x[i, 1] - x[p, 1]
        dz = x[i, 2] - x[p, 2]
        for r in range(w):
            for c in range(k):
                f = U[c, r]
                for j in range(w):
                    M[i, r, j] -= f * E[j, c]
                force[i, r] += f * E[w, c]
        if p > 0:
            shift_inertia(M, i, p, dx, dy, dz, second)
            shift_force(force, i, p, dx, dy, dz)
    for c in range(w):
        force[0, c] = 0.0
    for n in range(len(order)):
        i = order[n]
        p, at, k = parent[i], start[i], count[i]
        carry_motion(force, p, i, x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2])
        E = reduced[i, 1]
        for c in range(k):
            total = E[w, c]
            for r in range(w):
                total -= E[r, c] * force[i, r]
            out[at + c] = total
        for c in range(k):
            for r in range(w):
                force[i, r] += columns[at + c, r] * out[at + c]
    return True


@njit(**INTERNAL)
@dated
def carry_motion(v, p, i, dx, dy, dz):  # type: ignore[no-untyped-def]
    """v[i] = B v[p] (Eq. 17, 18): a motion of the parent at the child's point of reference."""
    if v.shape[1] == 3:
        v[i, 0], v[i, 1], v[i, 2] = v[p, 0] - v[p, 2] * dy, v[p, 1] + v[p, 2] * dx, v[p, 2]
        return
    a, b, c = v[p, 3], v[p, 4], v[p, 5]
    v[i, 0], v[i, 1], v[i, 2] = v[p, 0] + b * dz - c * dy, v[p, 1] + c * dx - a * dz, v[p, 2] + a * dy - b * dx
    v[i, 3], v[i, 4], v[i, 5] = a, b, c


@njit(**OPTIONS)
@dated
def mass_matrix(order, parent, start, count, x, columns, M, force, second, spare, A, b):  # type: ignore[no-untyped-def]
    """M̄ and Q̄ of the tree into the upper left of A and b (Eq. 44, 45, 51, 52): composite bodies from the tips on.

    I and force are spent; only paths are walked, no zero block is formed.
    """
    w = M.shape[1]
    here, there = np.int64(0), np.int64(1)  # a literal would be compiled for anew
    for n in range(len(order) - 1, -1, -1):
        i = order[n]
        at, k = start[i], count[i]
        for c in range(k):
            f = spare[0]
            for r in range(w):
                f[r] = 0.0
                for j in range(w):
                    f[r] += M[i, r, j] * columns[at + c, j]
            total = 0.0
            for r in range(w):
                total -= columns[at + c, r] * force[i, r]
            b[at + c] = total
            j = i
            while j > 0:
                for e in range(count[j]):
                    total = 0.0
                    for r in range(w):
                        total += columns[start[j] + e, r] * f[r]
                    A[at + c, start[j] + e] = A[start[j] + e, at + c] = total
                p = parent[j]
                if not second:
                    for r in range(w):
                        spare[1, r] = 0.0
                    shift_force(spare, here, there, x[j, 0] - x[p, 0], x[j, 1] - x[p, 1], x[j, 2] - x[p, 2])
                    for r in range(w):
                        f[r] = spare[1, r]
                j = p
        p = parent[i]
        if p > 0:
            dx, dy, dz = x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]
            shift_inertia(M, i, p, dx, dy, dz, second)
            shift_force(force, i, p, dx, dy, dz)


@njit(**INTERNAL)
@dated
def add_row(k, f, dx, dy, dz, parent, start, count, x, columns, spare, row):  # type: ignore[no-untyped-def]
    """Add to a row of C_z (Eq. 47, 54) what a row of C_q has on body k: f, at d from its reference point (Dᵀ f)."""
    w = columns.shape[1]
    here, there = np.int64(0), np.int64(1)
    for r in range(w):
        spare[0, r], spare[1, r] = 0.0, f[r]
    shift_force(spare, there, here, dx, dy, dz)
    j = k
    while j > 0:
        for e in range(count[j]):
            total = 0.0
            for r in range(w):
                total += columns[start[j] + e, r] * spare[0, r]
            row[start[j] + e] += total
        p = parent[j]
        for r in range(w):
            spare[1, r] = 0.0
        shift_force(spare, here, there, x[j, 0] - x[p, 0], x[j, 1] - x[p, 1], x[j, 2] - x[p, 2])
        for r in range(w):
            spare[0, r] = spare[1, r]
        j = p
