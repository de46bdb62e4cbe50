"""Linear systems of the global methods: plain elimination for dense ones, KLU for sparse ones."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism.plans.plan import Array

Ints = NDArray[np.int64]


class _Common(ctypes.Structure):
    """klu_common as klu.h of SuiteSparse declares it since KLU 1.3 (SuiteSparse 4.4 to 7)."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("tol", "memgrow", "initmem_amd", "initmem", "maxwork")),
        *((name, ctypes.c_int32) for name in ("btf", "ordering", "scale")),
        *((name, ctypes.c_void_p) for name in ("user_order", "user_data")),
        *((name, ctypes.c_int32) for name in ("halt_if_singular", "status", "nrealloc", "structural_rank")),
        *((name, ctypes.c_int32) for name in ("numerical_rank", "singular_col", "noffdiag")),
        *((name, ctypes.c_double) for name in ("flops", "rcond", "condest", "rgrowth", "work")),
        *((name, ctypes.c_size_t) for name in ("memusage", "mempeak")),
    )


# What klu_defaults sets, by the guide of KLU: where another build disagrees, its structure is not the one declared.
_DEFAULTS = {
    "tol": 0.001, "memgrow": 1.2, "initmem_amd": 1.2, "initmem": 10.0, "maxwork": 0.0, "btf": 1, "ordering": 0,
    "scale": 2, "user_order": None, "user_data": None, "halt_if_singular": 1, "status": 0, "structural_rank": -1,
    "numerical_rank": -1, "singular_col": 0, "flops": -1.0, "rcond": -1.0, "condest": -1.0, "rgrowth": -1.0,
}  # fmt: skip


def _as_declared(library: ctypes.CDLL) -> bool:
    """Return whether a KLU has the structure declared above: whether its defaults stand where they should."""
    room = (ctypes.c_byte * 1024)()  # a larger structure must not write beyond it
    common = _Common.from_buffer(room)
    library.klu_defaults(ctypes.byref(common))
    return all(getattr(common, name) == value for name, value in _DEFAULTS.items()) and not any(
        room[ctypes.sizeof(_Common) :]
    )


@dataclass(eq=False)
class LinearSolver:
    """How to factorise and solve: mode, addresses, the entries A, work space; `name` says by what."""

    mode: int
    address: Ints
    A: Array
    spare: tuple[Any, ...]
    name: str
    release: Callable[[], None]
    kept: tuple[Any, ...] = ()

    @property
    def arguments(self) -> tuple[Any, ...]:
        return (self.mode, self.address, self.A, self.spare)


@cache
def klu_library() -> ctypes.CDLL | None:
    """Return KLU of SuiteSparse: the system's, or the one that the package kvxopt brings; None where there is none."""
    places: list[str] = []
    found = importlib.util.find_spec("kvxopt")
    if found is not None and found.origin:
        folder = Path(found.origin).parent.parent / "kvxopt.libs"
        places += [str(p) for p in sorted(folder.glob("libklu*"))]
    system = ctypes.util.find_library("klu")
    places += [system] if system else []
    for place in places:
        try:
            library = ctypes.CDLL(place)
        except OSError:
            continue
        if _as_declared(library):
            for name in ("klu_analyze", "klu_factor"):
                getattr(library, name).restype = ctypes.c_void_p
            return library
    return None


@cache
def _clock() -> int:
    """Return the address of the C library's clock()."""
    library = ctypes.CDLL(None)
    return int(ctypes.cast(library.clock, ctypes.c_void_p).value or 0)


def dense(n: int) -> LinearSolver:
    """Return elimination with partial pivoting on a full matrix of order n, stored by rows."""
    address = np.zeros(11, dtype=np.int64)
    address[10] = _clock()
    spare = (np.zeros(n, dtype=np.int32), np.zeros(n * n), np.zeros((3, n)))
    return LinearSolver(0, address, np.zeros(n * n), spare, "dense LU, partial pivoting", lambda: None)


def sparse(Ap: NDArray[np.int32], Ai: NDArray[np.int32], first: Array, tuned: bool) -> LinearSolver | None:
    """Return KLU on a matrix by compressed columns; analysed, and factorised with the values `first`."""
    library = klu_library()
    if library is None:
        return None
    n, common = len(Ap) - 1, _Common()
    library.klu_defaults(ctypes.byref(common))
    if tuned:
        common.btf, common.scale = 0, -1
    Ap, Ai, A = Ap.astype(np.int32), Ai.astype(np.int32), first.copy()
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (Ap, Ai, A)]
    symbolic = ctypes.c_void_p(library.klu_analyze(ctypes.c_int(n), *pointers[:2], ctypes.byref(common)))
    numeric = ctypes.c_void_p(library.klu_factor(*pointers, symbolic, ctypes.byref(common)))
    if not symbolic.value or not numeric.value:
        return None
    address = np.zeros(11, dtype=np.int64)
    for i, name in ((0, "klu_refactor"), (1, "klu_solve"), (8, "klu_free_numeric"), (9, "klu_factor")):
        address[i] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    address[2], address[3], address[4] = Ap.ctypes.data, Ai.ctypes.data, symbolic.value
    address[5], address[6], address[7] = ctypes.addressof(common), numeric.value, address[6:].ctypes.data
    address[10] = _clock()

    def release() -> None:
        held = ctypes.c_void_p(int(address[6]))
        library.klu_free_numeric(ctypes.byref(held), ctypes.byref(common))
        library.klu_free_symbolic(ctypes.byref(symbolic), ctypes.byref(common))

    spare = (np.concatenate([Ap, Ai]), np.zeros(1), np.zeros((3, n)))
    how = "no BTF, no scaling" if tuned else "its defaults"
    return LinearSolver(1, address, A, spare, f"KLU, {how}", release, (common, Ap, Ai))
