"""Places in the array of sizes and addresses through which compiled code sees bodies with masses, loads and joints."""

from __future__ import annotations

# `JOINTS` is the array of the joints (`joint_head`); of a load: kind, bodies, its first function, line of its joint
(
    JOINTS, COUNT, WIDTH, STATE, BODIES, MASS, ABOUT, GRAVITY, INERTIA, WRENCH, ACCELERATION, N_LOADS, LOADS, NUMBERS,
    TURNS, REMEMBERED, LOAD_CODE, FUNCTION_CODE, FUNCTIONS,
) = range(19)  # fmt: skip
METHOD = FUNCTIONS + 6  # from here on a method's own: code, numbers, work, rows, values, count came before
SIZE = METHOD + 40

FORCE, TORQUE, SPRING, TORSION = range(4)
LOAD_KIND, LOAD_FIRST, LOAD_SECOND, LOAD_FUNCTION, LOAD_LINE, LOAD_SIZE = range(6)
END_A, END_B, STIFFNESS, REST, DAMPING, LOAD_NUMBERS = 0, 3, 6, 7, 8, 9
# behind the head of an integration (`array_heads.HEAD`): address of these places, of the projection, sizes of a note
OWN_BODIES, PROJECT, FINISH, ENTRIES = range(4)
