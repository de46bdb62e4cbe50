"""The symbols of bodies and joints, in the plane and in space, as shapes and dots of a scene."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..mechanism.model import FRAME, Array, Joint, Model
from ..motion.results import Results
from . import outlines, rounds, telescopes
from .hulls import faces
from .outlines import across
from .shapes import GROUND, INK, PAPER, Dot, DrawnPose, Shape

Drawn = tuple[list[Shape], list[Dot]]
Colours = Mapping[str, str]
SLOT, PLATE = 0.78, 1.5  # half the width of a slot and of the plate round it, in units


# ---- in the plane -------------------------------------------------------------------------------------------------
def planar_symbols(
    model: Model, results: Results, where: Mapping[str, DrawnPose], colours: Colours, unit: float
) -> Drawn:
    """Return the shapes and dots of a planar mechanism."""
    shapes, dots = _planar_bodies(model, results, colours, unit)
    for joint in model.joints.values():
        if joint.kind == "R":
            dots.append(Dot(joint.first, joint.a, 0.52 * unit, PAPER, INK))
        elif joint.kind in ("P", "slot"):
            more = _planar_slide(model, results, joint, colours, unit)
            shapes += more[0]
            dots += more[1]
        elif joint.kind == "gear":
            shapes += _gear(model, joint, colours, unit)
        elif joint.kind == "rack":
            shapes += _rack(joint, where, colours, unit)
        elif joint.kind == "cam":
            more = _cam(joint, colours, unit)
            shapes += more[0]
            dots += more[1]
    return shapes, dots


def _planar_bodies(model: Model, results: Results, colours: Colours, unit: float) -> Drawn:
    shapes: list[Shape] = []
    dots: list[Dot] = []
    pinned = {joint.at for joint in model.joints.values() if joint.kind in ("R", "slot")}
    # a body of one point that a joint already gives a shape needs no disc
    shaped = {joint.second for joint in model.joints.values() if joint.kind in ("P", "gear", "rack", "cam")}
    shaped |= {joint.first for joint in model.joints.values() if joint.kind in ("gear", "rack", "cam")}
    for body in model.bodies.values():
        colour = colours[body.name]
        if body.name == FRAME:
            for joint in model.joints.values():
                if joint.kind == "R" and FRAME in (joint.first, joint.second):
                    place = body.outside(joint.a if joint.first == FRAME else joint.b)
                    shapes += _support(body.inside(place), unit)
            continue
        points = np.array(list(body.points.values()))
        slots = [j for j in model.joints.values() if j.kind == "slot" and j.first == body.name]
        if slots:
            shapes += _slotted(body.name, points, [_slot_ends(results, slot, unit) for slot in slots], colour, unit)
        elif len(points) > 1:
            ternary = len(outlines.hull(points)) > 2
            shapes.append(
                Shape(body.name, outlines.rounded(points, unit), True, colour, 1.3, colour, 0.28 if ternary else 0.5)
            )
        elif len(points) == 1 and body.name not in shaped:
            shapes.append(Shape(body.name, outlines.circle(points[0], 1.5 * unit), True, colour, 1.3, colour, 0.5))
        dots += [
            Dot(body.name, local, 0.36 * unit, colour, PAPER)
            for point, local in body.points.items()
            if point not in pinned and len(points) > 1
        ]
    return shapes, dots


def _slotted(name: str, points: Array, slots: list[Array], colour: str, unit: float) -> list[Shape]:
    """Return the plates that slots (their ends) are cut out of, under what runs in them, and links to points beside."""
    shapes = []
    for ends in slots:
        line = np.concatenate([points, ends])
        if len(outlines.hull(line)) > 2:
            way, line = ends[1] - ends[0], ends
            nearest = np.clip((points.mean(axis=0) - ends[0]) @ way / (way @ way), 0.0, 1.0)
            link = np.concatenate([points, [ends[0] + nearest * way]])
            shapes.append(Shape(name, outlines.rounded(link, unit), True, colour, 1.3, colour, 0.4, layer=1))
        plate = outlines.rounded(line, PLATE * unit)
        shapes.append(Shape(name, plate, True, colour, 1.3, colour, 0.4, layer=1))
    return shapes


def _support(place: Array, unit: float) -> list[Shape]:
    triangle, strokes = outlines.support(place, unit)
    return [
        Shape(FRAME, triangle, True, GROUND, 1.2, "#d7dbe1", 1.0, layer=0),
        *(Shape(FRAME, stroke, False, GROUND, 1.2 if k == 0 else 0.8, layer=0) for k, stroke in enumerate(strokes)),
    ]


def _travel(results: Results, joint: Joint) -> tuple[float, float]:
    """Return the least and the greatest displacement of a joint during the run."""
    series = results.joints.get(joint.name)
    if series is None or series.displacement is None or not np.isfinite(series.displacement).any():
        return 0.0, 0.0
    return float(np.nanmin(series.displacement)), float(np.nanmax(series.displacement))


def _planar_slide(model: Model, results: Results, joint: Joint, colours: Colours, unit: float) -> Drawn:
    least, most = _travel(results, joint)
    axis, n = joint.axis_a, across(joint.axis_a)
    length, height = 4.6 * unit, 2.9 * unit
    if joint.kind == "slot":
        window = outlines.rounded(_slot_ends(results, joint, unit), SLOT * unit)
        cut = Shape(joint.first, window, True, colours[joint.first], 1.2, PAPER, 1.0, layer=1)
        return [cut], [Dot(joint.second, joint.b, 0.62 * unit, PAPER, INK)]
    reach = length / 2 + 0.9 * unit
    ends = np.array([joint.a + (least - reach) * axis, joint.a + (most + reach) * axis])
    colour = colours[joint.second]
    shapes: list[Shape] = []
    if joint.first == FRAME:
        down = model.bodies[FRAME].rotation @ n
        side = -n if down[1] > 1e-9 or (abs(down[1]) <= 1e-9 and down[0] > 0) else n
        floor = ends + side * height / 2
        shapes.append(Shape(FRAME, floor, False, GROUND, 1.4, layer=0))
        shapes += [
            Shape(FRAME, stroke, False, GROUND, 0.8, layer=0)
            for stroke in outlines.hatching(floor[0], floor[1], 0.75 * unit * side, 0.95 * unit)
        ]
    else:
        cylinder = telescopes.slide(model, joint, least, most, colours, unit)
        if cylinder:
            return cylinder, []
        edge = colours[joint.first]
        shapes.append(Shape(joint.first, outlines.rounded(ends, 0.45 * unit), True, edge, 1.0, edge, 0.35, layer=1))
    shape = outlines.block(joint.b, joint.axis_b, length, height)
    shapes.append(Shape(joint.second, shape, True, colour, 1.3, _tint(colour), 1.0, layer=3))
    return shapes, []


def _slot_ends(results: Results, joint: Joint, unit: float) -> Array:
    """Return the ends of a slot's middle line: as far as its pin runs, with a little play."""
    least, most = _travel(results, joint)
    return np.array([joint.a + (least - 0.4 * unit) * joint.axis_a, joint.a + (most + 0.4 * unit) * joint.axis_a])


