"""Closed forms of the positions: recognised block by block, or given by the specification; proved by substitution.

A block whose equations have degree at most two in its unknowns and share one quadratic form is a line meeting a
quadric: r - 1 linear equations and one quadratic one, solved by x = x0 + τ d. Circle with circle, circle with line,
line with line and sphere with line are all found without being named. The formulas are in intersection.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from ..common.errors import InputError, InternalError
from .algebra import Evaluator
from .blocks import Block
from .derive import SYMPY, Derivation, evaluator, symbol
from .intersection import dot, half, line_meets_quadric, total

MAX_QUADRIC_ORDER = 3
MAX_LINEAR_ORDER = 3


@dataclass(frozen=True)
class Expansion:
    """Taylor coefficients of a block's rows about a known centre: ½ uᵀQu + m g·u + c, exact for degree two.

    `contents` are the m: numbers that all entries of a linear row share (1 for the quadratic row).
    """

    center: tuple[sp.Expr, ...]
    constants: tuple[sp.Expr, ...]
    contents: tuple[sp.Rational, ...]
    gradients: tuple[tuple[sp.Expr, ...], ...]
    quadric: sp.ImmutableMatrix | None
    reference: int


@dataclass(frozen=True)
class SolutionStep:
    """One block of a closed form; `branch` is the index of its sign, None where it is linear."""

    block: Block
    expansion: Expansion
    branch: int | None


@dataclass(frozen=True)
class ClosedForm:
    """Recognised steps in order, or (`given`) the formulas of the specification."""

    steps: tuple[SolutionStep, ...]
    given: tuple[tuple[str, sp.Expr], ...]
    branches: tuple[str, ...]


def is_sphere(quadric: sp.ImmutableMatrix) -> bool:
    """Return whether Q = q I."""
    n = quadric.rows
    return all(quadric[i, j] == (quadric[0, 0] if i == j else 0) for i in range(n) for j in range(n))


# ---- recognition --------------------------------------------------------------------------------------------
def find_closed_form(derivation: Derivation) -> ClosedForm | None:
    """Return the specification's closed form or a recognised one, proved; None where Newton must do."""
    if derivation.spec.closed_form:
        return _given(derivation)
    if derivation.blocks is None:
        return None
    steps: list[SolutionStep] = []
    count = 0
    for block in derivation.blocks:
        step = _recognise(derivation, block, count)
        if step is None:
            return None
        steps.append(step)
        count += step.branch is not None
    return ClosedForm(tuple(steps), (), _signs(derivation, count))


def _signs(derivation: Derivation, count: int) -> tuple[str, ...]:
    """Return sigma, or sigma_1, sigma_2, ...; with _ before it where the specification uses the name."""
    names = tuple("sigma" if count == 1 else f"sigma_{i + 1}" for i in range(count))
    spec = derivation.spec
    return tuple(f"_{n}" for n in names) if set(names) & {*spec.phi, *spec.h, *spec.par} else names


def _recognise(derivation: Derivation, block: Block, branch: int) -> SolutionStep | None:
    unknowns = [derivation.phi.symbols[c] for c in block.columns]
    rows = [derivation.Phi[r] for r in block.rows]
    if any(_degree(f, frozenset(unknowns)) > 2 for f in rows):
        return None
    hessians = [_hessian(f, unknowns) for f in rows]
    if any(h.free_symbols & set(unknowns) for h in hessians):
        return None
    curved = [i for i, h in enumerate(hessians) if not h.is_zero_matrix]
    if not curved:
        if block.size > MAX_LINEAR_ORDER:
            return None
        return SolutionStep(block, _expand(derivation, block, rows, unknowns, None, 0), None)
    reference = curved[0]
    ratios = [_ratio(hessians[i], hessians[reference]) if i in curved else sp.Integer(0) for i in range(len(rows))]
    if block.size > MAX_QUADRIC_ORDER or any(r is None for r in ratios):
        return None
    combined = [
        f if i == reference else f - r * rows[reference] for i, (f, r) in enumerate(zip(rows, ratios, strict=True))
    ]
    step = SolutionStep(block, _expand(derivation, block, combined, unknowns, hessians[reference], reference), branch)
    _prove(step)
    return step


def _degree(e: sp.Expr, unknowns: frozenset[sp.Symbol]) -> int:
    """Return an upper bound of the degree in the unknowns, from the tree alone (99: not a polynomial)."""
    if not e.free_symbols & unknowns:
        return 0
    if e.is_Symbol:
        return 1
    if e.is_Add:
        return max(_degree(a, unknowns) for a in e.args)
    if e.is_Mul:
        return sum(_degree(a, unknowns) for a in e.args)
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return _degree(e.base, unknowns) * int(e.exp)
    return 99


def _hessian(f: sp.Expr, unknowns: Sequence[sp.Symbol]) -> sp.ImmutableMatrix:
    n = len(unknowns)
    return sp.ImmutableMatrix(n, n, lambda i, j: sp.expand(sp.diff(f, unknowns[i], unknowns[j])))


