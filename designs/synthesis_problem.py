"""A synthesis as a least-squares problem: residuals of many designs at once with their exact derivatives.

Unknowns are the variables of the file and, where the timing is free, the driver's value at every target. Where the
driver does not depend on the variables it is replaced by its value, so that a lane is a value of the driver;
otherwise (a phase that is itself a variable) lanes are times.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from ..mechanism import functions
from ..mechanism.model import FRAME, Array, Driver, Model
from ..mechanism.numbers.traced import Traced
from ..mechanism.numbers.tracing import trace
from .design_lanes import DesignLanes, Places
from .requirements import LANES, Conditions
from .synthesis_task import Task

TURN = 2.0 * math.pi
INNER = 72  # lanes of a turn that Newton is followed through
FIELDS = ("angle", "displacement", "distance", "x", "y", "z")


@dataclass(frozen=True)
class Domain:
    """What lanes stand for: values of the driver or times; where they begin and end; the period of a turning driver."""

    by_value: bool
    first: float
    last: float
    period: float | None

    @property
    def span(self) -> float:
        return self.period or (self.last - self.first)

    def folded(self, lanes: Array) -> Array:
        """Return lanes with whole turns taken off, so that they lie behind the first."""
        if self.period is None:
            return lanes
        return self.first + np.mod(lanes - self.first, self.period)


class SynthesisProblem:
    """Residuals r(u) of designs u with their derivatives; the sum of their squares is the objective."""

    def __init__(self, data: Mapping[str, Any], origin: str, folder: Path | None, task: Task, model: Model) -> None:
        self.task, self.model, self.origin = task, model, origin
        self.variables = tuple(task.variables)
        plain: dict[str, Any] = copy.deepcopy({k: v for k, v in data.items() if k != "synthesis"})
        self.domain = domain(plain, model, task, origin, folder)
        if self.domain.by_value:
            by_value(plain, model.drivers[task.driver], self.domain)
        marks = _Marks(plain, origin)
        points, joints, self.measure = _measured(marks, task, model)
        self.lanes = DesignLanes(plain, origin, folder, self.variables, points, joints)
        self.signs = self.lanes.signs
        self.n, self.p = len(task.targets), len(self.variables)
        self.weight = task.weight if task.weight is not None else float(model.size) ** 2
        self._timing()
        low, high = task.bounds
        if self.free:
            lanes = (-np.inf, np.inf) if self.domain.period else (self.domain.first, self.domain.last)
            low, high = np.append(low, np.full(self.n, lanes[0])), np.append(high, np.full(self.n, lanes[1]))
        self.lower, self.upper = low, high
        size = float(np.max(np.ptp(task.targets[:, : model.dimension], axis=0), initial=0.0)) or 1.0
        self.scale = size if task.kind != "function" else 1.0
        self.conditions = Conditions(self.lanes, task.require, self.domain.first, self.domain.span, self.scale)

    # ---- timing ---------------------------------------------------------------------------------------------------
    def _timing(self) -> None:
        task, mechanism = self.task, self.lanes.mechanism
        self.free = task.kind != "function" and task.timing is None
        given = task.targets[:, 0].tolist() if task.kind == "function" else list(task.timing or ())
        parameters = mechanism.traced.model.parameters
        values: list[Any] = [functions.evaluate(x, parameters) if isinstance(x, str) else float(x) for x in given]
        self._moving = any(isinstance(x, Traced) for x in values)
        self._given = np.array([x.value if isinstance(x, Traced) else x for x in values])
        self._numbers = mechanism.traced.tape.compiled(values) if self._moving else None

    def timing(self, u: Array) -> tuple[Array, Array | None]:
        """Return the lanes of the targets (design, target), and their derivatives by the variables if they move."""
        if self.free:
            return u[:, self.p :], None
        if self._numbers is None:
            return np.broadcast_to(self._given, (len(u), self.n)), None
        x = np.ascontiguousarray(u[:, : self.p].T)
        return self._numbers.evaluate(x)[0].T, self._numbers.tangents(x).transpose(2, 0, 1)

    def _lanes(self, tau: Array) -> tuple[Array, Any]:
        """Return rising lanes of every design and which of them are its targets."""
        if not self.lanes.newton:
            order = np.argsort(tau, axis=1, kind="stable")
            return np.take_along_axis(tau, order, 1), np.argsort(order, axis=1, kind="stable")
        inner = np.linspace(self.domain.first, self.domain.first + self.domain.span, INNER + 1)
        every = np.concatenate([np.broadcast_to(inner, (len(tau), len(inner))), self.domain.folded(tau)], axis=1)
        order = np.argsort(every, axis=1, kind="stable")
        return np.take_along_axis(every, order, 1), np.argsort(order, axis=1, kind="stable")[:, len(inner) :]

    def places(self, u: Array, changes: bool = False) -> Places:
        """Return what is measured at the targets."""
        times, asked = self._lanes(self.timing(u)[0])
        return self.lanes.at(u[:, : self.p], times, asked, changes, self.signs)

    def assembled(self, u: Array, way: Array) -> NDArray[np.bool_]:
        """Return at which lanes (design, lane) the designs are assembled."""
        times, asked = self._lanes(way)
        found = self.lanes.at(u[:, : self.p], times, asked, False, self.signs)
        d, n = way.shape
        places = np.concatenate(
            [found.position.transpose(0, 2, 1, 3).reshape(d, n, -1), found.coordinate.transpose(0, 2, 1)], axis=2
        )
        return np.asarray(np.isfinite(places).all(axis=2))

    # ---- residuals ------------------------------------------------------------------------------------------------
    def residuals(self, u: Array) -> tuple[Array, Array]:
        """Return residuals (design, m) and their derivatives (design, m, unknown); NaN for what is not assembled."""
        tau, slopes = self.timing(u)
        times, asked = self._lanes(tau)
        found = self.lanes.at(u[:, : self.p], times, asked, True, self.signs)
        value, rate, change = self.measure.of(found, self.task.targets, math.sqrt(self.weight))
        d, n, m = value.shape
        J = np.zeros((d, n, m, u.shape[1]))
        J[..., : self.p] = change
        if self.free:
            k = np.arange(n)
            J[:, k, :, self.p + k] = rate.transpose(1, 0, 2)
        elif slopes is not None:
            J[..., : self.p] += rate[..., None] * slopes[:, :, None, :]
        return value.reshape(d, n * m), J.reshape(d, n * m, -1)

    def penalised(self, weight: float, lanes: int = LANES) -> Any:
        """Return the residuals with those of the requirements that a design does not keep, times a weight."""
        if not self.conditions.asked:
            return self.residuals

        def both(u: Array) -> tuple[Array, Array]:
            r, J = self.residuals(u)
            c, dc = self.conditions.at(u[:, : self.p], self.signs, lanes)
            wrong = c < 0.0
            lack = np.where(wrong, weight * c, 0.0)
            slope = np.zeros((*lack.shape, u.shape[1]))
            slope[..., : self.p] = np.where(wrong[..., None], weight * dc, 0.0)
            return np.concatenate([r, lack], axis=1), np.concatenate([J, slope], axis=1)

        return both

    def errors(self, values: Any) -> Array:
        """Return the distance from every target for rows of residuals of one design."""
        rows = np.asarray(values).reshape(self.n, -1)
        d = self.model.dimension if self.task.kind != "function" else 1
        return np.asarray(np.linalg.norm(rows[:, :d], axis=1))


# ---- the driver -----------------------------------------------------------------------------------------------------
def domain(data: Mapping[str, Any], model: Model, task: Task, origin: str, folder: Path | None) -> Domain:
    """Return what the lanes of a task are."""
    driver, simulation = model.drivers[task.driver], model.simulation
    ends = driver_values(driver, np.array([simulation.start, simulation.stop]))
    motion = trace(data, tuple(task.variables), origin, None, folder).model.drivers[task.driver].motion
    depends = isinstance(motion, functions.Expression) and any(isinstance(c, Traced) for c in motion.constants.values())
    turning = driver.kind in ("angle", "turn")
    if len(model.drivers) == 1 and not depends:
        given = "simulation" in data
        low, high = (float(min(ends)), float(max(ends))) if given or turning else (ends[0] - 10.0, ends[0] + 10.0)
        return Domain(True, float(ends[0]) if turning else low, high, TURN if turning else None)
    rates = driver.motion(np.linspace(simulation.start, simulation.stop, 9))[1]
    even = turning and len(model.drivers) == 1 and abs(rates[0]) > 0 and np.ptp(rates) <= 1e-12 * abs(rates[0])
    return Domain(False, simulation.start, simulation.stop, TURN / abs(float(rates[0])) if even else None)


def driver_values(driver: Driver, times: Array) -> Array:
    """Return the values of a driver as the user wrote them."""
    return np.asarray(driver.motion(times)[0] + driver.offset)


def by_value(data: dict[str, Any], driver: Driver, lanes: Domain) -> None:
    """Replace a driver of a file's values by its value, which stands for time."""
    fields = data["drivers"][driver.name]
    key = next((k for k in FIELDS if k in fields), "angle" if driver.kind in ("angle", "turn") else driver.kind)
    fields.pop("table", None)
    fields[key] = "t"
    kept = {k: v for k, v in data.get("simulation", {}).items() if k not in ("start", "stop", "step")}
    data["simulation"] = {**kept, "start": lanes.first, "stop": max(lanes.last, lanes.first + 1e-3), "step": 1e-3}
    data["simulation"]["step"] = data["simulation"]["stop"] - data["simulation"]["start"]


