"""A mechanism and its motion as one message to the page: values, structure, scene and series."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from ..mechanism.model import FRAME, Model
from ..mechanism.structure import Structure
from ..motion.results import Results
from ..pictures.page import drawn
from ..pictures.scene import body_colours, build
from ..pictures.shapes import COLOURS, GROUND, Scene
from .mechanism_text import Problem, Read, sketch
from .wire import Floats


@dataclass(frozen=True, eq=False)
class Shown:
    """What the page is sent: what was read, and results as far as there are any."""

    read: Read
    results: Results | None = None
    problem: Problem | None = None
    notes: tuple[str, ...] = ()
    provisional: bool = False


def group_colours(model: Model, structure: Structure) -> dict[str, str]:
    """Return one colour for all bodies of a group, those of no group as if each were one."""
    palette = cycle(COLOURS)
    found = {FRAME: GROUND}
    for group in structure.groups:
        colour = next(palette)
        found.update(dict.fromkeys(group.bodies, colour))
    return {name: found[name] if name in found else next(palette) for name in model.bodies}


def message(shown: Shown, identifier: object, light: bool = False, by_group: bool = True, **more: Any) -> bytes:
    """Return the binary message; a light one, sent while something is dragged, has only what is drawn."""
    floats, read = Floats(), shown.read
    problem = shown.problem or read.problem
    header: dict[str, Any] = {"id": identifier, "notes": list(shown.notes), "provisional": shown.provisional, **more}
    header["problem"] = None if problem is None else problem.to_json()
    model, structure = read.model, read.structure
    if not light:
        header |= {"text": read.text, "sketch": sketch(read.data), "data": _jsonable(read.data)}
    elif model is not None:
        header["sketch"] = {name: np.asarray(place).tolist() for name, place in model.points.items()}
    else:
        header["sketch"] = sketch(read.data)
    if model is not None and structure is not None:
        header["structure"] = _structure(model, structure)
    if model is not None and structure is not None and shown.results is not None and shown.results.points:
        colours = group_colours(model, structure) if by_group else body_colours(model)
        header["scene"] = _scene(build(model, shown.results, colours), floats)
        header["series"] = _series(shown.results, floats, light)
        header["method"] = shown.results.method
        if not light:
            header["diagnostics"] = _jsonable(shown.results.diagnostics)
    return floats.message(header)


def _structure(model: Model, structure: Structure) -> dict[str, Any]:
    colours = group_colours(model, structure)
    found = structure.to_json()
    for entry, group in zip(found["groups"], structure.groups, strict=True):
        entry["colour"] = colours[group.bodies[0]] if group.bodies else GROUND
        entry["level"] = group.level
    found["drivers"] = len(model.drivers)
    found["space"] = model.space
    found["rigid"] = {member.name: body.name for body in model.bodies.values() for member in body.parts}
    return found


def _scene(scene: Scene, floats: Floats) -> dict[str, Any]:
    n = len(scene.time)
    bodies = {}
    for name, pose in scene.poses.items():
        if scene.dimension == 2:
            motion = np.concatenate([pose.origin, pose.rotation[:, :, 0]], axis=1)  # x, y, cosine, sine
        else:
            motion = np.concatenate([pose.origin, pose.rotation.reshape(n, 9)], axis=1)
        bodies[name] = floats.put(motion[:1] if name == FRAME else motion)
    return {
        "dimension": scene.dimension,
        "unit": scene.unit,
        "low": scene.low.tolist(),
        "high": scene.high.tolist(),
        "time": floats.put(scene.time),
        "bodies": bodies,
        "colours": scene.colours,
        "ties": [floats.put(scene.tie(tie).reshape(n, -1)) for tie in scene.ties],
        **drawn(scene),
    }


def _series(results: Results, floats: Floats, light: bool) -> dict[str, Any]:
    if not light:
        return {name: floats.put(values) for name, values in results.columns().items() if values.dtype == np.float64}
    found = {"t": floats.put(results.time)}
    for name, point in results.points.items():
        for k, axis in enumerate(results.axes):
            found[f"{name}.{axis}"] = floats.put(point.position[:, k])
    return found


def _jsonable(value: Any) -> Any:
    """Return values as JSON can hold them: dates and other strangers of a TOML file as text."""
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return float(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
