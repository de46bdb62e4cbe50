"""Groups in absolute coordinates: position by damped Gauss-Newton, rates by least squares, step by step.

For groups that have no specification, such as those with cams: any profile, any follower, in any group.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..mechanism.absolute import Absolute
from ..mechanism.bodymotion import BodyMotion
from ..mechanism.model import FRAME, Model
from ..mechanism.rows import Poses, turned
from ..status import NO_ASSEMBLY, OK, SINGULAR
from .bodies import carried
from .plan import Array
from .program import NumericStep
from .run import Solution, stop

ITERATIONS = 40
CLOSED = 1e-13  # of the rows, scaled by the mechanism's size
REGULAR = 1e-10  # least singular value, of the largest, of a group whose rates are determined


def sweep_numeric(solution: Solution, step: NumericStep) -> None:
    """Solve the group over all steps and write its bodies' rows."""
    _Sweep(solution, step).run()


class _Sweep:
    def __init__(self, solution: Solution, step: NumericStep) -> None:
        self.solution, self.step = solution, step
        plan, model = step.plan, solution.program.model
        self.inside = plan.bodies
        touched = {b for j in plan.pairs for b in j.bodies} | {b for d in plan.inputs for b in d.bodies}
        self.outside = tuple(b for b in model.movable if b in touched - set(plan.bodies))
        chosen = {b: model.bodies[b] for b in model.bodies if b == FRAME or b in self.inside or b in self.outside}
        self.model: Model = replace(
            model,
            bodies=chosen,
            joints={j.name: j for j in plan.pairs},
            drivers={d.name: d for d in plan.inputs},
        )
        self.system = Absolute(self.model)
        width = len(self.system.components)
        mine = [self.system.bodies.index(b) for b in self.inside]
        columns = np.arange(self.system.n_columns)
        body_of = columns // width
        self.unknown = columns[(columns >= width * len(self.system.bodies)) | np.isin(body_of, mine)]
        self.known = np.setdiff1d(columns, self.unknown)
        self.motions = carried(solution, self.outside)
        self.values = {d.name: d.motion(solution.time) for d in plan.inputs}

    # ---- what is known --------------------------------------------------------------------------------------------
    def _place(self, poses: Poses, k: int) -> Poses:
        """Return the poses with the outside bodies where they are at step k."""
        origin, rotation, angle = poses.origin.copy(), poses.rotation.copy(), poses.angle.copy()
        for b in self.outside:
            i, m = self.system.index[b], self.motions[b]
            origin[i, : m.origin.shape[1]] = m.origin[0, :, k]
            if m.angle is not None:
                angle[i] = m.angle[0, k]
                rotation[i] = turned(angle[i : i + 1])[0]
            elif m.rotation is not None:
                rotation[i] = m.rotation[k]
        return replace(poses, origin=origin, rotation=rotation, angle=angle)

    def _rates(self, k: int, order: int) -> Array:
        """Return velocity or acceleration of the outside bodies, one entry per known column."""
        parts = []
        for b in self.system.bodies:
            if b not in self.motions:
                continue
            m: BodyMotion = self.motions[b]
            if m.angle is not None:
                parts.append(np.append(m.origin[order, :, k], m.angle[order, k]))
            else:
                spin = m.omega if order == 1 else m.alpha
                assert spin is not None
                parts.append(np.concatenate([m.origin[order, :, k], spin[:, k]]))
        return np.concatenate(parts) if parts else np.zeros(0)

    def _full(self, unknown: Array, known: Array) -> Array:
        full = np.zeros(self.system.n_columns)
        full[self.unknown], full[self.known] = unknown, known
        return full

    # ---- the steps ------------------------------------------------------------------------------------------------
    def run(self) -> None:
        system, n = self.system, self.solution.solved
        poses = system.touching(self._place(system.first(), 0))
        velocity = acceleration = np.zeros(len(self.unknown))
        for k in range(n):
            if k:
                dt = self.solution.time[k] - self.solution.time[k - 1]
                move = self._full(dt * velocity + 0.5 * dt * dt * acceleration, np.zeros(len(self.known)))
                poses = poses.moved(*system.spread(move))
            found = self._closed(self._place(poses, k), k)
            if found is None:
                stop(self.solution, self.step, k, NO_ASSEMBLY)
                return
            poses = system.remember(found)
            status, velocity, acceleration = self._motion(poses, k)
            if status != OK:
                stop(self.solution, self.step, k, status)
                return
            self._write(poses, velocity, acceleration, k)

    def _closed(self, poses: Poses, k: int) -> Poses | None:
        system = self.system
        values = {name: float(v[0, k]) for name, v in self.values.items()}
        gap = system.rows(poses, values) / system.row_scale
        for _ in range(ITERATIONS):
            if np.max(np.abs(gap), initial=0.0) <= CLOSED:
                break
            J = system.jacobian(poses)[:, self.unknown] * system.column_scale[self.unknown] / system.row_scale[:, None]
            if not (np.isfinite(J).all() and np.isfinite(gap).all()):
                return None
            change = np.linalg.lstsq(J, -gap, rcond=1e-12)[0]
            largest = float(np.max(np.abs(change), initial=0.0))
            change *= min(1.0, 0.5 / largest) if largest > 0 else 1.0
            factor = 1.0
            while True:
                full = self._full(factor * change * system.column_scale[self.unknown], np.zeros(len(self.known)))
                tried = poses.moved(*system.spread(full))
                fresh = system.rows(tried, values) / system.row_scale
                if np.linalg.norm(fresh) <= np.linalg.norm(gap) or factor < 1e-3 or largest < 1e-7:
                    break
                factor *= 0.5
            poses, gap = tried, fresh
            if largest < 1e-15:
                break
        left = float(np.max(np.abs(gap), initial=0.0))
        if not left <= 100 * CLOSED:
            return None
        residuals, name = self.solution.residuals, self.step.plan.name
        residuals[name] = max(left, residuals.get(name, 0.0))
        return poses

    def _motion(self, poses: Poses, k: int) -> tuple[int, Array, Array]:
        system = self.system
        J = system.jacobian(poses)
        mine = J[:, self.unknown] * system.column_scale[self.unknown] / system.row_scale[:, None]
        if not np.isfinite(mine).all():
            return SINGULAR, np.zeros(0), np.zeros(0)
        u, sigma, vt = np.linalg.svd(mine, full_matrices=False)
        if sigma[-1] <= REGULAR * sigma[0]:
            return SINGULAR, np.zeros(0), np.zeros(0)

        def solved(rhs: Array) -> Array:
            scaled = vt.T @ ((u.T @ (rhs / system.row_scale)) / sigma)
            return np.asarray(scaled * system.column_scale[self.unknown])

        known = [self._rates(k, order) for order in (1, 2)]
        asked = [system.per_driver({name: float(v[o, k]) for name, v in self.values.items()}) for o in (1, 2)]
        velocity = solved(asked[0] - J[:, self.known] @ known[0])
        full = self._full(velocity, known[0])
        acceleration = solved(asked[1] - system.gamma(poses, full) - J[:, self.known] @ known[1])
        return OK, velocity, acceleration

    def _write(self, poses: Poses, velocity: Array, acceleration: Array, k: int) -> None:
        state, d = self.solution.state, self.model.dimension
        zero = np.zeros(len(self.known))
        twist, bend = (self.system.spread(self._full(x, zero))[0] for x in (velocity, acceleration))
        for b in self.inside:
            i = self.system.index[b]
            rows: NDArray[np.int64] = self.step.origins[b]
            state[:, rows, k] = [poses.origin[i, :d], twist[i, :d], bend[i, :d]]
            omega, alpha = twist[i, 3:], bend[i, 3:]
            vectors = poses.rotation[i][:, : 1 if d == 2 else 3]
            first = np.cross(omega, vectors.T)
            second = np.cross(alpha, vectors.T) + np.cross(omega, first)
            for order, part in enumerate((vectors.T, first, second)):
                state[order, self.step.axes[b], k] = part[:, :d].ravel()
            if b in self.step.angles:
                state[:, self.step.angles[b], k] = [poses.angle[i], omega[2], alpha[2]]
