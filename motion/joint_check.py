"""Groups that are solved by named types, looked at through the run: their bodies stay rigid and keep their joints.

A type was compared with the joints where the mechanism starts (`runtime/named_fit.py`). Its equations may still be
those of another mechanism elsewhere, so that the joints are asked again at instants spread over the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..common.status import OTHER_MOTION
from ..mechanism.absolute import Absolute
from ..mechanism.joint_equations import Poses, nearest_turn
from ..mechanism.model import Array
from ..mechanism.numbers.nominal import nominal
from ..mechanism.plans.plan import GroupPlan
from ..runtime.program import GroupStep, Terms
from .run import Solution
from .sweeps import stop

KEPT = 1e-8  # of the size, or radians: closed to rounding, and still so where a dead point takes half of the digits
LANES = 9
SINCE_START = ("gear", "rack")  # count whole turns, of which only the change is known here


def keep_joints(solution: Solution) -> None:
    """End a run before the first lane at which a group of a named type does not keep its joints."""
    groups = [s for s in solution.program.steps if isinstance(s, GroupStep) and s.plan.named]
    if not groups or solution.solved == 0 or nominal(solution.program.model) is not solution.program.model:
        return  # without names; or numbers of a design that the model does not have
    check = _Check(solution, [s.plan for s in groups])
    good, last = -1, solution.solved - 1
    for lane in np.unique(np.linspace(0, last, LANES).astype(np.int64)).tolist():
        if check.worst(lane) is None:
            good = lane
            continue
        bad = lane
        while bad - good > 1:  # the first lane that is off
            middle = (good + bad) // 2
            good, bad = (middle, bad) if check.worst(middle) is None else (good, middle)
        found = check.worst(bad)
        assert found is not None
        step = next(s for s in groups if s.plan is found[0])
        stop(solution, step, bad, OTHER_MOTION, reason=found[1])
        return


@dataclass(eq=False)
class _Check:
    solution: Solution
    plans: Sequence[GroupPlan]

    @cached_property
    def system(self) -> Absolute:
        return Absolute(self.solution.program.model, [b for plan in self.plans for b in plan.bodies])

    @cached_property
    def owners(self) -> list[GroupPlan | None]:
        """The group that each row belongs to; that of none where it is a joint of a group behind."""
        joints = {name: plan for plan in self.plans for name in plan.joints}
        drivers = {name: plan for plan in self.plans for name in plan.drivers}
        rows = zip(self.system.names, self.system.of_driver, strict=True)
        return [(drivers if driver else joints).get(name) for name, driver in rows]

    def worst(self, lane: int) -> tuple[GroupPlan, str] | None:
        """Return the first group that does not keep its bodies and joints at a lane, and what is said of it."""
        poses, stretch = self._poses(lane)
        gap = np.abs(self._rows(poses, lane)) / self.system.row_scale
        for plan in self.plans:
            off = np.where([owner is plan for owner in self.owners], gap, 0.0)
            k = int(np.argmax(off))
            length = self.system.row_scale[k] == self.system.size
            amount = f"{off[k] * self.system.row_scale[k]:.3g} {'m' if length else 'rad'}"
            what = f"{'driver' if self.system.of_driver[k] else 'joint'} '{self.system.names[k]}' is off by {amount}"
            body = max(plan.bodies, key=lambda b: stretch[b])
            if stretch[body] > max(KEPT, off[k]):
                what = f"body '{body}' is stretched by {stretch[body]:.3g} of its length"
            if max(stretch[body], off[k]) > KEPT:
                return plan, (
                    f"the type '{plan.named}' of [groups] moves it otherwise than its joints do: {what} - check what "
                    "its names are in `where`, or use the derived type"
                )
        return None

    def _rows(self, poses: Poses, lane: int) -> Array:
        program, state = self.solution.program, self.solution.state
        values = {d: float(state[0, program.drivers[d], lane]) for d in self.system.drivers}
        rows = np.asarray(self.system.rows(poses, values), dtype=np.float64)
        for batch in self.system.batches:
            if batch.kind.startswith("cam"):
                width = 2  # the place of contact is not among the rows of a run
                rows[batch.start : batch.start + width * len(batch.names)] = 0.0
            elif batch.kind == "H":  # the slide is right but for whole turns
                ends = batch.start + 5 * np.arange(len(batch.names)) + 4
                rows[ends] = nearest_turn(rows[ends] / batch.number) * batch.number
        return rows - self._since_start(rows, lane)

    def _since_start(self, rows: Array, lane: int) -> Array:
        """Return what rows of gears and racks, which count whole turns, are at the first lane; zero elsewhere."""
        found = np.zeros_like(rows)
        if lane > 0:
            for batch in self.system.batches:
                if batch.kind in SINCE_START:
                    mine = slice(batch.start, batch.start + len(batch.names))
                    found[mine] = self._first[mine]
        return found

    @cached_property
    def _first(self) -> Array:
        return self._rows(self._poses(0)[0], 0)

    def _poses(self, lane: int) -> tuple[Poses, dict[str, float]]:
        """Return the poses at a lane, and how far the axes of each body are from unit vectors at right angles."""
        program, n = self.solution.program, len(self.system.index)
        d, joints = program.model.dimension, len(program.model.joints)
        column = self.solution.state[0, :, lane]
        origin, rotation, angle = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), np.zeros(n)
        stretch = {}
        for name, k in self.system.index.items():
            carrier = program.carriers[name]
            axes = np.array([_sum(axis, column) for axis in carrier.axes]).T
            stretch[name] = float(np.abs(axes.T @ axes - np.eye(axes.shape[1])).max())
            origin[k, :d] = _sum(carrier.origin, column)
            if carrier.line is None:
                rotation[k, :d, :d] = axes
            else:
                rotation[k] = _between(carrier.line[1], axes[:, 0] / np.linalg.norm(axes))
                origin[k] -= rotation[k] @ carrier.line[0]
            if self.system.planar:
                angle[k] = self._angle(name, lane, rotation[k])
        return Poses(origin, rotation, angle, np.zeros(joints), np.zeros(joints), self.system.planar), stretch

    def _angle(self, body: str, lane: int, rotation: Array) -> float:
        """Return the angle of a planar body, continuous where a gear or a rack counts its turns."""
        program = self.solution.program
        carrier = program.carriers[body]
        if body in self._counted:
            if carrier.angle is not None:
                return float(self.solution.state[0, carrier.angle[0], lane] + carrier.angle[1])
            if body in program.angle_rows and self.solution.follow_angle(body):
                return float(self.solution.state[0, program.angle_rows[body], lane])
        return float(np.arctan2(rotation[1, 0], rotation[0, 0]))

    @cached_property
    def _counted(self) -> set[str]:
        names = list(self.system.index)
        batches = [b for b in self.system.batches if b.kind in SINCE_START]
        return {names[k] for b in batches for ends in (b.first, b.second, b.third) for k in ends.tolist()}


def _sum(terms: Sequence[Terms], column: Array) -> Array:
    return np.array([sum(c * column[row] for row, c in part) for part in terms], dtype=np.float64)


def _between(u: Array, v: Array) -> Array:
    """Return a rotation that turns one unit vector into another: two reflections."""
    middle = u + v
    if middle @ middle < 1e-3:  # nearly opposite: by way of a direction across
        across = np.eye(3)[int(np.argmin(np.abs(u)))]
        across -= (across @ u) * u
        across /= np.linalg.norm(across)
        return _between(across, v) @ _between(u, across)
    first = np.eye(3) - 2 * np.outer(u, u)
    return np.asarray((np.eye(3) - 2 * np.outer(middle, middle) / (middle @ middle)) @ first)
