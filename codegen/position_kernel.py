"""The closed form of the positions as a kernel: the formulas that closedform.py proved, on the values of a pool."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from .closedform import ClosedForm, Step, is_sphere, line_meets_quadric, linear_solution
from .derive import Derivation
from .pool import Pool, Value

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


def _step(pool: Pool, step: Step, unknowns: Sequence[str], signs: Sequence[str], gaps: list[Value]) -> None:
    """One block: a linear system, or a line that meets a quadric."""
    e, n, name = step.expansion, step.block.size, pool.name

    def named(prefix: str, expressions: Sequence[sp.Expr]) -> list[Value]:
        return [name(f"{prefix}{i}", pool.freeze(x)) for i, x in enumerate(expressions)]

    if step.branch is None:
        a = [[pool.freeze(v) for v in row] for row in e.gradients]
        u = linear_solution(a, [pool.freeze(c) for c in e.constants], name)
    else:
        assert e.quadric is not None
        linear = [i for i in range(n) if i != e.reference]
        a = [named(f"a{i}", e.gradients[i]) for i in linear]
        c = named("c", [e.constants[i] for i in linear])
        Q = [[pool.freeze(e.quadric[i, j]) for j in range(n)] for i in range(n)]
        g = [pool.freeze(x) for x in e.gradients[e.reference]]
        k = pool.freeze(e.constants[e.reference])
        line = line_meets_quadric(a, c, Q, g, k, is_sphere(e.quadric), name)
        square = line.beta * line.beta
        discriminant = name("discriminant", square - line.alpha * line.gamma)
        size = square + pool.call("abs", line.alpha) * pool.sum([pool.call("abs", p) for p in line.parts])
        gaps.append(name("root", _clipped(pool, discriminant, size)))
        sign = pool.symbol(signs[step.branch])
        tau = name("tau", (sign * pool.call("sqrt", gaps[-1]) - line.beta) * line.inverse)
        u = [p + tau * q for p, q in zip(line.x0, line.d, strict=True)]
    for unknown, origin, value in zip(unknowns, e.center, u, strict=True):
        pool.assign(unknown, pool.freeze(origin) + value)


def _clipped(pool: Pool, discriminant: Value, size: Value) -> Value:
    """The discriminant, zero where it is negative by rounding alone."""
    zero = pool.number(0)
    negative = pool.select(-pool.freeze(ROOT_ROUNDING) * size, discriminant, zero, discriminant)
    return pool.select(zero, discriminant, discriminant, negative)
