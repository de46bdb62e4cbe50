"""Many planar mechanisms of different dyadic structure in one call: topology is data, a table of RRR dyads for each.

All of them go through the one sequencer, with the library's own dyad: a mechanism is a slice of a table of steps, its
lengths a slice of one vector of numbers. So neither a mechanism nor a structure is planned or compiled on its own.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from ..common.lines import LINE, aligned
from ..mechanism.model import Array

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Linkage:
    """A planar linkage of one crank and dyads: first places of its joints, and what each of them hangs on.

    `ties[j]` is None for a joint of the frame, and for a later joint the two earlier joints that it is linked to.
    The crank turns about joint `motor`, which is fixed, and carries joint `crank`.
    """

    places: Array
    ties: Sequence[tuple[int, int] | None]
    motor: int = 0
    crank: int = 1

    @cached_property
    def table(self) -> Ints:
        """The joints: fixed (-1), the crank's with the motor (-2), or the two joints that one is linked to (0)."""
        count = len(self.places)
        if len(self.ties) != count or count < 2:
            raise ValueError("needs a tie, or None, for each of its joints")
        found = np.zeros((count, 3), dtype=np.int64)
        for j, tie in enumerate(self.ties):
            if j == self.crank:
                found[j] = -2, self.motor, 0
            elif tie is None:
                found[j] = -1, 0, 0
            elif not (0 <= tie[0] < j and 0 <= tie[1] < j and tie[0] != tie[1]):
                raise ValueError(f"joint {j} is linked to two different joints before it, not to {tie}")
            else:
                found[j] = 0, *tie
        return found


@dataclass(frozen=True, eq=False)
class Population:
    """The motion of many linkages: positions (linkage, joint, time, component), NaN where one does not assemble.

    Linkages with fewer joints than the largest are NaN behind their last. `whole`: assembled at every time.
    """

    positions: Array
    whole: NDArray[np.bool_]


def batch(linkages: Sequence[Linkage], angles: Any) -> Population:
    """Return the motion of many linkages of different structure at angles of their cranks from where they begin."""
    from .population_kernels import run_population

    turn = np.ascontiguousarray(angles, dtype=np.float64)
    if turn.ndim != 1 or not len(turn):
        raise InputError("batch: the angles of the cranks are a list of numbers")
    if not linkages:
        raise InputError("batch: there are no linkages")
    tables: list[Ints] = []
    try:
        tables.extend(one.table for one in linkages)
    except ValueError as error:
        raise InputError(f"batch: linkage {len(tables)}: {error}") from None
    counts = list(map(len, tables))
    begins = np.fromiter(accumulate(counts, initial=0), np.int64, len(tables) + 1)  # of the joints of each among all
    joints = np.concatenate(tables)
    places = np.concatenate([one.places for one in linkages], dtype=np.float64)
    most = max(counts)
    rows = _room(len(linkages) + 3, 2 * most, len(turn))
    whole = np.zeros(len(linkages), dtype=np.bool_)
    address, side = _dyad()
    scratch = (
        np.zeros((most, 6), dtype=np.int64), np.zeros(10 * most, dtype=np.int64), np.zeros(2 * most),
        np.zeros((1, most)), _call(len(turn)), np.zeros(64), np.zeros(most, dtype=np.int64),
        np.zeros(2, dtype=np.int64), np.zeros((0, 0)),
    )  # fmt: skip
    run_population(address, side, begins, joints, places, np.cos(turn), np.sin(turn), turn, scratch, rows, whole)
    found = rows[: len(linkages)].reshape(len(linkages), most, 2, len(turn))
    return Population(found.transpose(0, 1, 3, 2), whole)


def _taken(shelf: list[Array]) -> tuple[Array | None, int]:
    """Return what lay on a shelf, if anything did, and its references in here: how many, depends on the Python."""
    try:
        found = shelf.pop()
    except IndexError:  # the first call, or another thread was first
        return None, 0
    return found, sys.getrefcount(found)


KEPT = 1 << 28  # bytes of positions at most that are kept for the next call
UNHELD = _taken([np.zeros(0)])[1]  # references to what nobody else holds
_last: list[Array] = []


def _room(*shape: int) -> Array:
    """Return room for positions: that of the last call where nobody holds its result any more.

    Fresh memory is cleaned by the system first, which costs a quarter of the motion itself.
    """
    size = math.prod(shape) + LINE
    found, references = _taken(_last)
    if found is None or found.size != size or references > UNHELD:
        found = np.empty(size)
    if found.nbytes <= KEPT:
        _last[:] = [found]
    return aligned(*shape, room=found)


def _call(lanes: int) -> Ints:
    from ..runtime.sequencer import CALL_SIZE, STRIDE

    call = np.zeros(CALL_SIZE, dtype=np.int64)
    call[STRIDE] = lanes
    return call


@functools.cache
def _dyad() -> tuple[int, float]:
    """Return the address of the library's RRR dyad over lanes, and the sign with which C is on the left of A -> B."""
    from ..runtime.library import load
    from ..runtime.sequencer import address, made

    dyad = load("RRR")
    found = dyad.position({"A": (0, 0), "B": (1, 0)}, {"L_AC": 1, "L_BC": 1}, branch=1)
    height = float(np.asarray(found).ravel()[1])
    return address(made(dyad.module.sweep_positions, 0)), 1.0 if height > 0 else -1.0


def random_linkages(count: int, joints: int, rng: np.random.Generator) -> list[Linkage]:
    """Return random linkages as published data sets have them: in the unit square, a crank of 0.12, one motion.

    Joint 0 is the motor's, 1 the crank's, 2 fixed; a later one is fixed with probability 1/4 (four in all), else it is
    linked to one earlier moving joint and to another earlier one.
    """
    found = []
    for _ in range(count):
        places = rng.random((joints, 2))
        places[1] = places[0] + 0.12 * _direction(rng)
        ties: list[tuple[int, int] | None] = [None, None, None]
        fixed, moving = {0, 2}, [1]
        for j in range(3, joints):
            if len(fixed) < 4 and rng.random() < 0.25:
                fixed.add(j)
                ties.append(None)
                continue
            a = int(rng.choice(moving))
            b = int(rng.choice([k for k in range(j) if k != a]))
            ties.append((a, b))
            moving.append(j)
        found.append(Linkage(places, ties))
    return found


def _direction(rng: np.random.Generator) -> Array:
    angle = 2 * np.pi * rng.random()
    return np.array([np.cos(angle), np.sin(angle)])
