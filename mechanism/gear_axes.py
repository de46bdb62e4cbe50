"""The axes about which the wheels of a gear in space turn on their carrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import geometry
from .model import Array
from .numbers import arithmetic
from .rigid import Declared

if TYPE_CHECKING:
    from .joints import JointBuilder

HINGES = ("R", "C", "H")  # joints that let a body turn about one axis
_PARALLEL = 1e-6  # sine of the angle between directions that are one: what rounded coordinates leave


def wheels(builder: JointBuilder, joint: Declared, carrier: str) -> dict[str, Any]:
    """Return the two axes and a common normal in the axes of the carrier, and that normal in those of the wheels."""
    source, where = builder.source, ("joints", joint.name, "axes")
    given = joint.table.get("axes")
    if given is None:
        axes = [_hinge_axis(builder, joint, wheel, carrier) for wheel in (joint.first, joint.second)]
    else:
        if not isinstance(given, list) or len(given) != 2:
            source.fail(where, "are two vectors, the first of the first wheel: [[..], [..]]")
        axes = [builder.direction(where, axis) for axis in given]
        for wheel, axis in zip((joint.first, joint.second), axes, strict=True):
            _check_hinge(builder, joint, wheel, axis)
    across = np.cross(axes[0], axes[1])
    parallel = float(arithmetic.norm(across)) < _PARALLEL
    normal = geometry.perpendicular(axes[0]) if parallel else geometry.unit(across)
    if parallel:  # and a rounded second axis still perpendicular to the normal
        axes[1] = geometry.unit(axes[1] - arithmetic.scalar(axes[1] @ normal) * normal)
    first, second, third = (builder.assembly.of(body).pose.rotation.T for body in (joint.first, joint.second, carrier))
    return {
        "axis_a": third @ axes[0],
        "axis_b": third @ axes[1],
        "normal_a": first @ normal,
        "normal_b": second @ normal,
        "carrier_normal": third @ normal,
    }


def _hinges(builder: JointBuilder, wheel: str) -> list[Declared]:
    home = builder.assembly.home
    return [j for j in builder.by_body.get(home[wheel], ()) if j.kind in HINGES]


def _hinge_axis(builder: JointBuilder, joint: Declared, wheel: str, carrier: str) -> Array:
    """Return the axis of the one hinge between a wheel and the carrier."""
    home = builder.assembly.home
    mine = [j for j in _hinges(builder, wheel) if home[carrier] in (home[j.first], home[j.second])]
    if len(mine) != 1:
        builder.source.fail(
            ("joints", joint.name),
            f"'{wheel}' has {'no' if not mine else 'more than one'} joint R, C or H with the carrier '{carrier}', "
            "whose axis it would turn about - give axes = [of the first wheel, of the second], or name another carrier",
        )
    hinge = mine[0]
    return builder.direction(("joints", hinge.name, "axis"), hinge.table["axis"])


def _check_hinge(builder: JointBuilder, joint: Declared, wheel: str, axis: Array) -> None:
    """Refuse an axis that no hinge of the wheel holds: its turn about it would mean nothing."""
    held = [builder.direction(("joints", j.name, "axis"), j.table["axis"]) for j in _hinges(builder, wheel)]
    if not any(float(arithmetic.norm(np.cross(axis, other))) < _PARALLEL for other in held):
        builder.source.fail(
            ("joints", joint.name, "axes"),
            f"'{wheel}' has no joint R, C or H about this axis, so that its turn about it means nothing - give the "
            "axis of its bearing",
        )
