"""Spatial joints as formulas: where a joint of the tree puts the body that it carries, and which unknowns that takes.

Signs and the order of a joint's two bodies go into numbers, never into the text: `Link` always looks from the parent
to the child.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model import Body, Joint
from ..numbers.arithmetic import arctan2, hypot, norm, scalar
from .plan import PointOf, VectorOf
from .spatial_carriers import Carrier, Framed, Key, Sliding
from .spatial_draft import Draft

Array = NDArray[np.float64]
TINY = 1e-9  # of the mechanism's size: a point nearer to an axis has no direction from it


# ---- a joint seen from one of its bodies --------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Link:
    """A joint from a parent to a child: points a, b, axes n, m and normals v, u in their axes.

    Turned round, a joint has its axes reversed: then turn and slide of the child relative to the parent keep their
    values, and with them pitch and drivers.
    """

    kind: str
    a: Array
    b: Array
    n: Array
    m: Array
    v: Array
    u: Array
    pitch: float
    radius: float = 0.0


def link(joint: Joint, parent: str) -> Link:
    """Return the joint as seen from its body `parent`."""
    if joint.first == parent:
        sides = joint.a, joint.b, joint.axis_a, joint.axis_b, joint.normal_a, joint.normal_b
    elif joint.kind == "U":
        sides = joint.b, joint.a, joint.axis_b, joint.axis_a, joint.normal_b, joint.normal_a
    else:
        sides = joint.b, joint.a, -joint.axis_b, -joint.axis_a, joint.normal_b, joint.normal_a
    return Link(joint.kind, *sides, joint.pitch, joint.radius)


@dataclass(frozen=True)
class Drive:
    """Drivers of one joint, by kind; `explicit` makes a driven coordinate an unknown with an explicit equation."""

    drivers: Mapping[str, str]
    explicit: bool = False


@dataclass(frozen=True, eq=False)
class Ends:
    """Parent and child of a joint of the tree in the sketch, and the point that its triad may go through."""

    parent: Body
    child: Body
    size: float
    mark: Key | None
    mark_local: Array


def _slide(draft: Draft, drive: Drive, start: float) -> str:
    if "displacement" not in drive.drivers:
        return draft.unknown("z", "length", start)
    driven = draft.length_driver(drive.drivers["displacement"])
    if not drive.explicit:
        return driven
    name = draft.unknown("z", "length", start)
    draft.equation("slide", f"{name} = {driven}")
    return name


def _pair(draft: Draft, cosine: float, sine: float, unit: bool = True) -> tuple[str, str]:
    """Return unknown cosine and sine of a turn."""
    length = hypot(cosine, sine) or 1.0
    c, s = draft.unknown("c", "number", cosine / length), draft.unknown("s", "number", sine / length)
    if unit:
        draft.equation("unit", f"{c}^2 + {s}^2 = 1")
    return c, s


def _turn(draft: Draft, drive: Drive, cosine: float, sine: float) -> tuple[str, str]:
    if "angle" not in drive.drivers:
        return _pair(draft, cosine, sine)
    theta = draft.angle_driver(drive.drivers["angle"])
    if not drive.explicit:
        return f"cos({theta})", f"sin({theta})"
    c, s = _pair(draft, cosine, sine, unit=False)
    draft.equation("turn", f"{c} = cos({theta})")
    draft.equation("turn", f"{s} = sin({theta})")
    return c, s


# ---- the tree: how a joint carries a body -------------------------------------------------------------------------
def carry(draft: Draft, parent: Carrier, joint: Link, ends: Ends, key: Key, drive: Drive) -> Framed | Sliding:
    """Return the child of a joint of the tree, with the unknowns of the joint declared."""
    match joint.kind:
        case "P":
            return _carry_slider(draft, parent, joint, ends, key, drive)
        case "S":
            base = named(draft, parent.place(key, joint.a).text)
            return replace(_carry_ball(draft, base, joint.b, ends.child), seat=PointOf(ends.parent.name, joint.a))
        case "U":
            return carry_cross(draft, parent, joint, ends, key).framed
    return _carry_turning(draft, parent, joint, ends, key, drive)


def _carry_slider(draft: Draft, parent: Carrier, joint: Link, ends: Ends, key: Key, drive: Drive) -> Sliding:
    turn = columns(joint.n, joint.v) @ columns(joint.m, joint.u).T
    place, axis = ends.child.outside(joint.b) - ends.parent.outside(joint.a), ends.parent.rotation @ joint.n
    slide = _slide(draft, drive, scalar(place @ axis))
    shift, slot = f"{slide}*{parent.vector(joint.n)}", f"{key[0]}{key[1]}"
    return Sliding(draft, parent, ends.parent.name, turn, joint.a - turn @ joint.b, shift, slot)


def _carry_ball(draft: Draft, base: str, base_local: Array, child: Body) -> Framed:
    """Return a body with a known point: two of its axes are unknown vectors, the third is their product."""
    e = draft.unknown("e", "unit vector", child.rotation[:, 0])
    f = draft.unknown("f", "unit vector", child.rotation[:, 1])
    draft.equation("unit", f"|{e}|^2 = 1")
    draft.equation("unit", f"|{f}|^2 = 1")
    draft.equation("square", f"dot({e}, {f}) = 0")
    return Framed(draft, base, base_local, (e, f, draft.let("g", f"cross({e}, {f})")), np.eye(3))


def carry_free(draft: Draft, child: Body, mark: Key | None, mark_local: Array) -> Framed:
    """Return a body that no joint carries: a free point and two free axes."""
    base = draft.unknown("P", "point", child.outside(mark_local))
    return replace(_carry_ball(draft, base, mark_local, child), mark=mark, mark_parts="")


@dataclass(frozen=True)
class Cross:
    """A body on the second axis of a cross: e turns about the parent's n, the body about e by (c, s); x = e × n."""

    framed: Framed
    n: str
    x: str
    c: str
    s: str


