"""Blocks of a sweep: designs run and reduced a few at a time, so that a sweep needs the memory of what it keeps.

A block is what a thread, a process or another machine does: the text of a mechanism and an array of parameters go in,
arrays of numbers come out.
"""

from __future__ import annotations

import functools
import itertools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..common.lines import aligned, whole_lines
from ..mechanism.model import Array
from ..mechanism.reader import from_data
from ..motion.datasets import QUANTITIES
from ..runtime.parallel import each
from ..runtime.parallel import threads as using_threads
from .batch import parts_of, series_of
from .compiled_mechanism import CompiledMechanism
from .sweep_efforts import Efforts
from .sweep_plan import BESIDE, wants

FEW = 1000  # designs whose numbers are found at once: they stay in the cache
Block = dict[str, Array]


class Sweeper:
    """A mechanism compiled for a sweep: `names` are the parameters that change, `given` what is wanted."""

    def __init__(
        self, data: Mapping[str, Any], origin: str, folder: Path | None, names: Sequence[str],
        given: Sequence[str] | None, times: Array | None,
    ) -> None:  # fmt: skip
        model = from_data(data, origin, None, folder)
        if not names:
            raise InputError(f"{origin}: sweep: no parameter changes - give the values of one, such as a=1:3:50")
        listed = {
            "points": list(dict.fromkeys(p for b in model.bodies.values() for p in b.points)),
            "bodies": [m.name for b in model.bodies.values() for m in b.parts],
            "joints": list(model.joints),
            "drivers": list(model.drivers),
            "actuators": [a.name for a in model.actuators],
        }
        moving = [n for n in listed["points"] if n not in model.bodies.get("frame", _NOTHING).points]
        self.wants = wants(moving if given is None else list(dict.fromkeys(given)), listed, model.dimension)
        dyads = self._dyads(model, listed["points"]) if any(w.how == "transmission" for w in self.wants) else {}
        asked = {t: [w.name for w in self.wants if w.table == t] for t in ("points", "bodies", "joints")}
        asked["points"] += [p for d in dyads.values() for p in d]
        chosen = {t: list(dict.fromkeys(n)) for t, n in asked.items()}
        if not any(chosen.values()):
            chosen["points"] = listed["points"][:1]
        self.compiled = CompiledMechanism(data, origin, folder, times, parameters=list(names), **chosen)
        self.time, self.names, self.model = self.compiled.time, tuple(names), model
        self._apart, self._room = self.compiled.apart()
        self._dyad_places = np.array(
            [[self._apart["points", p][0] for p in d] for d in dyads.values()], dtype=np.int64
        ).reshape(-1, 3)
        compiled = [w for w in self.wants if w.table not in BESIDE]
        self.reduced = [w for w in compiled if w.how]
        self.kept = [w for w in compiled if not w.how]
        for w in compiled:
            if w.component >= 0 and max(self.compiled.places[w.table, w.name][0][0].widths) == 9:
                raise InputError(f"want {w.text}: a rotation in space is no number - take a joint's angle")
        self._efforts = Efforts(self.compiled, names, [w for w in self.wants if w.table in BESIDE])
        self._plan = self._codes()
        none = np.zeros(0, dtype=np.int64)
        self._rows = none, none.reshape(0, 12), none.reshape(0, 6)
        if not self.kept:
            self.compiled.ask_components_apart()
            if not self._plan[:, 1].any():
                self.compiled.ask_positions_alone()
                self._reduce_from_rows(list(dyads))

    def _reduce_from_rows(self, dyads: Sequence[str]) -> None:
        """Have no series written where all numbers follow from the rows of the state: those of points of the plane
        whose every solved time is asked for, and the angles of dyads, whose squared sine is their conditioning.
        """
        c = self.compiled
        groups, tables = c.mechanism.program.sequence.groups, c.tables
        if c.lean is None or c.mechanism.program.sequence.moving:
            return
        numbers = self._numbers(np.asarray(c.nominal)[None, :])[0]
        if len(c.times.grid(numbers)[0]) != len(self.time) or not all(groups[name] in c.watched for name in dyads):
            return
        items = {int(tables[row[2]]): int(row[2]) for row in c.outputs}
        points: dict[tuple[int, ...], int] = {}
        plan = self._plan.copy()
        for row in plan:
            if self.reduced[row[5]].table:
                point = None
                if row[3] == 2 and self.reduced[row[5]].table == "points":
                    point = _of_four_rows(tables[items[row[2]] + 4 :].tolist())
                if point is None:
                    return
                row[2] = points.setdefault(point, len(points))
        watched = np.array([c.watched.index(groups[name]) for name in dyads], dtype=np.int64)
        self._rows = watched, np.array(list(points), dtype=np.int64).reshape(-1, 12), plan
        c.outputs = c.outputs[:0]

    @staticmethod
    def _dyads(model: Any, points: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        from ..mechanism.plans.planning import study

        found = {}
        for group in study(model).groups:
            inner = [j for j in group.pairs if set(j.bodies) <= set(group.bodies)]
            outer = [j for j in group.pairs if not set(j.bodies) <= set(group.bodies)]
            if group.type == "RRR" and len(inner) == 1 and all(j.at in points for j in group.pairs):
                found[group.name] = str(outer[0].at), str(inner[0].at), str(outer[1].at)
        if not found:
            raise InputError("want transmission: is that of planar RRR dyads, and this mechanism has none")
        return found

    def _codes(self) -> Any:
        from .sweep_kernels import CODES, TURN

        rows: list[list[int]] = []
        for w in self.reduced:
            if not w.table:
                rows.append([TURN if w.how == "turn" else CODES[w.how], 0, 0, 1, 0, len(rows)])
                continue
            output, place = self.compiled.places[w.table, w.name][0][0], self._apart[w.table, w.name][0]
            rows.append([CODES[w.how], w.order, place, output.widths[w.order], w.component, len(rows)])
        rows.sort(key=lambda row: row[1:5])  # of one series together
        return np.array(rows, dtype=np.int64).reshape(-1, 6)

    def block(self, values: Array, threads: int = 1) -> Block:
        """Return what is kept of some designs (design, parameter), with `status` and `solved`."""
        c, count = self.compiled, len(values)
        found: Block = {"status": np.zeros(count), "solved": np.zeros(count)}
        reduced = np.empty((count, len(self.reduced)))
        kept = np.empty((count, 3, c.width)) if self.kept else None

        def part(piece: slice) -> None:
            if kept is None:
                answers = self._reduced(values[piece], reduced[piece])
            else:
                answers = self._solve(values[piece], kept[piece])
                for a in range(piece.start, piece.stop if len(self._plan) else piece.start, FEW):
                    some = slice(a, min(a + FEW, piece.stop))
                    self._reduce(kept[some], answers[a - piece.start :], reduced[some])
            found["status"][piece], found["solved"][piece] = answers[:, 0], answers[:, 1]

        with using_threads(threads):
            edges = np.linspace(0, count, threads + 1).astype(int).tolist()
            each(part, [slice(a, b) for a, b in itertools.pairwise(edges) if b > a])
        for k, w in enumerate(self.reduced):
            found[w.text] = reduced[:, k]
        if kept is not None:
            found.update(self._series(kept))
        if self._efforts.wants:
            self._efforts.add(values, found)
        return found

    def _solve(self, values: Array, out: Array) -> Any:
        """Write the series of some designs; how far each came."""
        c = self.compiled
        answers = np.full((len(values), 5), 3, dtype=np.int64)
        if c.supported:
            numbers, kept = self._numbers(values)
            grid, lanes = c.times.grid(numbers)
            c._run(numbers, kept, grid, lanes, c._phases(1 << 30), out, answers)
        for i in np.flatnonzero(answers[:, 0] == 3).tolist():
            c._alone(dict(zip(self.names, values[i].tolist(), strict=True)), out[i], answers[i])
        return answers

    def _numbers(self, values: Array) -> tuple[Array, Any]:
        numbers, kept = self.compiled.mechanism.numbers.evaluate(np.ascontiguousarray(values.T))
        return np.ascontiguousarray(numbers.T), kept

    def _reduced(self, values: Array, found: Array) -> Any:
        """Write the numbers of some designs, whose series nobody keeps; how far each came."""
        from .sweep_kernels import reduced_designs

        c, n = self.compiled, len(self.time)
        answers = np.full((len(values), 5), 3, dtype=np.int64)
        room = aligned(3, self._room)
        for a in range(0, len(values) if c.supported else 0, FEW):
            some = slice(a, a + FEW)
            numbers, kept = self._numbers(values[some])
            grid, lanes = c.times.grid(numbers)
            phases = c._phases(1 << 30)
            held = c.held(grid, lanes, phases)
            reduced_designs(
                numbers, kept, c.fixed(held, phases, grid), room, c.varied(held, lanes), answers[some], self._plan,
                self._dyad_places, self._rows, n, found[some],
            )  # fmt: skip
            c.give_back(held, grid)
        one = np.empty((1, 3, c.width))
        for i in np.flatnonzero(answers[:, 0] == 3).tolist():
            c._alone(dict(zip(self.names, values[i].tolist(), strict=True)), one[0], answers[i])
            self._reduce(one, answers[i : i + 1], found[i : i + 1])
        return answers

    def _reduce(self, out: Array, answers: Any, found: Array) -> None:
        """Write the numbers of some designs from their series."""
        from .sweep_kernels import reduce_designs

        n, apart = len(self.time), np.empty((len(out), 3, self._room))
        for name, places in self.compiled.places.items():
            for (output, at), to in zip(places, self._apart[name], strict=True):
                for c in range(max(output.widths)):
                    d, first = max(output.widths), to + c * whole_lines(n)
                    apart[:, :, first : first + n] = out[:, :, at + c : at + d * n : d]
        reduce_designs(apart, answers, self._plan, self._dyad_places, n, found)

    def _series(self, out: Array) -> Block:
        """Return the series that are kept, as the variables of a dataset of results."""
        c, n = self.compiled, len(self.time)
        found: Block = {}
        units = {(table, quantity): variable for table, _, quantity, variable, _ in QUANTITIES}
        for table in ("points", "bodies", "joints"):
            names = [w.name for w in self.kept if w.table == table and w.component < 0]
            arrays: dict[str, dict[str, Array]] = {}
            for name in names:
                places = c.places[table, name]
                series = series_of(table, places, [parts_of(out, o, at, n) for o, at in places])
                for quantity in vars(series):
                    if getattr(series, quantity) is not None:
                        arrays.setdefault(quantity, {})[name] = getattr(series, quantity)
            for quantity, by_name in arrays.items():
                shape = next(iter(by_name.values())).shape
                blank = np.full(shape, np.nan)
                found[units[table, quantity]] = np.stack([by_name.get(name, blank) for name in names], axis=2)
        for w in self.kept:
            if w.component >= 0:
                output, at = c.places[w.table, w.name][0]
                part = parts_of(out, output, at, n)[w.order]
                found[w.text] = part[..., w.component] if part.ndim > 2 else part
        return found

    def labels(self) -> dict[str, list[str]]:
        """Return the names along the dimensions of what is kept."""
        found = {
            dimension: [w.name for w in self.kept if w.table == table and w.component < 0]
            for table, dimension in (("points", "point"), ("bodies", "body"), ("joints", "joint"))
        }
        found.update(self._efforts.labels())
        found["axis"] = ["x", "y", "z"][: self.model.dimension]
        return {k: v for k, v in found.items() if v}


def _of_four_rows(table: Sequence[int]) -> tuple[int, ...] | None:
    """Return four rows that both components of a point are combined of, and the places of their factors in x and in y.

    table: the number of terms of x, then row and factor of each; the same of y. None where there are more rows. A
    factor that is zero has the place -1.
    """
    ends = 1 + 2 * table[0]
    terms = [dict(zip(t[1 : 1 + 2 * t[0] : 2], t[2 : 2 + 2 * t[0] : 2], strict=True)) for t in (table, table[ends:])]
    rows = list(dict.fromkeys([*terms[0], *terms[1]]))
    if not 0 < len(rows) <= 4 or any(len(t) != n for t, n in zip(terms, (table[0], table[ends]), strict=True)):
        return None
    rows += rows[:1] * (4 - len(rows))
    places = [[t.get(row, -1) if row not in rows[:i] else -1 for i, row in enumerate(rows)] for t in terms]
    return (*rows, *places[0], *places[1])


class _Nothing:
    points: Mapping[str, Any] = {}


_NOTHING: Any = _Nothing()


@functools.lru_cache(maxsize=4)
def _sweeper(
    text: str, folder: str | None, names: tuple[str, ...], given: tuple[str, ...] | None, times: bytes | None, _key: str
) -> Sweeper:
    asked = None if times is None else np.frombuffer(times)
    return Sweeper(tomllib.loads(text), "sweep", None if folder is None else Path(folder), names, given, asked)


def remote_block(
    text: str, folder: str | None, names: tuple[str, ...], given: tuple[str, ...] | None, times: bytes | None, key: str,
    values: Array,
) -> Block:  # fmt: skip
    """Do a block in another process: from the text of the mechanism, which is compiled there once for a key."""
    return _sweeper(text, folder, names, given, times, key).block(np.asarray(values))