def _ratio(q: sp.ImmutableMatrix, reference: sp.ImmutableMatrix) -> sp.Expr | None:
    """Return λ with q = λ reference, or None."""
    pivot = next(i for i, e in enumerate(reference) if e != 0)
    ratio = sp.cancel(q[pivot] / reference[pivot])
    return ratio if (q - ratio * reference).applyfunc(sp.expand).is_zero_matrix else None


def _expand(
    derivation: Derivation,
    block: Block,
    rows: Sequence[sp.Expr],
    unknowns: Sequence[sp.Symbol],
    quadric: sp.ImmutableMatrix | None,
    reference: int,
) -> Expansion:
    """Expand the rows about the centre that leaves the shortest coefficients (no cancellation far from the origin)."""
    best: tuple[int, Expansion] | None = None
    for center in _centers(derivation, rows, unknowns, quadric, reference):
        at = dict(zip(unknowns, center, strict=True))
        constants = tuple(f.xreplace(at) for f in rows)
        gradients = tuple(tuple(sp.diff(f, x).xreplace(at) for x in unknowns) for f in rows)
        curved = None if quadric is None else reference
        contents = tuple(sp.Integer(1) if i == curved else _content(g) for i, g in enumerate(gradients))
        gradients = tuple(tuple(e / c for e in g) for g, c in zip(gradients, contents, strict=True))
        cost = int(sp.count_ops([*constants, *(e for g in gradients for e in g)]))
        if best is None or cost < best[0]:
            best = cost, Expansion(tuple(center), constants, contents, gradients, quadric, reference)
    assert best is not None
    return best[1]


def _content(row: Sequence[sp.Expr]) -> sp.Rational:
    """Return the number that a linear equation can be divided by: fewer products to compute."""
    return sp.gcd_list([e.as_content_primitive()[0] for e in row if e != 0]) or sp.Integer(1)


def _centers(
    derivation: Derivation,
    rows: Sequence[sp.Expr],
    unknowns: Sequence[sp.Symbol],
    quadric: sp.ImmutableMatrix | None,
    reference: int,
) -> list[list[sp.Expr]]:
    found = [[sp.Integer(0)] * len(unknowns)]
    names = tuple(x.name for x in unknowns)
    if any(names == c.symbols for c in derivation.spec.dependent if c.kind == "point"):
        known = [c for c in derivation.spec.independent + derivation.spec.parameters if c.kind == "point"]
        found += [[symbol(s) for s in c.symbols] for c in known]
    if quadric is not None and not quadric.free_symbols and quadric.det() != 0:
        origin = dict.fromkeys(unknowns, sp.Integer(0))
        gradient = sp.Matrix([sp.diff(rows[reference], x).xreplace(origin) for x in unknowns])
        found.append(list(-quadric.inv() * gradient))
    return found


# ---- proofs -------------------------------------------------------------------------------------------------
def _opaque(values: Sequence[sp.Expr], prefix: str) -> list[sp.Expr]:
    """Numbers stay, everything else becomes a symbol of its own: an identity in them is an identity for all."""
    return [v if v.is_number else sp.Symbol(f"{prefix}{i}") for i, v in enumerate(values)]


def _prove(step: SolutionStep) -> None:
    """Prove that the line-meets-quadric formulas satisfy every row of the block, as a polynomial identity."""
    e, n = step.expansion, step.block.size
    assert e.quadric is not None
    linear = [i for i in range(n) if i != e.reference]
    a = [_opaque(e.gradients[i], f"a{i}_") for i in linear]
    c = _opaque([e.constants[i] for i in linear], "c")
    m = [e.contents[i] for i in linear]
    g = _opaque(e.gradients[e.reference], "g")
    (k,) = _opaque([e.constants[e.reference]], "k")
    flat = _opaque(list(e.quadric), "q")
    Q = [[flat[min(i, j) * n + max(i, j)] for j in range(n)] for i in range(n)]
    line = line_meets_quadric(a, c, m, Q, g, k, is_sphere(e.quadric), lambda _, value: value)
    w = sp.Symbol("w")
    tau = (w - line.beta) * line.inverse
    u = [p + tau * q for p, q in zip(line.x0, line.d, strict=True)]
    rows = [mi * dot(ai, u) + ci for ai, mi, ci in zip(a, m, c, strict=True)]
    rows.append(half(dot(u, [dot(row, u) for row in Q])) + dot(g, u) + k)
    if not all(vanishes(row, {w: line.beta**2 - total(line.parts)}) for row in rows):
        raise InternalError("a recognised closed form does not satisfy its equations; please report the specification")


