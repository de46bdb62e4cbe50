"""A small specification for the tests of its reader."""

from __future__ import annotations

BASE = """format = 1
name = "D"
title = "a dyad"
space = "planar"

[dependent]
C = "point"

[independent]     # given by other groups
A = "point"
B = "point"
u = "unit vector"

[parameters]
L_A = "length"
L_B = "length"

[constraints]
bar_A = "|C - A|^2 = L_A^2"
bar_B = "|C - B|^2 = L_B^2"
"""


BAR = 'bar_A = "|C - A|^2 = L_A^2"'
