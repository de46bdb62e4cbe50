"""A compiled group type as NumPy sees it: a thin wrapper around one emitted module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import llvmlite.binding
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..common.errors import AssemblyError, InputError, nearest
from ..common.status import MESSAGES, OK, SINGULAR
from .machine_code import prepare
from .value_shapes import count_of, parts_of, shape_of

Array = NDArray[np.float64]
# A sweep reads and writes one row of the state per coordinate. LLVM vectorises its loop if the rows do not overlap and
# gives up where this takes more than 128 comparisons: PRP then needs 31 ns per lane instead of 5.
llvmlite.binding.set_option("assurgent", "--vectorize-memory-check-threshold=100000")

Values = ArrayLike | Mapping[str, Any]


@dataclass(frozen=True)
class GroupMotion:
    """Position, velocity and acceleration of φ over time: arrays [coordinate, step]."""

    time: Array
    phi: Array
    phidot: Array
    phiddot: Array
    iterations: int


class GroupType:
    """One group type; vectors may be given as arrays or by names, ``{"A": (0, 0), "theta": 0.3}``."""

    def __init__(self, module: ModuleType) -> None:
        prepare()
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

    @cached_property
    def steady(self) -> bool:
        """Whether its Jacobian is the same everywhere: a driven crank is always closed and never singular."""
        if self.branches or not self.module.CLOSED_FORM or self.module.SOLVER != "unrolled":
            return False
        names = (self.dependent, self.independent, self.parameters)
        phi, h, par = (tuple(0.3 + 0.17 * i for i in range(len(n))) for n in names)
        kernel = self.module.conditioning_at
        return bool(getattr(kernel, "py_func", kernel)(phi, h, par, 0.4)[0] == 1.0)

    # ---- what reaches compiled code: the right size, contiguous, finite ------------------------------------------
    def pack(self, names: tuple[str, ...], values: Values, what: str) -> Array:
        """Return `values` as an array [name] or [name, step]; a wrong name, size or value is an InputError."""
        array = self._by_name(names, values, what) if isinstance(values, Mapping) else self._array(values, what)
        if array.shape[:1] != (len(names),) or array.ndim > 2:
            raise InputError(
                f"{self.name}: {what} has {count_of(len(names), 'entry', 'entries')}: {', '.join(names) or 'none'}; "
                f"{shape_of(array)} given"
            )
        finite = np.isfinite(array)
        if not finite.all():
            place = tuple(int(i) for i in np.argwhere(~finite)[0])
            step = f" at step {place[1]}" if array.ndim == 2 else ""
            raise InputError(f"{self.name}: {what}: {names[place[0]]} is {array[place]}{step} - give a finite number")
        return array

    def _array(self, values: ArrayLike, what: str) -> Array:
        try:
            return np.asarray(values, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.name}: {what} is not an array of numbers: {error}") from error

    def _by_name(self, names: tuple[str, ...], values: Mapping[str, Any], what: str) -> Array:
        flat: dict[str, Array] = {}
        for key, value in values.items():
            symbols = self.module.COORDINATES.get(key, (key,))
            if not set(symbols) <= set(names):
                known = [k for k, v in self.module.COORDINATES.items() if set(v) <= set(names)]
                hint = nearest(str(key), known) or "."
                raise InputError(f"{self.name}: {what} has no '{key}'{hint} It has {', '.join(known) or 'no entry'}.")
            parts = [value] if len(symbols) == 1 else parts_of(value)
            if len(parts) != len(symbols):
                raise InputError(
                    f"{self.name}: {what}: '{key}' has the {len(symbols)} components {', '.join(symbols)}; "
                    f"{len(parts)} given"
                )
            flat.update({s: self._array(v, f"{what}: {s}") for s, v in zip(symbols, parts, strict=True)})
        missing = [n for n in names if n not in flat]
        if missing:
            raise InputError(f"{self.name}: {what} lacks {', '.join(missing)}")
        try:
            return np.array(np.broadcast_arrays(*(flat[n] for n in names))) if names else np.zeros(0)
        except ValueError as error:
            sizes = ", ".join(f"{n} {shape_of(flat[n])}" for n in names)
            raise InputError(f"{self.name}: the entries of {what} differ in their number of steps: {sizes}") from error

    def _vector(self, names: tuple[str, ...], values: Values, what: str) -> Array:
        array = self.pack(names, values, what)
        if array.ndim != 1:
            raise InputError(
                f"{self.name}: {what} is one value for each of {', '.join(names)} here; {shape_of(array)} given - "
                "'motion' takes many time steps at once"
            )
        return array

    def phi(self, values: ArrayLike, what: str = "phi") -> Array:
        return self._vector(self.dependent, values, what)

    def h(self, values: Values, what: str = "h") -> Array:
        return self._vector(self.independent, values, what)

    def par(self, values: Values) -> Array:
        return self._vector(self.parameters, values, "par")

    def signs(self, branch: ArrayLike | None) -> Array:
        """Return the branch signs; +1 everywhere where none are given."""
        if branch is None:
            return np.ones(len(self.branches))
        signs = np.atleast_1d(self._array(branch, "branch"))
        if signs.shape != (len(self.branches),) or not np.all(np.abs(signs) == 1.0):
            right = f"is {count_of(len(self.branches), 'sign', 'signs')}, +1 or -1: {', '.join(self.branches)}"
            raise InputError(
                f"{self.name}: branch {right if self.branches else 'is not used: this type has no signs'}; "
                f"{np.asarray(branch).tolist()} given"
            )
        return signs

    def _time(self, t: float) -> float:
        array = self._array(t, "t")
        if array.ndim or not np.isfinite(array):
            raise InputError(f"{self.name}: t is one finite number; {np.asarray(t).tolist()} given")
        return float(array)

    def _state(self, phi: ArrayLike, h: Values, par: Values, t: float) -> tuple[Array, Array, Array, float]:
        return self.phi(phi), self.h(h), self.par(par), self._time(t)

    def _check(self, status: int) -> None:
        if status != OK:
            raise AssemblyError(f"group {self.name}: {MESSAGES[int(status)]}")

    # ---- values -------------------------------------------------------------------------------------------------
    def constraint(self, phi: ArrayLike, h: Values, par: Values, t: float = 0.0) -> Array:
        """Return Φ (p)."""
        out = np.empty(len(self.constraints))
        self.module.constraint(*self._state(phi, h, par, t), out)
        return out

    def jacobians(self, phi: ArrayLike, h: Values, par: Values, t: float = 0.0) -> tuple[Array, Array]:
        """Return Φ_φ (p x r) and Φ_h (p x s)."""
        p, r, s = len(self.constraints), len(self.dependent), len(self.independent)
        Phi_phi, Phi_h = np.empty((p, r)), np.empty((p, s))
        time = (np.empty(p),) if self.module.RHEONOMIC else ()
        self.module.jacobians(*self._state(phi, h, par, t), Phi_phi, Phi_h, *time)
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
        phi = np.zeros(len(self.dependent)) if start is None else self.phi(start, "start").copy()
        known, signs = (self.h(h), self.par(par), self._time(t)), self.signs(branch)
        if start is None:
            self._check(self.module.position(phi, *known, signs, self.work))
        else:
            self._check(self.module.newton(phi, *known, self.work))
        return phi

    def velocity(self, phi: ArrayLike, h: Values, par: Values, hdot: Values, t: float = 0.0) -> Array:
        """Return φ̇ (r), Eq. 22c."""
        out = np.empty(len(self.dependent))
        self._check(self.module.velocity(*self._state(phi, h, par, t), self.h(hdot, "hdot"), out, self.work))
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
        rates = (self.phi(phidot, "phidot"), self.h(hdot, "hdot"), self.h(hddot, "hddot"))
        self._check(self.module.acceleration(*self._state(phi, h, par, t), *rates, out, self.work))
        return out

    def acceleration_3ot(
        self, phi: ArrayLike, h: Values, par: Values, hdot: Values, hddot: Values, t: float = 0.0
    ) -> tuple[Array, Array, Array]:
        """Return φ̈ (r) by the third-order tensor, Eq. 36, with K (r x s) and L (s x r x s)."""
        r, s = len(self.dependent), len(self.independent)
        out, K, L = np.empty(r), np.empty((r, s)), np.empty((s, r, s))
        rates = (self.h(hdot, "hdot"), self.h(hddot, "hddot"))
        self._check(self.module.acceleration_3ot(*self._state(phi, h, par, t), *rates, K, L, out, self.work))
        return out, K, L

    def _motion_of(
        self, phidot: ArrayLike, hdot: Values, phiddot: ArrayLike, hddot: Values
    ) -> tuple[Array, Array, Array, Array]:
        return (
            self.phi(phidot, "phidot"),
            self.h(hdot, "hdot"),
            self.phi(phiddot, "phiddot"),
            self.h(hddot, "hddot"),
        )

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
        rates = (*self._motion_of(phidot, hdot, phiddot, hddot), self.h(hdddot, "hdddot"))
        self._check(self.module.jerk(*self._state(phi, h, par, t), *rates, out, self.work))
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
        known = (*self._state(phi, h, par, t), *self._motion_of(phidot, hdot, phiddot, hddot))
        for j, direction in enumerate(np.eye(n)):
            self._check(
                self.module.tangent(*known, zero, zero, zero, direction, column[0], column[1], column[2], self.work)
            )
            found[:, :, j] = column
        return found[0], found[1], found[2]

    def conditioning(self, phi: ArrayLike, h: Values, par: Values, t: float = 0.0) -> float:
        """Return the distance of Φ_φ from singularity, 0 to 1."""
        return float(self.module.conditioning(*self._state(phi, h, par, t), self.work))

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
    ) -> GroupMotion:
        """Return φ, φ̇, φ̈ over time in one compiled sweep (`td` or `3ot`); h, hdot, hddot are [coordinate, step]."""
        if method not in ("td", "3ot"):
            raise InputError(f"{self.name}: method '{method}'{nearest(method, ('td', '3ot'))} - it is 'td' or '3ot'")
        t = self._array(time, "time")
        if t.ndim != 1 or not t.size or not np.isfinite(t).all():
            found = shape_of(t) if t.ndim != 1 or not t.size else t[~np.isfinite(t)][0]
            raise InputError(f"{self.name}: time is a list of finite numbers, one for each step; {found} given")
        if start is not None and self.module.CLOSED_FORM:
            raise InputError(f"{self.name} has a closed form: its motion takes branch, the signs, and no start")
        n, r, s = len(t), len(self.dependent), len(self.independent)
        known = [self._steps(v, n, what) for v, what in ((h, "h"), (hdot, "hdot"), (hddot, "hddot"))]
        parameters, signs = self.par(par), self.signs(branch)
        state = np.full((3, s + r, n), np.nan)
        state[:, :s] = known
        if not self.module.CLOSED_FORM:
            state[0, s:, 0] = self.position(known[0][:, 0], parameters, start=start, t=float(t[0]))
        iterations = self.over_lanes("sweep" if method == "td" else "sweep_3ot", t, state, parameters, signs, 0)
        out = np.ascontiguousarray(state[:, s:])
        failed = int(np.sum(~np.isfinite(out[0]).all(axis=0)))
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
        return GroupMotion(t, out[0], out[1], out[2], iterations)

    def over_lanes(
        self,
        function: str,
        t: Array,
        state: Array,
        par: Array,
        signs: Array,
        argument: int | None = None,
        out: Array | None = None,
        columns: int = 0,
        changes: Array | None = None,
        start: Array | None = None,
        size: float = 1.0,
    ) -> int:
        """Call one of the type's functions over all lanes of a state (order, row, lane), as the sequencer does.

        The rows are those of h, of φ, and of the points of interest. `argument` is what the function's maker takes.
        Returns the number of Newton iterations.
        """
        from . import sequencer as sq

        s, r, n_par = len(self.independent), len(self.dependent), len(self.parameters)
        points = range(s + r, state.shape[1])
        functions = [0] * len(self.module.PROFILES)  # none: profiles are what the parameters say
        table = np.array([*range(s + r), 0, n_par, n_par + r, 0, *functions, *points], dtype=np.int64)
        numbers = np.concatenate([par, np.zeros(r) if start is None else start, [size]])
        made = getattr(self.module, function)
        address = sq.address(made if argument is None else sq.made(made, argument))
        steps = np.array([[address, 0, 0, s, -1, 0]], dtype=np.int64)
        out = state if out is None else out
        changes = np.zeros((0, 0)) if changes is None else changes
        call = np.zeros(sq.CALL_SIZE, dtype=np.int64)
        call[sq.STRIDE], call[sq.COLUMNS] = state.shape[2], columns
        call[sq.COLUMN_STRIDE], call[sq.CHANGE_STRIDE] = state.shape[1] * state.shape[2], changes.shape[1]
        edges, lost = np.array([0, state.shape[2]], dtype=np.int64), np.full(1, state.shape[2])
        work = np.zeros(max(self.module.WORK, 3 * len(points)) + 1)
        none = np.zeros(0, dtype=np.int64)
        sq.sequence(
            steps, table, numbers, changes, signs.reshape(1, -1), edges, t, state, out, call, work, sq.BLOCK, lost,
            none, np.zeros((0, 0)),
        )  # fmt: skip
        return int(call[sq.ITERATIONS])

    def _steps(self, values: Values, n: int, what: str) -> Array:
        """Return values of h as [coordinate, step]; one value stands for all steps."""
        array = self.pack(self.independent, values, what)
        array = array if array.ndim == 2 else array[:, None]
        if array.shape[1] not in (1, n):
            raise InputError(
                f"{self.name}: {what} has {count_of(array.shape[1], 'step', 'steps')}, time has {n} - "
                "give one value for each step, or one for all"
            )
        return np.array(np.broadcast_to(array, (len(array), n)))

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
            state = self._state(phi, h, par, t)
            self.module.points(*state, *self._motion_of(phidot, hdot, phiddot, hddot), out)
        return dict(zip(self.points_of_interest, out, strict=True))
