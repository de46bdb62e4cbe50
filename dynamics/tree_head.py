"""Places of a spanning tree behind those of its bodies, and the elementary motions that its joints are made of."""

from __future__ import annotations

from . import body_head

# Sizes: coordinates, rates, whether semi-recursive II, closing lines and rows, whether rows are in excess, how loops
# are closed. Addresses: of bodies parent, order, first motion, first column, number of columns, points a and b, turn
# between axes; of motions kind, axis, pitch, place among coordinates and rates; columns, points of reference, inertia
# and forces of the recursion, what joints keep of it, Z of II, spare room; lines that close loops, matrix, right-hand
# side, pivots, scales of rates and rows, the two numbers of Baumgarte, which rates are independent; code: kinematics,
# equations of motion, closing rows, closing, elimination.
(
    N_Q, N_V, SECOND, N_CLOSING, N_ROWS, REDUNDANT, LOOPS, PARENT, ORDER, FIRST_MOTION, FIRST_COLUMN, N_COLUMNS,
    POINT_A, POINT_B, TURN, MOTION_KIND, MOTION_AXIS, PITCH, MOTION_Q, MOTION_V, COLUMNS, REFERENCE, RECURSIVE_INERTIA,
    RECURSIVE_FORCE, KEPT, INTERMEDIATE, SPARE, CLOSING, MATRIX, SIDE, PIVOTS, SCALES, STABILISING, INDEPENDENT,
    KINEMATICS_CODE, MOTION_CODE, CLOSING_CODE, CLOSE_CODE, ELIMINATE_CODE, END,
) = range(body_head.METHOD, body_head.METHOD + 40)  # fmt: skip

# motions of a child against its parent: along or about an axis of the parent, about or along one of the child
SLIDE, TURN_ABOUT, TURN_OWN, SLIDE_OWN, SCREW, BALL = range(6)
WIDTHS = {SLIDE: 1, TURN_ABOUT: 1, TURN_OWN: 1, SLIDE_OWN: 1, SCREW: 1, BALL: 3}
PROJECTED, STABILISED, PARTITIONED = range(3)  # how loops are closed
