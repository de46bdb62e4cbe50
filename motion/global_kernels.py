"""All groups as one Newton system, compiled: equations by the types' addresses, linear algebra, the loop over steps."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..runtime.sequencer import COLUMN_STRIDE, COLUMNS, call_item, caller
from ..runtime.sources import dated

# Without Numba's run-time (_nrt) nothing here can allocate: code that tried would not compile.
OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True, "_nrt": False}
FLAT = {**OPTIONS, "forceinline": True}

call2, call6 = caller(2), caller(6)


# ---- one system for all groups ------------------------------------------------------------------------------------
GROUP, ANGLE, POINTS = range(3)  # kinds of blocks
# columns of the table of blocks: kind, addresses, place of the item's table, unknowns, what is known, rows, equations
B_KIND, B_ADDRESS, B_COLUMNS, B_PLACE, B_OWN, B_KNOWN, B_ROWS, B_EQUATIONS, BLOCK_SIZE = range(9)
MOST_ITERATIONS = 30
DENSE, SPARSE = 0, 1
RESOLVED = 1e-12  # residual of a linear solution that has its digits, relative to the terms of its row
BELIEVED = 1e-3  # that of a Newton step which, being small, ends the iteration
NOUGHT = 1e-3  # of the largest unknown: smaller ones count as so large, since those that are zero have no digits


@njit(**FLAT)
@dated
def expand(y, combinations):  # type: ignore[no-untyped-def]
    """Write the rows that are linear combinations of unknowns, drivers and constants."""
    rows, start, sources, factors = combinations
    for i in range(len(rows)):
        total = 0.0
        for j in range(start[i], start[i + 1]):
            total += factors[j] * y[sources[j]]
        y[rows[i]] = total


@njit(**FLAT)
@dated
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
@dated
def scatter(J, H, start, at, source, factor, b, A):  # type: ignore[no-untyped-def]
    """Add the Jacobians of block b to the entries of A; source: place in J, or -1 - place in H."""
    for e in range(start[b], start[b + 1]):
        s = source[e]
        A[at[e]] += J[s] if s >= 0 else factor[e] * H[-1 - s]


@njit(**OPTIONS)
@dated
def angle_equation(y, table, order, R, J, H):  # type: ignore[no-untyped-def]
    """y cos(a) - x sin(a), zero where a is the angle of (x, y), with its derivatives; or right-hand sides of rates."""
    a, x, z = table[0], table[3], table[6]  # each component is one row
    c, s = np.cos(y[0, a]), np.sin(y[0, a])
    if order == 0:
        R[0] = y[0, z] * c - y[0, x] * s
        J[0] = -y[0, z] * s - y[0, x] * c
        H[0], H[1] = -s, c
        return
    value = y[order, x] * s - y[order, z] * c
    if order == 2:
        w = y[1, a]
        value += 2.0 * w * (y[1, z] * s + y[1, x] * c) + w * w * (y[0, z] * c - y[0, x] * s)
    R[0] = value


@njit(**OPTIONS)
@dated
def block_equation(b, order, blocks, tables, numbers, t, y, scratch, call):  # type: ignore[no-untyped-def]
    """Residual and Jacobians (order 0) or right-hand sides (1, 2) of one block into the scratch arrays R, J, H."""
    R, J, H, z, units, work = scratch
    n = y.shape[1]
    place, r, s = blocks[b, B_PLACE], blocks[b, B_OWN], blocks[b, B_KNOWN]
    kind = blocks[b, B_KIND]
    if kind == ANGLE:
        angle_equation(y, tables[place : place + 8], order, R, J, H)
        return
    item = tables.ctypes.data + 8 * place
    known = (item, numbers.ctypes.data, 0, 0, t.ctypes.data, y[0].ctypes.data, y[1].ctypes.data, y[2].ctypes.data)
    tail = (call.ctypes.data, 0, 1, work.ctypes.data)
    if kind == GROUP:
        call[COLUMNS] = order
        call_item(blocks[b, B_ADDRESS], (*known, R.ctypes.data, J.ctypes.data, H.ctypes.data, *tail))
        return
    # points of interest: rows equal to their formulas, whose derivatives are velocities along unit rates
    call_item(blocks[b, B_ADDRESS], (*known, z[0].ctypes.data, z[1].ctypes.data, z[2].ctypes.data, *tail))
    first = place + s + 4  # behind rows of h and φ and four places
    for i in range(r):
        row = tables[first + i]
        R[i] = y[0, row] - z[0, row] if order == 0 else z[order, row]
    if order > 0:
        return
    call[COLUMNS], call[COLUMN_STRIDE] = s, n
    for c in range(s):
        units[c * n + tables[place + c]] = 1.0
    column = units.ctypes.data
    call_item(blocks[b, B_COLUMNS], (*known, column, column, column, *tail))
    for i in range(r):
        for j in range(r):
            J[i * r + j] = 1.0 if i == j else 0.0
        for c in range(s):
            H[i * s + c] = -units[c * n + tables[first + i]]
            units[c * n + tables[first + i]] = 0.0
    for c in range(s):
        units[c * n + tables[place + c]] = 0.0


@njit(**OPTIONS)
@dated
def all_equations(order, blocks, tables, numbers, t, y, scratch, call, equations, entries, A, F):  # type: ignore[no-untyped-def]
    """Residuals with Jacobians in A, or right-hand sides of rates, of all blocks."""
    start, at, source, factor = entries
    for b in range(len(blocks)):
        block_equation(b, order, blocks, tables, numbers, t, y, scratch, call)
        for i in range(blocks[b, B_ROWS]):
            e = equations[blocks[b, B_EQUATIONS] + i]
            if e >= 0:
                F[e] = scratch[0][i]
        if order == 0:
            scatter(scratch[1], scratch[2], start, at, source, factor, b, A)


@njit(**OPTIONS)
@dated
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
@dated
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
@dated
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
@dated
def renew(address, A):  # type: ignore[no-untyped-def]
    """Factorise a sparse matrix with pivots of its own."""
    call2(address[8], (address[7], address[5]))
    address[6] = call6(address[9], (address[2], address[3], A.ctypes.data, address[4], address[5], 0))


@njit(**FLAT)
@dated
def solve(mode, address, A, spare, b):  # type: ignore[no-untyped-def]
    """Solve with the factors of the last factorisation, in place."""
    pivots, LU, _residual = spare
    if mode == DENSE:
        solve_dense(len(pivots), LU, pivots, b)
    else:
        call6(address[1], (address[4], address[6], np.int64(len(b)), 1, b.ctypes.data, address[5]))


@njit(**FLAT)
@dated
def keep(x, copy):  # type: ignore[no-untyped-def]
    """Copy, without an array between as an assignment has."""
    for i in range(len(x)):
        copy[i] = x[i]


@njit(**OPTIONS)
@dated
def resolved(mode, A, spare, x, bound):  # type: ignore[no-untyped-def]
    """Whether A x is the right-hand side in `spare`, relative to the terms of each row; what is left of it there."""
    if mode == DENSE:  # its pivots are always its own
        return True
    pattern, _LU, (right, rest, terms) = spare
    n = len(x)
    largest = 0.0
    for i in range(n):
        rest[i], terms[i] = right[i], 0.0
        largest = max(largest, abs(x[i]))
    for j in range(n):
        size = max(abs(x[j]), NOUGHT * largest)
        for e in range(pattern[j], pattern[j + 1]):
            i = pattern[n + 1 + e]
            rest[i] -= A[e] * x[j]
            terms[i] += abs(A[e]) * size
    kept = largest < np.inf
    for i in range(n):
        kept &= abs(rest[i]) <= bound * terms[i]
    return kept


@njit(**OPTIONS)
@dated
def solve_exactly(mode, address, A, spare, b):  # type: ignore[no-untyped-def]
    """Solve in place; where the factors have lost digits, refined, or else with new pivots.

    A pivot may vanish at a single instant, as a cosine does. What the growth then costs, some unknowns lose all of.
    """
    right, rest, _terms = spare[2]
    keep(b, right)
    for renewed in range(2):
        if renewed:
            renew(address, A)
            keep(right, b)
        solve(mode, address, A, spare, b)
        if resolved(mode, A, spare, b, RESOLVED):
            return
        solve(mode, address, A, spare, rest)
        for i in range(len(b)):
            b[i] += rest[i]
        if resolved(mode, A, spare, b, RESOLVED):
            return


@njit(**OPTIONS)
@dated
def seconds(address):  # type: ignore[no-untyped-def]
    """A clock that compiled code can read: clock() of the C library, in seconds."""
    return call2(address[10], (0, 0)) * 1e-6


@njit(**OPTIONS)
@dated
def positions(  # type: ignore[no-untyped-def]
    now, y, program, scratch, call, equations, entries, combinations, unknown, linear, F, stats
):  # fmt: skip
    """Newton on all positions of one instant; 0, or the status of what it failed at."""
    blocks, tables, numbers = program
    mode, addresses, A, spare = linear
    previous, afresh = 0.0, False
    for iteration in range(MOST_ITERATIONS):
        A[:] = 0.0
        all_equations(0, blocks, tables, numbers, now, y, scratch, call, equations, entries, A, F)
        factorise(mode, addresses, A, spare, afresh or iteration >= 5)
        keep(F, spare[2][0])
        solve(mode, addresses, A, spare, F)
        step, reach = update(y[0], unknown, F)
        expand(y[0], combinations)
        stats[0] += 1
        if step - step != 0.0:
            return 3
        if step <= 1e-12 * reach or (iteration > 1 and step > 0.5 * previous and step <= 1e-9 * reach):
            if resolved(mode, A, spare, F, BELIEVED):
                return 0
            afresh = True
        previous = step
    return 1


@njit(**OPTIONS)
@dated
def run_global(  # type: ignore[no-untyped-def]
    t, q, qdot, qddot, program, scratch, call, equations, entries, combinations, rows, linear, skip, y, F, stats, clock
):  # fmt: skip
    """Position, velocity and acceleration of all groups at once, step by step; the number of steps solved.

    program: (blocks, tables, numbers). rows: (unknown, driven). linear: how to factorise and solve. stats: iterations,
    factorisations, status. `clock` collects the seconds of position, velocity and acceleration where its first entry
    is not negative.
    """
    blocks, tables, numbers = program
    unknown, driven = rows
    mode, addresses, A, spare = linear
    for r in range(q.shape[0]):
        y[0, r], y[1, r], y[2, r] = q[r, 0], 0.0, 0.0
    timed = clock[0] >= 0.0
    mark = 0.0
    for k in range(len(t)):
        now = t[k : k + 1]
        if skip[k]:  # next to an instant at which a group is singular: its values are there
            for r in range(q.shape[0]):
                y[0, r], y[1, r], y[2, r] = q[r, k], qdot[r, k], qddot[r, k]
            continue
        if timed:
            mark = seconds(addresses)
        for r in driven:
            y[0, r], y[1, r], y[2, r] = q[r, k], qdot[r, k], qddot[r, k]
        if k > 0:
            dt = t[k] - t[k - 1]
            for r in unknown:
                y[0, r] += dt * (y[1, r] + 0.5 * dt * y[2, r])
        expand(y[0], combinations)
        status = positions(now, y, program, scratch, call, equations, entries, combinations, unknown, linear, F, stats)
        if status != 0:
            stats[2] = status
            return k
        if timed:
            clock[0] += seconds(addresses) - mark
            mark = seconds(addresses)
        for order in range(1, 3):
            for r in unknown:
                y[order, r] = 0.0
            expand(y[order], combinations)
            all_equations(order, blocks, tables, numbers, now, y, scratch, call, equations, entries, A, F)
            solve_exactly(mode, addresses, A, spare, F)
            for i in range(len(unknown)):
                y[order, unknown[i]] = F[i]
            expand(y[order], combinations)
            if timed:
                clock[order] += seconds(addresses) - mark
                mark = seconds(addresses)
        for r in range(q.shape[0]):
            q[r, k], qdot[r, k], qddot[r, k] = y[0, r], y[1, r], y[2, r]
        if timed:
            clock[3] += seconds(addresses) - mark
    return len(t)
