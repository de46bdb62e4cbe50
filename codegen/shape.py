"""Formulas evaluated as to their shape only: vector or number, and how large when everything is written out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .algebra import ELEMENTARY, Field

MAX_DEGREE = 1_000
MAX_TERMS = 5_000
MAX_NESTING = 6


@dataclass(frozen=True)
class FormulaShape:
    """A number of which only its being a number counts: finds errors of names and shapes without any algebra.

    It keeps how large it is when all is written out, since short texts may be too long for that: `degree` grows in
    ((9^8)^8)^8, `terms` in a chain of [let] that each use the one before twice, `nesting` in sin(cos(sin(...))).
    """

    degree: int = 1
    terms: int = 1
    nesting: int = 0

    def _with(self, other: object, degree: int) -> FormulaShape:
        if not isinstance(other, FormulaShape):
            return self
        return FormulaShape(degree, self.terms + other.terms, max(self.nesting, other.nesting))

    def _sum(self, other: object) -> FormulaShape:
        return self._with(other, max(self.degree, other.degree) if isinstance(other, FormulaShape) else 0)

    def _product(self, other: object) -> FormulaShape:
        return self._with(other, self.degree + other.degree if isinstance(other, FormulaShape) else 0)

    def __pow__(self, exponent: int) -> FormulaShape:
        return replace(self, degree=self.degree * max(1, abs(exponent)))

    def __neg__(self) -> FormulaShape:
        return self

    def inside(self) -> FormulaShape:
        """Return the shape of a function of this number."""
        return FormulaShape(1, self.terms + 1, self.nesting + 1)

    def excess(self) -> str:
        """Return what is too large, and the remedy; an empty text where nothing is."""
        if self.degree > MAX_DEGREE:
            return f"powers of powers reach degree {self.degree}; {MAX_DEGREE} is allowed - lower the exponents"
        if self.nesting > MAX_NESTING:
            return (
                f"functions stand inside functions {self.nesting} deep, with [let] written out; {MAX_NESTING} is "
                "allowed - make an inner one an unknown of its own, with a constraint"
            )
        if self.terms > MAX_TERMS:
            return (
                f"has {self.terms} terms with [let] written out; {MAX_TERMS} are allowed - "
                "make a repeated part an unknown of its own, with a constraint"
            )
        return ""

    __add__ = __radd__ = __sub__ = __rsub__ = _sum
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _product


SHAPE = FormulaShape()
SHAPES = Field(number=lambda _: SHAPE, functions=dict.fromkeys(ELEMENTARY, FormulaShape.inside), pi=SHAPE)
