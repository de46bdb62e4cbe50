"""Items that write the rotation of rods: directions without axes of their own, carried along without spin.

Imported only where something runs: it loads Numba.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from .output_items import vector
from .sequencer import CALL_SIZE, FAR, INTERNAL, STRIDE
from .sources import dated

# Of a sum of bounds a hundred times the errors and more, for a radian of a rod's way, and at the least: above, its
# rotation needs more lanes. A run of a thousand turns may err more than one of a single turn.
ROUGH = 1e-8


@njit(**INTERNAL)
@dated
def dot(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(**INTERNAL)
@dated
def cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**INTERNAL)
@dated
def triple(x, at):  # type: ignore[no-untyped-def]
    return x[at], x[at + 1], x[at + 2]


@njit(**INTERNAL)
@dated
def fan(h, a, b, rate, bend, other_rate, other_bend):  # type: ignore[no-untyped-def]
    """The area between a path on the sphere from a to b and the great circle, seen from a; its rates at b and at a.

    It is the integral of det(a, u, u̇) / (1 + a·u), which begins with two zeros: exact for polynomials of degree four.
    The second number is the difference from the trapezoidal rule with end correction, exact for degree three.
    """
    d = 1.0 + dot(a, b)
    across = cross(a, b)
    last = dot(across, rate) / d
    slope = h * (dot(across, bend) - last * dot(a, rate)) / d
    more = h * (-last / 10.0 + slope / 30.0 + h * h / 120.0 * dot(a, cross(other_rate, other_bend)))
    return h * (0.5 * last - slope / 12.0) + more, more


@njit(**INTERNAL)
@dated
def transported(h, a, a1, a2, b, b1, b2, p):  # type: ignore[no-untyped-def]
    """Carry a direction p across a to b without spin: the shortest turn, and the area that the path encloses with it.

    a and b have their rates. Seen from a and from b the area has errors of order six that cancel in the mean. What
    the last term adds bounds the error: it is returned behind p.
    """
    one, more = fan(h, a, b, b1, b2, a1, a2)
    two, less = fan(-h, b, a, a1, a2, b1, b2)
    area = 0.5 * (one - two)
    c, s = np.cos(area), np.sin(area)
    q = cross(a, p)
    x, y, z = c * p[0] + s * q[0], c * p[1] + s * q[1], c * p[2] + s * q[2]
    way = (b[0] * x + b[1] * y + b[2] * z) / (1.0 + dot(a, b))
    x, y, z = x - way * (a[0] + b[0]), y - way * (a[1] + b[1]), z - way * (a[2] + b[2])
    way = b[0] * x + b[1] * y + b[2] * z  # rounding does not add up
    x, y, z = x - way * b[0], y - way * b[1], z - way * b[2]
    size = np.sqrt(x * x + y * y + z * z)
    return (x / size, y / size, z / size), max(abs(more), abs(less))


@njit(**INTERNAL)
@dated
def chord(a, b):  # type: ignore[no-untyped-def]
    return np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)


def write_rod(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Rotation, ω and α of a rod, which has no spin; 1 where its lanes are too far apart for the rotation.

    item: places; the place of its numbers, five vectors: line, normal and their product in its own axes, the line and
    the normal in the first configuration; components of the line.
    """
    item, numbers, call, t = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR), carray(t_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, own = call[STRIDE], item[3]
    still, miss, path, before = (0.0, 0.0, 0.0), 0.0, 1.0, 0.0
    a, p = triple(numbers, own + 9), triple(numbers, own + 12)
    a1, a2 = still, still
    i = 0
    for k in range(call[CALL_SIZE + last - 1] + 1):
        b, b1 = vector(item, 4, numbers, q, n, k), vector(item, 4, numbers, qdot, n, k)
        b2 = vector(item, 4, numbers, qddot, n, k)
        if k == 0:
            p, _ = transported(0.0, a, still, still, b, still, still, p)
        else:
            p, error = transported(t[k] - before, a, a1, a2, b, b1, b2, p)
            miss += error
            path += chord(a, b)
        a, a1, a2, before = b, b1, b2, t[k]
        if k == call[CALL_SIZE + i]:
            r, w, v = cross(b, p), cross(b, b1), cross(b, b2)
            for row in range(3):
                for column in range(3):
                    out[item[0] + 9 * i + 3 * row + column] = (
                        b[row] * numbers[own + column]
                        + p[row] * numbers[own + 3 + column]
                        + r[row] * numbers[own + 6 + column]
                    )
                outdot[item[1] + 3 * i + row], outddot[item[2] + 3 * i + row] = w[row], v[row]
            i += 1
    return 0 if miss <= ROUGH * path else 1


@njit(**INTERNAL | {"no_cpython_wrapper": False})
@dated
def carry(t, u, rate, bend, p):  # type: ignore[no-untyped-def]
    """Carry p[0], across the direction u[0], along its path into p (lane, component); the error's bound a radian."""
    miss, path = 0.0, 1.0
    for k in range(1, len(t)):
        a, b = triple(u[k - 1], 0), triple(u[k], 0)
        found, error = transported(
            t[k] - t[k - 1], a, triple(rate[k - 1], 0), triple(bend[k - 1], 0), b, triple(rate[k], 0),
            triple(bend[k], 0), triple(p[k - 1], 0),
        )  # fmt: skip
        p[k, 0], p[k, 1], p[k, 2] = found
        miss += error
        path += chord(a, b)
    return miss / path
