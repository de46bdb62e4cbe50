"""Planar families on purpose: change points, dead points, near-singular poses, scales, places, times, formulas."""

from __future__ import annotations

import math

import numpy as np

from .case import Case
from .draw import Drawing
from .planar_families import dyads, loop


def four_bar(d: Drawing, place: list[tuple[float, float]], formula: str, lengths: tuple[float, float, float]) -> None:
    """Add a four-bar by its pins A, B, C, D and exact lengths of crank, rod and rocker."""
    pins = [d.point(p) for p in place]
    bodies = [d.body(pins[0], pins[1]), d.body(pins[1], pins[2]), d.body(pins[3], pins[2])]
    for body, length in zip(bodies, lengths, strict=True):
        d.bodies[body] |= {"length": length}
    d.on("frame", pins[0])
    d.on("frame", pins[3])
    joints = [
        d.joint("R", "frame", bodies[0], False, at=pins[0]), d.joint("R", bodies[0], bodies[1], at=pins[1]),
        d.joint("R", bodies[1], bodies[2], at=pins[2]), d.joint("R", "frame", bodies[2], at=pins[3]),
    ]  # fmt: skip
    d.drive(joints[0], formula)


def change_points(d: Drawing) -> None:
    """Parallelograms, antiparallelograms and kites that pass, touch or end at a change point."""
    a, g = round(d.between(0.5, 1.6), 2), round(d.between(1.8, 3.0), 2)
    theta = d.between(0.3, 2.8) * d.pick((1, -1))
    kind = d.pick(("parallelogram", "antiparallelogram", "kite", "lever"))
    w = d.pick((1.0, -1.0, 0.7, 2.0))
    meets = ((math.ceil if w > 0 else math.floor)(theta / math.pi) * math.pi - theta) / w
    d.stop = d.pick((meets, meets + beside(d), 7.0, 13.0, round(d.between(1, 9), 2)))
    d.step = d.stop / int(d.random.integers(7, 160))
    formula = f"{w!r}*t"
    if d.chance(0.2):  # the crank turns back exactly where branches meet
        d.stop, d.step = 20.0, 20.0 / int(d.random.integers(50, 200))
        formula = f"{math.copysign(math.pi, theta) - theta!r}*sin({d.between(0.2, 0.5)!r}*t)"
    B = np.array([a * math.cos(theta), a * math.sin(theta)])
    D = np.array([g, 0.0])
    if kind == "lever":
        lever(d, theta, w)
        return
    if kind == "kite":  # crank = frame, rod = rocker: C beyond the line from B to D
        B = np.array([g * math.cos(theta), g * math.sin(theta)])
        rod = g * d.between(1.2, 2.0)
        way = D - B
        height = math.sqrt(rod**2 - way @ way / 4)
        C = (B + D) / 2 + np.array([-way[1], way[0]]) / np.linalg.norm(way) * height * d.pick((1, -1))
        four_bar(d, [(0, 0), tuple(B), tuple(C), tuple(D)], formula, (g, rod, rod))
        return
    C = B + D
    if kind == "antiparallelogram":  # the mirror image of C in the line from B to D
        u = (D - B) / np.linalg.norm(D - B)
        C = B + 2 * u * (u @ (C - B)) - (C - B)
    four_bar(d, [(0, 0), tuple(B), tuple(C), tuple(D)], formula, (a, g, a))


def beside(d: Drawing) -> float:
    """Return a time so short that digits are lost when a run ends so near to where branches meet."""
    return float(d.pick((1, -1)) * 10 ** d.between(-9, -6))


def lever(d: Drawing, theta: float, w: float) -> None:
    """A pin that passes through the pivot of the slotted lever that it moves."""
    a, d_, b = d.point([0.0, 0.0], "frame"), d.point([-1.0, 0.0], "frame"), d.point([math.cos(theta), math.sin(theta)])
    body = d.body(a, b)
    d.drive(d.joint("R", "frame", body, at=a), f"{w!r}*t")
    arm = d.body(d_, d.point(d.points[d_] + 1.5 * (d.points[b] - d.points[d_])))
    d.joint("R", "frame", arm, at=d_)
    d.joint("slot", arm, body, at=b, through=d_, axis=d.points[b] - d.points[d_])
    meets = (math.copysign(math.pi, w) - theta) / w
    d.stop = d.pick((meets, meets + beside(d), round(d.between(2, 6), 2), round(d.between(2, 6), 2)))
    d.step = d.stop / int(d.random.integers(7, 60))


