"""Groups with more equations than unknowns: which rows always agree, and the blocks in which such a group is solved.

Where the redundant rows agree whatever h, the parameters and time are, any rows that determine the unknowns give the
same φ, φ̇, φ̈, K and L as least squares do (Eq. 21, 23, 28a, 32 and 43). Elimination then takes, block by block and at
run time, those rows whose pivots are largest for their size, and none is fixed beforehand: any fixed choice is
singular somewhere. Rows that agree only where h is admissible (1R3D) are left to least squares.
"""

from __future__ import annotations

import numpy as np

from .blocks import Block, block_triangular, matching
from .derive import Derivation
from .linear import UNROLLED_ORDER
from .sampling import MAX_DRAWS, Sampler

POSES = 6
AGREED = 1e-9


def solution_blocks(derivation: Derivation) -> tuple[Block, ...] | None:
    """Return the blocks in the order of solution; None where least squares must do."""
    p, r = derivation.n_constraints, derivation.n_dependent
    if p <= r:
        return derivation.blocks
    found = _rectangular(derivation)
    small = found is not None and max(b.size for b in found) <= UNROLLED_ORDER
    return found if small and rows_agree(derivation) else None


def rows_agree(derivation: Derivation, seed: int = 1) -> bool:
    """Return whether the redundant rows say nothing about h, the parameters or time, at random assembled poses."""
    sampler, r = Sampler(derivation, seed), derivation.n_dependent
    seen = 0
    for _ in range(MAX_DRAWS):
        c = sampler.assembled()
        if c is None:
            continue
        full = np.column_stack([sampler._full_jacobian(c), sampler.time_derivative(c)])
        U, sigma, _ = np.linalg.svd(full[:, :r])
        if sigma[-1] < 1e-3 * sigma[0]:
            continue
        if np.abs(U[:, r:].T @ full).max() > AGREED * max(1.0, float(np.linalg.norm(full))):
            return False
        seen += 1
        if seen == POSES:
            return True
    return False


def _rectangular(derivation: Derivation) -> tuple[Block, ...] | None:
    """Return square blocks of an assignment, each other row added to the last block that it has unknowns of."""
    p, r, Phi_phi = derivation.n_constraints, derivation.n_dependent, derivation.Phi_phi
    incidence = [frozenset(j for j in range(r) if Phi_phi[i, j] != 0) for i in range(p)]
    owners = matching(incidence, r)
    if any(row is None for row in owners):
        return None
    chosen = sorted(row for row in owners if row is not None)
    square = block_triangular([incidence[i] for i in chosen], r)
    assert square is not None
    blocks = [Block(tuple(chosen[i] for i in b.rows), b.columns) for b in square]
    for row in (i for i in range(p) if i not in chosen and incidence[i]):
        last = max(k for k, b in enumerate(blocks) if incidence[row] & set(b.columns))
        blocks[last] = Block((*blocks[last].rows, row), blocks[last].columns)
    return tuple(blocks)
