"""How far rows of Φ_φ are from depending on each other, with as few divisions as their constraints allow."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from .blocks import Block
from .derive import Derivation
from .linear import cofactors, determinant
from .value_numbering import Pool, Value

OF_A_DISTANCE = 20  # operations at most of a constraint that is tried as a distance between two points


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