# ---- what is measured -----------------------------------------------------------------------------------------------
class _Marks:
    """Points that show the axes of bodies."""

    def __init__(self, data: dict[str, Any], origin: str) -> None:
        self.data, self.origin = data, origin

    def axis(self, body: str) -> tuple[str, str] | None:
        """Return two points along the x axis of a body; None for the frame."""
        if body == FRAME:
            return None
        table = self.data["bodies"][body]
        if "local" in table:
            names = f"{body} origin", f"{body} x axis"
            for name, place in zip(names, ([0, 0], [1, 0]), strict=True):
                if name not in table["local"]:
                    table["points"] = [*table["points"], name]
                    table["local"] = {**table["local"], name: place}
            return names
        if len(table["points"]) < 2:
            raise InputError(f"{self.origin}: [synthesis]: the body {body} has one point, which shows no angle")
        return table["points"][0], table["points"][1]


@dataclass(frozen=True)
class _Measure:
    """What of the places is compared with the targets."""

    kind: str
    second: int = -1  # points that show the axis of the second body, and of the first: -1, none
    first: int = -1

    def of(self, found: Places, targets: Array, weight: float) -> tuple[Array, Array, Array]:
        """Return value (design, target, component), rate and changes (..., variable) of what is left."""
        assert found.changes is not None
        assert found.coordinate_changes is not None
        if self.kind == "coordinate":
            value = found.coordinate[:, 0, :] - targets[:, 1]
            return (
                value[..., None],
                found.rate[:, 0, :, None],
                found.coordinate_changes[:, :, 0].transpose(0, 2, 1)[:, :, None],
            )
        if self.kind == "path":
            changes = found.changes[:, :, 0].transpose(0, 2, 3, 1)
            return found.position[:, 0] - targets, found.velocity[:, 0], changes
        angle, rate, change = self._angle(found)
        if self.kind == "angle":
            value = np.remainder(angle - targets[:, 1] + math.pi, TURN) - math.pi
            return value[..., None], rate[..., None], change[:, :, None, :]
        value = np.remainder(angle - targets[:, 2] + math.pi, TURN) - math.pi
        position = found.position[:, 0] - targets[:, :2]
        moved = found.changes[:, :, 0].transpose(0, 2, 3, 1)
        return (
            np.concatenate([position, weight * value[..., None]], axis=2),
            np.concatenate([found.velocity[:, 0], weight * rate[..., None]], axis=2),
            np.concatenate([moved, weight * change[:, :, None, :]], axis=2),
        )

    def _angle(self, found: Places) -> tuple[Array, Array, Array]:
        one, two = _turn(found, self.second), _turn(found, self.first)
        return one[0] - two[0], one[1] - two[1], one[2] - two[2]


