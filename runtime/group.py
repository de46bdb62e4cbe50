"""A compiled group type as NumPy sees it: a thin wrapper around one emitted module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import llvmlite.binding
import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import AssemblyError, InputError, nearest
from .status import MESSAGES, OK, SINGULAR

Array = NDArray[np.float64]
# A sweep reads and writes one row of the state per coordinate. LLVM vectorises its loop if the rows do not overlap and
# gives up where this takes more than 128 comparisons: PRP then needs 31 ns per lane instead of 5.
llvmlite.binding.set_option("assurgent", "--vectorize-memory-check-threshold=100000")

Values = ArrayLike | Mapping[str, Any]


@dataclass(frozen=True)
class Motion:
    """Position, velocity and acceleration of φ over time: arrays [coordinate, step]."""

    time: Array
    phi: Array
    phidot: Array
    phiddot: Array
    iterations: int


class GroupType:
    """One group type; vectors may be given as arrays or by names, ``{"A": (0, 0), "theta": 0.3}``."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.name: str = module.NAME
        self.space: str = module.SPACE
        self.dependent: tuple[str, ...] = module.DEPENDENT
        self.independent: tuple[str, ...] = module.INDEPENDENT
        self.parameters: tuple[str, ...] = module.PARAMETERS
        self.constraints: tuple[str, ...] = module.CONSTRAINTS
        self.branches: tuple[str, ...] = module.BRANCHES
        self.points_of_interest: tuple[str, ...] = module.POINTS
        self.work = np.zeros(module.WORK)

    def __repr__(self) -> str:
        r, s, p = len(self.dependent), len(self.independent), len(self.constraints)
        return f"<GroupType {self.name}: {r} dependent, {s} independent, {p} constraints>"

    # ---- vectors by name ----------------------------------------------------------------------------------------
    def pack(self, names: tuple[str, ...], values: Values, what: str) -> Array:
        """Return the vector of `names`; a missing or unknown name, or a wrong length, is an InputError."""
        if not isinstance(values, Mapping):
            array = np.ascontiguousarray(values, dtype=np.float64)
            if array.shape[:1] != (len(names),):
                raise InputError(
                    f"{self.name}: {what} has the {len(names)} entries {', '.join(names)}; "
                    f"{array.shape[:1] or 'a number'} given"
                )
            return array
        flat: dict[str, Any] = {}
        for key, value in values.items():
            symbols = self.module.COORDINATES.get(key, (key,))
            if not set(symbols) <= set(names):
                known = [k for k, v in self.module.COORDINATES.items() if set(v) <= set(names)]
                raise InputError(f"{self.name}: {what} has no '{key}'{nearest(key, known)} It has {', '.join(known)}.")
            parts = [value] if len(symbols) == 1 else list(value) if np.ndim(value) else [value]
            if len(parts) != len(symbols):
                raise InputError(
                    f"{self.name}: '{key}' has the {len(symbols)} components {', '.join(symbols)}; {len(parts)} given"
                )
            flat.update(zip(symbols, parts, strict=True))
        missing = [n for n in names if n not in flat]
        if missing:
            raise InputError(f"{self.name}: {what} lacks {', '.join(missing)}")
        return (
            np.ascontiguousarray(np.broadcast_arrays(*(flat[n] for n in names)), dtype=np.float64)
            if names
            else np.zeros(0)
        )

    def h(self, values: Values) -> Array:
        return self.pack(self.independent, values, "h")

    def par(self, values: Values) -> Array:
        return self.pack(self.parameters, values, "the parameters")

    def signs(self, branch: ArrayLike | None) -> Array:
        """Return the branch signs; +1 everywhere where none are given."""
        signs = np.ones(len(self.branches)) if branch is None else np.atleast_1d(np.asarray(branch, dtype=np.float64))
        if signs.shape != (len(self.branches),) or not np.all(np.abs(signs) == 1.0):
            raise InputError(
                f"{self.name}: branch is {len(self.branches)} signs, +1 or -1, "
                f"for {', '.join(self.branches) or 'no branch'}"
            )
        return signs

    def _check(self, status: int) -> None:
        if status != OK:
            raise AssemblyError(f"group {self.name}: {MESSAGES[int(status)]}")

    # ---- values -------------------------------------------------------------------------------------------------
    def constraint(self, phi: ArrayLike, h: Values, par: Values, t: float = 0.0) -> Array:
        """Return Φ (p)."""
        out = np.empty(len(self.constraints))
        self.module.constraint(_vector(phi), self.h(h), self.par(par), t, out)
        return out

    def jacobians(self, phi: ArrayLike, h: Values, par: Values, t: float = 0.0) -> tuple[Array, Array]:
        """Return Φ_φ (p x r) and Φ_h (p x s)."""
        p, r, s = len(self.constraints), len(self.dependent), len(self.independent)
        Phi_phi, Phi_h = np.empty((p, r)), np.empty((p, s))
        time = (np.empty(p),) if self.module.RHEONOMIC else ()
        self.module.jacobians(_vector(phi), self.h(h), self.par(par), t, Phi_phi, Phi_h, *time)
        return Phi_phi, Phi_h

    def position(
        self,
        h: Values,
        par: Values,
        *,
        branch: ArrayLike | None = None,
        start: ArrayLike | None = None,
        t: float = 0.0,
    ) -> Array:
        """Return φ (r): in closed form on a branch, or by Newton-Raphson from `start`."""
        if start is None and not self.module.CLOSED_FORM:
            raise InputError(
                f"{self.name} has no closed form: give start, the approximate values of {', '.join(self.dependent)}"
            )
        phi = np.zeros(len(self.dependent)) if start is None else _vector(start).copy()
        if start is None:
            self._check(self.module.position(phi, self.h(h), self.par(par), t, self.signs(branch), self.work))
        else:
            self._check(self.module.newton(phi, self.h(h), self.par(par), t, self.work))
        return phi

    def velocity(self, phi: ArrayLike, h: Values, par: Values, hdot: Values, t: float = 0.0) -> Array:
        """Return φ̇ (r), Eq. 22c."""
        out = np.empty(len(self.dependent))
        self._check(self.module.velocity(_vector(phi), self.h(h), self.par(par), t, self.h(hdot), out, self.work))
        return out

    def acceleration(
        self,
        phi: ArrayLike,
        h: Values,
        par: Values,
        phidot: ArrayLike,
        hdot: Values,
        hddot: Values,
        t: float = 0.0,
    ) -> Array:
        """Return φ̈ (r) by the time derivative, Eq. 30b."""
        out = np.empty(len(self.dependent))
        self._check(
            self.module.acceleration(
                _vector(phi),
                self.h(h),
                self.par(par),
                t,
                _vector(phidot),
                self.h(hdot),
                self.h(hddot),
                out,
                self.work,
            )
        )
        return out

    def acceleration_3ot(
        self, phi: ArrayLike, h: Values, par: Values, hdot: Values, hddot: Values, t: float = 0.0
    ) -> tuple[Array, Array, Array]:
        """Return φ̈ (r) by the third-order tensor, Eq. 36, with K (r x s) and L (s x r x s)."""
        r, s = len(self.dependent), len(self.independent)
        out, K, L = np.empty(r), np.empty((r, s)), np.empty((s, r, s))
        self._check(
            self.module.acceleration_3ot(
                _vector(phi), self.h(h), self.par(par), t, self.h(hdot), self.h(hddot), K, L, out, self.work
            )
        )
        return out, K, L

    def jerk(
        self,
        phi: ArrayLike,
        h: Values,
        par: Values,
        phidot: ArrayLike,
        hdot: Values,
        phiddot: ArrayLike,
        hddot: Values,
        hdddot: Values,
        t: float = 0.0,
    ) -> Array:
        """Return the third derivative of φ (r)."""
        out = np.empty(len(self.dependent))
        self._check(
            self.module.jerk(
                _vector(phi),
                self.h(h),
                self.par(par),
                t,
                _vector(phidot),
                self.h(hdot),
                _vector(phiddot),
                self.h(hddot),
                self.h(hdddot),
                out,
                self.work,
            )
        )
        return out

    def sensitivities(
        self,
        phi: ArrayLike,
        h: Values,
        par: Values,
        phidot: ArrayLike,
        hdot: Values,
        phiddot: ArrayLike,
        hddot: Values,
        t: float = 0.0,
    ) -> tuple[Array, Array, Array]:
        """Return dφ/dp, dφ̇/dp and dφ̈/dp (r x number of parameters) at fixed h, ḣ, ḧ."""
        r, s, n = len(self.dependent), len(self.independent), len(self.parameters)
        found = np.empty((3, r, n))
        zero, column = np.zeros(s), np.empty((3, r))
        known = (
            _vector(phi),
            self.h(h),
            self.par(par),
            t,
            _vector(phidot),
            self.h(hdot),
            _vector(phiddot),
            self.h(hddot),
        )
        for j, direction in enumerate(np.eye(n)):
            self._check(
                self.module.tangent(*known, zero, zero, zero, direction, column[0], column[1], column[2], self.work)
            )
            found[:, :, j] = column
        return found[0], found[1], found[2]

    def conditioning(self, phi: ArrayLike, h: Values, par: Values, t: float = 0.0) -> float:
        """Return the distance of Φ_φ from singularity, 0 to 1."""
        return float(self.module.conditioning(_vector(phi), self.h(h), self.par(par), t, self.work))

    def motion(
        self,
        time: ArrayLike,
        h: Values,
        hdot: Values,
        hddot: Values,
        par: Values,
        *,
        branch: ArrayLike | None = None,
        start: ArrayLike | None = None,
        method: str = "td",
    ) -> Motion:
        """Return φ, φ̇, φ̈ over time in one compiled sweep (`td` or `3ot`); h, hdot, hddot are [coordinate, step]."""
        t = np.ascontiguousarray(time, dtype=np.float64)
        n, r, s = len(t), len(self.dependent), len(self.independent)
        known = [
            np.ascontiguousarray(np.broadcast_to(v if v.ndim == 2 else v[:, None], (s, n)))
            for v in map(self.h, (h, hdot, hddot))
        ]
        out = np.full((3, r, n), np.nan)
        if not self.module.CLOSED_FORM:
            out[0, :, 0] = self.position(known[0][:, 0], par, start=start, t=float(t[0]))
        sweep = {"td": self.module.sweep, "3ot": self.module.sweep_3ot}[method]
        failed, iterations = sweep(
            t,
            *known,
            np.arange(s),
            self.par(par),
            self.signs(branch),
            out[0],
            out[1],
            out[2],
            np.arange(r),
            0,
            n,
            self.work,
        )
        if failed:
            first = int(np.argmax(~np.isfinite(out[0]).all(axis=0)))
            raise AssemblyError(
                f"group {self.name}: cannot be closed from t = {t[first]:g} s (step {first}): "
                f"{failed} of {n} steps failed - "
                "shorten the motion of what it hangs on, or change a length"
            )
        if not np.isfinite(out).all():
            first = int(np.argmax(~np.isfinite(out).all(axis=(0, 1))))
            raise AssemblyError(f"group {self.name}: t = {t[first]:g} s (step {first}): {MESSAGES[SINGULAR]}")
        return Motion(t, out[0], out[1], out[2], int(iterations))

    def points(
        self,
        phi: ArrayLike,
        h: Values,
        par: Values,
        phidot: ArrayLike,
        hdot: Values,
        phiddot: ArrayLike,
        hddot: Values,
        t: float = 0.0,
    ) -> dict[str, Array]:
        """Return position, velocity and acceleration (3 x dimension) of each point of interest."""
        out = np.empty((len(self.points_of_interest), 3, 2 if self.space == "planar" else 3))
        if self.points_of_interest:
            rates = (_vector(phidot), self.h(hdot), _vector(phiddot), self.h(hddot))
            self.module.points(_vector(phi), self.h(h), self.par(par), t, *rates, out)
        return dict(zip(self.points_of_interest, out, strict=True))


def _vector(values: ArrayLike) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)
