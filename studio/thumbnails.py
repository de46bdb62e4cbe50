"""Small pictures of the templates for the page's gallery, from their own motion; written once, read by the page.

python -m assurgent.studio.thumbnails        # after a template or the drawing of its symbols has changed
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..mechanism.model import Array
from ..mechanism.plans.planning import study
from ..mechanism.reader import loads
from ..motion.kinematics import run
from ..pictures.moving_svg import VIEW
from ..pictures.scene import build
from .sheet import group_colours
from .templates import TEMPLATES, template

WIDE, TALL, MARGIN = 150.0, 84.0, 4.0  # pixels
AT = 0.12  # part of the run at which a mechanism is shown
NEAR = 0.15  # pixels that an outline may be beside its true place


def thumbnail(title: str) -> dict[str, Any]:
    """Return shapes (path, filling, its opacity, edge) and dots (x, y, radius, filling, edge) in pixels."""
    model = loads(template(title), title)
    results = run(model).results
    scene = build(model, results, group_colours(model, study(model)))
    k = int(AT * (len(results) - 1))
    view = np.eye(2) if scene.dimension == 2 else VIEW[:2]
    outlines = [scene.poses[s.body].place(np.atleast_2d(s.outline), k) @ view.T for s in scene.shapes]
    places = [scene.poses[d.body].place(np.atleast_2d(d.place), k)[0] @ view.T for d in scene.dots]
    everything = np.concatenate([*outlines, *(np.atleast_2d(p) for p in places)])
    low, high = everything.min(axis=0), everything.max(axis=0)
    scale = float(np.min((np.array([WIDE, TALL]) - 2 * MARGIN) / (high - low)))

    def pixels(world: Array) -> Array:
        return np.asarray((world - (low + high) / 2) * [scale, -scale] + [WIDE / 2, TALL / 2])

    shapes = [
        [_path(_simpler(pixels(outline)), s.closed), s.fill if s.closed else None, s.opacity, s.edge]
        for s, outline in zip(scene.shapes, outlines, strict=True)
    ]
    dots = [
        [*(float(x) for x in np.round(pixels(place), 1)), round(max(scale * d.radius, 0.8), 1), d.fill, d.edge]
        for d, place in zip(scene.dots, places, strict=True)
    ]
    return {"shapes": shapes, "dots": dots}


def _simpler(line: Array) -> Array:
    """Return the line without the points that lie near the straight way between others (Douglas and Peucker)."""
    if len(line) < 3:
        return line
    way = line[-1] - line[0]
    size = float(np.hypot(*way))
    beside = line - line[0]
    off = np.abs(beside[:, 0] * way[1] - beside[:, 1] * way[0]) / size if size > NEAR else np.hypot(*beside.T)
    k = int(np.argmax(off))
    if off[k] <= NEAR:
        return line[[0, -1]]
    return np.concatenate([_simpler(line[: k + 1])[:-1], _simpler(line[k:])])


def _path(line: Array, closed: bool) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in line) + "Z" * closed


def main() -> None:
    """Write the pictures of all templates beside the page's other assets."""
    found = {title: thumbnail(title) for title, stem in TEMPLATES.items() if stem is not None}
    text = (
        "{\n"
        + ",\n".join(f"{json.dumps(t)}: {json.dumps(p, separators=(',', ':'))}" for t, p in found.items())
        + "\n}\n"
    )
    Path(str(files("assurgent.studio") / "static" / "thumbnails.json")).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
