"""Planar families: chains of all dyads and triads, slots, gears, racks, cams, cylinders, floating drivers, welds."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from .draw import Array, Drawing

DYADS = ("RRR", "RRP", "RPR", "PRP", "RPP")


def crank(d: Drawing, radius: tuple[float, float] = (0.3, 0.7)) -> str:
    """Return a driven crank on the frame."""
    pivot = d.point(d.somewhere(), "frame")
    body = d.body(pivot, d.point(d.somewhere(d.points[pivot], radius)))
    joint = d.joint("R", "frame", body, at=pivot)
    d.drive(joint, d.turning(), turns=d.pick((0, 0, 0, 1, -2)))
    return body


def tip(d: Drawing, body: str, near: Array | None = None) -> str:
    """Return a point of a body for a new joint: its last one, or a new one."""
    points = d.bodies[body]["points"]
    if body != "frame" and d.chance(0.6) and len(points) > 1:
        return str(points[-1])
    base = d.points[points[-1]] if points else np.zeros(2)
    return d.point(d.somewhere(base if body != "frame" or near is None else near, (0.3, 1.5)), body)


def apart(d: Drawing, p: str, q: str) -> Array:
    """Return a place for the middle pin of a dyad, beside the line of its outer ones."""
    a, b = d.points[p], d.points[q]
    way = b - a
    side = np.array([-way[1], way[0]]) * d.pick((1, -1))
    return np.asarray((a + b) / 2 + way * d.between(-0.2, 0.2) + side * d.between(0.5, 1.3))


def slide(d: Drawing, guide: str, body: str, at: str, axis: Array | None = None, kind: str = "P") -> str:
    """Return a sliding joint; its line has a point `through` on the guide, or is measured."""
    axis = d.direction() if axis is None else axis
    fields = {}
    if d.chance(0.5):
        fields["through"] = d.point(d.points[at] - axis * d.between(0.2, 1.0), guide)
    return d.joint(kind, guide, body, at=at, axis=axis, **fields)


def dyad(d: Drawing, kind: str, u: str, w: str) -> list[str]:
    """Add a dyad between two bodies and return its bodies."""
    if kind in ("RRR", "RPR") or kind == "slot":
        p = tip(d, u)
        q = tip(d, w, d.points[p])
        if kind == "RRR":
            c = d.point(apart(d, p, q))
            first, second = d.body(p, c), d.body(q, c)
            d.joint("R", u, first, at=p)
            d.joint("R", first, second, at=c)
            d.joint("R", w, second, at=q)
            return [first, second]
        lever = d.body(q, d.point(d.points[q] + (d.points[p] - d.points[q]) * d.between(1.2, 1.8)))
        d.joint("R", w, lever, at=q)
        axis = d.points[p] - d.points[q]
        if kind == "slot":
            d.joint("slot", lever, u, at=p, axis=axis, **({"through": q} if d.chance(0.7) else {}))
            return [lever]
        block = d.body(p)
        d.joint("R", u, block, at=p)
        d.joint("P", lever, block, at=p, axis=axis, **({"through": q} if d.chance(0.7) else {}))
        return [lever, block]
    if kind == "RRP":
        p = tip(d, u)
        c = d.point(d.somewhere(d.points[p], (1.2, 2.5)))
        rod, slider = d.body(p, c), d.body(c)
        d.joint("R", u, rod, at=p)
        d.joint("R", rod, slider, at=c)
        way = d.points[c] - d.points[p]
        turn = d.between(-0.7, 0.7)
        axis = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]) @ way
        slide(d, w, slider, c, axis)
        return [rod, slider]
    base = d.points[d.bodies[u]["points"][-1]]
    c = d.point(d.somewhere(base, (0.5, 1.5)))
    if kind == "PRP":
        first, second = d.body(c), d.body(c)
        axis = d.direction()
        slide(d, u, first, c, axis)
        d.joint("R", first, second, at=c)
        slide(d, w, second, c, np.array([-axis[1], axis[0]]) + axis * d.between(-0.5, 0.5))
        return [first, second]
    p = tip(d, u)  # RPP
    arm, block = d.body(p, c), d.body(d.point(d.somewhere(d.points[c], (0.3, 1.0))))
    d.joint("R", u, arm, at=p)
    axis = d.direction()
    slide(d, arm, block, d.bodies[block]["points"][0], axis)
    slide(d, w, block, d.bodies[block]["points"][0], np.array([-axis[1], axis[0]]) + axis * d.between(-0.5, 0.5))
    return [arm, block]


def chain(d: Drawing, kinds: tuple[str, ...], count: int) -> list[str]:
    """Return the bodies of a crank with dyads, each between a body before it and another."""
    bodies = [crank(d)]
    for _ in range(count):
        u = bodies[-1] if d.chance(0.5) else d.pick(bodies)
        w = "frame" if d.chance(0.75) else d.pick([*bodies, "frame"])
        bodies += dyad(d, d.pick(kinds), u, w if w != u else "frame")
    return bodies


def spans(d: Drawing) -> None:
    d.stop = d.start + round(d.between(0.5, 8.0), 2)
    d.step = round((d.stop - d.start) / int(d.random.integers(3, 80)), 4)


def dyads(d: Drawing) -> None:
    spans(d)
    d.noise = d.pick((0.0, 0.0, 0.003))
    chain(d, DYADS, d.pick((1, 2, 2, 3, 4)))


def slots(d: Drawing) -> None:
    spans(d)
    chain(d, ("slot", "RRR", "slot", "RRP"), d.pick((1, 2, 3)))


def triads(d: Drawing) -> None:
    spans(d)
    body = crank(d, (0.15, 0.35))
    corners = [d.point(x) for x in (d.somewhere(), d.somewhere(), d.somewhere())]
    plate = d.body(*corners)
    for k, corner in enumerate(corners):
        holder = body if k == 0 else "frame"
        foot = d.bodies[body]["points"][-1] if k == 0 else d.point(d.somewhere(d.points[corner], (0.8, 1.6)), "frame")
        link = d.body(foot, corner)
        d.joint("R", holder, link, at=foot)
        d.joint("R", link, plate, at=corner)
    if d.chance(0.3):
        dyad(d, d.pick(DYADS), plate, "frame")


def gears(d: Drawing) -> None:
    """A wheel turned by a gear, fast or slow, on the frame or on the crank as carrier, with a dyad behind it."""
    spans(d)
    motor = crank(d)
    carrier = motor if d.chance(0.3) else "frame"
    hub = d.point(d.somewhere(d.points[d.bodies[motor]["points"][0]], (1.5, 3.0)), carrier)
    wheel = d.body(hub, d.point(d.somewhere(d.points[hub], (0.2, 0.6))))
    d.joint("R", carrier, wheel, at=hub)
    fields: dict[str, Any] = {"carrier": carrier} if carrier != "frame" else {}
    fast = carrier == "frame" and d.chance(0.3)
    if fast:
        fields["ratio"] = round(d.pick((1, -1)) * d.between(12, 45), 3)
    elif d.chance(0.3):
        fields |= {"radii": [d.between(0.2, 1.0), d.between(0.2, 1.0)]}
        fields |= {"internal": True} if d.chance(0.4) else {}
    else:
        fields["ratio"] = round(d.pick((1, -1)) * math.exp(d.between(-1.0, 3.5)), 3)
    first = "frame" if carrier != "frame" else motor  # the carrier is none of the wheels
    d.joint("gear", first, wheel, **fields)
    if fast:
        drag_link(d, wheel, hub)
    else:
        dyad(d, d.pick(("RRR", "RRP", "RPR", "RRR")), wheel, "frame")
    d.step = max(d.step, (d.stop - d.start) / 20)


def drag_link(d: Drawing, wheel: str, hub: str) -> None:
    """Add rod and link that turn with a wheel, unevenly: the frame is the shortest side."""
    unit, turn = d.direction(), d.direction()
    unit, turn = unit / np.linalg.norm(unit), turn / np.linalg.norm(turn)
    pivot, pin = d.point(d.points[hub] + 0.7 * unit, "frame"), d.point(d.points[hub] + turn, wheel)
    way = d.points[pivot] - d.points[pin]
    rod, link = d.between(0.95, 1.15), d.between(0.95, 1.15)
    along = (rod**2 - link**2 + way @ way) / (2 * math.sqrt(way @ way))
    across = d.pick((1, -1)) * math.sqrt(rod**2 - along**2)
    way = way / math.sqrt(way @ way)
    end = d.point(d.points[pin] + along * way + across * np.array([-way[1], way[0]]))
    bodies = d.body(pin, end), d.body(pivot, end)
    d.joint("R", wheel, bodies[0], at=pin)
    d.joint("R", *bodies, at=end)
    d.joint("R", "frame", bodies[1], at=pivot)


def racks(d: Drawing) -> None:
    """A rack on the frame moved by a crank as pinion; or on a coupler, with its pinion on the coupler's end."""
    spans(d)
    pinion = crank(d)
    guide = "frame" if d.chance(0.3) else dyad_on_tip(d, pinion)
    place = d.point(d.somewhere(d.points[d.bodies[pinion]["points"][-1]], (0.4, 1.5)))
    rack = d.body(place, d.point(d.somewhere(d.points[place], (0.3, 1.0))))
    axis = d.direction()
    slide(d, guide, rack, place, axis)
    d.joint("rack", pinion, rack, axis=axis, radius=round(d.pick((1, -1)) * d.between(0.1, 0.6), 3))
    if d.chance(0.5):
        dyad(d, d.pick(("RRR", "RRP")), rack, "frame")


