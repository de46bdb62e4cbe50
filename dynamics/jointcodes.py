"""How joints and drivers stand in the tables of compiled code: columns, and a number for every kind."""

from __future__ import annotations

# columns of items: what it is, its bodies, its first row and number of rows, its line among the rows of cams
KIND, FIRST, SECOND, THIRD, ROW, ROWS, GIVEN, ITEM_SIZE = range(8)
# columns of numbers: local vectors; ratio, radius or pitch; what first and third body feel of the second's wrench
A, B, AXIS_A, AXIS_B, NORMAL_A, NORMAL_B, NUMBER, ON_FIRST, ON_THIRD, NUMBERS = 0, 3, 6, 9, 12, 15, 18, 19, 20, 21

R2, P2, SLOT2, GEAR2, RACK2, CAM2, TURN2, SLIDE2, DISTANCE2 = range(9)
R3, P3, S3, C3, U3, H3, PLANAR3, SPIN3, TURN3, SLIDE3, DISTANCE3 = range(20, 31)

PLANAR = {
    "R": R2, "P": P2, "slot": SLOT2, "gear": GEAR2, "rack": RACK2, "cam": CAM2, "cam-flat": CAM2,
    "driver angle": TURN2, "driver turn": TURN2, "driver displacement": SLIDE2, "driver distance": DISTANCE2,
    "driver coordinate": SLIDE2,
}  # fmt: skip
SPATIAL = {
    "R": R3, "P": P3, "S": S3, "C": C3, "U": U3, "H": H3, "planar": PLANAR3, "spin": SPIN3,
    "driver angle": TURN3, "driver screw": TURN3, "driver displacement": SLIDE3, "driver distance": DISTANCE3,
    "driver coordinate": SLIDE3,
}  # fmt: skip
