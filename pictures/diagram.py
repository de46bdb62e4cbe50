"""The structure of a mechanism as a picture (SVG): its kinematic graph, and its structural diagram beside it.

The structural diagram is that of Saura et al., Fig. 3g: a circle 0 for the frame, one circle per group with
(number of bodies, number of drivers) in it, and an arrow to every group from those that must be solved before it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ..mechanism.analysis_steps import KinematicPair
from ..mechanism.model import FRAME, Model
from ..mechanism.structure import Group, Structure

FILLS = ("#dbeafe", "#dcfce7", "#fef3c7", "#fce7f3", "#ede9fe", "#cffafe", "#ffedd5", "#e5e7eb")
INK, DRIVEN, PALE = "#1f2937", "#c2410c", "#6b7280"
CHARACTER = 7.2  # mean width of a character at 13 px
MARGIN, RADIUS = 36.0, 27.0
STRAND = 7.0  # between the bends of the edges of one pair
Point = tuple[float, float]


@dataclass(frozen=True)
class _Panel:
    """Drawn elements, and the box that they fill."""

    elements: tuple[str, ...]
    left: float
    top: float
    right: float
    bottom: float


def structural_diagram(model: Model, structure: Structure, pairs: Sequence[KinematicPair] = ()) -> str:
    """Return the SVG text: the kinematic graph on the left, the structural diagram on the right.

    With `pairs` the graph is the structural one (Fig. 3b): as many thin edges as a pair has degrees, bold where driven.
    """
    fill = {b: FILLS[k % len(FILLS)] for k, group in enumerate(structure.groups) for b in group.bodies}
    graph = _kinematic_graph(model, structure, fill, {p.name: [True] * p.driven + [False] * p.thin for p in pairs})
    diagram = _group_diagram(structure)
    head = 64.0
    height = head + max(graph.bottom - graph.top, diagram.bottom - diagram.top) + MARGIN
    middle = head + (height - head - MARGIN) / 2
    gap = graph.right - graph.left + 2.5 * MARGIN
    width = gap + diagram.right - diagram.left + 1.5 * MARGIN
    title = f"{model.name}: mobility {structure.mobility}, {_many(len(structure.groups), 'group')}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'orient="auto-start-reverse"><path d="M0,1 L10,5 L0,9 z" fill="{INK}"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    left = "Structural graph" if pairs else "Kinematic graph"
    for panel, x, heading in ((graph, MARGIN, left), (diagram, gap, "Structural diagram")):
        out.append(_text((x, 30.0), heading, size=15, anchor="start", weight="bold"))
        shift = middle - (panel.top + panel.bottom) / 2
        out += [f'<g transform="translate({x - panel.left:.1f},{shift:.1f})">', *panel.elements, "</g>"]
    return "\n".join([*out, "</svg>", ""])


# ---- the kinematic graph: bodies and joints ------------------------------------------------------------------------
def _kinematic_graph(
    model: Model, structure: Structure, fill: Mapping[str, str], strands: Mapping[str, Sequence[bool]]
) -> _Panel:
    """`strands` are the edges of a pair, true where they are driven; without, each joint is one line."""
    ties = [tuple(j.bodies) for j in model.joints.values()] + [d.bodies for d in model.drivers.values()]
    columns = _columns(model.bodies, ties)
    links = {body: [b for tie in ties if body in tie for b in tie if b != body] for body in model.bodies}
    _untangle(columns, links)
    driven: dict[str, list[str]] = {}
    for name, driver in sorted(model.drivers.items()):
        if driver.joint is not None:
            driven.setdefault(driver.joint, []).append(name)
    words = {name: _joint_words(name, joint.kind, driven.get(name, [])) for name, joint in model.joints.items()}
    floating = {name: f"{name}: {d.kind}" for name, d in sorted(model.drivers.items()) if d.joint is None}
    widest_label = max(map(len, (*words.values(), *floating.values())), default=0) * CHARACTER * 0.85
    label = {body: "frame" if body == FRAME else _members(model, body) for body in model.bodies}
    wide = {body: len(text) * CHARACTER + 22 for body, text in label.items()}
    at: dict[str, Point] = {}
    row = min(78.0, max(36.0, 936.0 / max(map(len, columns))))  # many bodies stand closer
    x = 0.0
    for column in columns:
        half = max(wide[b] for b in column) / 2
        x += half
        at.update({b: (x, (k - (len(column) - 1) / 2) * row) for k, b in enumerate(column)})
        x += half + widest_label + 34
    place = {body: k for k, column in enumerate(columns) for body in column}
    edges: list[str] = []
    labels: list[str] = []
    taken: list[Point] = []
    tallest = max(map(len, columns)) * row / 2
    drawn: Counter[frozenset[str]] = Counter()
    lines = [(n, j.first, j.second, words[n], n in driven, False, j.carrier) for n, j in sorted(model.joints.items())]
    lines += [(n, *model.drivers[n].bodies, text, True, True, None) for n, text in floating.items()]
    for name, first, second, text, is_driven, dashed, carrier in lines:
        a, b = at[first], at[second]
        pair = frozenset((first, second))
        bundle = strands.get(name, ())
        apart = max(30.0, STRAND * len(bundle) + 12.0)  # bundles of edges stand clear of each other
        bend = apart * ((drawn[pair] + 1) // 2) * (1 if drawn[pair] % 2 else -1)
        if place[first] == place[second]:  # bodies of one column: bend the line around those between them
            bend += 26.0 + 12.0 * (abs(a[1] - b[1]) / row - 1)
        drawn[pair] += 1
        path, top, control = _curve(a, b, bend)
        colour, thick = (DRIVEN, 3.0) if is_driven else (INK, 1.4)
        tallest = max(tallest, abs(top[1]) + STRAND * len(bundle) / 2 + 16.0)
        for i, bold in enumerate(bundle):
            beside = _curve(a, b, bend + STRAND * (i - (len(bundle) - 1) / 2))[0]
            edges.append(_path(beside, DRIVEN if bold else INK, 3.0 if bold else 1.0, False))
        if not bundle:
            edges.append(_path(path, colour, thick, dashed))
        if carrier is not None:
            edges.append(_path(_curve(top, at[carrier], 0)[0], PALE, 1.0, True))
        where = _free_place(a, control, b, len(text) * CHARACTER * 0.85, taken)
        labels.append(_label(where, text, colour, "bold" if is_driven else "normal"))
    boxes = []
    for body, (cx, cy) in sorted(at.items()):
        style = f'fill="{fill.get(body, "#ffffff")}" stroke="{INK}" stroke-width="1.4"'
        if body == FRAME:
            style = f'fill="{INK}" stroke="{INK}"'
        elif body not in fill:  # in no group: not determined
            style += ' stroke-dasharray="4 3"'
        w = wide[body]
        boxes.append(f'<rect x="{cx - w / 2:.1f}" y="{cy - 14:.1f}" width="{w:.1f}" height="28" rx="14" {style}/>')
        boxes.append(_text((cx, cy), label[body], colour="#ffffff" if body == FRAME else INK))
    right = max(p[0] + wide[b] / 2 for b, p in at.items())
    return _Panel((*edges, *boxes, *labels), 0.0, -tallest, right + widest_label / 2, tallest)


def _joint_words(name: str, kind: str, drivers: Sequence[str]) -> str:
    return f"{name}: {kind}" + (f" \u2190 {', '.join(drivers)}" if drivers else "")


def _members(model: Model, body: str) -> str:
    return " + ".join(sorted(member.name for member in model.bodies[body].members)) or body


def _columns(bodies: Iterable[str], ties: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the bodies by their distance from the frame; those that no joint ties to it come last."""
    beside: dict[str, list[str]] = {body: [] for body in bodies}
    for tie in ties:
        for body in tie:
            beside[body] += [other for other in tie if other != body]
    distance, queue = {FRAME: 0}, deque([FRAME])
    while queue:
        body = queue.popleft()
        for other in sorted(beside[body]):
            if other not in distance:
                distance[other] = distance[body] + 1
                queue.append(other)
    last = max(distance.values()) + 1
    columns: dict[int, list[str]] = {}
    for body in sorted(beside):
        columns.setdefault(distance.get(body, last), []).append(body)
    return [columns[k] for k in sorted(columns)]


