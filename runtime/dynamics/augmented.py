"""Forward dynamics in absolute coordinates: the augmented system, with positions and velocities projected each step.

    [ M  Jᵀ ] [ a ]   [ Q - quadratic terms ]
    [ J  0  ] [-λ ] = [ d̈ - J̇ ν             ]

All bodies are free and all joints are rows: simple, indifferent to the choice of coordinates, and an oracle for the
other methods. The state is the poses and the twists.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanism.absolute import Absolute
from ..mechanism.assembly import Linear, close
from ..mechanism.model import Array, Model
from ..mechanism.rows import Poses, turned
from .applied import Applied
from .bodylanes import BodyLanes, Motions, one_lane
from .forces import Forces
from .inertia import Inertia, skew
from .partition import Counts, Stop
from .posture import Posture, poses_of, posture_of, width
from .record import Recorded, reactions_of
from .start import Start

TIGHTER = 1e-3  # the integrator's own tolerance, of the one asked for
RANK = 1e-10  # of the scaled augmented matrix: below, rows are in excess


class Augmented:
    """One forward simulation in absolute coordinates."""

    def __init__(self, model: Model, start: Start, reactions: bool = True) -> None:
        self.model = model
        self.system = Absolute(model)
        self.inertia = Inertia(model)
        self.applied = Applied(model, self.inertia)
        self.forces, self.reactions = Forces(model), reactions
        self._noted: list[tuple[BodyLanes, dict[str, Array]]] = []  # at the asked times, with turns of springs
        self.counts = Counts()
        self.t = start.posture.time
        self.n, self.width = len(model.bodies), width(model)
        self.drivers = tuple(model.drivers)
        self.poses = self.system.remember(poses_of(self.system, start.posture))
        self.twist = start.posture.twist.copy()

    # ---- the state as one vector ----------------------------------------------------------------------------------
    def _packed(self, poses: Poses, twist: Array) -> Array:
        if poses.planar:
            place = np.column_stack([poses.origin[1:, :2], poses.angle[1:]])
        else:
            place = np.column_stack([poses.origin[1:], poses.rotation[1:].reshape(-1, 9)])
        return np.concatenate([place.ravel(), twist[1:].ravel(), poses.contact])

    def _unpacked(self, y: Array) -> tuple[Poses, Array]:
        m, w = self.n - 1, self.width
        per = 3 if self.poses.planar else 12
        place = y[: per * m].reshape(m, per)
        twist = np.zeros((self.n, w))
        twist[1:] = y[per * m : per * m + w * m].reshape(m, w)
        origin, rotation, angle = self.poses.origin.copy(), self.poses.rotation.copy(), self.poses.angle.copy()
        d = self.model.dimension
        origin[1:, :d] = place[:, :d]
        if self.poses.planar:
            angle[1:] = place[:, 2]
            rotation = turned(angle)
        else:
            rotation[1:] = place[:, 3:].reshape(m, 3, 3)
        contact = y[(per + w) * m :]
        return Poses(origin, rotation, angle, contact, self.poses.turn, self.poses.planar), twist

    def _posture(self, t: float, poses: Poses, twist: Array) -> Posture:
        six = twist if self.width == 6 else np.zeros((self.n, 6))
        if self.width == 3:
            six[:, [0, 1, 5]] = twist
        return posture_of(poses, six, t)

    def posture(self) -> Posture:
        """Return the present posture."""
        return self._posture(self.t, self.poses, self.twist)

    # ---- equations ------------------------------------------------------------------------------------------------
    def accelerations(self, t: float, poses: Poses, twist: Array) -> tuple[Array, Array]:
        """Return the accelerations of the bodies (n x w) and the rates of the contacts of cams."""
        system, n = self.system, (self.n - 1) * self.width
        posture = self._posture(t, poses, twist)
        rows, columns = system.row_scale, system.column_scale
        J = system.jacobian(poses)
        jets = {d: self.model.drivers[d].motion(np.array([t]))[:3, 0] for d in self.drivers}
        velocity = np.concatenate([twist[1:].ravel(), self._contact_rates(J, twist, jets)])
        bend = system.per_driver({d: float(x[2]) for d, x in jets.items()}) - system.gamma(poses, velocity)
        M = np.zeros((system.n_columns, system.n_columns))
        w = self.width
        for k, block in enumerate(self.inertia.matrices(posture)[1:]):
            M[w * k : w * k + w, w * k : w * k + w] = block
        loads = np.zeros(system.n_columns)
        loads[:n] = (self.applied.wrenches(posture) - self.inertia.wrenches(posture, np.zeros_like(twist)))[1:].ravel()
        weight = max(float(np.abs(M * columns[:, None] * columns).max()), 1e-300)
        Js = J / rows[:, None] * columns
        Ms = M * columns[:, None] * columns / weight
        matrix = np.block([[Ms, Js.T], [Js, np.zeros((len(Js), len(Js)))]])
        rhs = np.concatenate([loads * columns / weight, bend / rows])
        found = np.linalg.lstsq(matrix, rhs, rcond=RANK)[0][: system.n_columns] * columns
        acceleration = np.zeros((self.n, w))
        acceleration[1:] = found[:n].reshape(-1, w)
        return acceleration, velocity[n:]

    def _contact_rates(self, J: Array, twist: Array, jets: dict[str, Array]) -> Array:
        n = (self.n - 1) * self.width
        if self.system.n_columns == n:
            return np.zeros(0)
        wanted = self.system.per_driver({d: float(x[1]) for d, x in jets.items()}) - J[:, :n] @ twist[1:].ravel()
        return np.asarray(np.linalg.lstsq(J[:, n:], wanted, rcond=None)[0])

    def rates(self, t: float, y: Array) -> Array:
        """Return dy/dt: the right-hand side of the integrator."""
        self.counts.evaluations += 1
        poses, twist = self._unpacked(y)
        acceleration, contact = self.accelerations(t, poses, twist)
        if poses.planar:
            place = twist[1:]
        else:
            turning = skew(twist[1:, 3:]) @ poses.rotation[1:]
            place = np.column_stack([twist[1:, :3], turning.reshape(-1, 9)])
        return np.concatenate([place.ravel(), acceleration[1:].ravel(), contact])

    def _projected(self, t: float, y: Array) -> tuple[Poses, Array] | None:
        """Return the closed poses and the twists that the joints allow, nearest to a state."""
        poses, twist = self._unpacked(y)
        jets = {d: self.model.drivers[d].motion(np.array([t]))[:2, 0] for d in self.drivers}
        closed = close(self.system, poses, {d: float(x[0]) for d, x in jets.items()}, 20)
        if closed is None:
            return None
        J = self.system.jacobian(closed)
        velocity = np.concatenate([twist[1:].ravel(), self._contact_rates(J, twist, jets)])
        miss = J @ velocity - self.system.per_driver({d: float(x[1]) for d, x in jets.items()})
        velocity = velocity - Linear(self.system, closed).solve(miss)
        found = np.zeros_like(twist)
        found[1:] = velocity[: (self.n - 1) * self.width].reshape(-1, self.width)
        return self.system.remember(closed), found

    # ---- the run --------------------------------------------------------------------------------------------------
    def _note(self, t: float, poses: Poses, twist: Array) -> None:
        """Keep what is reported at one instant."""
        acceleration, _ = self.accelerations(t, poses, twist)
        bodies = one_lane(self._posture(t, poses, twist), acceleration)
        self._noted.append((bodies, self.applied.turns_over(bodies)))

    def _record(self) -> Recorded:
        """Return everything that is reported at the noted instants."""
        model, n = self.model, len(self._noted)
        motions = Motions(model, n)
        for k, (bodies, _) in enumerate(self._noted):
            motions.put(slice(k, k + 1), bodies)
        bodies = motions.lanes()
        near = {name: np.array([t[name][0] for _, t in self._noted]) for name in (self._noted[0][1] if n else ())}
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
        stop = self._advance(times)
        return self._record(), stop

    def _advance(self, times: Array) -> Stop | None:
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
            solver.y = self._packed(*found)
            solver.f = self.rates(solver.t, solver.y)
        return None

    def _values(self) -> dict[str, float]:
        return {d: float(self.model.drivers[d].motion(np.array([self.t]))[0, 0]) for d in self.drivers}


def _open(t: float) -> Stop:
    return Stop(t, f"at t = {t:.9g} s: the joints cannot be closed again - take a smaller [simulation] tolerance")
