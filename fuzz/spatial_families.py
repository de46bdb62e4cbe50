"""Spatial families: loops and open chains of R P C S U H, planar joints, rods, platforms, and far starts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .draw import Drawing

# Loops of one freedom: seven freedoms of joints (eight with the spin of a rod), the first is driven.
LOOPS = ("RSSR", "RSSP", "RSUR", "RUSR", "RUSP", "RSCR", "RCCC", "HSUR")


def joint(d: Drawing, kind: str, first: str, second: str, point: str) -> str:
    """Return a joint of any kind at a point, with drawn axes."""
    if kind in ("R", "S", "U"):
        d.on(first, point)
    d.on(second, point)
    if kind == "S":
        return d.joint("S", first, second, at=point)
    axis = d.direction()
    if kind == "U":
        other = np.cross(axis, d.direction())
        return d.joint("U", first, second, at=point, axes=[axis, other])
    if kind == "E":
        return d.joint("planar", first, second, at=point, normal=axis)
    fields = {"pitch": round(d.between(0.05, 0.3), 3)} if kind == "H" else {}
    return d.joint(kind, first, second, at=point, axis=axis, **fields)


def ring(d: Drawing, kinds: str) -> list[str]:
    """Return the joints of one loop from frame to frame; every body lists the points of both its joints."""
    corners = np.array([[0, 0, 0], [0.3, 0.2, 0.5], [1.6, 0.8, 0.9], [2.2, -0.3, 0.1]])
    corners[2:] *= d.between(0.8, 1.3)
    points = [d.point(x + d.random.normal(size=3) * 0.2) for x in corners[: len(kinds)]]
    bodies = ["frame", *(d.body(points[k], points[k + 1]) for k in range(len(kinds) - 1)), "frame"]
    d.on("frame", points[0])
    d.on("frame", points[-1])
    found = []
    for k, kind in enumerate(kinds):
        first, second = bodies[k], bodies[k + 1]
        if d.chance(0.4) and (kind in "SRU" or k > 0):
            first, second = second, first
        if kind in "PCHE":  # slides along the line of the first: a shared point would have to stay
            for body in (first, second):
                if points[k] in d.bodies[body]["points"] and body == first and len(d.bodies[body]["points"]) > 1:
                    d.bodies[body]["points"].remove(points[k])
        found.append(joint(d, kind, first, second, points[k]))
    return found


def loops(d: Drawing) -> None:
    times(d)
    first = ring(d, d.pick(LOOPS))[0]
    d.drive(first, d.turning(0.6))


def times(d: Drawing) -> None:
    d.stop = round(d.between(0.5, 4.0), 2)
    d.step = d.stop / int(d.random.integers(3, 40))


def arms(d: Drawing) -> None:
    """Open chains, every joint driven."""
    times(d)
    body, point = "frame", d.point(d.somewhere(), "frame")
    for _ in range(d.pick((1, 2, 3))):
        kind = d.pick("RPCH" if d.chance(0.3) else "RP")
        nxt = d.body(point, d.point(d.somewhere(d.points[point])))
        if kind in "PCH" and body != "frame" and len(d.bodies[body]["points"]) > 1:
            d.bodies[body]["points"].remove(point)
        elif kind in "PCH" and body == "frame":
            d.bodies["frame"]["points"].remove(point)
            d.point(d.somewhere(), "frame")
        made = joint(d, kind, body, nxt, point)
        if kind != "P":
            d.drive(made, d.turning())
        if kind in "PC":
            d.drive(made, d.small(0.5), "displacement")
        body, point = nxt, d.bodies[nxt]["points"][-1]


def platforms(d: Drawing) -> None:
    """A body on a ball, a universal joint or a plane, moved by driven distances; often at few times."""
    times(d)
    if d.chance(0.5):
        d.step = (d.stop - d.start) / d.pick((1, 2, 3))
    kind = d.pick(("S", "U", "E"))
    base = d.point(d.somewhere())
    body = d.body(base)
    legs = []
    for _ in range(2 if kind == "U" else 3):
        top = d.point(d.somewhere(d.points[base], (0.5, 1.5)), body)
        legs.append((d.point(d.somewhere(d.points[top], (0.8, 2.0)), "frame"), top))
    joint(d, kind, "frame", body, base)
    for foot, top in legs:
        d.reach(foot, top, d.small(round(d.between(0.02, 0.3), 3)))


def planes(d: Drawing) -> None:
    """A crank that carries a plane, and a body on a hinge or a slide with a point that stays in it; or the reverse."""
    times(d)
    a, b = d.point(d.somewhere(), "frame"), d.point(d.somewhere())
    crank = d.body(a, b)
    c = d.point(d.somewhere(d.points[b], (0.6, 1.2)))
    foot = d.point(d.somewhere(d.points[c], (0.5, 1.0)))
    follower = d.body(foot, c)
    kind = d.pick("RP")
    if kind == "R":
        d.on("frame", foot)
    drive = joint(d, "R", "frame", crank, a)
    joint(d, kind, "frame", follower, foot)
    carrying, kept, at = (crank, follower, c) if d.chance(0.7) else (follower, crank, b)
    d.joint("on-plane", carrying, kept, False, at=at, normal=d.direction())
    d.drive(drive, d.turning(0.3))


def cylinders(d: Drawing) -> None:
    """As planes, with a cylinder about an axis through a point of what carries it."""
    times(d)
    a, b = d.point(d.somewhere(), "frame"), d.point(d.somewhere())
    crank = d.body(a, b)
    c = d.point(d.somewhere(d.points[b], (0.6, 1.2)))
    foot = d.point(d.somewhere(d.points[c], (0.5, 1.0)), "frame")
    follower = d.body(foot, c)
    drive = joint(d, "R", "frame", crank, a)
    joint(d, "R", "frame", follower, foot)
    carrying, through, kept, at = (crank, b, follower, c) if d.chance(0.7) else (follower, c, crank, b)
    d.joint("on-cylinder", carrying, kept, False, at=at, through=through, axis=d.direction())
    d.drive(drive, d.turning(0.2))


def bevels(d: Drawing) -> None:
    """A wheel turned by a bevel gear on the frame or on an arm, often by whole turns, and a rod driven by it."""
    times(d)
    a, b = d.point(d.somewhere(), "frame"), d.point(d.somewhere())
    crank, axis, other = d.body(a, b), d.direction(), d.direction()
    d.drive(d.joint("R", "frame", crank, at=a, axis=axis), d.turning(2.0))
    carrier, centre = "frame", d.point(d.somewhere(d.points[b]))
    if d.chance(0.5):  # the arm turns about the first wheel's axis, so that the wheel's turn on it is one
        carrier = d.body(a, centre)
        d.drive(d.joint("R", "frame", carrier, at=a, axis=axis), d.turning())
    wheel = d.body(centre, d.point(d.somewhere(d.points[centre], (0.2, 0.5))))
    d.on(carrier, centre)
    d.joint("R", carrier, wheel, at=centre, axis=other)
    ratio = d.pick((0.5, -1.5, 2.0, round(d.between(-4.0, 4.0), 2) or 1.0))
    first, second = (crank, wheel), (axis, other)
    if d.chance(0.3):
        first, second, ratio = first[::-1], second[::-1], 1 / ratio
    d.joint("gear", *first, False, ratio=ratio, carrier=carrier, axes=list(second))


def cardan(d: Drawing) -> None:
    """A shaft with a universal joint, seen at times far from each other."""
    s = d.between(0.3, 1.0)
    a, o, b = d.point([0, 0, 0], "frame"), d.point([0.1, 0, 0]), d.point([0.1 + 0.1, 0.1 * s, 0], "frame")
    first, second = d.body(a, o), d.body(o, b)
    made = d.joint("R", "frame", first, False, at=a, axis=[1, 0, 0])
    d.joint("U", first, second, False, at=o, axes=[[0, 0, 1], [s, -1, 0]])
    d.joint("C", "frame", second, False, at=b, axis=[1, s, 0])
    d.drive(made, f"{d.between(5, 130)!r}*t")
    d.stop, d.step = 1.0, d.pick((0.01, 0.1, 0.5))
    if d.chance(0.5):
        d.at = sorted(d.between(0.1, 2.0) for _ in range(2))


def rods(d: Drawing) -> None:
    """A rod between two balls with marks on its line; seldom beside it, which is refused."""
    d.drive(ring(d, d.pick(("RSSR", "RSSP")))[0], d.turning(0.6))
    rod = next(b for b in d.bodies if sum(b in j["bodies"] and j["type"] == "S" for j in d.joints.values()) == 2)
    a, b = (d.points[p] for p in d.bodies[rod]["points"])
    d.point(a + (b - a) * d.between(-0.5, 1.5), rod)
    if d.chance(0.1):
        d.point(d.somewhere((a + b) / 2, (0.3, 1.0)), rod)
    d.stop, d.step = 1.0, 0.01


def starts(d: Drawing) -> None:
    """A screw, a bevel gear, or a train of wheels that begins up to half a turn away from its sketch."""
    away = d.between(-3.1, 3.1)
    kind = d.pick(("screw", "bevel", "train"))
    if kind == "bevel":
        bevels(d)
    elif kind == "train":
        train(d)
    else:
        screw(d)
    first = next(iter(d.drivers.values()))
    first["angle"] = f"{away!r} + ({first['angle']})"


def screw(d: Drawing) -> None:
    """A nut on a screw that a hinge turns."""
    times(d)
    axis, near = d.direction(), d.point(d.somewhere(), "frame")
    turned = d.body(near, d.point(d.points[near] + 0.2 * axis))
    nut = d.body(d.point(d.points[near] + 0.5 * axis))
    d.drive(d.joint("R", "frame", turned, at=near, axis=axis), d.turning())
    at = d.bodies[nut]["points"][0]
    d.joint("H", turned, nut, False, at=at, axis=axis, pitch=round(d.between(-0.3, 0.3), 3) or 0.1)
    d.joint("P", "frame", nut, False, at=at, axis=axis)


def train(d: Drawing) -> None:
    """Wheels on skew axes of the frame, each driven by the one before."""
    times(d)
    made: list[tuple[str, np.ndarray]] = []
    for k in range(d.pick((3, 4))):
        centre, axis = d.point(d.somewhere(), "frame"), d.direction()
        wheel = d.body(centre, d.point(d.somewhere(d.points[centre], (0.2, 0.5))))
        hinge = d.joint("R", "frame", wheel, False, at=centre, axis=axis)
        if k == 0:
            d.drive(hinge, d.turning())
        made.append((wheel, axis))
    for one, two in pairwise(made):
        (first, its_axis), (second, other) = (one, two) if d.chance(0.6) else (two, one)
        ratio = d.pick((0.5, -2.0, round(d.between(-3.0, 3.0), 2) or 1.0))
        d.joint("gear", first, second, False, ratio=ratio, carrier="frame", axes=[its_axis, other])


SPATIAL = {
    f"spatial_{f.__name__}": f for f in (loops, arms, platforms, planes, cylinders, bevels, cardan, rods, starts)
}
