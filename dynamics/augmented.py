"""Forward dynamics in absolute coordinates: the augmented system, with positions and velocities projected each step.

    [ M  Jᵀ ] [ a ]   [ Q - quadratic terms ]
    [ J  0  ] [-λ ] = [ d̈ - J̇ ν             ]

All bodies are free and all joints are rows: simple, indifferent to the choice of coordinates, and an oracle for the
other methods. The state is the poses and the twists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mechanism.absolute import Absolute
from ..mechanism.assembly import close
from ..mechanism.joint_equations import Poses, turned
from ..mechanism.model import Array, Model
from .applied_loads import Applied
from .bodylanes import BodyLanes, Motions, one_lane
from .inertia import Inertia, skew
from .joint_forces import Forces
from .posture import Posture, poses_of, touching, width
from .records import Counts, Recorded, Stop, reactions_of

TIGHTER = 1e-3  # the integrator's own tolerance, of the one asked for
RANK = 1e-10  # of the scaled augmented matrix: below, rows are in excess
# rows at five places along the motion give their rate: exact for polynomials up to the fourth degree, and to a part of
# 1e-13 for angles and distances of drivers
OFFSETS, BESIDE = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), 1e-3
CLOSING, CLOSED = 8, 1e-9  # iterations that close the joints, and the last change, whose square is left


class Augmented:
    """One forward simulation in absolute coordinates."""

    method = "global"

    def __init__(self, model: Model, start: Posture, applied: Applied | None = None, reactions: bool = True) -> None:
        self.model = model
        self.system = Absolute(model)
        self.inertia = Inertia(model)
        self.applied = applied or Applied(model, self.inertia)
        self.forces, self.reactions = Forces(model), reactions
        self.noted: list[tuple[BodyLanes, dict[str, Array]]] = []  # at the asked times, with turns of springs
        self.counts = Counts()
        self.t = start.time
        self.n, self.width = len(model.bodies), width(model)
        self.drivers = tuple(model.drivers)
        self._order = self.forces.lines_order()
        self._redundant: bool | None = None
        self.poses = self.system.remember(poses_of(self.system, start))
        self.twist = start.twist.copy()

    # ---- the state as one vector ----------------------------------------------------------------------------------
    def _packed(self, poses: Poses, twist: Array) -> Array:
        if poses.planar:
            place = np.column_stack([poses.origin[1:, :2], poses.angle[1:]])
        else:
            place = np.column_stack([poses.origin[1:], poses.rotation[1:].reshape(-1, 9)])
        return np.concatenate([place.ravel(), twist[1:].ravel()])

    def _unpacked(self, y: Array) -> tuple[Poses, Array]:
        m, w = self.n - 1, self.width
        per = 3 if self.poses.planar else 12
        place = y[: per * m].reshape(m, per)
        twist = np.zeros((self.n, w))
        twist[1:] = y[per * m :].reshape(m, w)
        origin, rotation, angle = self.poses.origin.copy(), self.poses.rotation.copy(), self.poses.angle.copy()
        d = self.model.dimension
        origin[1:, :d] = place[:, :d]
        if self.poses.planar:
            angle[1:] = place[:, 2]
            rotation = turned(angle)
        else:
            rotation[1:] = place[:, 3:].reshape(m, 3, 3)
        return Poses(origin, rotation, angle, self.poses.contact, self.poses.turn, self.poses.planar), twist

    def _posture(self, t: float, poses: Poses, twist: Array) -> Posture:
        d = self.model.dimension
        origin, rotation = poses.origin[:, :d].copy(), np.ascontiguousarray(poses.rotation[:, :d, :d])
        return Posture(t, origin, rotation, poses.angle, twist)

    def posture(self) -> Posture:
        """Return the present posture."""
        return self._posture(self.t, self.poses, self.twist)

    def _driven(self, t: float, order: int) -> Array:
        """Return the values of all drivers (order 0) or a derivative, in the order of the model."""
        at = np.array([t])
        return np.array([float(self.model.drivers[d].motion(at)[order, 0]) for d in self.drivers])

    # ---- equations ------------------------------------------------------------------------------------------------
    def _rows(self, posture: Posture, offsets: Array, rate: float = 0.0) -> tuple[Array, Array, Array]:
        """Return the scaled rows of joints and drivers (lane x row x column) and both scales, beside a posture.

        A lane lies as far along the motion as its offset says, in parts of a size or a radian; where cams touch, and
        how that place moves, follows from the bodies.
        """
        d, time = self.model.dimension, rate * offsets
        turn = posture.twist[:, d:, None] * time
        origin = np.zeros((3, *posture.origin.shape, len(offsets)))
        origin[0] = posture.origin[:, :, None] + posture.twist[:, :d, None] * time
        if posture.planar:
            angle = posture.angle[:, None] + turn[:, 0]
            c, s = np.cos(angle), np.sin(angle)
            rotation = np.array([[c, -s], [s, c]]).transpose(2, 0, 1, 3).copy()
        else:
            change = skew(posture.twist[:, 3:]) @ posture.rotation
            rotation = posture.rotation[:, :, :, None] + change[:, :, :, None] * time
        spins = np.zeros((3, self.n, self.width - d, len(offsets)))
        return self.forces.all_rows(BodyLanes(np.full(len(offsets), posture.time), origin, spins, rotation))

    def accelerations(self, t: float, poses: Poses, twist: Array) -> Array:
        """Return the accelerations of the bodies, n x w."""
        posture, d = self._posture(t, poses, twist), self.model.dimension
        fastest = max(np.abs(twist[:, :d]).max() / self.system.size, np.abs(twist[:, d:]).max())
        rate = BESIDE / fastest if fastest > 0.0 else 0.0
        A, rows, columns = self._rows(posture, OFFSETS, rate)
        J = A[2]
        bend = np.zeros(len(J))
        if self.drivers:
            bend[-len(self.drivers) :] = self._driven(t, 2) / rows[-len(self.drivers) :]
        if rate > 0.0:
            bend -= (A[0] - 8.0 * A[1] + 8.0 * A[3] - A[4]) @ (twist[1:].ravel() / columns) / (12.0 * rate)
        n, w = len(columns), self.width
        matrix, M = np.zeros((n + len(J), n + len(J))), np.zeros((self.n - 1, w, self.n - 1, w))
        M[np.arange(self.n - 1), :, np.arange(self.n - 1)] = self.inertia.matrices(posture)[1:]
        loads = (self.applied.wrenches(posture) - self.inertia.wrenches(posture, np.zeros_like(twist)))[1:].ravel()
        scaled = M.reshape(n, n) * columns[:, None] * columns
        weight = max(float(np.abs(scaled).max()), 1e-300)
        matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = scaled / weight, J.T, J
        found = self._solve(matrix, np.concatenate([loads * columns / weight, bend]))[:n] * columns
        acceleration = np.zeros((self.n, w))
        acceleration[1:] = found.reshape(-1, w)
        return acceleration

    def _solve(self, matrix: Array, rhs: Array) -> Array:
        """Solve the augmented system; where joints hold more than they need, for the smallest forces."""
        if self._redundant is None:
            s = np.linalg.svd(matrix, compute_uv=False)
            self._redundant = bool(s[-1] <= RANK * s[0])
        if not self._redundant:
            return np.asarray(np.linalg.solve(matrix, rhs), dtype=np.float64)
        return np.asarray(np.linalg.lstsq(matrix, rhs, rcond=RANK)[0])

    def rates(self, t: float, y: Array) -> Array:
        """Return dy/dt: the right-hand side of the integrator."""
        self.counts.evaluations += 1
        poses, twist = self._unpacked(y)
        acceleration = self.accelerations(t, poses, twist)
        if poses.planar:
            place = twist[1:]
        else:
            turning = skew(twist[1:, 3:]) @ poses.rotation[1:]
            place = np.column_stack([twist[1:, :3], turning.reshape(-1, 9)])
        return np.concatenate([place.ravel(), acceleration[1:].ravel()])

    def _projected(self, t: float, y: Array) -> tuple[Poses, Array] | None:
        """Return the closed poses and the twists that the joints allow, nearest to a state."""
        poses, twist = self._unpacked(y)
        closed = self._closed(t, poses, twist)
        if closed is None:
            return None
        A, rows, columns = self._rows(self._posture(t, closed, twist), np.zeros(1))
        wanted = np.zeros(len(rows))
        if self.drivers:
            wanted[-len(self.drivers) :] = self._driven(t, 1) / rows[-len(self.drivers) :]
        velocity = twist[1:].ravel() / columns
        velocity -= np.linalg.lstsq(A[0], A[0] @ velocity - wanted, rcond=RANK)[0]
        found = np.zeros_like(twist)
        found[1:] = (velocity * columns).reshape(-1, self.width)
        return self.system.remember(closed), found

    def _closed(self, t: float, poses: Poses, twist: Array) -> Poses | None:
        """Return the poses with all joints closed."""
        values = dict(zip(self.drivers, self._driven(t, 0).tolist(), strict=True))
        if self.forces.table.cams:  # their contacts are unknowns beside the poses
            return close(self.system, touching(self.system, poses), values, 20)
        for _ in range(CLOSING):
            A, _, columns = self._rows(self._posture(t, poses, twist), np.zeros(1))
            gap = (self.system.rows(poses, values) / self.system.row_scale)[self._order]
            change = -np.linalg.lstsq(A[0], gap, rcond=RANK)[0] * columns
            poses = poses.moved(*self.system.spread(change))
            if np.abs(change / columns).max(initial=0.0) < CLOSED:
                return poses
        return None

    # ---- the run --------------------------------------------------------------------------------------------------
    def _note(self, t: float, poses: Poses, twist: Array) -> None:
        """Keep what is reported at one instant."""
        acceleration = self.accelerations(t, poses, twist)
        bodies = one_lane(self._posture(t, poses, twist), acceleration)
        self.noted.append((bodies, self.applied.turns_over(bodies)))

    def lanes(self) -> tuple[Motions, BodyLanes, dict[str, Array]]:
        """Return the noted instants, as lanes, too, and what turns of torsion springs are next to there."""
        motions = Motions(self.model, len(self.noted))
        for k, (bodies, _) in enumerate(self.noted):
            motions.put(slice(k, k + 1), bodies)
        names = self.noted[0][1] if self.noted else ()
        return motions, motions.lanes(), {n: np.array([turns[n][0] for _, turns in self.noted]) for n in names}

    def kinetic(self) -> float:
        """Return the kinetic energy of the present state."""
        return 0.5 * float(np.einsum("nw,nwv,nv", self.twist, self.inertia.matrices(self.posture()), self.twist))

    def _record(self) -> Recorded:
        """Return everything that is reported at the noted instants."""
        model, n = self.model, len(self.noted)
        motions, bodies, near = self.lanes()
        inertia, kinetic = self.inertia.over(bodies)
        lack = inertia - self.applied.over(bodies, near=near)
        found = self.forces.solve(bodies, lack[None], np.zeros(n, dtype=bool))
        return Recorded(
            motions.time, motions.by_name(), kinetic, self.applied.potential_over(bodies, near),
            dict(zip(model.drivers, found.drivers[0], strict=True)),
            reactions=reactions_of(model, found.wrenches) if self.reactions else {},
        )  # fmt: skip

    @property
    def not_unique(self) -> set[str]:
        """The joints whose reactions were not unique so far."""
        return self.forces.not_unique

    def run(self, times: Array) -> tuple[Recorded, Stop | None]:
        """Return what is reported at increasing times from the start on, and why they end early."""
        stop = self.advance(times, lambda: False)
        return self._record(), stop

    def advance(self, times: Array, arrived: Callable[[], bool]) -> Stop | None:
        """Go through increasing times, or to where somebody who is asked after every step has arrived."""
        from scipy.integrate import DOP853

        k = 0
        while k < len(times) and times[k] <= self.t:
            self._note(self.t, self.poses, self.twist)
            k += 1
        if k == len(times):
            return None
        tolerance = max(TIGHTER * self.model.simulation.tolerance, 3e-14)
        y = self._packed(self.poses, self.twist)
        solver: Any = DOP853(self.rates, self.t, y, float(times[-1]), rtol=tolerance, atol=tolerance)
        while k < len(times):
            solver.step()
            if solver.status == "failed":
                return Stop(solver.t, f"at t = {solver.t:.9g} s: the integrator's steps became too small")
            self.counts.steps += 1
            if times[k] <= solver.t:
                dense = solver.dense_output()
                while k < len(times) and times[k] <= solver.t:
                    found = self._projected(float(times[k]), dense(times[k]))
                    if found is None:
                        return _open(float(times[k]))
                    self._note(float(times[k]), *found)
                    k += 1
            found = self._projected(float(solver.t), solver.y)
            if found is None:
                return _open(float(solver.t))
            self.t, (self.poses, self.twist) = float(solver.t), found
            gap = self.system.rows(self.poses, self._values()) / self.system.row_scale
            self.counts.residual = max(self.counts.residual, float(np.abs(gap).max(initial=0.0)))
            self.applied.remember(self._posture(self.t, *found))
            if arrived():
                return None
            solver.y = self._packed(*found)
            solver.f = self.rates(solver.t, solver.y)
        return None

    def _values(self) -> dict[str, float]:
        return {d: float(self.model.drivers[d].motion(np.array([self.t]))[0, 0]) for d in self.drivers}


def _open(t: float) -> Stop:
    return Stop(t, f"at t = {t:.9g} s: the joints cannot be closed again - take a smaller [simulation] tolerance")
