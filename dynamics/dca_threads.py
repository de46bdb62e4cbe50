"""The shares of the assembly tree in threads: whole subtrees, which do not depend on each other, then the nodes above.

Imported only where threads are asked for, because it loads Numba's. Called by address from `dca_equations`, so that
nobody else compiles it. Nodes are worked on in the same way by any number of threads: the results are the same.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba import carray, cfunc, njit, prange
from numpy.typing import NDArray

from ..runtime.sources import dated
from . import dca_head as at
from .dca_kernels import COUNTED, down, factor, up
from .dca_layout import NODE_SIZE, PART_SIZE, TIE_SIZE
from .joint_kernels import CALLED, FAR, doubles, integers

PARALLEL: dict[str, Any] = {**COUNTED, "parallel": True}
busy = threading.Lock()  # Numba's threads serve one simulation at a time


@njit(**PARALLEL)
@dated
def factor_shares(nodes, parts, destinations, ties, shares, x, leaf, J, softness, lost):  # type: ignore[no-untyped-def]
    """Assemble all nodes; 0 where all have inertia."""
    top = len(shares) - 2
    for k in prange(top):
        lost[k] = factor(nodes, parts, destinations, ties, x, leaf, J, softness, shares[k], shares[k + 1])
    found = 0
    for k in range(top):
        found += shares[k + 1] - lost[k]
    if found == 0:
        last = shares[top + 1]
        found = last - factor(nodes, parts, destinations, ties, x, leaf, J, softness, shares[top], last)
    return found


@njit(**PARALLEL)
@dated
def up_shares(nodes, parts, destinations, ties, shares, x, v, load, gap):  # type: ignore[no-untyped-def]
    """Right-hand sides of all nodes."""
    top = len(shares) - 2
    for k in prange(top):
        up(nodes, parts, destinations, ties, x, v, load, gap, shares[k], shares[k + 1])
    up(nodes, parts, destinations, ties, x, v, load, gap, shares[top], shares[top + 1])


@njit(**PARALLEL)
@dated
def down_shares(nodes, ties, gone, shares, x, v, found, forces):  # type: ignore[no-untyped-def]
    """Disassemble all nodes, those above the shares first."""
    top = len(shares) - 2
    down(nodes, ties, gone, x, v, found, forces, shares[top], shares[top + 1])
    for k in prange(top):
        down(nodes, ties, gone, x, v, found, forces, shares[k], shares[k + 1])


@dated
def _factor(head_at):  # type: ignore[no-untyped-def]
    h = carray(head_at, at.SIZE)
    n, w = h[at.N_NODES], h[at.WIDTH]
    return factor_shares(
        carray(integers(h[at.NODES]), (n, NODE_SIZE)), carray(integers(h[at.PARTS]), (h[at.N_PARTS], PART_SIZE)),
        carray(integers(h[at.DESTINATIONS]), FAR), carray(integers(h[at.TIES]), (h[at.N_TIES], TIE_SIZE)),
        carray(integers(h[at.SHARES]), h[at.N_SHARES]), carray(doubles(h[at.MATRICES]), FAR),
        carray(doubles(h[at.LEAF]), (h[at.N_BODIES], w, w)), carray(doubles(h[at.JACOBIAN]), (h[at.N_ROWS], 3, w)),
        1.0 / carray(doubles(h[at.SETTINGS]), FAR)[at.ALPHA], carray(integers(h[at.LOST]), h[at.N_SHARES]),
    )  # fmt: skip


@dated
def _up(head_at):  # type: ignore[no-untyped-def]
    h = carray(head_at, at.SIZE)
    up_shares(
        carray(integers(h[at.NODES]), (h[at.N_NODES], NODE_SIZE)),
        carray(integers(h[at.PARTS]), (h[at.N_PARTS], PART_SIZE)), carray(integers(h[at.DESTINATIONS]), FAR),
        carray(integers(h[at.TIES]), (h[at.N_TIES], TIE_SIZE)), carray(integers(h[at.SHARES]), h[at.N_SHARES]),
        carray(doubles(h[at.MATRICES]), FAR), carray(doubles(h[at.VECTORS]), FAR),
        carray(doubles(h[at.REST]), (h[at.N_BODIES], h[at.WIDTH])), carray(doubles(h[at.GAP]), h[at.N_ROWS]),
    )  # fmt: skip
    return 0


@dated
def _down(head_at):  # type: ignore[no-untyped-def]
    h = carray(head_at, at.SIZE)
    down_shares(
        carray(integers(h[at.NODES]), (h[at.N_NODES], NODE_SIZE)),
        carray(integers(h[at.TIES]), (h[at.N_TIES], TIE_SIZE)), carray(integers(h[at.GONE]), FAR),
        carray(integers(h[at.SHARES]), h[at.N_SHARES]), carray(doubles(h[at.MATRICES]), FAR),
        carray(doubles(h[at.VECTORS]), FAR), carray(doubles(h[at.CHANGE]), (h[at.N_BODIES], h[at.WIDTH])),
        carray(doubles(h[at.FORCE_CHANGE]), h[at.N_ROWS]),
    )  # fmt: skip
    return 0


@functools.cache
def _addresses() -> tuple[int, ...]:
    return tuple(int(cfunc("int64(CPointer(int64))", **CALLED)(piece).address) for piece in (_factor, _up, _down))


@contextmanager
def working(head: NDArray[np.int64], count: int) -> Iterator[None]:
    """Use so many threads within the context, unless another simulation has them."""
    mine = busy.acquire(blocking=False)
    try:
        connect(head, count if mine else 1)
        yield
    finally:
        connect(head, 1)
        if mine:
            busy.release()


def connect(head: NDArray[np.int64], count: int) -> None:
    """Let the shares of a system be worked on by so many threads; one is as before."""
    if count > 1:
        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    head[at.FACTOR_CODE : at.SIZE] = _addresses() if count > 1 else 0
