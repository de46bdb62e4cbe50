"""What `math` is to kernels in lanes: sine, cosine and angle without branches, so that loops over lanes vectorise."""

# ruff: noqa: SIM300, RET504 - the reader of straight-line kernels knows one comparison, and results by their names

from __future__ import annotations

import math

from .straight_line import straight_line

pi, sqrt, floor = math.pi, math.sqrt, math.floor
tan, asin, acos, atan, exp, log = math.tan, math.asin, math.acos, math.atan, math.exp, math.log  # not vectorised
IN_LANES = {"forceinline": True, "fastmath": ("contract",)}


def fma(a: float, b: float, c: float) -> float:
    """Return a * b + c; compiled, with one rounding."""
    return a * b + c


# Quarter turns are rounded to the nearest whole number by a large number added and taken away. π/2 is the sum of three
# doubles: with fused multiply-add what is left of x is exact to rounding for any number of quarter turns that is itself
# exact (|x| below 1e15). The polynomials for |r| up to π/4 are those of fdlibm.


@straight_line(**IN_LANES)  # type: ignore[arg-type]
def sin(x):  # type: ignore[no-untyped-def]
    """Sine of x, to about one unit in the last place of one."""
    n = (x * 6.36619772367581382433e-01 + 6755399441055744.0) - 6755399441055744.0
    r = fma(-n, -1.4973849048591698e-33, fma(-n, 6.123233995736766e-17, fma(-n, 1.5707963267948966, x)))
    z = r * r
    s0 = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    s1 = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s0)
    s2 = 8.33333333332248946124e-03 + z * s1
    sine = r + r * z * (-1.66666666666666324348e-01 + z * s2)
    c0 = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    c1 = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c0)
    c2 = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * c1)
    cosine = 1.0 - (0.5 * z - z * z * c2)
    quarter = n - 4.0 * ((n * 0.25 - 0.375 + 6755399441055744.0) - 6755399441055744.0)
    half = quarter - 2.0 * ((quarter * 0.5 - 0.25 + 6755399441055744.0) - 6755399441055744.0)  # 1 where it is odd
    value = cosine if 0.5 < half else sine
    signed = -value if 1.5 < quarter else value
    return signed


@straight_line(**IN_LANES)  # type: ignore[arg-type]
def cos(x):  # type: ignore[no-untyped-def]
    """Cosine of x, as accurate as the sine: the same a quarter turn further."""
    n = (x * 6.36619772367581382433e-01 + 6755399441055744.0) - 6755399441055744.0
    r = fma(-n, -1.4973849048591698e-33, fma(-n, 6.123233995736766e-17, fma(-n, 1.5707963267948966, x)))
    z = r * r
    s0 = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    s1 = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s0)
    s2 = 8.33333333332248946124e-03 + z * s1
    sine = r + r * z * (-1.66666666666666324348e-01 + z * s2)
    c0 = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    c1 = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c0)
    c2 = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * c1)
    cosine = 1.0 - (0.5 * z - z * z * c2)
    m = n + 1.0
    quarter = m - 4.0 * ((m * 0.25 - 0.375 + 6755399441055744.0) - 6755399441055744.0)
    half = quarter - 2.0 * ((quarter * 0.5 - 0.25 + 6755399441055744.0) - 6755399441055744.0)  # 1 where it is odd
    value = cosine if 0.5 < half else sine
    signed = -value if 1.5 < quarter else value
    return signed


@straight_line(**IN_LANES)  # type: ignore[arg-type]
def atan2(y, x):  # type: ignore[no-untyped-def]
    """The angle of (x, y), which is not (0, 0), to about two units in the last place (rational function of Cephes)."""
    a = abs(x)
    b = abs(y)
    low = b if b < a else a
    high = a if b < a else b
    limit = 0.4142135623730950 * high  # above π/8: the angle less π/4
    above = low - high if limit < low else low
    below = low + high if limit < low else high
    r = above / below
    z = r * r
    p0 = -8.750608600031904122785e-1 * z - 1.615753718733365076637e1
    p1 = (p0 * z - 7.500855792314704667340e1) * z - 1.228866684490136173410e2
    p2 = p1 * z - 6.485021904942025371773e1
    q0 = (z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2
    q1 = (q0 * z + 4.328810604912902668951e2) * z + 4.853903996359136964868e2
    q2 = q1 * z + 1.945506571482613964425e2
    small = r + r * (z * p2 / q2)
    first = small + 3.0616169978683824e-17 + 7.853981633974483096e-1 if limit < low else small
    second = (6.123233995736766e-17 - first) + 1.570796326794896619 if a < b else first
    third = (1.2246467991473532e-16 - second) + 3.141592653589793 if x < 0.0 else second
    angle = -third if y < 0.0 else third
    return angle
