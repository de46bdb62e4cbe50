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
from numba import carray, cfunc, njit, prange

from ..runtime.sources import dated
from .dca_kernels import COUNTED, down, factor, up
from .dca_layout import NODE_SIZE, PART_SIZE, TIE_SIZE
from .dca_system import ALPHA, THREADS, System
from .jointkernels import CALLED, FAR, doubles, integers

# places in the array of addresses and sizes
(
    FACTOR, UP, DOWN, NODES, PARTS, DESTINATIONS, TIES, GONE, SHARES, MATRICES, VECTORS, LEAF, JACOBIAN, REST, GAP,
    CHANGE, FORCE, SETTINGS, LOST, N_NODES, N_PARTS, N_TIES, N_SHARES, N_BODIES, N_ROWS, WIDTH, SIZE,
) = range(THREADS)  # fmt: skip
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
    h = carray(head_at, SIZE)
    n, w = h[N_NODES], h[WIDTH]
    return factor_shares(
        carray(integers(h[NODES]), (n, NODE_SIZE)), carray(integers(h[PARTS]), (h[N_PARTS], PART_SIZE)),
        carray(integers(h[DESTINATIONS]), FAR), carray(integers(h[TIES]), (h[N_TIES], TIE_SIZE)),
        carray(integers(h[SHARES]), h[N_SHARES]), carray(doubles(h[MATRICES]), FAR),
        carray(doubles(h[LEAF]), (h[N_BODIES], w, w)), carray(doubles(h[JACOBIAN]), (h[N_ROWS], 3, w)),
        1.0 / carray(doubles(h[SETTINGS]), FAR)[ALPHA], carray(integers(h[LOST]), h[N_SHARES]),
    )  # fmt: skip


@dated
def _up(head_at):  # type: ignore[no-untyped-def]
    h = carray(head_at, SIZE)
    up_shares(
        carray(integers(h[NODES]), (h[N_NODES], NODE_SIZE)), carray(integers(h[PARTS]), (h[N_PARTS], PART_SIZE)),
        carray(integers(h[DESTINATIONS]), FAR), carray(integers(h[TIES]), (h[N_TIES], TIE_SIZE)),
        carray(integers(h[SHARES]), h[N_SHARES]), carray(doubles(h[MATRICES]), FAR), carray(doubles(h[VECTORS]), FAR),
        carray(doubles(h[REST]), (h[N_BODIES], h[WIDTH])), carray(doubles(h[GAP]), h[N_ROWS]),
    )  # fmt: skip
    return 0


@dated
def _down(head_at):  # type: ignore[no-untyped-def]
    h = carray(head_at, SIZE)
    down_shares(
        carray(integers(h[NODES]), (h[N_NODES], NODE_SIZE)), carray(integers(h[TIES]), (h[N_TIES], TIE_SIZE)),
        carray(integers(h[GONE]), FAR), carray(integers(h[SHARES]), h[N_SHARES]), carray(doubles(h[MATRICES]), FAR),
        carray(doubles(h[VECTORS]), FAR), carray(doubles(h[CHANGE]), (h[N_BODIES], h[WIDTH])),
        carray(doubles(h[FORCE]), h[N_ROWS]),
    )  # fmt: skip
    return 0


@functools.cache
def _address(name: str) -> int:
    function = {"factor": _factor, "up": _up, "down": _down}[name]
    return int(cfunc("int64(CPointer(int64))", **CALLED)(function).address)


@contextmanager
def working(s: System, count: int) -> Iterator[None]:
    """Use so many threads within the context, unless another simulation has them."""
    mine = busy.acquire(blocking=False)
    try:
        connect(s, count if mine else 1)
        yield
    finally:
        connect(s, 1)
        if mine:
            busy.release()


def connect(s: System, count: int) -> None:
    """Let the shares of a system be worked on by so many threads; one is as before."""
    s.threads[:] = 0
    if count < 2:
        return
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    arrays = {
        NODES: s.nodes, PARTS: s.parts, DESTINATIONS: s.destinations, TIES: s.ties, GONE: s.gone, SHARES: s.shares,
        MATRICES: s.matrices, VECTORS: s.vectors, LEAF: s.leaf, JACOBIAN: s.jacobian, REST: s.rest, GAP: s.gap,
        CHANGE: s.change, FORCE: s.force_change, SETTINGS: s.settings, LOST: s.lost,
    }  # fmt: skip
    for at, array in arrays.items():
        s.threads[at] = array.ctypes.data
    sizes = (len(s.nodes), len(s.parts), len(s.ties), len(s.shares), len(s.leaf), len(s.gap), s.J.shape[2])
    s.threads[N_NODES:SIZE] = sizes
    for at, name in ((FACTOR, "factor"), (UP, "up"), (DOWN, "down")):
        s.threads[at] = _address(name)
