"""Forward dynamics by divide and conquer with an augmented Lagrangian, after Malczyk and Frączek.

Absolute coordinates (centre and angle, or centre and Euler parameters), all constraints kept, redundant ones too; the
linear work of a right-hand side grows with the number of bodies. `dca` stabilises the constraints by their frequency Ω
and damping μ, `dca-projected` projects positions and velocities onto them after every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanism.absolute import Absolute
from ..mechanism.model import Array, Model
from .applied_loads import Applied
from .bodylanes import BodyLanes, Motions, one_lane
from .dca_system import (
    ACCELERATION, ALPHA, FACTORED, FAILURES, FREQUENCY, ITERATIONS, N_SETTINGS, OPEN, POSITION, STABLE, VELOCITY,
    DcaSystem,
)  # fmt: skip
from .joint_forces import Forces
from .inertia import Inertia
from .initial_state import Start
from .posture import Posture
from .records import Counts, Recorded, Stop, reactions_of

METHODS = ("dca", "dca-projected")
ROUGH = 1e-6  # tolerances from here on are served by order 5, finer ones by order 8
OPEN_JOINTS = 1e-8  # of the size: what a projection may leave of Φ
SHOWN = 100  # bodies up to which the tree is written out


class DivideAndConquer:
    """One forward simulation by divide and conquer."""

    def __init__(self, model: Model, start: Start, method: str = "dca", reactions: bool = True) -> None:
        from . import dca_stepping as stepping

        self.model, self.method, self.reactions = model, method, reactions
        self.inertia = Inertia(model)
        self.applied, self.forces = Applied(model, self.inertia), Forces(model)
        self.counts = Counts()
        given = model.simulation.dca
        settings = np.zeros(N_SETTINGS)
        settings[[ALPHA, FREQUENCY, STABLE]] = given.penalty, given.frequency, given.damping
        settings[[POSITION, VELOCITY, ACCELERATION]] = given.position, given.velocity, given.acceleration
        settings[OPEN] = OPEN_JOINTS * max(model.size, 1.0)
        self.system = DcaSystem(model, self.inertia, settings, given.iterations)
        posture = start.posture
        self.t, self.tolerance = posture.time, model.simulation.tolerance
        self.y = self._packed(posture)
        springs = self.applied.turns_over(one_lane(posture))
        self.system.loads.turns = np.array([float(springs[name][0]) for name in self.system.loads.springs])
        n = len(self.y)
        self.K, self.F, self.trial = np.zeros((16, n)), np.zeros((9, n)), np.zeros(n)
        self.control, self.told = np.zeros(stepping.N_CONTROL), np.zeros(stepping.N_COUNTS, dtype=np.int64)
        self.told[stepping.ORDER] = stepping.FIVE if self.tolerance >= ROUGH else stepping.EIGHT
        self.told[stepping.PROJECTED] = method == "dca-projected"
        self._remember(start)

    # ---- the state ------------------------------------------------------------------------------------------------
    def _packed(self, start: Posture) -> Array:
        """Return the coordinates of all bodies, behind them their rates."""
        d = self.model.dimension
        arm = np.einsum("nij,nj->ni", start.rotation, self.inertia.centre)[1:]
        place, twist = start.origin[1:] + arm, start.twist[1:].copy()
        if d == 2:
            twist[:, :2] += start.twist[1:, 2:] * np.column_stack([-arm[:, 1], arm[:, 0]])
            turned = start.angle[1:, None]
        else:
            twist[:, :3] += np.cross(start.twist[1:, 3:], arm)
            turned = euler_parameters(start.rotation[1:])
            twist = np.column_stack([twist[:, :3], _times(0.5 * twist[:, 3:].T, turned.T).T])
        return np.concatenate([np.column_stack([place, turned]).ravel(), twist.ravel()])

    def _remember(self, start: Start) -> None:
        """Let turns of screws and contacts of cams be counted from the start."""
        joints = self.system.joints
        line = joints.table.joints()
        for batch in Absolute(self.model).batches:
            cam = batch.kind.startswith("cam")
            if cam or batch.kind == "H":
                known = (start.poses.contact if cam else start.poses.turn)[batch.memory]
                joints.memory[[line[name] for name in batch.names]] = known

    def _lanes(self, times: Array, states: Array, bends: Array) -> tuple[Motions, BodyLanes]:
        """Return states (lane x n) and accelerations (lane x body x w) as the motion of all bodies' origins."""
        d, m = self.model.dimension, len(self.model.bodies) - 1
        per, n = 3 if d == 2 else 7, len(times)
        motions = Motions(self.model, n)
        motions.time[:] = times
        motions.origin[:, 0], motions.turn[:, 0] = 0.0, 0.0
        q = states[:, : per * m].reshape(n, m, per).transpose(1, 2, 0)
        twist = states[:, per * m :].reshape(n, m, per).transpose(1, 2, 0)
        bend = bends.transpose(1, 2, 0)
        if d == 2:
            motions.turn[:, 1:, 0] = q[:, 2], twist[:, 2], bend[:, 2]
            c, s = np.cos(q[:, 2]), np.sin(q[:, 2])
            rotation = np.array([[c, -s], [s, c]]).transpose(2, 0, 1, 3)
        else:
            twist = np.concatenate([twist[:, :3], spins(q[:, 3:], twist[:, 3:])], axis=1)
            motions.turn[0], motions.turn[1, 1:], motions.turn[2, 1:] = 0.0, twist[:, 3:], bend[:, 3:]
            rotation = rotations(q[:, 3:])
            assert motions.rotation is not None
            motions.rotation[0] = np.eye(3)[:, :, None]
            motions.rotation[1:] = rotation
        arm = np.einsum("bijn,bj->bin", rotation, self.inertia.centre[1:])
        spin, turn = (np.moveaxis(x[:, d:], 1, 2) for x in (twist, bend))  # body x lane x s
        side = np.moveaxis(arm, 1, 2)
        around, faster = (_across(x, side) for x in (spin, turn))
        motions.origin[0, 1:] = q[:, :d] - arm
        motions.origin[1, 1:] = twist[:, :d] - np.moveaxis(around, 2, 1)
        motions.origin[2, 1:] = bend[:, :d] - np.moveaxis(faster + _across(spin, around), 2, 1)
        return motions, motions.lanes()

    # ---- running --------------------------------------------------------------------------------------------------
    def run(self, times: Array) -> tuple[Recorded, Stop | None]:
        """Return what is reported at increasing times from the start on, and why they end early."""
        from . import dca_stepping as stepping

        times = np.array(times, dtype=np.float64)  # one that is read only would be compiled for anew
        s, m = self.system.tables, len(self.model.bodies) - 1
        out, bends = np.zeros((len(times), len(self.y))), np.zeros((len(times), m, s.J.shape[2]))
        turns = np.zeros((len(times), len(self.system.loads.springs)))
        stop, projected = None, self.told[stepping.PROJECTED]
        ready = stepping.settle(s, self.t, self.y, projected)
        if not ready:
            stop = Stop(self.t, f"at t = {self.t:.9g} s: no accelerations follow from masses and joints")
        if ready:
            stepping.put_rates(s, self.y, self.K[0])
            self.system.joints.remember()
        k = 0
        while ready and k < len(times) and times[k] <= self.t:
            out[k] = self.y
            stepping.note(s, self.t, out[k], projected, bends[k], turns[k])
            k += 1
        self.told[stepping.NEXT] = k
        if ready and k < len(times):
            stop = self._advance(times, out, bends, turns)
        self._count()
        n = int(self.told[stepping.NEXT])
        return self._record(times[:n], out[:n], bends[:n], turns[:n]), stop

    def _advance(self, times: Array, out: Array, bends: Array, turns: Array) -> Stop | None:
        from . import dca_stepping as stepping

        control, s = self.control, self.system.tables
        atol, table = np.full(len(self.y), self.tolerance), stepping.tableau(int(self.told[stepping.ORDER]))
        control[stepping.TIME], control[stepping.END] = self.t, times[-1]
        control[stepping.TOLERANCE], control[stepping.STEP] = self.tolerance, self._first_step(float(times[-1]) - self.t)
        while control[stepping.TIME] < times[-1]:
            why = stepping.advance(
                s, *table, self.y, self.K, self.F, self.trial, atol, control, self.told, times, out, bends, turns
            )
            self.t = float(control[stepping.TIME])
            if why == stepping.FAILED:
                return Stop(self.t, f"at t = {self.t:.9g} s: the integrator's steps became too small")
        return None

    def _first_step(self, left: float) -> float:
        """Return Hairer, Nørsett and Wanner's first guess of a step."""
        from . import dca_stepping as stepping

        y, rate, order = self.y, self.K[0], int(self.told[stepping.ORDER])
        scale = self.tolerance * (1.0 + np.abs(y))

        def norm(v: Array) -> float:
            return float(np.sqrt(np.mean((v / scale) ** 2)))

        d0, d1 = norm(y), norm(rate)
        h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, left)
        ahead = np.zeros_like(y)
        if not stepping.rates(self.system.tables, self.t + h, y + h * rate, ahead):
            return h
        largest = max(d1, norm(ahead - rate) / h)
        exponent = 1.0 / (5.0 if order == stepping.FIVE else 8.0)
        more = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** exponent
        return float(min(100 * h, more, left))

    # ---- results --------------------------------------------------------------------------------------------------
    def _count(self) -> None:
        from . import dca_stepping as stepping

        self.counts.steps = int(self.told[stepping.STEPS])
        self.counts.evaluations = int(self.told[stepping.EVALUATIONS])
        self.counts.residual = float(self.system.tables.largest[0]) / self.model.size

    def notes(self) -> dict[str, Any]:
        """Return what the diagnostics say of the method: tree, iterations, largest norms of Φ, Φ̇ and Φ̈."""
        tree, s = self.system.tree, self.system.tables
        names = self.system.names
        shown: dict[str, Any] = {"nodes": len(tree.nodes), "levels": len(tree.levels)}
        if len(names) <= SHOWN:
            shown["tree"] = tree.described(names)
        position, velocity, acceleration = s.largest.tolist()
        return {
            "constraints": {"position": position, "velocity": velocity, "acceleration": acceleration},
            "iterations": int(s.counts[ITERATIONS]),
            "factorisations": int(s.counts[FACTORED]),
            "unconverged": int(s.counts[FAILURES]),
            "assembly": shown,
        }

    def _record(self, times: Array, states: Array, bends: Array, turns: Array) -> Recorded:
        """Return everything that is reported."""
        model = self.model
        motions, bodies = self._lanes(times, states, bends)
        near = dict(zip(self.system.loads.springs, turns.T, strict=True))
        inertia, kinetic = self.inertia.over(bodies)
        lack = inertia - self.applied.over(bodies, near=near)
        found = self.forces.solve(bodies, lack[None], np.zeros(len(times), dtype=bool))
        return Recorded(
            motions.time, motions.by_name(), kinetic, self.applied.potential_over(bodies, near),
            dict(zip(model.drivers, found.drivers[0], strict=True)),
            reactions=reactions_of(model, found.wrenches) if self.reactions else {},
        )  # fmt: skip

    @property
    def not_unique(self) -> set[str]:
        """The joints whose reactions were not unique so far."""
        return self.forces.not_unique


