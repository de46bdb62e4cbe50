"""What a spatial joint, rod or driver asks where it closes a loop: equations between two bodies already written down.

Axes are aligned by dot products with two perpendicular directions of the other body, never by a cross product: its
three rows would have rank two. Lengths are squared with the squares of constant arms taken out, which leaves them
linear in the triads: so the rocker of an RSSR becomes a circle that meets a line.
"""

from __future__ import annotations

import numpy as np

from ..model import Joint
from .spatial_carriers import Carrier, Key, Place
from .spatial_draft import WHEEL_TURN, Draft
from .spatial_joints import Drive, Link


def close_joint(draft: Draft, p: Carrier, q: Carrier, joint: Link, key: Key, drive: Drive) -> None:
    """Add the equations of a joint from body p to body q, and those of its drivers."""
    P, Q = p.place(key, joint.a), q.place(key, joint.b)
    if joint.kind in "RSU":
        draft.equation("meet", f"{Q.text} = {P.text}")
    if joint.kind == "S":
        return
    n = p.vector(joint.n)
    if joint.kind == "U":
        draft.equation("square", f"dot({n}, {q.vector(joint.m)}) = 0")
        return
    if joint.kind == "on-plane":
        draft.equation("plane", f"dot({draft.let('D', f'{Q.base} - {P.base}{_sum(Q, P)}')}, {n}) = 0")
        return
    if joint.kind == "on-cylinder":
        D, r = draft.let("D", f"{Q.base} - {P.base}{_sum(Q, P)}"), draft.parameter("r", "length", joint.radius)
        draft.equation("cylinder", f"|{D}|^2 - dot({D}, {n})^2 = {r}^2")
        return
    u, w = q.vector(joint.u), q.vector(np.cross(joint.m, joint.u))
    draft.equation("align", f"dot({n}, {u}) = 0")
    draft.equation("align", f"dot({n}, {w}) = 0")
    if joint.kind == "R":
        if "angle" in drive.drivers:
            _turned(draft, p, joint, u, n, draft.angle_driver(drive.drivers["angle"]))
        return
    D = draft.let("D", f"{Q.base} - {P.base}{_sum(Q, P)}")
    if joint.kind == "planar":
        draft.equation("plane", f"dot({D}, {n}) = 0")
        return
    draft.equation("line", f"dot({D}, {u}) = 0")
    draft.equation("line", f"dot({D}, {w}) = 0")
    if joint.kind == "P":
        draft.equation("hold", f"dot({p.vector(joint.v)}, {w}) = 0")
    if joint.kind == "H":
        _screw(draft, p, joint, (D, u, n), drive)
    elif "angle" in drive.drivers:
        _turned(draft, p, joint, u, n, draft.angle_driver(drive.drivers["angle"]))
    if "displacement" in drive.drivers:
        draft.equation("slide", f"dot({D}, {n}) = {draft.length_driver(drive.drivers['displacement'])}")


def _sum(Q: Place, P: Place) -> str:
    """Return the arms of Q - P as the end of a sum."""
    return (f" + {Q.arm}" if Q.arm else "") + (f" - ({P.arm})" if P.arm else "")


def _turned(draft: Draft, p: Carrier, joint: Link, u: str, n: str, angle: str) -> None:
    draft.equation("turn", f"angle({p.vector(joint.v)}, {u}, {n}) = {angle}")


def _screw(draft: Draft, p: Carrier, joint: Link, names: tuple[str, str, str], drive: Drive) -> None:
    """Tie slide to turn; a turn that is not driven is an unknown of its own, zero in the sketch."""
    D, u, n = names
    driven = drive.drivers.get("angle")
    angle = draft.unknown("psi", "angle", 0.0) if driven is None else draft.angle_driver(driven)
    _turned(draft, p, joint, u, n, angle)
    draft.equation("slide", f"dot({D}, {n}) = {draft.parameter('p', 'number', joint.pitch)}*{angle}")


def close_gear(draft: Draft, wheels: tuple[Carrier, Carrier], carrier: Carrier, joint: Joint) -> None:
    """Tie the turns of two wheels about axes of their carrier; both are unknowns of their own, zero in the sketch."""
    assert joint.carrier_normal is not None
    normal = carrier.vector(joint.carrier_normal)
    turns = []
    axes, normals = (joint.axis_a, joint.axis_b), (joint.normal_a, joint.normal_b)
    for wheel, axis, own in zip(wheels, axes, normals, strict=True):
        turns.append(draft.unknown(WHEEL_TURN, "angle", 0.0))
        draft.equation("turn", f"angle({normal}, {wheel.vector(own)}, {carrier.vector(axis)}) = {turns[-1]}")
    draft.equation("gear", f"{turns[1]} = {draft.parameter('i', 'number', joint.ratio)}*{turns[0]}")


def close_length(draft: Draft, prefix: str, P: Place, Q: Place, square: str) -> None:
    """Add |P - Q|² = square, linear in arms of constant length."""
    if not P.arm and not Q.arm:
        draft.equation(prefix, f"|{P.base} - {Q.base}|^2 = {square}")
        return
    if not P.arm:
        P, Q = Q, P
    D = draft.let("D", f"{P.base} - {Q.base}")
    if not Q.arm:
        draft.equation(prefix, f"|{D}|^2 + 2*dot({D}, {P.arm}) + {P.square} = {square}")
        return
    draft.equation(
        prefix,
        f"|{D}|^2 + 2*dot({D}, {P.arm} - ({Q.arm})) - 2*dot({P.arm}, {Q.arm}) + {P.square} + {Q.square} = {square}",
    )
