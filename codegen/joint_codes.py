"""How joints and drivers stand in the tables of compiled code: columns, and a number for every kind."""

from __future__ import annotations

# columns of items: what it is, its bodies, its first row and number of rows, its line among cams, its turn
KIND, FIRST, SECOND, THIRD, ROW, ROWS, GIVEN, TURN, ITEM_SIZE = range(9)
# columns of numbers: local vectors; ratio, radius or pitch; what first and third body feel of the second's wrench;
# what the first configuration gives. Of a gear in space the carrier has both axes, and in A a normal of both.
A, B, AXIS_A, AXIS_B, NORMAL_A, NORMAL_B, NUMBER, ON_FIRST, ON_THIRD, OFFSET, NUMBERS = (
    0, 3, 6, 9, 12, 15, 18, 19, 20, 21, 22,
)  # fmt: skip
# columns of extras, which change with the motion: the turn of a spatial joint (of a gear there those of both wheels on
# the carrier), or of a cam's contact cosine and sine of the polar angle, radius with two derivatives, side; the
# driver's value, rate and acceleration
TURNED, CONTACT, DRIVEN, EXTRAS = 0, 0, 6, 9

R2, P2, SLOT2, GEAR2, RACK2, CAM2, TURN2, SLIDE2, DISTANCE2, FLAT2, WELD2 = range(11)
(R3, P3, S3, C3, U3, H3, PLANAR3, SPIN3, TURN3, SLIDE3, DISTANCE3, WELD3, ON_PLANE3, ON_CYLINDER3, GEAR3) = range(
    20, 35
)
THREE_BODIES = (GEAR2, GEAR3)  # kinds with a third body, the carrier

PLANAR = {
    "R": R2, "P": P2, "slot": SLOT2, "gear": GEAR2, "rack": RACK2, "cam": CAM2, "cam-flat": FLAT2, "weld": WELD2,
    "driver angle": TURN2, "driver turn": TURN2, "driver displacement": SLIDE2, "driver distance": DISTANCE2,
    "driver coordinate": SLIDE2,
}  # fmt: skip
SPATIAL = {
    "R": R3, "P": P3, "S": S3, "C": C3, "U": U3, "H": H3, "planar": PLANAR3, "on-plane": ON_PLANE3, "weld": WELD3,
    "on-cylinder": ON_CYLINDER3, "gear": GEAR3, "spin": SPIN3,
    "driver angle": TURN3, "driver screw": TURN3, "driver displacement": SLIDE3, "driver distance": DISTANCE3,
    "driver coordinate": SLIDE3,
}  # fmt: skip
# columns of bodies. Planar: place, angle, its cosine and sine, velocity, angular velocity.
# Spatial: place, rotation matrix by rows, velocity, angular velocity (global axes).
PLACE2, ANGLE2, COSINE2, SINE2, VELOCITY2, SPIN2, BODY2 = 0, 2, 3, 4, 5, 7, 8
PLACE3, ROTATION3, VELOCITY3, OMEGA3, BODY3 = 0, 3, 12, 15, 18
