"""Numbers of designs from a tape: what is needed of it in rows for the compiled interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Array
from .traced import Traced
from .value_tape import Tape

BLOCK = 256  # designs at once: a few hundred rows of them stay in the cache
Kept = NDArray[np.bool_]


class Numbers:
    """A function from parameters to numbers: values, whether all decisions stay, and exact derivatives.

    Designs are columns: (n_parameters, n_designs), parameters in the order of the tape's inputs.
    """

    def __init__(self, tape: Tape, wanted: Sequence[Any]) -> None:
        from . import tape_kernels

        self._evaluate, self._tangents = tape_kernels.evaluate, tape_kernels.tangents
        nodes = [x.index if isinstance(x, Traced) else tape.constant(float(x)) for x in wanted]
        live = _live(tape, nodes)
        constants = [i for i in live if tape.nodes[i][0] == "constant"]
        operations = [i for i in live if tape.nodes[i][0] not in ("constant", "input")]
        row = {node: k for k, node in enumerate([*constants, *tape.inputs, *operations])}
        starts: dict[int, int] = {}
        wide: list[int] = []
        code = []
        for i in operations:
            operation, a, b = tape.nodes[i]
            if operation == "fit":
                starts[i] = len(wide)
                wide += [row[x] for x in tape.wide[a]]
            first = starts[i] if operation == "fit" else row[a]
            code.append((tape_kernels.OPERATIONS[operation], first, row.get(b, 0)))
        guards = [(tape_kernels.RELATIONS[r], row[a], row.get(b, 0)) for r, a, b in tape.guards]
        self.n_parameters, self.n_wanted, self.n_operations = len(tape.inputs), len(nodes), len(code)
        self._code = np.array(code, dtype=np.int64).reshape(-1, 3)
        self._wide = np.array(wide, dtype=np.int64)
        self._guards = np.array(guards, dtype=np.int64).reshape(-1, 3)
        self._wanted = np.array([row[n] for n in nodes], dtype=np.int64)
        self._constants = np.array([tape.values[i] for i in constants])
        self._n_rows = len(row)
        self._spare: dict[int, list[Array]] = {1: [], BLOCK: []}  # rows by width, none of them in use

    @contextmanager
    def _rows(self, n_designs: int) -> Iterator[Array]:
        """Lend rows for the interpreter, to one thread at a time; one design has rows as narrow as it is."""
        spare = self._spare[1 if n_designs == 1 else BLOCK]
        try:
            rows = spare.pop()
        except IndexError:
            rows = np.zeros((self._n_rows, 1 if n_designs == 1 else BLOCK))
            rows[: len(self._constants)] = self._constants[:, None]
        yield rows
        spare.append(rows)

    def evaluate(self, designs: Array) -> tuple[Array, Kept]:
        """Return the numbers (n_wanted, n_designs), and for each design whether it is read and planned alike.

        The numbers of a design lie together in memory, as what runs it reads them.
        """
        designs = np.array(designs, dtype=np.float64, order="C")
        count = designs.shape[1]
        values, kept = np.empty((count, self.n_wanted)), np.empty(count, np.bool_)
        with self._rows(count) as work:
            self._evaluate(self._code, self._wide, self._guards, self._wanted, designs, work, values, kept)
        return values.T, kept

    def tangents(self, designs: Array) -> Array:
        """Return the derivatives of the numbers by the parameters: (n_wanted, n_parameters, n_designs)."""
        designs = np.array(designs, dtype=np.float64, order="C")
        count = designs.shape[1]
        found = np.empty((self.n_wanted, self.n_parameters, count))
        with self._rows(count) as work:
            self._tangents(self._code, self._wide, self._wanted, designs, work, np.zeros_like(work), found)
        return found


def _live(tape: Tape, nodes: Sequence[int]) -> list[int]:
    """Return the nodes that numbers and guards need, in order; all nine of a fit or none."""
    needed: set[int] = set()
    stack = [*nodes]
    for relation, a, b in tape.guards:
        stack += (a,) if relation == "finite" else (a, b)
    while stack:
        index = stack.pop()
        if index in needed:
            continue
        needed.add(index)
        stack += tape.operands(index)
        if tape.nodes[index][0] == "fit":
            stack += range(index + 1, index + 9)
    return sorted(needed)