def _untangle(columns: list[list[str]], links: Mapping[str, Sequence[str]]) -> None:
    """Sort each column by the mean height of what its members are linked to, a few times to and fro."""
    height = {b: k - (len(column) - 1) / 2 for column in columns for k, b in enumerate(column)}
    for _ in range(6):
        for column in [*columns, *reversed(columns)]:
            inside = set(column)
            mean = {}
            for b in column:
                near = [height[o] for o in links[b] if o not in inside and o in height]
                mean[b] = sum(near) / len(near) if near else height[b]
            column.sort(key=lambda b: (mean[b], b))
            height.update({b: k - (len(column) - 1) / 2 for k, b in enumerate(column)})


# ---- the structural diagram: groups and their order ----------------------------------------------------------------
def _group_diagram(structure: Structure) -> _Panel:
    groups = {group.name: group for group in structure.groups}
    needs = {g.name: [*g.depends_on, *([FRAME] if _on_frame(g) else [])] for g in structure.groups}
    deepest = max((g.level for g in structure.groups), default=-1)
    columns = [[FRAME], *([g.name for g in structure.groups if g.level == k] for k in range(deepest + 1))]
    links: dict[str, list[str]] = {name: list(before) for name, before in needs.items()}
    links[FRAME] = []
    for name, before in needs.items():
        for other in before:
            links[other].append(name)
    _untangle(columns, links)
    at: dict[str, Point] = {}
    x = RADIUS
    for k, column in enumerate(columns):
        half = max([RADIUS, *(len(name) * CHARACTER * 0.42 for name in column)])
        x += half if k else 0.0
        at.update({n: (x, (i - (len(column) - 1) / 2) * 96.0) for i, n in enumerate(column)})
        x += half + 46
    place = {name: k for k, column in enumerate(columns) for name in column}
    elements: list[str] = []
    top, bottom = (max(map(len, columns)) * 48.0,) * 2
    for name, before in needs.items():
        for other in before:
            a, b = at[other], at[name]
            span = place[name] - place[other]
            bend = 0.0
            if span > 1:  # around the circles between: below for the frame, above for groups
                between = [at[n][1] for column in columns[place[other] + 1 : place[name]] for n in column]
                more = RADIUS + 24 + min(7.0 * span, 150.0)
                crest = max(between) + more if other == FRAME else min(between) - more + 12
                bend = 2 * (crest - (a[1] + b[1]) / 2)
                top, bottom = max(top, -crest + 20), max(bottom, crest + 20)
            elements.append(_arrow(a, b, bend))
    fills = {group.name: FILLS[k % len(FILLS)] for k, group in enumerate(structure.groups)}
    for name, (cx, cy) in at.items():
        fill = fills.get(name, "#ffffff")
        style = f'fill="{fill}" stroke="{INK}" stroke-width="1.4"'
        elements.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{RADIUS}" {style}/>')
        if name == FRAME:
            elements.append(_text((cx, cy), "0", size=16))
            continue
        group = groups[name]
        elements.append(_text((cx, cy), f"({len(group.bodies)}, {len(group.drivers)})"))
        elements.append(_label((cx, cy + RADIUS + 12), name, weight="bold"))
    return _Panel(tuple(elements), 0.0, -top, x - 46, bottom)


