"""Images under a motion of the plane or of space: a turn or a mirror about a place, then a shift.

Coordinates may be formulas, and so may be what comes out; numbers stay numbers, and nothing times zero is no term.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .functions import evaluate

Number = Any  # a number or a formula in quotes
_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Image:
    """x becomes M (x - about) + about + shift, with M orthogonal; `mirrors` where its determinant is -1."""

    matrix: tuple[tuple[Number, ...], ...]
    about: Sequence[Number]
    shift: Sequence[Number]
    mirrors: bool

    @classmethod
    def shifted(cls, shift: Sequence[Number]) -> Image:
        n = range(len(shift))
        return cls(tuple(tuple(float(i == j) for j in n) for i in n), [0] * len(shift), shift, False)

    @classmethod
    def turned(cls, angle: Number, axis: Sequence[Number], about: Sequence[Number], shift: Sequence[Number]) -> Image:
        """Return the turn by an angle, in space about an axis of any length (Rodrigues)."""
        c, s = (short(f"{f}({text(angle)})") for f in ("cos", "sin"))
        if len(about) == 2:
            return cls(((c, negative(s)), (s, c)), about, shift, False)
        size = f"sqrt({text(dot(axis, axis))})"
        k = [short(f"{text(x)}/{size}") for x in axis]
        rest = difference(1.0, c)
        rows = [[times(rest, times(k[i], k[j])) for j in range(3)] for i in range(3)]
        for i in range(3):
            rows[i][i] = plus(c, rows[i][i])
            along = times(s, k[i - 1])  # the axis that is neither i nor i - 2, which is i + 1
            rows[i][i - 2] = difference(rows[i][i - 2], along)
            rows[i - 2][i] = plus(rows[i - 2][i], along)
        return cls(tuple(tuple(row) for row in rows), about, shift, False)

    @classmethod
    def mirrored(cls, normal: Sequence[Number], about: Sequence[Number], shift: Sequence[Number]) -> Image:
        """Return the mirror with a normal n of any length but zero: M = 1 - 2 n nᵀ/(n·n)."""
        if not any(isinstance(x, str) for x in normal):
            longest = max(abs(x) for x in normal)  # so that no square vanishes
            normal = [x / longest for x in normal]
        size = text(dot(normal, normal))
        rows = []
        for i, a in enumerate(normal):
            twice = [times(2.0, times(a, b)) for b in normal]
            shares = [0.0 if _is(x, 0) else short(f"{text(x)}/{size}") for x in twice]
            rows.append(tuple(difference(float(i == j), share) for j, share in enumerate(shares)))
        return cls(tuple(rows), about, shift, True)

    def place(self, place: Sequence[Number]) -> list[Number]:
        found = self.direction([difference(x, c) for x, c in zip(place, self.about, strict=True)])
        found = [plus(x, c) for x, c in zip(found, self.about, strict=True)]
        return [plus(x, d) for x, d in zip(found, self.shift, strict=True)]

    def direction(self, vector: Sequence[Number]) -> list[Number]:
        return [dot(row, vector) for row in self.matrix]

    def tensor(self, entries: Sequence[Number]) -> list[Number]:
        """Return M I Mᵀ of a symmetric tensor [xx, yy, zz, xy, xz, yz]."""
        m, found = self.matrix, []
        for i, j in _ENTRIES:
            shares = [times(m[i][k], m[j][n]) for k, n in _ENTRIES]
            shares[3:] = [plus(x, times(m[i][n], m[j][k])) for x, (k, n) in zip(shares[3:], _ENTRIES[3:], strict=True)]
            found.append(dot(shares, entries))
        return found

    def polar(self, variable: str, parallel: bool) -> str:
        """Return the polar angle in a body of the plane whose image has the given one in the body's image.

        The x axis is turned and mirrored with the body, or, where axes are `parallel` to the global ones, it is not.
        """
        cosine, sine = self.matrix[0][0], self.matrix[1][0]
        turn = short(f"atan2({text(sine)}, {text(cosine)})") if parallel else 0.0
        if self.mirrors:
            return f"-{variable}" if _is(turn, 0) else f"{text(turn)} - {variable}"
        return variable if _is(turn, 0) else f"{variable} - {text(turn)}"


def substituted(formula: Number, name: str, instead: str) -> Number:
    """Return a formula with another one for a name in it."""
    return re.sub(rf"\b{name}\b", f"({instead})", formula) if isinstance(formula, str) else formula


# ---- formulas from formulas; numbers stay numbers -------------------------------------------------------------------
def text(value: Number) -> str:
    return f"({value})" if isinstance(value, str) else f"({value!r})"


def short(formula: str) -> Number:
    """Return the number of a formula without names, else the formula."""
    try:
        return evaluate(formula, {})
    except ValueError:
        return formula


def _is(x: Number, number: float) -> bool:
    return not isinstance(x, str) and bool(x == number)


def negative(x: Number) -> Number:
    return -x if not isinstance(x, str) else f"-({x})"


def plus(x: Number, y: Number) -> Number:
    if _is(x, 0) or _is(y, 0):
        return y if _is(x, 0) else x
    return x + y if not isinstance(x, str) and not isinstance(y, str) else short(f"{text(x)} + {text(y)}")


def difference(x: Number, y: Number) -> Number:
    return 0.0 if isinstance(x, str) and x == y else plus(x, negative(y))


def times(x: Number, y: Number) -> Number:
    if _is(x, 0) or _is(y, 0):
        return 0.0
    if _is(x, 1) or _is(y, 1):
        return y if _is(x, 1) else x
    if _is(x, -1) or _is(y, -1):
        return negative(y if _is(x, -1) else x)
    return x * y if not isinstance(x, str) and not isinstance(y, str) else short(f"{text(x)}*{text(y)}")


def dot(one: Sequence[Number], other: Sequence[Number]) -> Number:
    found: Number = 0.0
    for x, y in zip(one, other, strict=True):
        found = plus(found, times(x, y))
    return found