def vanishes(expression: sp.Expr, squares: dict[sp.Symbol, sp.Expr]) -> bool:
    """Return whether a rational expression is identically zero when each key's square is its value."""
    numerator = sp.numer(sp.together(expression))
    if not squares:
        return bool(sp.expand(numerator) == 0)
    *rest, (w, square) = squares.items()
    halves = [sp.Integer(0), sp.Integer(0)]  # even and odd powers of w vanish separately
    for (power,), coefficient in sp.Poly(numerator, w).terms():
        halves[power % 2] += coefficient * square ** (power // 2)
    return all(vanishes(half, dict(rest)) for half in halves)


def _given(derivation: Derivation) -> ClosedForm:
    """Return the specification's closed form, proved by substitution into every constraint."""
    spec = derivation.spec
    formulas = given_formulas(spec, evaluator(spec))
    values = {symbol(name): value for name, value in formulas}
    conditions = [e for c in spec.admissible for e in evaluator(spec).residual(c.equation)]
    for constraint in spec.constraints:
        for residual in evaluator(spec).residual(constraint.equation):
            value = residual.xreplace(values)
            if not _vanishes_under(value, conditions, [symbol(b) for b in spec.branches]):
                used = residual.free_symbols
                unknowns = {c.name for c in spec.dependent if used & {symbol(s) for s in c.symbols}}
                formulas_used = [f for f in spec.closed_form if f.name in unknowns] or list(spec.closed_form)
                raise InputError(
                    f"{spec.origin}:{formulas_used[0].line}: [closed_form] {', '.join(f.name for f in formulas_used)}: "
                    f"does not satisfy the constraint '{constraint.name}' of line {constraint.line} "
                    f'("{constraint.text}"): substituted, it leaves {_short(value)} instead of 0 - '
                    "correct the formula, or remove [closed_form] and let the program find one"
                )
    return ClosedForm(
        (),
        tuple((name, value) for name, value in formulas if symbol(name) in derivation.phi.symbols),
        spec.branches,
    )


def given_formulas(spec: Any, evaluate: Evaluator) -> list[tuple[str, Any]]:
    """Return (component name, value) of every dependent coordinate from [closed_form], intermediate names resolved."""
    names = dict(evaluate.names)
    inner = Evaluator(names, evaluate.field, spec.dimension)
    names.update({b: (symbol(b) if evaluate.field is SYMPY else names.get(b)) for b in spec.branches})
    components = {c.name: c for c in spec.dependent}
    found: list[tuple[str, Any]] = []
    for formula in spec.closed_form:
        value = inner(formula.node)
        names[formula.name] = value
        if formula.name in components:
            parts = value if isinstance(value, tuple) else (value,)
            found += list(zip(components[formula.name].symbols, parts, strict=True))
            names.update(zip(components[formula.name].symbols, parts, strict=True))
    return found


def _short(value: sp.Expr) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _vanishes_under(value: sp.Expr, conditions: Sequence[sp.Expr], signs: Sequence[sp.Symbol]) -> bool:
    """Zero by algebra: roots and sines become symbols with their squares known, signs square to one, and what is left
    must lie in the ideal of the admissible conditions."""
    squares: dict[sp.Symbol, sp.Expr] = {s: sp.Integer(1) for s in signs}
    value, *conditions = _functions_to_symbols([value, *conditions], squares)
    value = _roots_to_symbols(value, squares)
    if not conditions:
        return vanishes(value, squares)
    relations = [_roots_to_symbols(c, squares) for c in conditions] + [w**2 - q for w, q in squares.items()]
    numerator = sp.expand(sp.numer(sp.together(value)))
    generators = sorted(set().union(*(r.free_symbols for r in relations), numerator.free_symbols), key=str)
    basis = sp.groebner(relations, *generators, order="grevlex")
    return bool(basis.contains(numerator))


def _functions_to_symbols(expressions: Sequence[sp.Expr], squares: dict[sp.Symbol, sp.Expr]) -> list[sp.Expr]:
    """Sines and cosines become symbols with s² = 1 - c², other functions and constants such as pi plain ones."""
    found = set().union(*(e.atoms(sp.Function, sp.NumberSymbol) for e in expressions))
    rule: dict[sp.Expr, sp.Symbol] = {}
    for f in sorted(found, key=str):
        if isinstance(f, sp.sin):
            w, c = rule[f], rule[sp.cos(f.args[0])] = sp.Dummy("s"), sp.Dummy("c")
            squares[w] = 1 - c**2
        elif not isinstance(f, sp.cos) or sp.sin(f.args[0]) not in found:
            rule[f] = sp.Dummy("f")
    return [e.xreplace(rule) for e in expressions]


def _roots_to_symbols(value: sp.Expr, squares: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    roots = sorted(
        (p for p in value.atoms(sp.Pow) if p.exp == sp.Rational(1, 2)),
        key=lambda p: (sp.count_ops(p), str(p)),
    )
    for root in roots:
        w = sp.Dummy("w")
        value = value.xreplace({root: w, 1 / root: 1 / w})
        squares[w] = root.base
    return value