def _on_frame(group: Group) -> bool:
    """Whether a joint or driver of the group ends at the frame."""
    return any(FRAME in pair.bodies for pair in group.pairs) or any(FRAME in d.bodies for d in group.inputs)


# ---- SVG ----------------------------------------------------------------------------------------------------------
def _curve(a: Point, b: Point, bend: float) -> tuple[str, Point, Point]:
    """Return a path from a to b whose middle is moved sideways by `bend`, this middle, and the control point."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    sx, sy = (-dy / length, dx / length) if (dy < 0 or (dy == 0 and dx > 0)) else (dy / length, -dx / length)
    top = ((a[0] + b[0]) / 2 + bend * sx, (a[1] + b[1]) / 2 + bend * sy)
    control = ((a[0] + b[0]) / 2 + 2 * bend * sx, (a[1] + b[1]) / 2 + 2 * bend * sy)
    return f"M{a[0]:.1f},{a[1]:.1f} Q{control[0]:.1f},{control[1]:.1f} {b[0]:.1f},{b[1]:.1f}", top, control


def _free_place(a: Point, control: Point, b: Point, width: float, taken: list[Point]) -> Point:
    """Return a place for a label on the curve, the nearest to its middle that is clear of the labels before."""
    places = []
    for s in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73):
        u, v, w = (1 - s) ** 2, 2 * s * (1 - s), s * s
        places.append((u * a[0] + v * control[0] + w * b[0], u * a[1] + v * control[1] + w * b[1]))
    clear = [p for p in places if all(abs(p[1] - q[1]) > 14 or abs(p[0] - q[0]) > width for q in taken)]
    taken.append(clear[0] if clear else places[0])
    return taken[-1]


def _arrow(a: Point, b: Point, bend: float) -> str:
    """Return an arrow between two circles, its middle `bend` / 2 lower than the straight line."""
    control = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + bend)
    start, end = _rim(a, control), _rim(b, control)
    path = f"M{start[0]:.1f},{start[1]:.1f} Q{control[0]:.1f},{control[1]:.1f} {end[0]:.1f},{end[1]:.1f}"
    return f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#arrow)"/>'


def _rim(centre: Point, towards: Point) -> Point:
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    return centre[0] + RADIUS * dx / length, centre[1] + RADIUS * dy / length


def _path(path: str, colour: str, thick: float, dashed: bool) -> str:
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"{dash}/>'


def _text(
    at: Point, words: str, size: int = 13, colour: str = INK, anchor: str = "middle", weight: str = "normal"
) -> str:
    style = f'font-size="{size}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text x="{at[0]:.1f}" y="{at[1] + 0.35 * size:.1f}" {style}>{escape(words)}</text>'


def _label(at: Point, words: str, colour: str = INK, weight: str = "normal") -> str:
    """Return a small text on a white ground, which keeps it readable on lines."""
    width = len(words) * CHARACTER * 0.85 + 2
    box = f'x="{at[0] - width / 2:.1f}" y="{at[1] - 7:.1f}" width="{width:.1f}" height="14"'
    return f'<rect {box} fill="#ffffff" fill-opacity="0.85"/>' + _text(at, words, 11, colour, weight=weight)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
