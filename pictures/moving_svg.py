"""An animated SVG (SMIL): one file for a report's web page, without a script. Spatial mechanisms in isometric view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.model import FRAME, Array
from .arrows import Arrows, room
from .labels import offsets
from .shapes import GROUND, INK, Scene, Shape, trace_colours

if TYPE_CHECKING:
    from .animate import Film

WIDTH = 760.0
HEAD = 34.0  # the line with the name
FONT = 13.0
STROKE = 2.4  # of an arrow
MARKER = 5.0  # length of its head, in strokes; a shorter arrow is left out
# Isometric view: rows are the picture's right and up, and the way towards the eye.
VIEW = np.array([[1.0, 1, 0], [-1, 1, 2], [1, -1, 1]]) / np.sqrt(np.array([[2.0], [6.0], [3.0]]))


class Sheet:
    """From world to picture: isometric in space, y downwards, to scale."""

    def __init__(self, film: Film) -> None:
        scene = film.scene
        self.flat = scene.dimension == 2
        self.low, self.high = limits(film) if not self.flat else room(scene, film.vectors)
        wide, tall = self.high - self.low
        self.scale = float(min(WIDTH / wide, 620.0 / tall))
        self.left = (WIDTH - self.scale * wide) / 2
        self.foot = 26.0 * len(film.vectors) + 30.0
        self.height = float(HEAD + self.scale * tall + self.foot)

    def project(self, places: Array) -> Array:
        return places if self.flat else np.asarray(places @ VIEW[:2].T)

    def __call__(self, places: Array) -> Array:
        """Return places in the picture (… x 2) of places in the world (… x d)."""
        seen = (self.project(places) - self.low) * self.scale
        seen[..., 0] += self.left
        seen[..., 1] = HEAD + (self.high[1] - self.low[1]) * self.scale - seen[..., 1]
        return seen


def limits(film: Film) -> tuple[Array, Array]:
    """Return the limits of the isometric view of everything that is drawn, at all times."""
    scene, steps = film.scene, list(film.steps)[:: max(1, len(film.steps) // 100)]
    places = [scene.poses[shape.body].place(shape.outline, k) for shape in scene.shapes for k in steps]
    places += [(drawn.places + drawn.vectors)[steps].reshape(-1, 3) for drawn in film.vectors]
    seen = np.concatenate(places) @ VIEW[:2].T
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    margin = 0.07 * float(np.max(high - low))
    return low - margin, high + margin


def moving_svg(film: Film) -> str:
    """Return the text of an animated SVG."""
    sheet, scene, steps = Sheet(film), film.scene, list(film.steps)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {_n(sheet.height)}" '
        f'font-family="system-ui, Helvetica, Arial, sans-serif" font-size="{FONT:g}">',
        f"<title>{escape(scene.name)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="16" y="23" font-size="16" font-weight="600" fill="{INK}">{escape(scene.name)}</text>',
        f'<text x="{WIDTH - 16:g}" y="23" text-anchor="end" fill="#6b7280">'
        f"t = {scene.time[steps[0]]:.4g} … {scene.time[steps[-1]]:.4g} s, {film.pace}</text>",
        _heads(film.vectors),
    ]
    for name, colour in trace_colours(film.traces).items():
        line = " ".join(f"{_n(x)},{_n(y)}" for x, y in sheet(scene.path(name)[steps]))
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6" '
            'stroke-opacity="0.75" stroke-linejoin="round"/>'
        )
    for tie in scene.ties:
        ends = sheet(scene.tie(tie)[steps])
        style = f'stroke="{GROUND}" stroke-width="2" stroke-dasharray="2.5 2.5"'
        parts.append(_line(film, ends[:, 0], ends[:, 1], style))
    parts += _planar(film, sheet) if sheet.flat else _spatial(film, sheet)
    parts += _arrows(film, sheet) + _names(film, sheet) + _legend(film.vectors, sheet)
    parts += _scale(scene, sheet)
    return "\n".join([*parts, "</svg>", ""])


def _scale(scene: Scene, sheet: Sheet) -> list[str]:
    """Return a length to scale, at the foot on the right; in space for what lies in the plane of the picture."""
    length, words = scene.bar
    right, y = WIDTH - 20.0, sheet.height - 12.0
    left = right - length * sheet.scale
    return [
        f'<path d="M{_n(left)} {_n(y - 4)}v8m0 -4H{_n(right)}m0 -4v8" stroke="{GROUND}" fill="none"/>',
        f'<text x="{_n((left + right) / 2)}" y="{_n(y - 6)}" text-anchor="middle" font-size="11" '
        f'fill="{GROUND}">{words}</text>',
    ]


def _n(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _values(items: Iterable[str], film: Film, attribute: str) -> str:
    return (
        f'<animate attributeName="{attribute}" values="{";".join(items)}" dur="{film.seconds:g}s" '
        'repeatCount="indefinite"/>'
    )


def _turning(kind: str, items: Iterable[str], film: Film) -> str:
    return (
        f'<animateTransform attributeName="transform" type="{kind}" values="{";".join(items)}" '
        f'dur="{film.seconds:g}s" repeatCount="indefinite"/>'
    )


def _style(shape: Shape) -> str:
    fill = f'fill="{shape.fill}" fill-opacity="{shape.opacity:g}"' if shape.closed and shape.fill else 'fill="none"'
    dash = ' stroke-dasharray="9 3 2 3"' if shape.dashed else ""
    return (
        f'{fill} stroke="{shape.edge}" stroke-width="{_n(1.25 * shape.width)}" stroke-linejoin="round" '
        f'stroke-linecap="round"{dash}'
    )


def _planar(film: Film, sheet: Sheet) -> list[str]:
    """Each shape rides in a group that is moved and turned with its body; the layers keep their order."""
    scene, steps = film.scene, list(film.steps)
    moves: dict[str, tuple[str, str]] = {}
    for body, pose in scene.poses.items():
        origin = sheet(pose.origin[steps])
        angle = -np.degrees(np.unwrap(np.arctan2(pose.rotation[steps, 1, 0], pose.rotation[steps, 0, 0])))
        here = f'transform="translate({_n(origin[0, 0])} {_n(origin[0, 1])})"'
        turn = f'transform="rotate({_n(angle[0])})"'
        if body == FRAME:
            moves[body] = (f"<g {here}><g {turn}>", "</g></g>")
            continue
        moves[body] = (
            f"<g {here}>"
            + _turning("translate", (f"{_n(x)} {_n(y)}" for x, y in origin), film)
            + f"<g {turn}>"
            + _turning("rotate", (_n(a) for a in angle), film),
            "</g></g>",
        )
    drawn: list[tuple[str, str]] = []
    for shape in scene.shapes:
        outline = shape.outline * np.array([1, -1]) * sheet.scale
        line = " ".join(f"{_n(x)},{_n(y)}" for x, y in outline)
        drawn.append((shape.body, f'<poly{"gon" if shape.closed else "line"} points="{line}" {_style(shape)}/>'))
    for dot in scene.dots:
        x, y = dot.place * np.array([1, -1]) * sheet.scale
        drawn.append(
            (
                dot.body,
                f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(dot.radius * sheet.scale)}" '
                f'fill="{dot.fill}" stroke="{dot.edge}" stroke-width="1.5"/>',
            )
        )
    parts: list[str] = []
    last = ""
    for body, text in drawn:  # neighbours on one body share its group
        if body != last:
            if last:
                parts.append(moves[last][1])
            parts.append(moves[body][0])
        parts.append(text)
        last = body
    return [*parts, moves[last][1]] if last else parts


def _spatial(film: Film, sheet: Sheet) -> list[str]:
    """Every outline moves by its own corners; what is farther from the eye on average is drawn first."""
    scene, steps = film.scene, list(film.steps)
    parts: list[tuple[float, str]] = []
    for shape in scene.shapes:
        places = np.array([scene.poses[shape.body].place(shape.outline, k) for k in steps])
        lines = [" ".join(f"{_n(x)},{_n(y)}" for x, y in corners) for corners in sheet(places)]
        tag = "polygon" if shape.closed else "polyline"
        motion = _values(lines, film, "points") if shape.body != FRAME else ""
        depth = -1e9 if shape.layer == 0 else float(np.mean(places @ VIEW[2]))
        parts.append((depth, f'<{tag} points="{lines[0]}" {_style(shape)}>{motion}</{tag}>'))
    for dot in scene.dots:
        places = np.array([scene.poses[dot.body].place(dot.place[None], k)[0] for k in steps])
        seen = sheet(places)
        motion = (
            ""
            if dot.body == FRAME
            else (_values((_n(x) for x in seen[:, 0]), film, "cx") + _values((_n(y) for y in seen[:, 1]), film, "cy"))
        )
        parts.append(
            (
                1e9,
                f'<circle cx="{_n(seen[0, 0])}" cy="{_n(seen[0, 1])}" r="{_n(dot.radius * sheet.scale)}" '
                f'fill="{dot.fill}" stroke="{dot.edge}" stroke-width="1.5">{motion}</circle>',
            )
        )
    return [text for _, text in sorted(parts, key=lambda part: part[0])]


def _identifier(drawn: Arrows) -> str:
    return drawn.kind.replace(" ", "-")


def _heads(vectors: Sequence[Arrows]) -> str:
    markers = [
        f'<marker id="{_identifier(a)}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="{MARKER:g}" '
        f'markerHeight="{MARKER:g}" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{a.colour}"/></marker>'
        for a in vectors
    ]
    return f"<defs>{''.join(markers)}</defs>" if markers else ""


def _arrows(film: Film, sheet: Sheet) -> list[str]:
    parts, steps = [], list(film.steps)
    for drawn in film.vectors:
        tails, tips = sheet(drawn.places[steps]), sheet((drawn.places + drawn.vectors)[steps])
        for k in range(tails.shape[1]):
            style = f'stroke="{drawn.colour}" stroke-width="{STROKE:g}" marker-end="url(#{_identifier(drawn)})"'
            seen = np.linalg.norm(tips[:, k] - tails[:, k], axis=1) >= MARKER * STROKE
            motion = ""
            if not seen.all():  # a head alone would point anywhere
                style += f' opacity="{int(seen[0])}"'
                motion = _values(("1" if s else "0" for s in seen), film, "opacity")
            parts.append(_line(film, tails[:, k], tips[:, k], style, motion))
    return parts


def _line(film: Film, tails: Array, tips: Array, style: str, motion: str = "") -> str:
    """Return a line that moves with its two ends, each frames x 2."""
    ends = {"x1": tails[:, 0], "y1": tails[:, 1], "x2": tips[:, 0], "y2": tips[:, 1]}
    here = " ".join(f'{key}="{_n(series[0])}"' for key, series in ends.items())
    motion += "".join(_values((_n(x) for x in series), film, key) for key, series in ends.items())
    return f"<line {here} {style}>{motion}</line>"


def _names(film: Film, sheet: Sheet) -> list[str]:
    scene, steps = film.scene, list(film.steps)
    some = [steps[k] for k in np.unique(np.linspace(0, len(steps) - 1, 24).astype(int))]
    beside = name_offsets(scene, FONT / sheet.scale, some, [scene.path(name) for name in film.traces])
    parts = []
    for name, way in beside.items():
        seen = sheet(scene.path(name)[steps]) + way * sheet.scale * np.array([1, -1]) + [0, 0.35 * FONT]
        fixed = np.ptp(seen, axis=0).max() < 0.01
        motion = (
            ""
            if fixed
            else (_values((_n(x) for x in seen[:, 0]), film, "x") + _values((_n(y) for y in seen[:, 1]), film, "y"))
        )
        parts.append(
            f'<text x="{_n(seen[0, 0])}" y="{_n(seen[0, 1])}" text-anchor="middle" fill="{INK}" stroke="#fff" '
            f'stroke-width="3.5" stroke-linejoin="round" paint-order="stroke">{escape(name)}{motion}</text>'
        )
    return parts


def name_offsets(scene: Scene, height: float, steps: Sequence[int], avoid: Sequence[Array]) -> dict[str, Array]:
    """Return the way from each marked point to its name in the picture; in space in the isometric view."""
    if scene.dimension == 2:
        return offsets(scene, list(scene.marked), height, steps, avoid)
    return offsets(scene, list(scene.marked), height, steps, avoid, lambda places: np.asarray(places @ VIEW[:2].T))


def _legend(vectors: Sequence[Arrows], sheet: Sheet) -> list[str]:
    parts = []
    for k, drawn in enumerate(vectors):
        y = sheet.height - sheet.foot + 12 + 26 * k
        end = 20 + drawn.length * sheet.scale
        note = drawn.legend if sheet.flat else f"{drawn.legend} (in the plane of the picture)"
        parts += [
            f'<line x1="20" y1="{_n(y)}" x2="{_n(end)}" y2="{_n(y)}" stroke="{drawn.colour}" '
            f'stroke-width="{STROKE:g}" marker-end="url(#{_identifier(drawn)})"/>',
            f'<text x="{_n(end + 12)}" y="{_n(y + 4.5)}" fill="{drawn.colour}">{escape(note)}</text>',
        ]
    return parts
