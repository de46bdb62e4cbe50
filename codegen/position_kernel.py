"""The closed form of the positions as a kernel: the formulas that closedform.py proved, on the values of a pool."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from .closedform import ClosedForm, SolutionStep, is_sphere
from .derive import Derivation
from .intersection import line_meets_quadric, linear_solution
from .value_numbering import Pool, Value

# A root whose argument is negative by rounding alone is a dead point reached exactly: there it counts as zero.
ROOT_ROUNDING = sp.Rational(1, 10**14)


def closed_form_position(pool: Pool, derivation: Derivation, form: ClosedForm) -> list[str]:
    """Ask a pool for φ and for the margin of assembly, negative where the group cannot be closed; return the names."""
    names = [x.name for x in derivation.phi.symbols]
    for name in names:
        pool.fresh(name)  # reserved for the results
    gaps: list[Value] = []
    if form.given:
        roots = {p for _, e in form.given for p in e.atoms(sp.Pow) if p.exp == sp.Rational(1, 2)}
        gaps = [pool.freeze(p.base) for p in sorted(roots, key=str)]
        for name, expression in form.given:
            pool.assign(name, pool.freeze(expression))
    for step in form.steps:
        unknowns = [names[c] for c in step.block.columns]
        pool.section = f"block {', '.join(unknowns)}"
        _step(pool, step, unknowns, form.branches, gaps)
    pool.section = "margin of assembly: negative where the group cannot be closed"
    gap = pool.assign(pool.fresh("gap"), pool.extreme(gaps, smallest=True) if gaps else pool.number(1))
    return [*names, gap.name]


def _step(pool: Pool, step: SolutionStep, unknowns: Sequence[str], signs: Sequence[str], gaps: list[Value]) -> None:
    """One block: a linear system, or a line that meets a quadric."""
    e, n, name = step.expansion, step.block.size, pool.name

    if step.branch is None:
        a = [[pool.freeze(v) for v in row] for row in e.gradients]
        u = linear_solution(a, [pool.freeze(c / m) for c, m in zip(e.constants, e.contents, strict=True)], name)
    else:
        assert e.quadric is not None
        linear = [i for i in range(n) if i != e.reference]
        a = [[pool.label(f"a{i}{j}", pool.freeze(x)) for j, x in enumerate(e.gradients[i])] for i in linear]
        c = [pool.freeze(e.constants[i]) for i in linear]
        if n == 2:  # of two circles the constant contains |a|², which is needed anyway
            square = pool.sum([x * x for x in a[0]])
            rest = c[0] - square
            if pool.terms(rest) < pool.terms(c[0]):
                c = [rest + name("square", square)]
        c = [name(f"c{i}", value) for i, value in enumerate(c)]
        m = [e.contents[i] for i in linear]
        Q = [[pool.freeze(e.quadric[i, j]) for j in range(n)] for i in range(n)]
        g = [pool.freeze(x) for x in e.gradients[e.reference]]
        k = pool.freeze(e.constants[e.reference])
        line = line_meets_quadric(a, c, [pool.freeze(x) for x in m], Q, g, k, is_sphere(e.quadric), name)
        square = line.beta * line.beta
        parts = [pool.lift(p) for p in line.parts]
        discriminant = pool.assign(pool.fresh("discriminant"), square - pool.sum(parts))
        size = name("size", square + pool.sum([pool.call("abs", p) for p in parts]))
        gaps.append(pool.assign(pool.fresh("margin"), discriminant + pool.freeze(ROOT_ROUNDING) * size))
        sign = pool.symbol(signs[step.branch])
        root = pool.call("sqrt", _clipped(pool, discriminant, gaps[-1]))
        tau = name("tau", (sign * root - line.beta) * line.inverse)
        u = [p + tau * q for p, q in zip(line.x0, line.d, strict=True)]
    for unknown, origin, value in zip(unknowns, e.center, u, strict=True):
        pool.assign(unknown, pool.freeze(origin) + value)


def _clipped(pool: Pool, discriminant: Value, margin: Value) -> Value:
    """The discriminant, zero where it is negative by rounding alone; beyond that a value whose root is no number."""
    zero = pool.number(0)
    floor = pool.name("floor", pool.select(margin, zero, margin, zero))
    return pool.select(floor, discriminant, discriminant, floor)
