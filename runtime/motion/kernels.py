"""Compiled support of program modules: linear combinations, seeds of lanes, and calls of C libraries by address."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

# Without Numba's run-time (_nrt) nothing here can allocate: code that tried would not compile.
OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True, "_nrt": False}
FLAT = {**OPTIONS, "forceinline": True}

SETTLED = 1e-11  # largest Newton step, relative, after which rates from the factors before it are exact enough
MOST_PASSES = 5  # of two Newton steps each over the lanes of a block
CHUNK = 64  # lanes one after the other that lanes one after the other seed


@njit(**OPTIONS)
def combine(q, qdot, qddot, out, outdot, outddot, rows, sources, terms, factors, first, last):  # type: ignore[no-untyped-def]
    """Write linear combinations of rows for the lanes first to last - 1; terms: where the factors of each begin."""
    at = 0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        count = np.int64(factors[terms + at + i])
        for j in range(count):
            source = np.uint64(sources[at + j])
            c = factors[terms + at + i + 1 + j]
            if j == 0:
                for k in range(np.uint64(first), np.uint64(last)):
                    out[row, k] = c * q[source, k]
                    outdot[row, k] = c * qdot[source, k]
                    outddot[row, k] = c * qddot[source, k]
            else:
                for k in range(np.uint64(first), np.uint64(last)):
                    out[row, k] += c * q[source, k]
                    outdot[row, k] += c * qdot[source, k]
                    outddot[row, k] += c * qddot[source, k]
        at += int(count)


@njit(**OPTIONS)
def seed(q, qdot, qddot, out, rows, sources, shifts, first, last):  # type: ignore[no-untyped-def]
    """Write the second-order Taylor prediction of rows from the lanes that seed them, chunk by chunk."""
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        for begin in range(first, last, CHUNK):
            source = np.uint64(sources[begin // CHUNK])
            start = np.uint64(begin)
            for k in range(np.uint64(min(CHUNK, last - begin))):
                j, d = source + k, shifts[start + k]
                out[row, start + k] = q[row, j] + d * (qdot[row, j] + 0.5 * d * qddot[row, j])


@njit(**OPTIONS)
def reach(q, rows, lane):  # type: ignore[no-untyped-def]
    """The largest of some rows in one lane: what Newton steps are measured by."""
    largest = 1e-300
    for row in rows:
        largest = max(largest, abs(q[row, lane]))
    return largest


def calling(n: int) -> Any:
    """Return a compiled call of a C function by its address with n integer or pointer arguments; returns an integer."""

    @intrinsic
    def call(typing_context, address, arguments):  # type: ignore[no-untyped-def]
        from llvmlite import ir

        signature = types.int64(types.int64, types.UniTuple(types.int64, n))

        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            word = ir.IntType(64)
            function = builder.inttoptr(values[0], ir.FunctionType(word, [word] * n).as_pointer())
            parts = [builder.extract_value(values[1], i) for i in range(n)]
            return builder.call(function, parts)

        return signature, generate

    return call


call2, call6 = calling(2), calling(6)


# ---- one system for all groups ------------------------------------------------------------------------------------
ANGLE, POINTS = -2, 1000  # kinds: a continuous angle; POINTS + i: the points of interest of a group of variant i
MOST_ITERATIONS = 30
DENSE, SPARSE = 0, 1
RESOLVED = 1e-12  # relative residual of a linear solution that needs no new pivots


@njit(**FLAT)
def expand(y, combinations):  # type: ignore[no-untyped-def]
    """Write the rows that are linear combinations of unknowns, drivers and constants."""
    rows, start, sources, factors = combinations
    for i in range(len(rows)):
        total = 0.0
        for j in range(start[i], start[i + 1]):
            total += factors[j] * y[sources[j]]
        y[rows[i]] = total


@njit(**FLAT)
def update(y, unknown, dx):  # type: ignore[no-untyped-def]
    """Subtract the Newton step; its largest entry and the largest unknown."""
    step, reach = 0.0, 0.0
    for i in range(len(unknown)):
        d = abs(dx[i])
        if not d <= step:
            step = d
        y[unknown[i]] -= dx[i]
        reach = max(reach, abs(y[unknown[i]]))
    return step, reach


@njit(**FLAT)
def scatter(J, H, g, d_start, d_i, d_j, d_at, h_start, h_i, h_j, h_at, h_factor, A):  # type: ignore[no-untyped-def]
    """Add the Jacobians of group g to the entries of A."""
    if len(A) == 0:
        return
    for e in range(d_start[g], d_start[g + 1]):
        A[d_at[e]] += J[d_i[e], d_j[e]]
    for e in range(h_start[g], h_start[g + 1]):
        A[h_at[e]] += h_factor[e] * H[h_i[e], h_j[e]]


@njit(**OPTIONS)
def angle_jacobian(y, h_rows, h0, phi_rows, p0, J, H):  # type: ignore[no-untyped-def]
    """Derivatives of y cos(a) - x sin(a), which is zero where a is the angle of (x, y)."""
    a = y[0, phi_rows[p0]]
    c, s = np.cos(a), np.sin(a)
    J[0, 0] = -y[0, h_rows[h0 + 1]] * s - y[0, h_rows[h0]] * c
    H[0, 0] = -s
    H[0, 1] = c


@njit(**OPTIONS)
def angle_rates(y, h_rows, h0, phi_rows, p0, order):  # type: ignore[no-untyped-def]
    """y cos(a) - x sin(a), or the right-hand side of its first or second derivative."""
    a, x, z = phi_rows[p0], h_rows[h0], h_rows[h0 + 1]
    c, s = np.cos(y[0, a]), np.sin(y[0, a])
    if order == 0:
        return y[0, z] * c - y[0, x] * s
    value = y[order, x] * s - y[order, z] * c
    if order == 2:
        w = y[1, a]
        value += 2.0 * w * (y[1, z] * s + y[1, x] * c) + w * w * (y[0, z] * c - y[0, x] * s)
    return value


@njit(**OPTIONS)
def point_rates(y, phi_rows, p0, count, rows, r0, buffer, order, F):  # type: ignore[no-untyped-def]
    """Point minus its formula, or the rates of the formula as right-hand sides."""
    n = buffer.shape[2]
    for i in range(count):
        value = buffer[i // n, order, i % n]
        F[rows[r0 + i]] = y[0, phi_rows[p0 + i]] - value if order == 0 else value


@njit(**OPTIONS)
def point_column(buffer, H, column):  # type: ignore[no-untyped-def]
    """One column of the derivatives of points."""
    for i in range(buffer.shape[0]):
        for j in range(buffer.shape[2]):
            H[i * buffer.shape[2] + j, column] = -buffer[i, 1, j]


@njit(**OPTIONS)
def factorise_dense(n, A, LU, pivots):  # type: ignore[no-untyped-def]
    """A = L U with partial pivoting, by rows; faster than a library at these sizes, which are small."""
    for i in range(n * n):
        LU[i] = A[i]
    for k in range(n):
        pivot, largest = k, abs(LU[k * n + k])
        for i in range(k + 1, n):
            if abs(LU[i * n + k]) > largest:
                pivot, largest = i, abs(LU[i * n + k])
        pivots[k] = pivot
        if pivot != k:
            for j in range(n):
                LU[k * n + j], LU[pivot * n + j] = LU[pivot * n + j], LU[k * n + j]
        inverse = 1.0 / LU[k * n + k]
        for i in range(k + 1, n):
            m = LU[i * n + k] * inverse
            LU[i * n + k] = m
            for j in range(np.uint64(k + 1), np.uint64(n)):
                LU[np.uint64(i * n) + j] -= m * LU[np.uint64(k * n) + j]


@njit(**OPTIONS)
def solve_dense(n, LU, pivots, b):  # type: ignore[no-untyped-def]
    """Solve with the factors, in place."""
    for k in range(n):
        p = pivots[k]
        b[k], b[p] = b[p], b[k]
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= LU[i * n + j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= LU[i * n + j] * b[j]
        b[i] = total / LU[i * n + i]


@njit(**FLAT)
def factorise(mode, address, A, spare, afresh):  # type: ignore[no-untyped-def]
    """Factorise A; sparse: with the pivots of the last factorisation unless `afresh`."""
    pivots, LU, _residual = spare
    if mode == DENSE:
        factorise_dense(len(pivots), A, LU, pivots)
    elif afresh:
        renew(address, A)
    else:
        call6(address[0], (address[2], address[3], A.ctypes.data, address[4], address[6], address[5]))


@njit(**OPTIONS)
def renew(address, A):  # type: ignore[no-untyped-def]
    """Factorise a sparse matrix with pivots of its own."""
    call2(address[8], (address[7], address[5]))
    address[6] = call6(address[9], (address[2], address[3], A.ctypes.data, address[4], address[5], 0))


@njit(**FLAT)
def solve(mode, address, A, spare, b):  # type: ignore[no-untyped-def]
    """Solve with the factors of the last factorisation, in place."""
    pivots, LU, _residual = spare
    if mode == DENSE:
        solve_dense(len(pivots), LU, pivots, b)
    else:
        call6(address[1], (address[4], address[6], np.int64(len(b)), 1, b.ctypes.data, address[5]))


@njit(**FLAT)
def solve_exactly(mode, address, A, spare, b):  # type: ignore[no-untyped-def]
    """Solve in place; sparse: look at the residual, and choose new pivots where the old ones lost digits."""
    if mode == DENSE:
        solve(mode, address, A, spare, b)
        return
    pivots, _LU, residual = spare
    n = len(b)
    for attempt in range(2):
        for i in range(n):
            residual[i] = b[i]
        solve(mode, address, A, spare, b)
        for i in range(n):
            residual[n + i] = residual[i]
        entry = 0.0
        for e in range(len(A)):
            entry = max(entry, abs(A[e]))
        largest, solution = 0.0, 0.0
        for j in range(n):
            x = b[j]
            solution = max(solution, abs(x))
            for e in range(pivots[j], pivots[j + 1]):
                residual[n + pivots[n + 1 + e]] -= A[e] * x
        for i in range(n):
            largest = max(largest, abs(residual[n + i]))
        if largest <= RESOLVED * entry * solution or attempt == 1:
            return
        renew(address, A)
        for i in range(n):
            b[i] = residual[i]


@njit(**OPTIONS)
def seconds(address):  # type: ignore[no-untyped-def]
    """A clock that compiled code can read: clock() of the C library, in seconds."""
    return call2(address[10], (0, 0)) * 1e-6