def dyad_on_tip(d: Drawing, body: str) -> str:
    """Return the coupler of an RRR dyad on a crank's end."""
    p, q = d.bodies[body]["points"][-1], d.point(d.somewhere(None, (1.0, 2.0)), "frame")
    c = d.point(apart(d, p, q))
    rod, rocker = d.body(p, c), d.body(q, c)
    d.joint("R", body, rod, at=p)
    d.joint("R", rod, rocker, at=c)
    d.joint("R", "frame", rocker, at=q)
    return rod


def loop(d: Drawing) -> tuple[str, str, str, list[str]]:
    """Return crank, rod and rocker of an undriven four-bar, and its pins in order."""
    pins = [d.point(d.somewhere(x, (0.1, 0.7))) for x in np.array([[0, 0], [0.2, 1.5], [2.3, 2.0], [2.6, 0.0]])]
    bodies = [d.body(a, b) for a, b in pairwise(pins)]
    d.on("frame", pins[0])
    d.on("frame", pins[3])
    for pin, (a, b) in zip(pins, (("frame", bodies[0]), bodies[:2], bodies[1:], (bodies[2], "frame")), strict=True):
        d.joint("R", a, b, at=pin)
    return bodies[0], bodies[1], bodies[2], pins


def cylinders(d: Drawing) -> None:
    spans(d)
    first, rod, rocker, pins = loop(d)
    body = d.pick((first, rod, rocker))
    end = d.point(d.somewhere(d.points[d.bodies[body]["points"][0]], (0.3, 0.8)), body) if d.chance(0.5) else pins[2]
    d.reach(d.point(d.somewhere(d.points[end], (0.8, 1.5)), "frame"), end, d.small(round(d.between(0.02, 0.4), 3)))
    if d.chance(0.4):
        dyad(d, d.pick(DYADS), rod, "frame")


