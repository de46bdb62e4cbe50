"""A closer look: a few instants of a run solved anew, each on its branch there, and how well groups are conditioned."""

from __future__ import annotations

import numpy as np

from ..mechanism.plans.plan import Array
from ..runtime.program import GroupStep
from ..runtime.sequence import Ints
from .course import Course
from .run import Before, Solution, advance, resumed
from .sweeps import segments


def quality(solution: Solution, step: GroupStep) -> Array:
    """Return conditioning, residual and, of Newton's groups, the sign of det Φ_φ over the solved steps."""
    n = solution.solved
    found = np.empty((3, 1, len(solution.time)))
    solution.qualities([solution.program.sequence.groups[step.plan.name]], found, np.zeros((0, 0)))
    return found[:, 0, :n]


def part_of(solution: Solution, step: GroupStep, times: Array, course: Course | None = None) -> tuple[Solution, Ints]:
    """Return the groups up to `step` solved at a few times, each on its branch there, and the lanes of the times."""
    t = solution.time
    near = [
        m.nodes for found in solution.course.change_points.values() for m in found
        if (np.abs(times - m.centre) < m.spacing).any()
    ]  # fmt: skip
    every = np.unique(np.concatenate([times, *near]))
    before = int(np.clip(np.searchsorted(t, every[0], side="right") - 1, 0, max(solution.solved - 1, 0)))
    every = np.union1d(every, t[before : before + 1])
    part = resumed(Before(solution, before, solution.signs, solution.span), every, course or solution.course)
    for items in segments(part, step):
        advance(part, items, "td", assembled=True)
        part.solved, part.stop = len(every), None  # what is open is no number
    return part, np.searchsorted(every, times)


def conditioning(part: Solution, step: GroupStep, lanes: Ints) -> Array:
    """Return the conditioning of a group at some lanes, NaN where it cannot be closed."""
    kappa: Array = quality(part, step)[0][lanes]
    kappa[~np.isfinite(part.state[0, step.phi_rows][:, lanes]).all(axis=0)] = np.nan
    return kappa


def sampled(solution: Solution, step: GroupStep, times: Array, path: Array | None = None) -> tuple[Array, Array]:
    """Return conditioning and φ of a group at a few times, reached by way of others."""
    part, lanes = part_of(solution, step, times if path is None else np.union1d(path, times))
    lanes = np.searchsorted(part.time, times)
    return conditioning(part, step, lanes), part.state[0, step.phi_rows][:, lanes]
