"""Compiled assembly and disassembly along the tree: one factorisation, then right-hand sides for every iteration.

Imported only where it runs, because it loads Numba. A node joins its parts: with x the unknowns (increments of
accelerations, velocities or positions) of the bodies that leave (e) or are kept (r), and λ those of the ties that
close,

    M_ee x_e + M_er x_r + Eᵀ λ = Q_e        M_re x_e + M_rr x_r + Rᵀ λ + (ties outside) = Q_r
    λ = α (E x_e + R x_r + c)

Eliminating x_e, then λ, gives the same form for the joined body, with C⁻¹ = 1/α + E M_ee⁻¹ Eᵀ and
G = R - E M_ee⁻¹ M_er:

    M = M_rr - M_re M_ee⁻¹ M_er + Gᵀ C G        Q = Q_r - M_re M_ee⁻¹ Q_e - Gᵀ C (c + E M_ee⁻¹ Q_e)

Where two chains meet, R is zero and these are Eq. 20 and 27 to 32 of Malczyk and Frączek; where a loop hangs on a
body, R is their Ψ and these are Eq. 84 and 86; where nobody leaves, C = α and these are Eq. 9, 10, 37 and 40; at a root
nobody is kept and Eq. 35, 37 or 40 is solved. Backwards λ is Eq. 19, x_e Eq. 21 and 23. With M_ee = L Lᵀ and
C⁻¹ = K Kᵀ only half-solved blocks are kept, X = L⁻¹ M_er, Y = L⁻¹ Eᵀ, G = K⁻¹ G: all
matrices stay symmetric by construction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..runtime.sources import dated
from .dca_layout import (
    AT_G,
    AT_H,
    AT_K,
    AT_L,
    AT_M,
    AT_Q,
    AT_U,
    AT_X,
    AT_Y,
    BODY_1,
    COUNT,
    DESTINATION,
    FIRST_ROW,
    GONE,
    GONE_END,
    IS_NODE,
    KEEP,
    LEAVE,
    N_ROWS,
    PART,
    PART_END,
    ROWS,
    SOURCE,
    STAY,
    STAY_END,
    TIE,
    TIE_END,
    WITHIN,
)  # fmt: skip

COUNTED: dict[str, Any] = {
    "cache": True, "error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "no_cfunc_wrapper": True,
}  # fmt: skip
OPTIONS = {**COUNTED, "_nrt": False}  # without Numba's run-time nothing here can allocate
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True}


@njit(**INTERNAL)
@dated
def cholesky(a, n):  # type: ignore[no-untyped-def]
    """Factor the lower half of a symmetric matrix in place; False where it is not positive definite."""
    for j in range(n):
        for k in range(j):
            total = a[j, k]
            for i in range(k):
                total -= a[j, i] * a[k, i]
            a[j, k] = total * a[k, k]
        total = a[j, j]
        for i in range(j):
            total -= a[j, i] * a[j, i]
        if not total > 0.0:
            return False
        a[j, j] = 1.0 / np.sqrt(total)  # the reciprocal: divisions only here
    return True


@njit(**INTERNAL)
@dated
def forward(a, n, b, m):  # type: ignore[no-untyped-def]
    """b = L⁻¹ b for m columns."""
    for j in range(n):
        for i in range(j):
            factor = a[j, i]
            for c in range(m):
                b[j, c] -= factor * b[i, c]
        factor = a[j, j]
        for c in range(m):
            b[j, c] *= factor


@njit(inline="always", **INTERNAL)
@dated
def place(x, at, rows, columns):  # type: ignore[no-untyped-def]
    """A matrix that lies in a flat array."""
    return x[at : at + rows * columns].reshape((rows, columns))


@njit(**INTERNAL)
@dated
def _gather(node, parts, destinations, x, nodes, leaf, L, X, M):  # type: ignore[no-untyped-def]
    """The matrices of the parts, split into bodies that leave and that are kept."""
    e, w = node[LEAVE], leaf.shape[1]
    for p in range(node[PART], node[PART_END]):
        count, at = parts[p, COUNT], parts[p, DESTINATION]
        source = leaf[parts[p, SOURCE]]
        if parts[p, IS_NODE] != 0:
            source = place(x, nodes[parts[p, SOURCE], AT_M], count * w, count * w)
        for a in range(count):
            row = destinations[at + a]
            for b in range(count):
                column = destinations[at + b]
                if row < e:
                    target, shift = (L, column) if column < e else (X, column - e)
                elif column >= e:
                    target, shift = M, column - e
                else:
                    continue
                top = row if row < e else row - e
                for i in range(w):
                    for j in range(w):
                        target[top + i, shift + j] = source[a * w + i, b * w + j]


@njit(**INTERNAL)
@dated
def _tie(node, ties, J, Y, G):  # type: ignore[no-untyped-def]
    """The Jacobians of the ties, E (transposed) of bodies that leave and R of those that are kept."""
    e, w = node[LEAVE], J.shape[2]
    for t in range(node[TIE], node[TIE_END]):
        for role in range(3):
            d = ties[t, BODY_1 + role]
            if d < 0:
                continue
            for i in range(ties[t, N_ROWS]):
                row, within = ties[t, FIRST_ROW] + i, ties[t, WITHIN] + i
                for j in range(w):
                    if d < e:
                        Y[d + j, within] += J[row, role, j]
                    else:
                        G[within, d - e + j] += J[row, role, j]


@njit(**OPTIONS)
@dated
def factor(nodes, parts, destinations, ties, x, leaf, J, softness, first, last):  # type: ignore[no-untyped-def]
    """Assemble the nodes first to last - 1 from their parts (Eq. 20, 27 to 30, 84, 86).

    Returns the first whose bodies have no inertia, or the last.

    `leaf` has the mass matrices of the bodies, J[row, body of the tie, component] the Jacobians, softness is 1/α.
    """
    for k in range(first, last):
        node = nodes[k]
        e, r, c = node[LEAVE], node[KEEP], node[ROWS]
        L, X, Y = place(x, node[AT_L], e, e), place(x, node[AT_X], e, r), place(x, node[AT_Y], e, c)
        K, G, M = place(x, node[AT_K], c, c), place(x, node[AT_G], c, r), place(x, node[AT_M], r, r)
        for i in range(node[AT_L], node[AT_M] + r * r):  # they follow each other
            x[i] = 0.0
        _gather(node, parts, destinations, x, nodes, leaf, L, X, M)
        _tie(node, ties, J, Y, G)
        if not cholesky(L, e):
            return k
        forward(L, e, X, r)
        forward(L, e, Y, c)
        for i in range(c):
            K[i, i] = softness
        for j in range(e):
            for a in range(r):
                factor = X[j, a]
                for b in range(a + 1):
                    M[a, b] -= factor * X[j, b]
            for i in range(c):
                factor = Y[j, i]
                for b in range(i + 1):
                    K[i, b] += factor * Y[j, b]
                for b in range(r):
                    G[i, b] -= factor * X[j, b]
        if not cholesky(K, c):
            return k
        forward(K, c, G, r)
        for i in range(c):
            for a in range(r):
                factor = G[i, a]
                for b in range(a + 1):
                    M[a, b] += factor * G[i, b]
        for a in range(r):
            for b in range(a):
                M[b, a] = M[a, b]
    return last


@njit(**OPTIONS)
@dated
def up(nodes, parts, destinations, ties, x, v, load, gap, first, last):  # type: ignore[no-untyped-def]
    """Right-hand sides of the nodes first to last - 1 from their parts (Eq. 22, 24, 31, 32); `gap` is c of all rows."""
    w = load.shape[1]
    for k in range(first, last):
        node = nodes[k]
        e, r, c = node[LEAVE], node[KEEP], node[ROWS]
        L, X, Y = place(x, node[AT_L], e, e), place(x, node[AT_X], e, r), place(x, node[AT_Y], e, c)
        K, G = place(x, node[AT_K], c, c), place(x, node[AT_G], c, r)
        u, h, Q = node[AT_U], node[AT_H], node[AT_Q]
        for p in range(node[PART], node[PART_END]):
            count, at, own = parts[p, COUNT], parts[p, DESTINATION], parts[p, IS_NODE]
            for a in range(count):
                d = destinations[at + a]
                to = u + d if d < e else Q + d - e
                for i in range(w):
                    v[to + i] = load[parts[p, SOURCE], i] if own == 0 else v[nodes[parts[p, SOURCE], AT_Q] + a * w + i]
        for t in range(node[TIE], node[TIE_END]):
            for i in range(ties[t, N_ROWS]):
                v[h + ties[t, WITHIN] + i] = gap[ties[t, FIRST_ROW] + i]
        for j in range(e):
            total = v[u + j]
            for i in range(j):
                total -= L[j, i] * v[u + i]
            total *= L[j, j]
            v[u + j] = total
            for i in range(c):
                v[h + i] += Y[j, i] * total
            for i in range(r):
                v[Q + i] -= X[j, i] * total
        for j in range(c):
            total = v[h + j]
            for i in range(j):
                total -= K[j, i] * v[h + i]
            total *= K[j, j]
            v[h + j] = total
            for i in range(r):
                v[Q + i] -= G[j, i] * total


@njit(**OPTIONS)
@dated
def down(nodes, ties, gone, x, v, found, forces, first, last):  # type: ignore[no-untyped-def]
    """Disassemble the nodes last - 1 down to first: λ of the ties (Eq. 19, 84), then x of who leaves (21, 23, 80)."""
    w = found.shape[1]
    for k in range(last - 1, first - 1, -1):
        node = nodes[k]
        e, r, c = node[LEAVE], node[KEEP], node[ROWS]
        L, X, Y = place(x, node[AT_L], e, e), place(x, node[AT_X], e, r), place(x, node[AT_Y], e, c)
        K, G = place(x, node[AT_K], c, c), place(x, node[AT_G], c, r)
        u, h, stay = node[AT_U], node[AT_H], node[STAY]
        for j in range(c - 1, -1, -1):
            total = v[h + j]
            for b in range(node[STAY_END] - stay):
                for i in range(w):
                    total += G[j, b * w + i] * found[gone[stay + b], i]
            for i in range(j + 1, c):
                total -= K[i, j] * v[h + i]
            v[h + j] = total * K[j, j]
        for t in range(node[TIE], node[TIE_END]):
            for i in range(ties[t, N_ROWS]):
                forces[ties[t, FIRST_ROW] + i] = v[h + ties[t, WITHIN] + i]
        for j in range(e - 1, -1, -1):
            total = v[u + j]
            for b in range(node[STAY_END] - stay):
                for i in range(w):
                    total -= X[j, b * w + i] * found[gone[stay + b], i]
            for i in range(c):
                total -= Y[j, i] * v[h + i]
            for i in range(j + 1, e):
                total -= L[i, j] * v[u + i]
            v[u + j] = total * L[j, j]
        for b in range(node[GONE_END] - node[GONE]):
            for i in range(w):
                found[gone[node[GONE] + b], i] = v[u + b * w + i]