def carry_cross(draft: Draft, parent: Carrier, joint: Link, ends: Ends, key: Key, *, unit: bool = True) -> Cross:
    """Return the child of a universal joint; `unit`: whether c² + s² = 1 of its second turn is an equation."""
    rotation, inverse = ends.child.rotation, ends.parent.rotation.T
    m_parent = inverse @ rotation @ joint.m
    v = _perpendicular(m_parent, joint.n, 0.0)
    base = named(draft, parent.place(key, joint.a).text)
    n_, v_, w_ = parent.triad(joint.n, v)
    c, s = _pair(draft, scalar(m_parent @ v), scalar(m_parent @ np.cross(joint.n, v)))
    e = draft.let("e", f"{c}*{v_} + {s}*{w_}")
    x = draft.let("x", f"{s}*{v_} - {c}*{w_}")
    f_child = _perpendicular(ends.mark_local - joint.b, joint.m, TINY * ends.size)
    f_parent = inverse @ rotation @ f_child
    c, s = _pair(draft, scalar(f_parent @ joint.n), scalar(f_parent @ np.cross(m_parent, joint.n)), unit)
    f = draft.let("f", f"{c}*{n_} + {s}*{x}")
    g = draft.let("g", f"{c}*{x} - {s}*{n_}")
    seat = PointOf(ends.parent.name, joint.a)
    framed = Framed(draft, base, joint.b, (e, f, g), columns(joint.m, f_child), ends.mark, "ef", seat)
    return Cross(framed, n_, x, c, s)


def _carry_turning(draft: Draft, parent: Carrier, joint: Link, ends: Ends, key: Key, drive: Drive) -> Framed:
    """Return a body that turns about an axis of its parent: R, C, H and planar joints.

    The triad's second vector points to the marked point; on a known axis the base point is its foot, so that the
    point is base + r f with one parameter.
    """
    arm = ends.mark_local - joint.b
    f_child = _perpendicular(arm, joint.m, TINY * ends.size, joint.u)
    turn = columns(joint.n, joint.v) @ columns(joint.m, joint.u).T
    v = turn @ f_child
    foot = scalar(arm @ joint.m) if parent.known and ends.mark is not None else 0.0
    a, b, parts = joint.a + foot * joint.n, joint.b + foot * joint.m, "f" if parent.known else "ef"
    if joint.kind == "planar" and parent.known and ends.mark is not None:
        b, parts = ends.mark_local, ""
    n_, v_, w_ = parent.triad(joint.n, v)
    base = parent.place(key, a).text
    axes = ends.parent.rotation @ columns(joint.n, v)
    along = axes.T @ (ends.child.outside(b) - ends.parent.outside(a))
    f_start = axes.T @ ends.child.rotation @ f_child
    if joint.kind == "H":
        psi, c, s = _screw_turn(draft, drive, arctan2(f_start[2], f_start[1]))
        pitch = draft.parameter("p", "number", joint.pitch)
        base = f"{base} + {pitch}*{psi}*{n_}"
    elif joint.kind == "planar":
        x, y = draft.unknown("z", "length", along[1]), draft.unknown("z", "length", along[2])
        base = f"{base} + {x}*{v_} + {y}*{w_}"
        c, s = _pair(draft, f_start[1], f_start[2])
    else:
        c, s = _turn(draft, drive, f_start[1], f_start[2])
        if joint.kind == "C":
            base = f"{base} + {_slide(draft, drive, along[0])}*{n_}"
    basis = n_, draft.let("f", f"{c}*{v_} + {s}*{w_}"), draft.let("g", f"{c}*{w_} - {s}*{v_}")
    seat, spine = PointOf(ends.parent.name, a) if joint.kind == "R" else None, VectorOf(ends.parent.name, joint.n)
    return Framed(draft, named(draft, base), b, basis, columns(joint.m, f_child), ends.mark, parts, seat, spine)


def _screw_turn(draft: Draft, drive: Drive, start: float) -> tuple[str, str, str]:
    """Return a screw's angle with its cosine and sine: the slide needs the angle itself."""
    if "angle" in drive.drivers:
        theta = draft.angle_driver(drive.drivers["angle"])
        if not drive.explicit:
            return theta, f"cos({theta})", f"sin({theta})"
        psi = draft.unknown("psi", "angle", start)
        draft.equation("turn", f"{psi} = {theta}")
    else:
        psi = draft.unknown("psi", "angle", start)
    return psi, f"cos({psi})", f"sin({psi})"


def named(draft: Draft, point: str) -> str:
    """Return a name for a point given by a formula."""
    return point if point.isalnum() else draft.let("B", point)


def columns(n: Array, v: Array) -> Array:
    """Return n, v and their product as the columns of a matrix."""
    return np.column_stack([n, v, np.cross(n, v)])


def _perpendicular(x: Array, n: Array, least: float, otherwise: Array | None = None) -> Array:
    """Return the direction of x across n; where it is none, `otherwise`, or any direction across n."""
    across = x - (x @ n) * n
    length = norm(across)
    if length > least:
        return np.asarray(across / length)
    if otherwise is not None:
        return otherwise
    across = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    return np.asarray(across / norm(across))
