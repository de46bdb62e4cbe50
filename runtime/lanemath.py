"""What `math` is to kernels in lanes: sine and cosine without branches, so that loops over lanes vectorise."""

from __future__ import annotations

import math
from typing import Any

from numba import njit, types
from numba.extending import intrinsic

pi, sqrt, floor = math.pi, math.sqrt, math.floor
tan, asin, acos, atan, exp, log = math.tan, math.asin, math.acos, math.atan, math.exp, math.log  # not vectorised
OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "forceinline": True, "_nrt": False}

# π/2 as the sum of three doubles: with fused multiply-add what is left of x is exact to rounding for any number of
# quarter turns that is itself exact (|x| below 7e15)
_PART_1, _PART_2, _PART_3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
_QUARTERS = 6.36619772367581382433e-01


@intrinsic
def _fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c with one rounding."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fma(*values)

    return signature, generate


@njit(**OPTIONS)
def _reduced(x):  # type: ignore[no-untyped-def]
    """The number of quarter turns next to x, and what is left of x."""
    n = math.floor(x * _QUARTERS + 0.5)
    return n, _fma(-n, _PART_3, _fma(-n, _PART_2, _fma(-n, _PART_1, x)))


@njit(**OPTIONS)
def _both(r):  # type: ignore[no-untyped-def]
    """Sine and cosine for |r| up to π/4 (polynomials of fdlibm)."""
    z = r * r
    s = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    s = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s))
    sine = r + r * z * (-1.66666666666666324348e-01 + z * s)
    c = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    c = -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c))
    cosine = 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * c))
    return sine, cosine


@njit(**OPTIONS)
def sin(x):  # type: ignore[no-untyped-def]
    """Sine of x, to about one unit in the last place of one."""
    n, r = _reduced(x)
    sine, cosine = _both(r)
    quarter = n - 4.0 * math.floor(0.25 * n)
    value = cosine if quarter == 1.0 or quarter == 3.0 else sine
    return -value if quarter >= 2.0 else value


@njit(**OPTIONS)
def cos(x):  # type: ignore[no-untyped-def]
    """Cosine of x, as accurate as the sine."""
    n, r = _reduced(x)
    sine, cosine = _both(r)
    quarter = n - 4.0 * math.floor(0.25 * n)
    value = sine if quarter == 1.0 or quarter == 3.0 else cosine
    return -value if quarter == 1.0 or quarter == 2.0 else value


@njit(**OPTIONS)
def atan2(y, x):  # type: ignore[no-untyped-def]
    """The angle of (x, y), which is not (0, 0), to about two units in the last place (rational function of Cephes)."""
    a, b = abs(x), abs(y)
    low, high = (b, a) if b < a else (a, b)
    upper = low > 0.4142135623730950 * high  # above π/8: the angle less π/4
    r = (low - high if upper else low) / (low + high if upper else high)
    z = r * r
    p = -8.750608600031904122785e-1
    p = p * z - 1.615753718733365076637e1
    p = p * z - 7.500855792314704667340e1
    p = p * z - 1.228866684490136173410e2
    p = p * z - 6.485021904942025371773e1
    q = z + 2.485846490142306297962e1
    q = q * z + 1.650270098316988542046e2
    q = q * z + 4.328810604912902668951e2
    q = q * z + 4.853903996359136964868e2
    q = q * z + 1.945506571482613964425e2
    angle = r + r * (z * p / q) + (3.0616169978683824e-17 if upper else 0.0)
    angle = angle + 7.853981633974483096e-1 if upper else angle
    angle = (6.123233995736766e-17 - angle) + 1.570796326794896619 if b > a else angle
    angle = (1.2246467991473532e-16 - angle) + 3.141592653589793 if x < 0.0 else angle
    return -angle if y < 0.0 else angle
