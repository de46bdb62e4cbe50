"""Through an instant at which branches meet: where it is, on which branch the motion goes on, how digits are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..mechanism.plans.plan import Array
from ..runtime.program import GroupStep
from .closer_look import conditioning, part_of, sampled
from .course import ChangePoint
from .run import Solution

MEETING = 3e-7  # conditioning that counts as zero: below, rounding hides the branches from each other
CLEAR = 0.02  # conditioning at which enough digits are left to bridge a change point from there
BLURRED = 1e-4  # conditioning at which too few are left
EXACT, INEXACT = 1e-12, 1e-5  # error of a bridge, as a share of its way, that is none; that is no bridge
SMOOTH = 0.02  # share of the way between two instants by which velocities and accelerations may not explain it
EVEN = 1.55  # ratio of the conditioning at twice the distance: between those of a root, 1.41, and of a line, 2
HALVINGS = 10  # of the spacing of a bridge
RESTING = 1e-4  # speed, by what it changes in the time of a bridge, of a driver that stands still at a change point


def bottom(solution: Solution, step: GroupStep, c: float, width: float) -> float:
    """Return where the conditioning is zero, near c: both arms rise with the same power of time from there."""
    for d in width * 4.0 ** np.arange(-8, 8):
        times = c + d * np.array([-2.0, -1.0, 1.0, 2.0])
        if not (step.solver.closed_form and solution.span[0] <= times[0] and times[3] <= solution.span[1]):
            return c
        arms = sampled(solution, step, times)[0]
        if not np.isfinite(arms).all():
            return c
        if arms.min() > 100 * MEETING:
            power = np.clip(np.log2((arms[0] + arms[3]) / (arms[1] + arms[2])), 1.0, 4.0)
            left, right = arms[1:3] ** (1.0 / power)
            better = c + d * (left - right) / (left + right)
            return float(better) if sampled(solution, step, np.array([better]))[0][0] < MEETING else c
    return c


def vanishing(solution: Solution, step: GroupStep, times: Array, path: Array) -> float | None:
    """Return where branches meet so near behind the last of some times that Newton finds no digits there.

    The conditioning falls evenly to zero there; None where it falls like a root, as it does at an end of the motion.
    """
    apart = float(path[-1] - path[-2])
    before = times[-1] - apart * np.array([16.0, 8.0])
    if before[0] < solution.span[0]:
        return None
    far, near = sampled(solution, step, before, path[path <= times[-1]])[0]
    if not far > EVEN * near:
        return None
    return float(before[1] + (before[1] - before[0]) * near / (far - near))


def change_point_at(
    solution: Solution, step: GroupStep, c: float, width: float, outside: bool = False
) -> ChangePoint | None:
    """Return how the motion goes through an instant at which branches meet; None where it ends or is not determined.

    `outside`: they meet next to it, not in the run.
    """
    begun, ended = solution.span
    longer, side = max((c - begun, -1.0), (ended - c, 1.0))
    away = width * np.exp2(np.arange(-8.0, 64.0))
    away = away[away < longer]
    part, (lane,) = part_of(solution, step, np.array([c]))
    speed, change = np.abs(part.state[1:, step.h_rows, lane]).max(axis=1)  # of what the group hangs on
    part, lanes = part_of(solution, step, c + side * away)  # without c itself: Newton may have no digits there
    clear = np.flatnonzero(conditioning(part, step, lanes) >= CLEAR)
    if len(clear) == 0:
        return None
    near, far = np.abs(part.state[1, step.phi_rows][:, lanes[clear[0] :][:2]]).max(axis=0)[[0, -1]]
    moving = near > 0.75 * far  # the group itself, where its driver turns round at the end of a stroke
    if not (speed > 0.0 or moving):
        return None
    # where coefficients are zero at the change point, the conditioning does not see it
    spacing = CLEAR * solution.size / speed if clear[0] == 0 and speed > 0.0 else away[clear[0]]
    spacing = float(min(spacing, longer / 9.5))
    best: tuple[float, ChangePoint | None] = np.inf, None
    for _ in range(HALVINGS):
        if speed < RESTING * change * spacing and not moving:  # at rest there it may go on along any branch
            break
        if not sampled(solution, step, np.array([c + side * spacing]))[0][0] >= BLURRED:
            break
        right = min(8, int(0.999 * (ended - c) / spacing), max(4, 8 - int(0.999 * (c - begun) / spacing)))
        offsets = tuple(sorted([*range(right - 8, 0), *range(1, right + 1)], key=abs))
        change_point: ChangePoint | None = ChangePoint(c, spacing, offsets)
        beyond = right > 0 or not ended - c < 0.98 * spacing  # some lanes behind it follow from no nodes
        if beyond and (right < 8 or c - begun > 2e-5 * spacing):
            change_point = _own_branch(solution, step, ChangePoint(c, spacing, offsets))
        error = np.inf if change_point is None else _error(solution, step, change_point, side, outside)
        best = min(best, (error, change_point), key=lambda found: found[0])
        if error < EXACT:
            break
        spacing *= 0.5
    return best[1] if best[0] < (100 * EXACT if outside else INEXACT) else None


def _error(solution: Solution, step: GroupStep, change_point: ChangePoint, side: float, outside: bool) -> float:
    """Return the relative error of the interpolation over a change point, half a spacing away from it."""
    c, name = change_point.centre, step.plan.name
    if not step.solver.closed_form and side > 0 and min(change_point.offsets) > 0:  # Newton cannot begin there
        return np.inf
    known = solution.course.change_points
    course = replace(
        solution.course, change_points={**known, name: [*known.get(name, []), replace(change_point, spacing=0.0)]}
    )
    # at c itself Newton may have no digits: it is asked for where the answer hangs on it
    nodes, probes = change_point.nodes, c + np.array([0.5 * side * change_point.spacing, 0.0][: 1 + outside])
    part, _ = part_of(solution, step, np.union1d(nodes, probes), course)
    state = part.state[:, step.phi_rows][:, :, np.searchsorted(part.time, [*nodes, *probes])]
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is missed
        misses = np.abs(state[:, :, :8] @ change_point.weights(probes) - state[:, :, 8:]).max(axis=1)
        near, at = misses[0][[0, -1]] / max(np.ptp(state[0, :, :8], axis=1).max(), 1e-300)
        right = (misses[1:, -1] <= 1e-4 * np.abs(state[1:, :, :8]).max(axis=(1, 2))).all()  # no digits are lost
    return np.inf if not near < np.inf or (outside and (at > 1e-5 or right)) else float(near)


def _own_branch(solution: Solution, step: GroupStep, change_point: ChangePoint) -> ChangePoint | None:
    """Return a change point with the sign by which the own branch goes on smoothly; None where none does.

    Smooth: the way between instants on both sides, and the change of velocity, are what the rates there say
    (Euler-Maclaurin).
    """
    c, (begun, ended) = change_point.centre, solution.span
    d = min(change_point.spacing, 2 * (c - begun), 2 * (ended - c))
    times = np.array([max(c - d, begun), min(c + d, ended)])
    dt = times[1] - times[0]
    found, known = [], solution.course.change_points
    for sign in range(-1, len(step.solver.group.branches)):
        trial = replace(change_point, sign=sign)
        beside = [*known.get(step.plan.name, []), replace(trial, spacing=0.0)]
        part, lanes = part_of(
            solution, step, times, replace(solution.course, change_points={**known, step.plan.name: beside})
        )
        (x, y), (v, u), (a, b) = np.moveaxis(part.state[:, step.phi_rows][:, :, lanes], 2, 1)
        defect = np.abs(y - x - dt * (0.5 * (v + u) - dt / 12 * (b - a))).max()
        defect = max(defect, dt * np.abs(u - v - 0.5 * dt * (a + b)).max())  # one that turns back jumps in velocity
        way = max(np.abs(dt * v).max(), np.abs(dt * u).max())
        found.append((defect if np.isfinite(defect) else np.inf, way, trial))
    found.sort(key=lambda f: f[0])
    least, way, trial = found[0]
    others = found[1][0] if len(found) > 1 else np.inf
    return trial if least < np.inf and (least <= SMOOTH * way or least <= 1e-2 * others < np.inf) else None
