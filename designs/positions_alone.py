"""Designs of whose motion positions alone are asked: closed forms without rates, and what designs have in common.

A group of one branch whose known coordinates are the same for all designs (a crank on the frame, driven by a formula
without parameters) is linear in its lengths: what they are multiplied with, the sines of a turn, is found once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.numbers.traced import Traced
from ..mechanism.plans.plan import Array
from ..runtime.sequence import Ints, Item

if TYPE_CHECKING:
    from .compiled_mechanism import CompiledMechanism

LINEAR = 1e-13  # relative; largest miss of a group that is linear in its parameters


class PositionsAlone:
    """The steps of a compiled mechanism that find positions, and the rows that all designs share."""

    def __init__(self, compiled: CompiledMechanism) -> None:
        self.compiled = compiled
        program = compiled.mechanism.program
        sequence = program.sequence
        self.n_rows = program.n_rows
        self._common: list[tuple[int, Item, int]] = []  # number of the item, the item, first row of its bases
        tables = compiled.tables.tolist()
        self._places: dict[int, int] = {}
        for i in compiled.solving:
            item = sequence.items[i]
            step, group = item.group_step, item.group
            if step is None or group is None or group.branches or not all(map(self._known, step.h_rows.tolist())):
                continue
            n_par, par_at = len(group.parameters), self._par_at(item)
            if n_par == 0 or not self._linear(i, item):
                continue
            self._common.append((i, item, self.n_rows))
            self._places[i] = len(tables)
            tables += [len(step.phi_rows), n_par, par_at]
            for row, still in zip(step.phi_rows.tolist(), self._still(i, item), strict=True):
                tables += [row, self.n_rows, int(still)]
                self.n_rows += 1 + n_par
        self.tables: Ints = np.array(tables, dtype=np.int64)

    @staticmethod
    def able(compiled: CompiledMechanism) -> bool:
        """Return whether all groups are closed forms and nothing else needs rates: no angle, no residual."""
        sequence = compiled.mechanism.program.sequence
        items = [sequence.items[i] for i in compiled.solving]
        plain = all(x.kind == "combination" or (x.group_step is not None and x.closed) for x in items)
        whole = len(sequence.steps("positions", compiled.solving)) == len(items)
        return plain and whole and not compiled.angle_items and not compiled.mechanism.structure.redundant

    def _known(self, row: int) -> bool:
        """Return whether a row is the same for all designs."""
        program = self.compiled.mechanism.program
        if row in program.constants:
            return not isinstance(program.constants[row], Traced)
        return row in self.compiled.driver_rows.tolist() and not program.sequence.moving

    def _par_at(self, item: Item) -> int:
        step = item.group_step
        assert step is not None
        sequence = self.compiled.mechanism.program.sequence
        return int(sequence.tables[item.place + len(step.h_rows) + len(step.phi_rows)])

    def _at(self, i: int, item: Item, grid: Array, state: Array, parameters: Array) -> Array:
        """Return φ of a group at other parameters."""
        step, sequence = item.group_step, self.compiled.mechanism.program.sequence
        assert step is not None
        numbers, at = sequence.numbers.copy(), self._par_at(item)
        numbers[at : at + len(parameters)] = parameters
        state, signs = state.copy(), np.ones((1, max(sequence.n_signs, 1)))
        sequence.run("td", grid, state, np.array([0, len(grid)]), signs, [i], numbers=numbers)
        return np.array(state[0, step.phi_rows])

    def _anywhere(self) -> tuple[Array, Array]:
        """Return some times and a state with the constants in it, and drivers far from each other and from the motion.

        What groups have in common for all designs must not be told from the asked times: these may not show a motion.
        """
        compiled, grid = self.compiled, np.linspace(-2.9, 3.3, 9)
        program = compiled.mechanism.program
        sequence, state = program.sequence, np.zeros((3, program.n_rows, len(grid)))
        edges = np.array([0, len(grid)])
        sequence.run("constants", grid, state, edges, np.zeros((1, 0)), sequence.of_kind("constants"))
        for k, row in enumerate(compiled.driver_rows.tolist()):
            state[0, row] = np.roll(grid, k)
        return grid, state

    def _still(self, i: int, item: Item) -> list[bool]:
        """Return for each φ whether, without its parameters, it is the same at any time and wherever drivers are."""
        grid, state = self._anywhere()
        base, _ = self._slopes(i, item, grid, state)
        return [bool(x) for x in np.ptp(base, axis=1) == 0.0]

    def _linear(self, i: int, item: Item) -> bool:
        """Return whether φ is linear in the parameters, as two sets of them tell."""
        sequence, (grid, state) = self.compiled.mechanism.program.sequence, self._anywhere()
        base, slopes = self._slopes(i, item, grid, state)
        at, n_par = self._par_at(item), len(slopes)
        nominal = sequence.numbers[at : at + n_par]
        for parameters in (nominal, nominal * np.linspace(0.7, 1.9, n_par) + 0.1):
            found = self._at(i, item, grid, state, parameters)
            miss = np.abs(found - base - np.tensordot(parameters, slopes, 1)).max()
            if not miss <= LINEAR * max(np.abs(found).max(), 1e-300):
                return False
        return True

    def _slopes(self, i: int, item: Item, grid: Array, state: Array) -> tuple[Array, Array]:
        """Return φ without its parameters, and what each of them adds: base[φ, lane], slopes[parameter, φ, lane]."""
        group = item.group
        assert group is not None
        n_par = len(group.parameters)
        base = self._at(i, item, grid, state, np.zeros(n_par))
        return base, np.stack([self._at(i, item, grid, state, e) - base for e in np.eye(n_par)])

    def fill(self, grid: Array, state: Array) -> None:
        """Write the rows that designs share, once the drivers and constants stand in theirs."""
        for i, item, row in self._common:
            base, slopes = self._slopes(i, item, grid, np.ascontiguousarray(state))
            for k in range(len(base)):
                state[0, row] = base[k]
                state[0, row + 1 : row + 1 + len(slopes)] = slopes[:, k]
                row += 1 + len(slopes)

    def steps(self, folded: bool) -> Ints:
        """Return the steps in the order of those that solve; groups that designs share are combinations."""
        from ..runtime.items import affine
        from ..runtime.sequencer import ADDRESS, N_PHI, PLACE, address

        compiled = self.compiled
        found = compiled.mechanism.program.sequence.steps("positions", compiled.solving, folded).copy()
        for k, i in enumerate(compiled.solving):
            if i in self._places:
                found[k] = 0
                found[k, [ADDRESS, PLACE, N_PHI]] = address(affine), self._places[i], -1
        return found
