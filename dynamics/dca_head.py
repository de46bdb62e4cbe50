"""Places in the array of addresses and sizes through which compiled code sees a mechanism for divide and conquer."""

from __future__ import annotations

# Addresses: the arrays of `dca_system.System`, in its order. Sizes: movable bodies, unknowns of one, rows, lines of
# joints and drivers, nodes, parts, ties, beginnings of shares, torsion springs. Code: see `dca_equations`; the last
# three are those of `dca_threads`, zero without.
(
    BODY_HEAD, JOINT_HEAD, ITEMS, BODIES, PHI, RATE, GAMMA, JACOBIAN_NOW, ABOUT, TURNED, WRENCH, TURNS, LEAF, NODES,
    PARTS, DESTINATIONS, TIES, GONE, SHARES, MATRICES, VECTORS, JACOBIAN, REST, GAP, CHANGE, FORCE_CHANGE, FOUND, FORCE,
    SETTINGS, COUNTS, LARGEST, LOST, N_BODIES, WIDTH, N_ROWS, N_LINES, N_NODES, N_PARTS, N_TIES, N_SHARES, N_TURNS,
    PLACE_CODE, ASSEMBLE_CODE, IMPROVE_CODE, ACCELERATE_CODE, PROJECT_CODE, FACTOR_CODE, UP_CODE, DOWN_CODE, SIZE,
) = range(50)  # fmt: skip

# places in settings, counts and largest; of the settings the last two are a call's own: its time, the size of a change
ALPHA, FREQUENCY, STABLE, POSITION, VELOCITY, ACCELERATION, OPEN, TIME, MOVED, N_SETTINGS = range(10)
MOST, FACTORED, ITERATIONS, FAILURES, N_COUNTS = range(5)
GAP_P, GAP_V, GAP_A, N_LARGEST = range(4)