def _turn(found: Places, k: int) -> tuple[Array, Array, Array]:
    """Return the direction from point k to the next, its rate and changes."""
    assert found.changes is not None
    if k < 0:
        d, n, p = found.position.shape[0], found.position.shape[2], found.changes.shape[1]
        return np.zeros((d, n)), np.zeros((d, n)), np.zeros((d, n, p))
    way, rate = found.position[:, k + 1] - found.position[:, k], found.velocity[:, k + 1] - found.velocity[:, k]
    change = (found.changes[:, :, k + 1] - found.changes[:, :, k]).transpose(0, 2, 1, 3)
    x, y = way[..., 0], way[..., 1]
    square = x * x + y * y
    turned = (x[..., None] * change[..., 1] - y[..., None] * change[..., 0]) / square[..., None]
    return np.arctan2(y, x), (x * rate[..., 1] - y * rate[..., 0]) / square, turned


def _measured(marks: _Marks, task: Task, model: Model) -> tuple[list[str], list[tuple[str, int]], _Measure]:
    """Return the points and joints to be computed, and what is made of them."""
    if task.kind == "path":
        return [task.point], [], _Measure("path")
    if task.kind == "motion":
        axis = marks.axis(task.body)
        assert axis is not None
        point = task.point or marks.data["bodies"][task.body]["points"][0]
        return [point, *axis], [], _Measure("pose", 1)
    what, name = task.output
    if what == "body":
        bodies = [FRAME, name]
    else:
        joint = model.joints[name]
        if joint.kind in ("P", "slot"):
            return [], [(name, 1)], _Measure("coordinate")
        if joint.kind not in ("R", "C", "H"):
            raise InputError(f"{marks.origin}: [synthesis] output: joint {name} has no coordinate - name an R or a P")
        if model.dimension == 3:
            return [], [(name, 0)], _Measure("coordinate")
        bodies = list(marks.data["joints"][name]["bodies"])
    if model.dimension == 3:
        raise InputError(f"{marks.origin}: [synthesis] output: in space the output is a joint")
    points: list[str] = []
    places = []
    for body in bodies:
        axis = marks.axis(body)
        places.append(-1 if axis is None else len(points))
        points += axis or ()
    return points, [], _Measure("angle", places[1], places[0])