def floating(d: Drawing) -> None:
    spans(d)
    first, rod, rocker, _ = loop(d)
    a, b = d.pick((("frame", rod), (rod, rocker), (first, rocker), (rod, "frame"), (first, rod)))
    zero = d.angle(b) - d.angle(a)
    d.drivers["d1"] = {"bodies": [a, b], "angle": f"{zero!r} + {d.small(round(d.between(0.05, 0.8), 3))}"}
    if d.chance(0.4):
        dyad(d, d.pick(DYADS), d.pick((rod, rocker)), "frame")


def shared(d: Drawing) -> None:
    """A dyad whose third bodies hang on its middle pin."""
    spans(d)
    bodies = chain(d, ("RRR",), 1)
    pin = d.bodies[bodies[-1]]["points"][-1]
    q = d.point(d.somewhere(d.points[pin], (1.5, 2.5)), "frame")
    c = d.point(apart(d, pin, q))
    first, second = d.body(pin, c), d.body(q, c)
    d.joint("R", d.pick(bodies[-2:]), first, at=pin)
    d.joint("R", first, second, at=c)
    d.joint("R", second, "frame", at=q)


def welds(d: Drawing) -> None:
    spans(d)
    bodies = chain(d, ("RRR", "RRP"), 1)
    base = d.pick(bodies[:2])
    common = d.bodies[base]["points"][-1]
    horn = d.body(common, d.point(d.somewhere(d.points[common], (0.4, 1.0))))
    d.joint("weld", base, horn)
    dyad(d, d.pick(DYADS), horn, "frame")


def cams(d: Drawing) -> None:
    spans(d)
    cam = crank(d)
    centre = d.bodies[cam]["points"][0]
    o = d.points[centre]
    base, lift = 0.6, d.between(0.01, 0.06)
    profile = f"{base} + {lift!r}*cos(u) + {d.between(0, 0.02)!r}*sin(2*u)"
    kind = d.pick(("point", "roller", "flat"))
    direction = d.direction()
    unit = direction / np.linalg.norm(direction)
    radius = d.between(0.05, 0.2) if kind == "roller" else 0.0
    place = d.point(o + unit * (base + radius))
    if d.chance(0.5) or kind == "flat":
        follower = d.body(place)
        slide(d, "frame", follower, place, direction)
    else:
        pivot = d.point(d.points[place] + np.array([-unit[1], unit[0]]) * d.between(1.0, 1.6), "frame")
        follower = d.body(pivot, place)
        d.joint("R", "frame", follower, at=pivot)
    fields: dict[str, Any] = {"point": place} | ({"radius": radius} if kind == "roller" else {})
    if kind == "flat":
        fields["direction"] = [-unit[1], unit[0]]
    d.joint("cam", cam, follower, centre=centre, profile=profile, follower=fields)


FAMILIES = {
    f.__name__: f
    for f in (dyads, slots, triads, gears, racks, cylinders, floating, shared, welds, cams)
}  # fmt: skip
