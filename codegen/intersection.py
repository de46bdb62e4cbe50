"""Where a line meets a quadric, and linear systems to order 3: formulas over any field.

The proof of a closed form runs them on SymPy symbols, its emission on the values of a kernel; so what is proved is what
is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .linear import cofactors, determinant


def linear_solution(a: Sequence[Sequence[Any]], c: Sequence[Any], name: Callable[[str, Any], Any]) -> list[Any]:
    """Return u with a u + c = 0, order 1 to 3."""
    adjugate = cofactors(a)
    inverse = name("inverse", 1 / determinant(a, adjugate))
    return [-dot(row, c) * inverse for row in adjugate]


@dataclass(frozen=True)
class Line:
    """u = x0 + τ d on the linear rows, α τ² + 2 β τ + γ = 0 on the quadric: τ = (±√(β² - Σ parts) - β) inverse.

    `parts` add up to αγ, `inverse` is 1/α; where β is m times as large, they are m² and 1/m times as large.
    """

    x0: list[Any]
    d: list[Any]
    inverse: Any
    beta: Any
    parts: tuple[Any, ...]


def line_meets_quadric(
    a: Sequence[Sequence[Any]],
    c: Sequence[Any],
    m: Sequence[Any],
    Q: Sequence[Sequence[Any]],
    g: Sequence[Any],
    k: Any,
    sphere: bool,
    name: Callable[[str, Any], Any],
) -> Line:
    """Return the line m a u + c = 0 and its equation on ½ uᵀQu + g·u + k = 0; `name` may name intermediate values.

    x0 is the point of the line nearest to the centre, so that x0·d = 0; with Q = q I (`sphere`) this removes terms.
    """
    n = len(g)
    if n == 1:
        alpha = half(Q[0][0])
        return Line([0], [1], 1 / alpha, half(g[0]), (alpha * k,))
    if n == 2:
        (ax, ay), (c0,) = a[0], c
        d = [-ay, ax]
        square = name("square", ax * ax + ay * ay)
        inverse = name("inverse", 1 / (square * m[0]))
        scale = name("scale", c0 * inverse)
        x0 = [-(scale * ax), -(scale * ay)]
    else:
        d = [name(f"d{axis}", e) for axis, e in zip("xyz", cross(a[0], a[1]), strict=True)]
        inverse = name("inverse", 1 / total([e * e for e in d]))
        first, second = cross(a[1], d), cross(d, a[0])
        c0, c1 = (value / content for value, content in zip(c, m, strict=True))
        x0 = [name(f"u0{axis}", -(c0 * p + c1 * q) * inverse) for axis, p, q in zip("xyz", first, second, strict=True)]
    if sphere and n == 2:
        # everything times m: |x0| |d| m = |c0|, and the root of the discriminant is m times as large
        q = half(Q[0][0])
        reach = name("reach", q * m[0] * m[0] * k)
        parts = (q * q * c0 * c0, q * m[0] * m[0] * square * dot(g, x0), reach * square)
        return Line(x0, d, inverse / q, m[0] * half(dot(g, d)), parts)
    if sphere:
        q = half(Q[0][0])
        alpha = q * dot(d, d)
        parts = (alpha * q * dot(x0, x0), alpha * dot(g, x0), alpha * k)
        return Line(x0, d, inverse / q, half(dot(g, d)), parts)
    Qd = [dot(row, d) for row in Q]
    alpha = name("alpha", half(dot(d, Qd)))
    bend = alpha * half(dot(x0, [dot(row, x0) for row in Q]))
    return Line(x0, d, 1 / alpha, half(dot(x0, Qd) + dot(g, d)), (bend, alpha * dot(g, x0), alpha * k))


def dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    return total([p * q for p, q in zip(u, v, strict=True)])


def total(values: Sequence[Any]) -> Any:
    result = values[0]
    for v in values[1:]:
        result = result + v
    return result


def half(value: Any) -> Any:
    return value / 2


def cross(u: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
