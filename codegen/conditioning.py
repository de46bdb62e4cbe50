"""How far Φ_φ is from singularity, with as few divisions as its constraints allow, and the sign of its determinant."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from .blocks import Block
from .derive import Derivation
from .linear import EXPLICIT_ORDER, Namer, cofactors, determinant, factor_elimination, row_squares, sign_of
from .orders import Orders
from .value_numbering import Pool, Value

OF_A_DISTANCE = 20  # operations at most of a constraint that is tried as a distance between two points


def conditioning(
    pool: Pool, d: Derivation, orders: Orders, phi: Sequence[str], blocks: Sequence[Block], signed: bool
) -> list[str]:
    """Return the names of the squared distance from singularity, 0 to 1, and, if signed, of the sign of det Φ_φ.

    The distance is that of the block nearest to singularity. Of several blocks the sign has a size that tells which of
    them have changed theirs: two may do so at once. Blocks of more rows than unknowns have no determinant.
    """
    least: Value = pool.number(1)
    signs: list[Value] = []
    matrix = orders.jacobian(phi)
    lengths = [s for c in d.spec.dependent if c.kind in ("length", "point") for s in c.symbols]
    for block in blocks:
        a = [[matrix[r][c] for c in block.columns] for r in block.rows]
        if block.redundant:  # least pivot by the size of its row
            lu = factor_elimination(a, Namer(pool), row_squares(matrix, block, pool))
            pairs = zip(lu.pivots, lu.squares, strict=True)
            value = 1 / pool.extreme([v * v * n for v, n in pairs], smallest=False)
        elif block.size > EXPLICIT_ORDER:
            lu = factor_elimination(a, Namer(pool))
            sizes = [pool.call("abs", v) for v in lu.pivots]  # reciprocals
            ratio = pool.extreme(sizes, smallest=True) / pool.extreme(sizes, smallest=False)
            value = ratio * ratio
            signs += [pool.product(lu.signs(pool))] if signed else []
        else:
            if block.size == 1 and a[0][0].constant is None and phi[block.columns[0]] in lengths:
                # a block of one entry has no row norm: it is scaled by the derivatives with respect to the known points
                points = [orders.jacobian(c.symbols)[block.rows[0]] for c in d.spec.independent if c.kind == "point"]
                sizes = [pool.sum([v * v for v in row]) for row in points]
                value = a[0][0] * a[0][0] / pool.extreme(sizes, smallest=False) if sizes else pool.number(1)
            else:
                value = squared_volume(pool, d, block, a)
            signs += [sign_of(pool.lift(determinant(a, cofactors(a))), pool)] if signed else []
        least = pool.extreme([least, value], smallest=True) if value.constant is None else least
    names = [pool.assign(pool.fresh("indicator"), least).name]
    return [*names, pool.assign(pool.fresh("orientation"), _orientation(pool, signs)).name] if signed else names


def _orientation(pool: Pool, signs: Sequence[Value]) -> Value:
    """Return the product of the signs of blocks times 1 + Σ 2^k over the later ones that are positive."""
    size: Value = pool.number(1)
    for k, sign in enumerate(signs[1:]):
        size = size + (sign + 1) * Fraction(2**k, 2)
    return pool.product(signs) * size


def squared_volume(pool: Pool, d: Derivation, block: Block, rows: Sequence[Sequence[Value]]) -> Value:
    """Return the squared determinant of a block's rows at unit length: 0 where they depend on each other, to 1."""
    value = pool.lift(determinant(rows, cofactors(rows)))
    squares = [_square_of_lengths(pool, d, block, row) for row in block.rows]
    if None in squares:
        return value * value / pool.product([pool.sum([v * v for v in row]) for row in rows])
    scale = 1 / pool.product([v for v in squares if v is not None])  # the same for all lanes: one division for all
    return value * value * pool.assign(pool.fresh("scale"), scale)


def _square_of_lengths(pool: Pool, d: Derivation, block: Block, row: int) -> Value | None:
    """Return |row of Φ_φ|² where the constraint makes it a function of lengths alone, as a distance does; or None."""
    Phi, columns = d.Phi[row], [d.phi.symbols[c] for c in block.columns]
    if sp.count_ops(Phi) > OF_A_DISTANCE:
        return None
    square = sp.expand(sum(sp.diff(Phi, x) ** 2 for x in columns) - 4 * Phi)
    return pool.freeze(square) if square.free_symbols <= set(d.par.symbols) else None
