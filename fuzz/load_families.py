"""Families of dynamics: masses and loads on the mechanisms of the other families."""

from __future__ import annotations

import numpy as np

from .draw import Drawing
from .planar_families import FAMILIES, loop, spans
from .spatial_families import arms, ring


def weigh(d: Drawing, everything: bool = False) -> None:
    """Give bodies mass, inertia and centre."""
    for name, body in d.bodies.items():
        if name == "frame" or (not everything and d.chance(0.2)):
            continue
        body["mass"] = round(d.between(0.1, 3.0), 3)
        if d.d == 2:
            body["inertia"] = round(d.between(0.01, 0.5), 3)
        else:
            A = d.random.normal(size=(3, 3))
            second = A @ A.T * 0.05 + np.eye(3) * 0.1  # second moments of the mass
            J = np.trace(second) * np.eye(3) - second
            body["inertia"] = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        if d.chance(0.4):
            body["centre"] = d.pick(body["points"]) if d.chance(0.5) else d.random.normal(size=d.d) * 0.3


def load(d: Drawing, lively: bool = True) -> None:
    """Add forces, torques and springs."""
    bodies = [b for b in d.bodies if b != "frame"]
    if lively and d.chance(0.4):
        body = d.pick(bodies)
        force = [f"{d.between(-5, 5)!r}*sin(2*t)", *(d.between(-5, 5) for _ in range(d.d - 1))]
        d.forces["f1"] = {"body": body, "point": d.pick(d.bodies[body]["points"]), "force": force}
    if lively and d.chance(0.3) and d.d == 2:
        d.forces["f2"] = {"body": d.pick(bodies), "torque": f"{d.between(-2, 2)!r}*cos(t)"}
    if d.chance(0.4):
        a = d.point(d.somewhere(None, (2.0, 3.0)), "frame")
        fields = {"damping": round(d.between(0.1, 2.0), 2)} if lively and d.chance(0.5) else {}
        end = d.pick(d.bodies[d.pick(bodies)]["points"])
        if end not in d.bodies["frame"]["points"]:
            k = round(d.between(5, 60), 1)
            d.forces["s1"] = {"type": "spring", "between": [a, end], "stiffness": k, "length": 0.5, **fields}
    pins = [j for j, f in d.joints.items() if f["type"] == "R"]
    for n, pin in enumerate(pins if d.chance(0.5) and d.d == 2 else ()):  # at every pin: few begin beyond half a turn
        fields = {"damping": round(d.between(0.1, 1.0), 2)} if lively and d.chance(0.5) else {}
        angle = round(d.between(-3, 3), 2)
        d.forces[f"s{n + 2}"] = {"type": "torsion-spring", "joint": pin, "stiffness": 7.5, "angle": angle, **fields}


def inverse_planar(d: Drawing) -> None:
    FAMILIES[d.pick(("dyads", "dyads", "triads", "shared", "welds", "cylinders", "floating", "gears", "slots"))](d)
    d.noise = 0.0
    weigh(d)
    load(d)


def inverse_spatial(d: Drawing) -> None:
    spans(d)
    if d.chance(0.5):
        arms(d)
    else:
        d.drive(ring(d, d.pick(("RSUR", "RUSR", "RSCR")))[0], d.turning(0.5))
    d.stop, d.step = 1.0, 0.1
    weigh(d)
    load(d)


def let_go(d: Drawing, joint: str) -> None:
    """Start from the sketch with a drawn rate."""
    value = d.joint_angle(joint) if d.d == 2 else 0.0
    d.initial["q"] = {"joint": joint, "angle": value, "rate": round(d.between(-2, 2), 3)}


def forward_planar(d: Drawing) -> None:
    d.stop, d.step = round(d.between(0.2, 1.0), 2), 0.1
    if d.chance(0.6):
        loop(d)
        let_go(d, next(iter(d.joints)))
    else:
        point, body = d.point(d.somewhere(), "frame"), "frame"
        for _ in range(d.pick((1, 2, 3))):
            nxt = d.body(point, d.point(d.somewhere(d.points[point])))
            d.joint("R", body, nxt, at=point)
            body, point = nxt, d.bodies[nxt]["points"][1]
    weigh(d, True)
    load(d, d.chance(0.5))


def forward_spatial(d: Drawing) -> None:
    d.stop, d.step = 0.4, 0.1
    if d.chance(0.5):
        let_go(d, ring(d, d.pick(("RSUR", "RUSR")))[0])
    else:
        point, body = d.point(d.somewhere(), "frame"), "frame"
        for _ in range(d.pick((1, 2))):
            nxt = d.body(point, d.point(d.somewhere(d.points[point])))
            d.joint("R", body, nxt, at=point, axis=d.direction())
            body, point = nxt, d.bodies[nxt]["points"][1]
    weigh(d, True)


def forward_blows_planar(d: Drawing) -> None:
    """A loop or a hanging chain at rest on which a torque begins to act, or that is struck on its way."""
    d.stop, d.step = 2.0, 0.1
    if d.chance(0.4):
        loop(d)
        if d.chance(0.5):
            let_go(d, next(iter(d.joints)))
    else:
        place, body = np.zeros(2), "frame"
        point = d.point(place, "frame")
        for _ in range(d.pick((1, 2))):  # it hangs at rest
            place = place - np.array([0.0, round(d.between(0.5, 1.5), 3)])
            nxt = d.body(point, d.point(place))
            d.joint("R", body, nxt, at=point)
            body, point = nxt, d.bodies[nxt]["points"][1]
    weigh(d, True)
    for fields in d.bodies.values():
        fields.pop("centre", None)
    when, size, w = round(d.between(0.4, 1.2), 3), round(d.between(0.2, 2.0), 3), round(10 ** d.between(-2.0, -0.7), 4)
    torque = d.pick((
        f"if(t < {when!r}, 0, {size!r})", f"{size!r}*max(0, t - {when!r})**2",
        f"{size / w!r}*exp(-((t - {when!r})/{w!r})**2)", f"if(t < {when!r}, 0, if(t < {when + w!r}, {size / w!r}, 0))",
    ))  # fmt: skip
    d.forces["blow"] = {"body": d.pick([b for b in d.bodies if b != "frame"]), "torque": torque}


LOADED = {
    "inverse": (inverse_planar, inverse_spatial),
    "simulate": (forward_planar, forward_spatial, forward_blows_planar),
}
