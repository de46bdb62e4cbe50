"""An animation as one HTML page: a canvas, its controls and the data, without anything from the network."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanism.model import Array
from .arrows import room
from .moving_svg import FONT, VIEW, limits, name_offsets
from .shapes import Scene, trace_colours

if TYPE_CHECKING:
    from .animate import Film

DIGITS = 5  # of a coordinate, counted from the size of the drawing: far below a pixel
WIDE, TALL = 930.0, 560.0  # the room in pixels for which names are placed


def page(film: Film) -> str:
    """Return the text of the page. Names reach it as data only, never as markup or code."""
    data = json.dumps(_data(film), separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    # the title goes first, so that a name which looks like the other mark cannot draw the data into itself
    text = (files("assurgent.pictures") / "film.html").read_text("utf-8")  # style, controls, script; two marks
    before, after = text.replace("@TITLE@", escape(film.scene.name).replace("@", "&#64;")).split("@DATA@")
    return before + data + after


def _data(film: Film) -> dict[str, Any]:
    scene, steps = film.scene, list(film.steps)
    low, high = room(scene, film.vectors) if scene.dimension == 2 else limits(film)
    some = [steps[k] for k in np.unique(np.linspace(0, len(steps) - 1, 24).astype(int))]
    pixel = float(max((high[0] - low[0]) / WIDE, (high[1] - low[1]) / TALL))
    beside = name_offsets(scene, 1.1 * FONT * pixel, some, [scene.path(name) for name in film.traces])
    places = _rounding(scene)
    return {
        "name": scene.name,
        "dimension": scene.dimension,
        "pace": film.pace,
        "seconds": film.seconds,
        "time": [float(f"{t:.9g}") for t in scene.time[steps]],
        "low": _list(low, places),
        "high": _list(high, places),
        "view": _list(VIEW, 9),
        "bodies": {
            name: {"origin": _list(pose.origin[steps], places), "axes": _list(_axes(pose.rotation[steps]), 6)}
            for name, pose in scene.poses.items()
        },
        **drawn(scene),
        "names": [
            {"text": name, "body": body, "place": _list(local, places), "beside": _list(beside[name] / pixel, 1)}
            for name, (body, local) in scene.marked.items()
            if name in beside
        ],
        "traces": [
            {"colour": colour, "places": _list(scene.path(name)[steps], places)}
            for name, colour in trace_colours(film.traces).items()
        ],
        "ties": [_list(scene.tie(tie)[steps], places) for tie in scene.ties],
        "arrows": [
            {
                "kind": a.kind,
                "colour": a.colour,
                "legend": a.legend,
                "length": float(f"{a.length:.6g}"),
                "places": _list(a.places[steps], places),
                "vectors": _list(a.vectors[steps], places),
            }
            for a in film.vectors
        ],
    }


def drawn(scene: Scene) -> dict[str, Any]:
    """Return shapes and dots of a scene as JSON can hold them."""
    places = _rounding(scene)
    shapes = [
        {
            "body": s.body,
            "outline": _list(s.outline, places),
            "closed": s.closed,
            "edge": s.edge,
            "width": s.width,
            "fill": s.fill,
            "opacity": s.opacity,
            "dashed": s.dashed,
            "layer": s.layer,
        }
        for s in scene.shapes
    ]
    dots = [
        {
            "body": d.body,
            "place": _list(d.place, places),
            "radius": float(f"{d.radius:.4g}"),
            "fill": d.fill,
            "edge": d.edge,
        }
        for d in scene.dots
    ]
    return {"shapes": shapes, "dots": dots}


def _axes(rotation: Array) -> Array:
    """Return what a frame needs of a rotation: cosine and sine in the plane, the whole matrix by rows in space."""
    if rotation.shape[1] == 2:
        return np.stack([rotation[:, 0, 0], rotation[:, 1, 0]], axis=1)
    return rotation.reshape(len(rotation), 9)


def _rounding(scene: Scene) -> int:
    return DIGITS - int(np.floor(np.log10(scene.span)))


def _list(values: Array, places: int) -> Any:
    return np.round(np.nan_to_num(values), places).tolist()