def _tint(colour: str) -> str:
    """Return the colour mixed with two parts of white: opaque, so that a block hides its guide."""
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{(part + 2 * 255) // 3:02x}" for part in parts)


def _pivots(model: Model, joint: Joint) -> list[Array] | None:
    """Return where the two bodies of a gear pivot on its carrier, in their own axes, or None."""
    found = []
    carrier = joint.carrier or FRAME
    pins = {
        name: [
            model.bodies[j.first].outside(j.a)
            for j in model.joints.values()
            if j.kind == "R" and name in (j.first, j.second)
        ]
        for name in (carrier, joint.first, joint.second)
    }
    size = 1e-9 * model.size
    for body in (joint.first, joint.second):
        # on the carrier itself, or both on one axis of a third body
        direct = [
            model.bodies[j.first].outside(j.a)
            for j in model.joints.values()
            if j.kind == "R" and {j.first, j.second} == {body, carrier}
        ]
        shared = [p for p in pins[body] if any(np.linalg.norm(p - q) <= size for q in pins[carrier])]
        places = direct or shared
        if not places:
            return None
        found.append(model.bodies[body].inside(places[0]))
    return found


def _gear(model: Model, joint: Joint, colours: Colours, unit: float) -> list[Shape]:
    pivots = _pivots(model, joint)
    if pivots is None:
        return []
    one, two = (
        model.bodies[name].outside(pivot) for name, pivot in zip((joint.first, joint.second), pivots, strict=True)
    )
    distance, ratio = float(np.linalg.norm(two - one)), joint.ratio
    if distance < unit or abs(ratio - 1) < 1e-9:
        return []  # on one axis, or turning together: no pitch circles
    second = distance / abs(1 - ratio)  # outside r1 + r2 = d, inside |r1 - r2| = d, with r1 = |ratio| r2
    radii = (abs(ratio) * second, second)
    shapes = []
    for name, pivot, radius in zip((joint.first, joint.second), pivots, radii, strict=True):
        colour, tooth = colours[name], min(0.8 * unit, 0.15 * min(radii))
        flanks = outlines.wheel(pivot, radius, tooth)
        if ratio > 0 and radius == max(radii):  # an inside mesh: the larger one is a ring
            rim = outlines.circle(pivot, radius + 3 * tooth, 96)
            ring = np.concatenate([rim, rim[:1], flanks[:1], flanks[::-1]])
            shapes += [
                Shape(name, ring, True, colour, 0.0, colour, 0.2, layer=0),
                Shape(name, rim, True, colour, 1.1, layer=0),
                Shape(name, flanks, True, colour, 1.1, layer=0),
            ]
        else:
            shapes.append(Shape(name, flanks, True, colour, 1.1, colour, 0.16, layer=1))
        shapes.append(Shape(name, outlines.circle(pivot, radius, 96), True, colour, 0.8, dashed=True, layer=1))
    return shapes


def _rack(joint: Joint, where: Mapping[str, DrawnPose], colours: Colours, unit: float) -> list[Shape]:
    pinion, rack = where.get(joint.first), where.get(joint.second)
    if pinion is None or rack is None:
        return []
    centre = pinion.origin + pinion.rotation @ joint.a
    seen = np.einsum("nij,ni->nj", rack.rotation, centre - rack.origin)  # the pinion's centre in the rack's axes
    axis, n = joint.axis_b, across(joint.axis_b)
    line = seen @ n - joint.radius
    along = seen @ axis
    ends = [axis * (along.min() - abs(joint.radius)), axis * (along.max() + abs(joint.radius))]
    depth = -np.sign(joint.radius) * n * unit
    bar = np.array([ends[0], ends[1], ends[1] + depth * 1.6, ends[0] + depth * 1.6]) + line[0] * n
    mine, other = colours[joint.first], colours[joint.second]
    radius = abs(joint.radius)
    tooth = min(0.8 * unit, 0.15 * radius)
    return [
        Shape(joint.second, bar, True, other, 1.2, other, 0.3, layer=1),
        Shape(joint.first, outlines.wheel(joint.a, radius, tooth), True, mine, 1.1, mine, 0.16, layer=1),
        Shape(joint.first, outlines.circle(joint.a, radius, 96), True, mine, 0.8, dashed=True, layer=1),
    ]


def _cam(joint: Joint, colours: Colours, unit: float) -> Drawn:
    assert joint.profile is not None
    u = np.linspace(0, 2 * np.pi, 241)[:-1]
    radius = joint.profile(u)[0]
    cam, follower = colours[joint.first], colours[joint.second]
    outline = joint.a + radius[:, None] * np.stack([np.cos(u), np.sin(u)], axis=1)
    shapes = [Shape(joint.first, outline, True, cam, 1.5, cam, 0.25, layer=1)]
    touching = joint.follower
    if touching is not None and touching.direction is not None:
        half = touching.direction * float(np.max(radius))
        shapes.append(Shape(joint.second, np.array([joint.b - half, joint.b + half]), False, follower, 2.6, layer=3))
        return shapes, []
    if touching is not None and touching.radius > 0:
        roller = outlines.circle(joint.b, touching.radius)
        shapes.append(Shape(joint.second, roller, True, follower, 1.3, _tint(follower), layer=3))
    return shapes, [Dot(joint.second, joint.b, 0.45 * unit, PAPER, INK)]


# ---- in space -----------------------------------------------------------------------------------------------------
def spatial_symbols(
    model: Model, results: Results, where: Mapping[str, DrawnPose], colours: Colours, unit: float
) -> Drawn:
    """Return the shapes and dots of a spatial mechanism."""
    shapes: list[Shape] = []
    dots: list[Dot] = []
    tied = tied_points(model)
    for body in model.bodies.values():
        colour = colours[body.name]
        if body.name == FRAME:
            held = tied | _on_hinges(model)
            shapes += [shape for point, local in body.points.items() if point in held for shape in _tripod(local, unit)]
            continue
        points = np.array(list(body.points.values()))
        if len(points) > 1:
            sides = faces(points)
            solid = len(sides) > 1
            shapes += [
                Shape(body.name, side, True, colour, 1.6 if solid else 3.0, colour, 0.13 if solid else 0.25)
                if len(side) > 2
                else Shape(body.name, side, False, colour, 5.0)
                for side in sides
            ]
        dots += [
            Dot(body.name, local, 0.5 * unit, colour, PAPER)
            for point, local in body.points.items()
            if point not in tied
        ]
    for joint in model.joints.values():
        shapes += _spatial_joint(model, results, joint, colours, unit)
        if joint.kind in ("R", "S", "U"):
            dots.append(Dot(joint.first, joint.a, (1.0 if joint.kind == "S" else 0.7) * unit, PAPER, INK))
    return shapes, dots


def tied_points(model: Model) -> set[str | None]:
    """Return the points where something is held: by a joint, or by a driven distance."""
    ends = [point for driver in model.drivers.values() for point in driver.points or ()]
    return {*(joint.at for joint in model.joints.values()), *ends}


def _on_hinges(model: Model) -> set[str | None]:
    """Return the points of the frame where a hinge of it has another bearing: on its axis, at a point of its body."""
    found: set[str | None] = set()
    near = 1e-9 * model.size
    for joint in model.joints.values():
        if joint.kind != "R" or FRAME not in joint.bodies:
            continue
        mine, other = (joint.a, joint.axis_a), joint.second
        if joint.first != FRAME:
            mine, other = (joint.b, joint.axis_b), joint.first
        held = [model.bodies[FRAME].inside(model.bodies[other].outside(p)) for p in model.bodies[other].points.values()]
        for point, place in model.bodies[FRAME].points.items():
            on_axis = np.linalg.norm(np.cross(place - mine[0], mine[1])) <= near
            if on_axis and any(np.linalg.norm(place - p) <= near for p in held):
                found.add(point)
    return found


def _tripod(place: Array, unit: float) -> list[Shape]:
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * 1.3 * unit
    foot = place + square - np.array([0, 0, 2.4 * unit])
    return [
        Shape(FRAME, foot, True, GROUND, 1.0, "#c9ced6", 0.9, layer=0),
        *(Shape(FRAME, np.array([place, corner]), False, GROUND, 1.0, layer=0) for corner in foot),
    ]


def _spatial_joint(model: Model, results: Results, joint: Joint, colours: Colours, unit: float) -> list[Shape]:
    first, second = colours[joint.first], colours[joint.second]

    def stroke(body: str, centre: Array, axis: Array, half: float, colour: str, width: float) -> Shape:
        return Shape(body, np.array([centre - half * axis, centre + half * axis]), False, colour, width, layer=3)

    if joint.kind == "R":
        return [stroke(joint.first, joint.a, joint.axis_a, 2.4 * unit, INK, 3.2)]
    if joint.kind == "U":
        return [
            stroke(joint.first, joint.a, joint.axis_a, 2 * unit, first, 3.2),
            stroke(joint.second, joint.b, joint.axis_b, 2 * unit, second, 3.2),
        ]
    if joint.kind in ("P", "C", "H"):
        least, most = _travel(results, joint)
        cylinder = telescopes.slide(model, joint, least, most, colours, unit) if joint.kind != "H" else []
        if cylinder:
            return cylinder
        reach = 4 * unit
        guide = np.array([joint.a + (least - reach) * joint.axis_a, joint.a + (most + reach) * joint.axis_a])
        return [
            Shape(joint.first, guide, False, first, 1.6, layer=1),
            stroke(joint.second, joint.b, joint.axis_b, 2 * unit, second, 9.0),
        ]
    if joint.kind in ("planar", "on-plane"):
        x, y = joint.normal_a * 4 * unit, np.cross(joint.axis_a, joint.normal_a) * 4 * unit
        patch = np.array([joint.a - x - y, joint.a + x - y, joint.a + x + y, joint.a - x + y])
        return [Shape(joint.first, patch, True, first, 0.8, first, 0.2, layer=1)]
    if joint.kind == "on-cylinder":
        return rounds.cylinder(joint, first, unit)
    if joint.kind == "gear":
        return rounds.wheels(model, joint, colours, unit)
    return []