def dead_points(d: Drawing) -> None:
    """Pistons driven to their dead centres, loops that come apart, lines that become parallel, fast wheels."""
    kind = d.pick(("piston", "apart", "parallel", "wheel"))
    d.stop = round(d.between(2.0, 6.3), 2)
    d.step = d.stop / int(d.random.integers(6, 60))
    if kind == "piston":
        o, r, rod, theta = d.point([0.0, 0.0], "frame"), d.between(0.3, 0.8), d.between(1.0, 2.0), d.between(0.4, 2.6)
        a = d.point([r * math.cos(theta), r * math.sin(theta)])
        c = d.point([r * math.cos(theta) + math.sqrt(rod**2 - (r * math.sin(theta)) ** 2), 0.0])
        body, bar, piston = d.body(o, a), d.body(a, c), d.body(c)
        d.joint("R", "frame", body, at=o)
        d.joint("R", body, bar, at=a)
        d.joint("R", bar, piston, at=c)
        joint = d.joint("P", "frame", piston, at=c, axis=[1.0, 0.0], through=o)
        d.drive(joint, f"{d.pick((1, -1)) * d.between(0.1, 0.6)!r}*t", "displacement")
    elif kind == "parallel":
        o, x, y = d.point([0.0, 0.0], "frame"), d.between(-1, 1), d.between(0.5, 1.5)
        a = d.point([x, y])
        body, sleeve, block = d.body(o), d.body(a), d.body(a)
        joint = d.joint("R", "frame", body, False, at=o)
        d.drive(joint, d.pick(("t", "-t")))
        d.joint("P", body, sleeve, at=a, axis=[x, y], through=o)
        d.joint("R", sleeve, block, at=a)
        d.joint("P", "frame", block, at=a, axis=[1.0, 0.0])
    else:
        first, _rod, _rocker, pins = loop(d)
        w = d.between(0.5, 2.0) if kind == "apart" else d.between(10, 60)
        joint = next(j for j, f in d.joints.items() if f["at"] == pins[0])
        if kind == "apart":
            d.drive(joint, f"{w!r}*t")
            return
        hub = d.point([-3.0, 0.0], "frame")
        motor = d.body(hub, d.point([-2.8, 0.1]))
        d.drive(d.joint("R", "frame", motor, False, at=hub), "t")
        d.joint("gear", motor, first, ratio=w)
        d.stop = round(d.between(0.3, 2.0), 2)
        d.step = d.stop / int(d.random.integers(3, 20))


def near_singular(d: Drawing) -> None:
    """Almost parallelograms and almost dead centres: branches come as near as 1e-2 to 1e-4 and do not meet."""
    a, g, gap = 1.0, round(d.between(1.6, 2.6), 2), 10 ** d.between(-4, -1.5)
    theta = d.between(0.5, 2.6)
    B, D = np.array([math.cos(theta), math.sin(theta)]), np.array([g, 0.0])
    rod, rocker = g + gap * d.pick((1, -1)), a + gap * d.pick((0, 2))
    way = D - B
    x = (rod**2 - rocker**2 + way @ way) / (2 * np.linalg.norm(way))
    u = way / np.linalg.norm(way)
    height = math.sqrt(rod**2 - x**2) * d.pick((1, -1))
    C = B + u * x + np.array([-u[1], u[0]]) * height
    d.stop = round(d.between(4, 9), 2)
    d.step = d.stop / int(d.random.integers(20, 200))
    four_bar(d, [(0, 0), tuple(B), tuple(C), tuple(D)], "t", (a, rod, rocker))


def formulas(d: Drawing) -> None:
    """Formulas that jump or bend, and tables."""
    dyads(d)
    name = next(iter(d.drivers))
    zero = d.drivers[name]["angle"].split(" + ")[0] if " + " in d.drivers[name]["angle"] else "0"
    when = round(d.start + (d.stop - d.start) * d.between(0.2, 0.8), 3)
    kind = d.pick(("jump", "jump", "bend", "table", "stop"))
    if kind == "table":
        t = np.linspace(d.start - 0.5, d.stop + 0.5, 24)
        values = float(zero) + 0.8 * np.sin(1.3 * (t - d.start))
        rows = np.stack([t, values], 1).tolist()
        d.tables["motion.csv"] = "t,value\n" + "".join(f"{x!r},{y!r}\n" for x, y in rows)
        d.drivers[name] = {"joint": d.drivers[name]["joint"], "table": "motion.csv"}
        return
    text = {
        "jump": f"{zero} + if(t < {when!r}, 0.3*sin(t), 0.3*sin(t) + {d.between(-0.3, 0.3)!r})",
        "bend": f"{zero} + if(t <= {when!r}, 0.5*t, {0.5 * when!r} + 0.9*(t - {when!r}))",
        "stop": f"{zero} + if(t < {when!r}, 0.6*t, {0.6 * when!r})",
    }[kind]
    d.drivers[name]["angle"] = text


def times(d: Drawing) -> None:
    """Large and negative start times, one instant, thousands, a million."""
    d.start = d.pick((-5.0, -1e3, 1e4, 1e6, 12.5))
    dyads(d)
    kind = d.pick(("one", "many", "some"))
    if kind == "one":
        d.stop, d.step = d.start, 1.0
    elif kind == "many":
        d.step = (d.stop - d.start) / (1e6 if d.chance(0.03) else 5000)
    else:
        d.step = (d.stop - d.start) / 2


def scaled(case: Case, d: Drawing) -> Case:
    """Return the case at another scale (1e-6 to 1e6 m) or 1e8 m from the origin."""
    k = 10.0 ** d.between(-6, 6) if d.chance(0.7) else 1.0
    far = np.zeros(d.d) if k != 1.0 else np.round(d.random.uniform(-1, 1, size=d.d) * d.pick((1e3, 1e6, 1e8)), 3)
    data = case.data
    data["points"] = {p: np.asarray(x) * k + far for p, x in data["points"].items()}
    for body in data["bodies"].values():
        if "length" in body:
            body["length"] *= k
        if "local" in body:
            body["local"] = {p: np.asarray(x) * k for p, x in body["local"].items()}
    for joint in data["joints"].values():
        if "radius" in joint:
            joint["radius"] *= k
    for driver in data["drivers"].values():
        for key in ("distance", "displacement"):
            if key in driver:
                driver[key] = f"({driver[key]})*{k!r}"
    return case


HARD = {f.__name__: f for f in (change_points, dead_points, near_singular, formulas, times)}
