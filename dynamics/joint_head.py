"""Places in the array of sizes and addresses through which compiled code sees a system of joints."""

from __future__ import annotations

(
    BODIES_N, LINES, ROWS, WIDTH, ITEMS, NUMBERS, EXTRAS, BODIES, PHI, RATE, GAMMA, J, WORK, MEMORY, N_TURNING, TURNING,
    N_DRIVERS, DRIVER_LINES, N_CAMS, CAM_LINES, DRIVER_FUNCTIONS,
) = range(21)  # fmt: skip
# of functions of one variable: code, numbers, work, rows, values, count
FUNCTION_SIZE = 6
PROFILES = DRIVER_FUNCTIONS + FUNCTION_SIZE
CONSTRAINTS, DRIVE, TOUCH, SIZE = range(PROFILES + FUNCTION_SIZE, PROFILES + FUNCTION_SIZE + 4)
