"""Dimensional synthesis of any mechanism of the format: path, function and motion generation.

What the search finds is polished by SciPy, and counts only if the mechanism file written for it runs: assembled at
every target, without leaving its circuit on the way, the targets in their order, the requirements kept. The objective
that is reported is the one of that run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import AssemblyError, InputError
from ..common.files import check_target, write_whole
from ..mechanism.model import Array
from ..mechanism.reader import from_data
from .synthesis_check import Checker, ordered
from .synthesis_family import EXACT, relatives
from .synthesis_polish import polished
from .synthesis_problem import SynthesisProblem
from .synthesis_search import Candidate, search
from .synthesis_task import Task, read_task

KEPT, LOOKED_AT = 10, 60  # designs that are kept, and looked at
APART = 1e-2  # of the variables' ranges, by which designs are distinct


@dataclass(frozen=True, eq=False)
class Design:
    """A design that was found and checked; `text` is its mechanism file."""

    objective: float
    parameters: Mapping[str, float]
    timing: Array
    errors: Array
    text: str
    path: Array  # of the point, for a picture
    forward: bool = True
    sketched: bool = True

    def save(self, path: Path | str) -> None:
        """Write the mechanism file, whole or not at all."""
        check_target(Path(path))
        write_whole(Path(path), lambda part: part.write_text(self.text, "utf-8", newline="\n"))

    def to_json(self) -> dict[str, Any]:
        """Return the design as FORMAT has it."""
        return {
            "objective": self.objective,
            "parameters": dict(self.parameters),
            "timing": self.timing.tolist(),
            "errors": self.errors.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Synthesis:
    """What a synthesis found: distinct designs, best first."""

    task: Task
    designs: tuple[Design, ...]
    seconds: float  # of the processor
    starts: int

    def to_json(self) -> dict[str, Any]:
        """Return the result as FORMAT has it."""
        return {
            "kind": self.task.kind,
            "seconds": self.seconds,
            "starts": self.starts,
            "designs": [d.to_json() for d in self.designs],
        }


def synthesise(
    data: Mapping[str, Any],
    origin: str,
    folder: Path | None,
    report: Callable[[str], None] = lambda _: None,
    cma: bool = False,
) -> Synthesis:
    """Return the designs that a file's [synthesis] asks for; AssemblyError where none was found."""
    began = time.process_time()
    if not data.get("synthesis"):
        raise InputError(f"{origin}: has no table [synthesis] - write kind, targets and variables there")
    model = from_data(data, origin, None, folder)
    task = read_task(data["synthesis"], model, origin, folder)
    problem = SynthesisProblem(data, origin, folder, task, model)
    if task.require.grashof is not None and not problem.conditions.has_loops:
        raise InputError(f"{origin}: [synthesis] require.grashof: the mechanism has no four-bar on the frame")
    report("searching ...")
    candidates = search(problem, lambda done, every: report(f"searching: {done} of {every} assemblies"))
    if cma:
        from .synthesis_global import evolved

        candidates = sorted([*candidates, *evolved(problem)], key=lambda c: c.cost)
    checker = Checker(problem, data, folder)
    found = _holding(problem, checker, candidates, report)
    if not any(d.objective <= EXACT * problem.scale**2 for d in found):
        for further in relatives(problem, candidates, report):
            if more := _holding(problem, checker, further, report):
                found += more
                break
    if not found:
        raise AssemblyError(
            f"{origin}: no design within the bounds is assembled at every target on one circuit, in order, with the "
            f"requirements kept{_nearest_miss(problem, checker, candidates)}"
        )
    found = _best(problem, found)
    return Synthesis(task, tuple(found), time.process_time() - began, task.starts)


def _nearest_miss(problem: SynthesisProblem, checker: Checker, candidates: list[Candidate]) -> str:
    """Return how near the best candidate comes, what of it does not hold, and what may help."""
    if not candidates:
        return " - widen the bounds of [synthesis] variables, or give more starts"
    nearest, advice = candidates[0], "widen the bounds of [synthesis] variables, give more starts, or require less"
    if nearest.cost <= EXACT * problem.scale**2:
        advice = "give more starts, another seed, or require less"
    problem.signs = nearest.signs
    why = _design(problem, checker, polished(problem, nearest), nearest.sketched)
    lacks = f", but {why}" if isinstance(why, str) else ""  # its targets were out of order before the last steps
    return f"; the nearest miss has the objective {nearest.cost:.6g}{lacks} - {advice}"


def _holding(
    problem: SynthesisProblem, checker: Checker, candidates: list[Candidate], report: Callable[[str], None]
) -> list[Design]:
    """Return distinct designs that hold, of those that are looked at."""
    found: list[Design] = []
    for k, candidate in enumerate(_distinct(problem, candidates)):
        if k == LOOKED_AT or len(found) == 2 * KEPT:
            break
        problem.signs = candidate.signs
        design = _design(problem, checker, polished(problem, candidate), candidate.sketched)
        report(f"checking: {len(found)} designs hold")
        if isinstance(design, Design) and not any(_alike(problem, design, other) for other in found):
            found.append(design)
    return found


def _best(problem: SynthesisProblem, found: list[Design]) -> list[Design]:
    """Return the best designs; of exact ones those that go forward on the file's own assembly."""
    found = sorted(found, key=lambda d: d.objective)
    exact = [d for d in found if d.objective <= EXACT * problem.scale**2]
    if exact:
        found = max(
            [d for d in exact if d.forward and d.sketched], [d for d in exact if d.forward], exact, key=bool
        )  # the first of these that is not empty
    return found[:KEPT]


def _distinct(problem: SynthesisProblem, candidates: list[Candidate]) -> Iterator[Candidate]:
    """Yield candidates that are not next to one before them, best first; those in order before the others."""
    low, high = problem.task.bounds
    seen: list[Array] = []
    likely = [c for c in candidates if not problem.free or ordered(problem, c.unknowns[problem.p :]) is not None]
    for c in likely:
        x = (c.unknowns[: problem.p] - low) / (high - low)
        if all(np.abs(x - y).max() > APART for y in seen):
            seen.append(x)
            yield c


def _alike(problem: SynthesisProblem, one: Design, two: Design) -> bool:
    low, high = problem.task.bounds
    change = [one.parameters[n] - two.parameters[n] for n in problem.variables]
    return bool(np.abs(np.array(change) / (high - low)).max() <= APART)


def _design(problem: SynthesisProblem, checker: Checker, u: Array, sketched: bool) -> Design | str:
    """Return the design at some unknowns, checked by a run of its file; what of it does not hold where it does not."""
    lanes, forward = problem.timing(u[None])[0][0], True
    if problem.free:
        found = ordered(problem, lanes)
        if found is None:
            return "it passes the targets in another order"
        lanes, forward = found
    checked = checker.check(u[: problem.p], lanes)
    if isinstance(checked, str):
        return checked
    parameters = dict(zip(problem.variables, u[: problem.p].tolist(), strict=True))
    return Design(
        checked.objective, parameters, checked.lanes, checked.errors, checked.text, checked.path, forward, sketched
    )
