"""Derivatives of a compiled mechanism: sensitivities of its points, gradients of objectives, Jacobians."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..common.errors import InputError
from ..mechanism.plans.plan import Array
from ..motion.branches import follow
from ..motion.results import Results
from ..runtime.sequence import Ints
from .adjoint import Adjoint
from .sensitivities import ColumnCarrier, Sensitivities, SolvedDesign, not_whole

if TYPE_CHECKING:
    from .compiled_mechanism import CompiledMechanism
    from .objectives import Objective, PeakOfDynamics

FEW = 3  # parameters up to which columns forwards are no dearer than a walk backwards


class Gradients:
    """What a compiled mechanism knows of its derivatives."""

    _carrier: ColumnCarrier | None = None
    _adjoint: Adjoint | None = None

    def sensitivities(self: CompiledMechanism, orders: int = 3, **design: float) -> Sensitivities:  # type: ignore[misc]
        """Return the exact derivatives of the points by all parameters at a design.

        >>> c.sensitivities(a=2.1).points["P"].velocity       # parameter x instant x component, in the order of c.names

        `orders=1` gives those of the positions alone.
        """
        if orders not in (1, 3):
            raise InputError(f"orders = {orders!r}: is 1 (positions) or 3 (velocities and accelerations, too)")
        carrier = self.column_carrier()
        return carrier.at(self.solved_design(self.mechanism.traced.design(design)), orders)

    def value_and_gradient(  # type: ignore[misc]
        self: CompiledMechanism,
        objective: Objective | PeakOfDynamics,
        design: Mapping[str, float] | None = None,
        method: str | None = None,
    ) -> tuple[float, Array]:
        """Return an objective and its exact gradient by all parameters, in the order of `names`.

        >>> from assurgent.designs.objectives import timed_points
        >>> value, gradient = c.value_and_gradient(timed_points("P", targets), {"a": 2.1})

        An objective of one's own takes the results and returns its value and {point: derivative by its positions};
        with velocities and accelerations, too: {point: (by positions, by velocities, by accelerations)}.
        `method` is "forward" (a column for each parameter) or "adjoint" (one walk over the groups backwards, of
        positions); by default the cheaper one that can do it.
        """
        from .objectives import PeakOfDynamics, chained, split_orders

        if method not in (None, "forward", "adjoint"):
            raise InputError(f'method = {method!r}: is "forward" or "adjoint"')
        if isinstance(objective, PeakOfDynamics):
            values = self.mechanism.traced.design(dict(design or {}))[:, 0].tolist()
            whole = dict(zip(self.names, values, strict=True))
            return objective.value_and_gradient(self.mechanism.model, whole, self.time)
        carrier = self.column_carrier()
        solved = self.solved_design(self.mechanism.traced.design(dict(design or {})))
        value, slopes = objective(solved.results)
        by_order = split_orders(slopes, carrier.points, len(self.time))
        rates = any(part[1] is not None or part[2] is not None for part in by_order.values())
        if self._adjoint is None:
            self._adjoint = Adjoint(self, carrier)
        if method == "adjoint" and (rates or not self._adjoint.able):
            what = "velocities and accelerations" if rates else self._adjoint.why
            raise InputError(f'method = "adjoint": {what} go forward - leave method out')
        if method == "adjoint" or (method is None and not rates and self._adjoint.able and len(self.names) > FEW):
            return value, self._adjoint.gradient(solved, {n: part[0] for n, part in by_order.items()})
        return value, chained(by_order, carrier.at(solved, 3 if rates else 1))

    def jacobian(self: CompiledMechanism, design: Mapping[str, float] | None = None) -> Array:  # type: ignore[misc]
        """Return the derivatives of all compiled points' positions: one row per point, instant and component.

        The rows are in the order of the positions of `c(**design).points`, each flattened, the columns in that of
        `names`: what SciPy's least_squares takes.
        """
        exact = self.sensitivities(orders=1, **dict(design or {}))
        return np.concatenate([p.position.reshape(len(self.names), -1) for p in exact.points.values()], axis=1).T

    # ---- what they are made of ------------------------------------------------------------------------------------
    def column_carrier(self: CompiledMechanism) -> ColumnCarrier:  # type: ignore[misc]
        """Return what carries changes through the groups, or wrong input where nothing can."""
        if not self.supported:
            raise InputError(
                f"{self.mechanism.origin}: a mechanism with a driver that is a Python function has no sensitivities - "
                "replace the driver by a formula or a table"
            )
        if self.mechanism.held:
            raise InputError(
                f"{self.mechanism.origin}: [groups] does not go along with {', '.join(self.mechanism.held)}: in "
                "`where` write formulas in the parameters, or compile(parameters=...) without these"
            )
        if self._carrier is None:
            self._carrier = ColumnCarrier(self)
        return self._carrier

    def solved_design(self: CompiledMechanism, values: Array) -> SolvedDesign:  # type: ignore[misc]
        """Return one design, solved at all its lanes, with its results."""
        out, answers = np.empty((1, 3, self.width)), np.zeros((1, 5), dtype=np.int64)
        numbers, kept = self.mechanism.numbers.evaluate(values)
        numbers = np.ascontiguousarray(numbers.T)
        grid, lanes = self.times.grid(numbers)
        self._lanes = grid
        state = self._run(numbers, kept, grid, lanes, self._phases(len(grid)), out, answers)
        if answers[0, 0] == 0:
            return SolvedDesign(values, numbers[0], state, grid, lanes, self._results(out[0], len(self.time), values))
        if not kept[0]:
            self(**dict(zip(self.names, values[:, 0].tolist(), strict=True)))  # says so where it cannot be run at all
            raise InputError(
                f"{self.mechanism.origin}: this design is read or planned otherwise than the nominal one (an axis or "
                "a length that is zero there, another branch), so its derivatives do not follow from that one - give "
                "its values to the mechanism, then compile it"
            )
        if answers[0, 0] != 3:
            raise not_whole(self._message(self._stop(answers[0], values[:, 0], grid)))
        solution = follow(self.mechanism.program, grid, numbers=numbers[0])  # change points, dead points
        if solution.stop is not None:
            raise not_whole(solution.stop.message)
        asked: Ints = np.searchsorted(solution.time, self.time)
        found: Results = self(**dict(zip(self.names, values[:, 0].tolist(), strict=True)))
        return SolvedDesign(values, numbers[0], solution.state, solution.time, asked, found)
