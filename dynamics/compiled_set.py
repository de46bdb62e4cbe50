"""One set of coordinates in compiled form: its arrays, and what Python and compiled code tell each other about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array, Function, Model
from ..runtime.sequencer import ADDRESS, PLACE, STEP_SIZE, address
from . import array_heads as chain
from . import equation_kernels, integrator
from . import load_kernels as loads
from .applied_loads import Applied
from .coordinates import JointCoordinate
from .inertia import Inertia
from .instant_kinematics import Mechanics
from .set_arrays import (
    SetArrays,
    write_angles,
    write_candidates,
    write_functions,
    write_loads,
    write_masses,
    write_sequence,
)


class Machine:
    """The compiled equations of motion of one set of coordinates.

    `candidates` are the joint coordinates that are watched, `chosen` those in use, which come behind the drivers.
    """

    def __init__(
        self, model: Model, mechanics: Mechanics, inertia: Inertia, applied: Applied,
        candidates: Sequence[JointCoordinate], chosen: Sequence[JointCoordinate],
    ) -> None:  # fmt: skip
        program = mechanics.program
        driven = [d for d in mechanics.drivers if d in model.drivers]
        free = [d for d in mechanics.drivers if d not in model.drivers]
        tape = SetArrays(program, len(free))
        functions: list[Function] = [model.drivers[d].motion for d in driven]
        self._bridged = write_sequence(tape, program.drivers[free[0]] if len(free) == 1 and not driven else None)
        write_masses(tape, model, inertia, applied.gravity)
        self._turns = write_loads(tape, applied.model, functions)
        write_angles(tape, model)
        write_candidates(tape, model, candidates)
        write_functions(tape, functions)
        tape.ints[chain.DRIVEN] = len(driven)
        tape.ints[chain.DRIVEN_AT] = tape.places([tape.row(program.drivers[d]) for d in driven])
        tape.ints[chain.FREE_AT] = tape.places([tape.row(program.drivers[d]) for d in free])
        self.mechanics, self.candidates, self.chosen = mechanics, tuple(candidates), tuple(chosen)
        self.f, self.size = len(free), model.size
        self.ints = np.array(tape.ints, dtype=np.int64)
        self.floats = np.array(tape.floats, dtype=np.float64)
        self._connect()
        for row, value in program.constants.items():
            self.state[row, 0] = value
        for j, d in enumerate(free):
            self.state[program.drivers[d], 3 + j] = 1.0
        self.scale = np.array([1.0 if c.kind == "angle" else model.size for c in chosen])

    def _connect(self) -> None:
        """Write the addresses of compiled code and of the arrays themselves."""
        ints = self.ints
        for place, part in equation_kernels.compiled().items():
            ints[place] = part.address
        if ints[chain.LOADS]:
            ints[chain.LOAD_CODE] = loads.adding().address
        if ints[chain.TURNS]:
            ints[chain.TURN_CODE] = loads.following().address
        if ints[chain.N_FUNCTIONS]:
            ints[chain.FUNCTIONS] = equation_kernels.functions_of_time().address
        ints[chain.OWN_INTS], ints[chain.OWN_FLOATS] = ints.ctypes.data, self.floats.ctypes.data

    @property
    def kinetic(self) -> float:
        """The kinetic energy at the last evaluation."""
        return float(self.floats[chain.KINETIC])

    def slight(self, rate: float) -> float:
        """Return the kinetic energy where every coordinate has a rate (of its scale), at the last evaluation."""
        M = np.abs(self._part(chain.MATRIX, self.f, self.f))
        # of more than one coordinate the equations leave the factor of Cholesky there: M = L Lᵀ
        double = M.diagonal() if self.f == 1 else (np.tril(M) ** 2).sum(axis=1)
        return 0.5 * float(double @ (rate * self.scale) ** 2)

    @property
    def jumped(self) -> str | None:
        """The group of the row that jumped in the last attempt of a step, "" where only the energy did; None: none."""
        row = int(self.floats[chain.JUMP]) - 1
        if row == -1:
            return None
        return next((s.plan.name for s in self.mechanics.groups if row in s.phi_rows), "")

    # ---- views ----------------------------------------------------------------------------------------------------
    @property
    def state(self) -> Array:
        """The rows: q, q̇, q̈ without z̈, and R, n x (3 + f)."""
        return self._part(chain.STATE, 3 + self.f, int(self.ints[chain.ROWS])).T

    def _part(self, head: int, rows: int, columns: int) -> Array:
        at = int(self.ints[head])
        return self.floats[at : at + rows * columns].reshape(rows, columns)

    def rates(self, t: float, y: Array) -> Array:
        """Return ẏ of y = (z, ż), behind it the power; not a number where the groups have no solution."""
        found = np.empty((1, 2 * self.f + 1))
        if not integrator.rates(self.ints, self.floats, t, y, found, 0):
            found[:] = np.nan
        return np.asarray(found[0])

    def room(self, lanes: int) -> tuple[Array, Array, Array]:
        """Return room for all rows (3 + f x row x lane: q, q̇, q̈, R), planar angles and turns of torsion springs."""
        rows, bodies = int(self.ints[chain.ROWS]), int(self.ints[chain.BODIES])
        return np.empty((3 + self.f, rows, lanes)), np.empty((bodies, lanes)), np.empty((len(self._turns), lanes))

    @property
    def springs(self) -> tuple[str, ...]:
        """The torsion springs, in the order of their turns."""
        return tuple(self._turns)

    # ---- from Python to compiled code -----------------------------------------------------------------------------
    def enter(self, t: float, y: Array) -> Array:
        """Take branches, bridge, predictions and angles over from the mechanics; return ẏ."""
        mechanics, x = self.mechanics, self.floats
        self._put_groups()
        known = mechanics.known
        assert known is not None, "the mechanics has accepted a state"
        self._part(chain.BASE, 3, int(self.ints[chain.ROWS]))[:] = known[1]
        x[chain.BASE_TIME] = known[0]
        if mechanics.angles is not None and self.ints[chain.BODIES]:
            _, angle, rate, bend = mechanics.angles
            self._part(chain.ANGLES, len(angle), 3)[:] = np.column_stack([angle, rate, bend])
        found = self.rates(t, y)
        equation_kernels.accept(self.ints, x)
        return found

    def _put_groups(self) -> None:
        """Write the signs of all groups, and of those on a bridge their polynomials and the signs behind it."""
        mechanics, ints, x = self.mechanics, self.ints, self.floats
        signs = self._part(chain.SIGNS, 1, int(ints[chain.N_SIGNS]))[0]
        sequence, bridge = mechanics.program.sequence, mechanics.bridge
        for name, own in mechanics.signs.items():
            at = sequence.items[sequence.groups[name]].sign_place
            signs[at : at + len(own)] = own
        at, n = int(ints[chain.SOLVING]), int(ints[chain.N_SOLVING])
        steps = ints[at : at + STEP_SIZE * n].reshape(n, STEP_SIZE)
        for entry in self._entries():  # those of the last bridge
            steps[entry[chain.STEP], [ADDRESS, PLACE]] = entry[[chain.OWN_ADDRESS, chain.OWN_TABLE]]
        ints[chain.BRIDGED] = 0 if bridge is None else len(bridge.after)
        if bridge is None:
            return
        self._part(chain.BRIDGE, 1, 3)[0] = bridge.z, bridge.reach, bridge.way
        for entry, (name, after) in zip(self._entries(), bridge.after.items(), strict=True):
            entry[:] = self._bridged[name]
            entry[chain.BRIDGE_ADDRESS] = address(chain.bridge)  # compiled where there is one
            sides, n = int(entry[chain.SIDES]), len(after)
            x[sides : sides + n], x[sides + n : sides + 2 * n] = mechanics.signs[name], after
            at = sides + 2 * n  # the series come behind the signs
            for parts in bridge.series[name]:
                for part in parts:
                    x[at : at + chain.TERMS] = 0.0
                    x[at : at + len(part.coef)] = part.coef
                    at += chain.TERMS

    def _entries(self) -> NDArray[np.int64]:
        """The groups on the bridge."""
        at, n = int(self.ints[chain.BRIDGE_AT]), int(self.ints[chain.BRIDGED])
        return self.ints[at : at + chain.BRIDGED_SIZE * n].reshape(n, chain.BRIDGED_SIZE)

    def watch(self, lengths: dict[JointCoordinate, float]) -> None:
        """Set the squared lengths of the coordinates' directions in the tree, which the criterion divides by."""
        at = int(self.ints[chain.LENGTHS])
        values = [lengths[c] for c in (*self.candidates, *self.chosen)]
        self.floats[at : at + len(values)] = values

    def turn(self, turns: dict[str, float]) -> None:
        """Set the turns of torsion springs from which the next ones are counted."""
        for name, place in self._turns.items():
            self.floats[place : place + 2] = turns[name], 0.0

    # ---- and back -------------------------------------------------------------------------------------------------
    def leave(self, applied: Applied) -> None:
        """Give the mechanics what is needed to evaluate next to the accepted state: starts, angles, turns."""
        mechanics, x = self.mechanics, self.floats
        t = float(x[chain.BASE_TIME])
        mechanics.known = (t, self._part(chain.BASE, 3, int(self.ints[chain.ROWS])).copy())
        mechanics.near = {row: float(mechanics.known[1][0, row]) for row in mechanics.near}
        if self.ints[chain.BODIES]:
            angle, rate, bend = self._part(chain.ANGLES, int(self.ints[chain.BODIES]), 3).T.copy()
            mechanics.angles = (t, angle, rate, bend)
        for name, place in self._turns.items():
            applied.turns[name] = float(x[place])