def _across(one: Array, two: Array) -> Array:
    """Return one × two, body x lane x component; in the plane `one` is about the normal."""
    if one.shape[2] == 3:
        return np.asarray(np.cross(one, two))
    return np.asarray(one * np.stack([-two[..., 1], two[..., 0]], axis=2))


def euler_parameters(rotation: Array) -> Array:
    """Return the Euler parameters (n x 4, scalar first) of rotations."""
    from scipy.spatial.transform import Rotation

    return np.asarray(np.roll(Rotation.from_matrix(rotation).as_quat(), 1, axis=1))


def _times(x: Array, p: Array) -> Array:
    """Return the product (0, x) p of a vector (3 x n) and Euler parameters (4 x n)."""
    return np.concatenate([-np.sum(x * p[1:], axis=0)[None], x * p[0] + np.cross(x, p[1:], axis=0)])


def spins(p: Array, rate: Array) -> Array:
    """Return the angular velocities (body x 3 x lane, global axes) of Euler parameters and their rates: 2 G ṗ."""
    scalar, vector = p[:, :1], p[:, 1:]
    found = scalar * rate[:, 1:] - rate[:, :1] * vector + np.cross(vector, rate[:, 1:], axis=1)
    return np.asarray(2.0 * found / np.sum(p * p, axis=1, keepdims=True))


def rotations(p: Array) -> Array:
    """Return the rotations (body x 3 x 3 x lane) of Euler parameters (body x 4 x lane), which need not be units."""
    e0, e1, e2, e3 = np.moveaxis(p / np.linalg.norm(p, axis=1, keepdims=True), 1, 0)
    return 2.0 * np.array([
        [0.5 - e2 * e2 - e3 * e3, e1 * e2 - e0 * e3, e1 * e3 + e0 * e2],
        [e1 * e2 + e0 * e3, 0.5 - e1 * e1 - e3 * e3, e2 * e3 - e0 * e1],
        [e1 * e3 - e0 * e2, e2 * e3 + e0 * e1, 0.5 - e1 * e1 - e2 * e2],
    ]).transpose(2, 0, 1, 3)  # fmt: skip
