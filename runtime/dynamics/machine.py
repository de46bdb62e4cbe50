"""One set of coordinates in compiled form: its arrays, and what Python and compiled code tell each other about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..mechanism.model import Array, Function, Model
from ..motion.program import GroupStep
from . import chain, equationkernels, integrator, loads
from .applied import Applied
from .coordinates import Coordinate
from .inertia import Inertia
from .mechanics import Mechanics
from .tape import Tape, write_angles, write_candidates, write_functions, write_items, write_loads, write_masses
from .transform import transform_module


class Machine:
    """The compiled equations of motion of one set of coordinates.

    `candidates` are the joint coordinates that are watched, `chosen` those in use, which come behind the drivers.
    """

    def __init__(
        self, model: Model, mechanics: Mechanics, inertia: Inertia, applied: Applied,
        candidates: Sequence[Coordinate], chosen: Sequence[Coordinate],
    ) -> None:  # fmt: skip
        program = mechanics.program
        driven = [d for d in mechanics.drivers if d in model.drivers]
        free = [d for d in mechanics.drivers if d not in model.drivers]
        tape = Tape(program, len(free))
        functions: list[Function] = [model.drivers[d].motion for d in driven]
        variants = write_items(tape)
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
        self._module = transform_module(variants)
        self._connect()
        for row, value in program.constants.items():
            self.state[row, 0] = value
        for j, d in enumerate(free):
            self.state[program.drivers[d], 3 + j] = 1.0
        self.scale = np.array([1.0 if c.kind == "angle" else model.size for c in chosen])

    def _connect(self) -> None:
        """Write the addresses of compiled code and of the arrays themselves."""
        ints, module = self.ints, self._module
        ints[chain.TRANSFORM], ints[chain.DISTANCES] = module.transform.address, module.distance.address
        for place, part in equationkernels.compiled().items():
            ints[place] = part.address
        if ints[chain.LOADS]:
            ints[chain.LOAD_CODE] = loads.adding().address
        if ints[chain.TURNS]:
            ints[chain.TURN_CODE] = loads.following().address
        if ints[chain.N_FUNCTIONS]:
            ints[chain.FUNCTIONS] = equationkernels.functions_of_time().address
        ints[chain.OWN_INTS], ints[chain.OWN_FLOATS] = ints.ctypes.data, self.floats.ctypes.data

    # ---- views ----------------------------------------------------------------------------------------------------
    @property
    def state(self) -> Array:
        """The rows: q, q̇, q̈ without z̈, and R, n x (3 + f)."""
        at, n, w = (int(self.ints[i]) for i in (chain.STATE, chain.ROWS, chain.WIDTH))
        return self.floats[at : at + n * w].reshape(n, w)

    def _part(self, head: int, rows: int, columns: int) -> Array:
        at = int(self.ints[head])
        return self.floats[at : at + rows * columns].reshape(rows, columns)

    def rates(self, t: float, y: Array) -> Array:
        """Return ẏ of y = (z, ż); not a number where the groups have no solution."""
        found = np.empty((1, 2 * self.f))
        if not integrator.rates(self.ints, self.floats, t, y, found, 0):
            found[:] = np.nan
        return np.asarray(found[0])

    def evaluate(self, times: Array, states: Array) -> tuple[Array, Array, int]:
        """Return all rows (3 + f x row x lane: q, q̇, q̈, R) and planar angles at states, and how many have a solution.

        The states are next to the last accepted one.
        """
        n = len(times)
        rows = np.empty((3 + self.f, int(self.ints[chain.ROWS]), n))
        angles = np.empty((int(self.ints[chain.BODIES]), n))
        K = np.empty((1, 2 * self.f))
        reached = integrator.evaluate(self.ints, self.floats, times, np.ascontiguousarray(states), K, rows, angles)
        return rows, angles, int(reached)

    def turns_ahead(self, times: Array) -> dict[str, Array]:
        """Return the turns of torsion springs as they are predicted from the last accepted state."""
        x, dt = self.floats, times - self.floats[chain.BASE_TIME]
        return {name: x[place] + dt * x[place + 1] for name, place in self._turns.items()}

    # ---- from Python to compiled code -----------------------------------------------------------------------------
    def enter(self, t: float, y: Array) -> Array:
        """Take branches, bridge, predictions and angles over from the mechanics; return ẏ."""
        mechanics, x = self.mechanics, self.floats
        self._put_groups()
        base = self._part(chain.BASE, int(self.ints[chain.ROWS]), 3)
        known = mechanics.known
        assert known is not None, "the mechanics has accepted a state"
        base[:] = known[1].T
        x[chain.BASE_TIME] = known[0]
        if mechanics.angles is not None and self.ints[chain.BODIES]:
            _, angle, rate, bend = mechanics.angles
            self._part(chain.ANGLES, len(angle), 3)[:] = np.column_stack([angle, rate, bend])
        found = self.rates(t, y)
        equationkernels.accept(self.ints, x)
        return found

    def _put_groups(self) -> None:
        mechanics, x = self.mechanics, self.floats
        bridge = mechanics.bridge
        self.ints[chain.BRIDGED] = bridge is not None
        if bridge is not None:
            at = int(self.ints[chain.BRIDGE])
            x[at : at + 3] = bridge.z, bridge.reach, bridge.way
        for i, step in enumerate(mechanics.program.steps):
            if not isinstance(step, GroupStep):
                continue
            o = int(self.ints[chain.ITEM]) + chain.ITEM_SIZE * i
            name, n = step.plan.name, len(step.solver.group.module.BRANCHES)
            signs, block = int(self.ints[o + 4]), int(self.ints[o + 5])
            x[signs : signs + n] = mechanics.signs[name]
            if block == 0:
                continue
            x[block] = 0.0
            if bridge is not None and name in bridge.after:
                x[block] = 1.0
                x[block + 1 : block + 1 + n] = bridge.after[name]
                for r, parts in enumerate(bridge.series[name]):
                    for order, part in enumerate(parts):
                        at = block + 1 + n + chain.TERMS * (3 * r + order)
                        x[at : at + chain.TERMS] = 0.0
                        x[at : at + len(part.coef)] = part.coef

    def watch(self, lengths: dict[Coordinate, float]) -> None:
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
        mechanics.known = (t, self._part(chain.BASE, int(self.ints[chain.ROWS]), 3).T.copy())
        mechanics.near = {row: float(mechanics.known[1][0, row]) for row in mechanics.near}
        if self.ints[chain.BODIES]:
            angle, rate, bend = self._part(chain.ANGLES, int(self.ints[chain.BODIES]), 3).T.copy()
            mechanics.angles = (t, angle, rate, bend)
        for name, place in self._turns.items():
            applied.turns[name] = float(x[place])
