"""Whether a design of a synthesis holds: its mechanism file is written, read, run, and compared with the targets."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import AssurgentError
from ..mechanism.model import Array, Model
from ..mechanism.reader import loads
from ..mechanism.toml_text import to_toml
from ..motion.kinematics import run
from ..motion.results import Results
from .synthesis_polish import FINE
from .synthesis_problem import TURN, SynthesisProblem, driver_values

MOST = 20_000  # instants of the file's own run that a check goes through


@dataclass(frozen=True, eq=False)
class Checked:
    """What the run of a design's file gave."""

    objective: float
    errors: Array
    lanes: Array  # values of the driver, or times, of the targets
    text: str
    path: Array


def ordered(problem: SynthesisProblem, lanes: Array) -> tuple[Array, bool] | None:
    """Return free timings as rising (or, second answer False, falling) ones within a turn; None if out of order."""
    period = problem.domain.period
    for forward in (True, False):
        sign = 1.0 if forward else -1.0
        x = sign * lanes
        if period is not None:
            steps = np.mod(np.diff(x), period)
            x = x[0] + np.concatenate([[0.0], np.cumsum(steps)])
        if np.all(np.diff(x) > 1e-9) and (period is None or x[-1] - x[0] < period):
            x = sign * x
            if period is not None:
                x = x + period * np.ceil((problem.domain.first - x.min()) / period - 1e-12)
            return x, forward
    return None


class Checker:
    """The check of a problem's designs."""

    def __init__(self, problem: SynthesisProblem, data: Mapping[str, Any], folder: Path | None) -> None:
        self.problem, self.data, self.folder = problem, data, folder

    def check(self, x: Array, lanes: Array) -> Checked | str:
        """Return what the run of the design's file says; where it does not hold, what of it does not."""
        problem = self.problem
        u = np.concatenate([x, lanes]) if problem.free else x
        r = problem.residuals(u[None])[0][0]
        cost = float(r @ r)
        if not math.isfinite(cost):
            return "it is not assembled at every target"
        if not self._required(x):
            return "it does not keep what is required"
        why = ""
        for text in self._texts(x, lanes):
            try:
                found = self._run(text, lanes)
            except AssurgentError:
                found = None
            if found is None:
                why = "it leaves its circuit on the way from target to target"
            elif abs(found.objective - cost) <= 1e-6 * cost + 1e-20 * problem.scale**2:
                return found
            else:
                why = "it changes its branch on the way from target to target"
        return why

    def _required(self, x: Array) -> bool:
        problem = self.problem
        if not problem.conditions.asked:
            return True
        c = problem.conditions.at(x[None], problem.signs, 2 * FINE)[0]
        return bool(c.min(initial=0.0) >= -2e-5 * problem.scale)

    # ---- files ----------------------------------------------------------------------------------------------------
    def _texts(self, x: Array, lanes: Array) -> Iterator[str]:
        """Yield the file of a design: as it is, with its assembly, then with times that begin at the first target."""
        data: dict[str, Any] = copy.deepcopy(dict(self.data))
        data["parameters"] = {**data["parameters"], **dict(zip(self.problem.variables, x.tolist(), strict=True))}
        yield to_toml(data)
        data["assembly"] = {**data.get("assembly", {}), **self._modes()}
        if data["assembly"]:
            yield to_toml(data)
        times = self._times(loads(to_toml(data), "design", None, self.folder), lanes)
        first, last = float(times.min()), float(times.max())
        if last > first:
            kept = {k: v for k, v in data.get("simulation", {}).items() if k not in ("start", "stop", "step")}
            data["simulation"] = {"start": first, "stop": last, "step": (last - first) / 200, **kept}
            yield to_toml(data)

    def _modes(self) -> dict[str, int]:
        """Return the assembly modes of the branch: numbered in the order of the signs, + before -."""
        lanes = self.problem.lanes
        found = {}
        for name, i in lanes.sequence.groups.items():
            item = lanes.sequence.items[i]
            if item.closed and item.group is not None and len(item.group.module.BRANCHES):
                number = 1
                for sign in self.problem.signs[0, item.sign_place : item.sign_place + len(item.group.module.BRANCHES)]:
                    number = 2 * number - (1 if sign > 0 else 0)
                found[name] = number
        return found

    # ---- the run --------------------------------------------------------------------------------------------------
    def _times(self, model: Model, lanes: Array) -> Array:
        """Return the times of the targets."""
        problem = self.problem
        start = model.simulation.start
        if not problem.domain.by_value:
            times = lanes.copy()
            period = problem.domain.period
        else:
            driver = model.drivers[problem.task.driver]
            rates = driver.motion(np.linspace(start, max(model.simulation.stop, start + 1e-9), 9))[1]
            if np.ptp(rates) > 1e-12 * np.abs(rates).max() or rates[0] == 0:
                return _inverted(model, problem.task.driver, lanes)
            times = start + (lanes - driver_values(driver, np.array([start]))[0]) / rates[0]
            period = TURN / abs(rates[0]) if problem.domain.period else None
        if period is not None:
            times = times + period * math.ceil((start - times.min()) / period - 1e-9)
        return np.asarray(times)

    def _run(self, text: str, lanes: Array) -> Checked | None:
        """Run the file over its own times and through the targets, and measure."""
        problem = self.problem
        model = loads(text, "design", None, self.folder)
        times = self._times(model, lanes)
        own = model.simulation.times()
        own = own if len(own) <= MOST else own[[0, -1]]
        times = np.maximum(times, own[0])
        grid = np.union1d(own, times)
        outcome = run(model, grid)
        if outcome.stop is not None:
            return None
        at = np.searchsorted(grid, times)
        residuals = self._residuals(outcome.results, at)
        rows = residuals.reshape(problem.n, -1)
        task = problem.task
        path = outcome.results.points[task.point].position if task.point else np.zeros((0, model.dimension))
        return Checked(float(np.sum(rows**2)), problem.errors(residuals), lanes, text, path)

    def _residuals(self, results: Results, at: Any) -> Array:
        task, targets = self.problem.task, self.problem.task.targets
        if task.kind == "path":
            return np.asarray(results.points[task.point].position[at] - targets)
        if task.kind == "motion":
            point = task.point or self.data["bodies"][task.body]["points"][0]
            angle = results.bodies[task.body].angle
            assert angle is not None
            off = np.remainder(angle[at] - targets[:, 2] + math.pi, TURN) - math.pi
            place = results.points[point].position[at] - targets[:, :2]
            return np.column_stack([place, math.sqrt(self.problem.weight) * off])
        what, name = task.output
        series: Any = results.bodies[name] if what == "body" else results.joints[name]
        if what == "joint" and series.angle is None:
            return np.asarray(series.displacement[at] - targets[:, 1])
        return np.asarray(np.remainder(series.angle[at] - targets[:, 1] + math.pi, TURN) - math.pi)


def _inverted(model: Model, name: str, values: Array) -> Array:
    """Return the first times at which a driver has some values; the nearest ones where it never has."""
    from scipy.optimize import brentq

    driver, simulation = model.drivers[name], model.simulation
    grid = np.linspace(simulation.start, simulation.stop, 2001)
    have = driver_values(driver, grid)
    found = []
    for value in values.tolist():
        off = have - value
        crossed = np.flatnonzero(off[:-1] * off[1:] <= 0)
        if len(crossed):
            k = int(crossed[0])
            found.append(
                brentq(lambda t, v=value: driver_values(driver, np.array([t]))[0] - v, grid[k], grid[k + 1], xtol=1e-15)
            )
        else:
            found.append(float(grid[np.argmin(np.abs(off))]))
    return np.array(found)
