"""Legs of a platform, planned apart: a leg on a universal and a spherical joint only keeps two points at a distance.

A Stewart platform is one structural group of thirteen bodies. With its driven legs as bars of known length the platform
has nine unknowns; then each leg follows by itself, in closed form. So such a group has several plans, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model import Joint, Model
from ..numbers.arithmetic import scalar
from .plan import GroupPlan, Placement
from .spatial import Bar, plan_spatial
from .spatial_carriers import Framed, Known, Sliding
from .spatial_draft import Draft
from .spatial_joints import Ends, carry_cross, columns, link

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Leg:
    """One body, or two with a driven slide: a universal joint on the first, a spherical joint on the last."""

    bodies: tuple[str, ...]
    universal: Joint
    spherical: Joint
    slide: Joint | None
    driver: str | None

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(j.name for j in (self.universal, self.slide, self.spherical) if j is not None)

    def tip(self) -> tuple[Array, Array]:
        """Return the spherical joint's centre where the slide is zero, and the slide's direction, in the first body."""
        head = link(self.spherical, self.bodies[-1]).a
        if self.slide is None:
            return head, np.zeros(3)
        slide = link(self.slide, self.bodies[0])
        turn = columns(slide.n, slide.v) @ columns(slide.m, slide.u).T
        return slide.a + turn @ (head - slide.b), slide.n

    def ends(self) -> tuple[tuple[str, Array], tuple[str, Array]]:
        """Return the two points outside the leg that it keeps at a distance: (body, point in its axes)."""
        foot, head = link(self.universal, self.bodies[0]), link(self.spherical, self.bodies[-1])
        return (_other(self.universal, self.bodies[0]), foot.b), (_other(self.spherical, self.bodies[-1]), head.b)

    def bar(self) -> Bar:
        (one, p), (two, q) = self.ends()
        tip, along = self.tip()
        arm = tip - link(self.universal, self.bodies[0]).a
        return Bar((one, two), (p, q), scalar(arm @ arm), scalar(arm @ along), self.driver)


def _other(joint: Joint, body: str) -> str:
    return joint.second if joint.first == body else joint.first


def plan_spatial_parts(
    model: Model,
    group_name: str,
    group_type: str,
    bodies: Sequence[str],
    joints: Sequence[str],
    drivers: Sequence[str],
) -> tuple[GroupPlan, ...]:
    """Return the plans of a structural group in the order of their solution: one, and one more for each leg."""
    legs = _legs(model, bodies, joints, drivers)
    apart = {body for leg in legs for body in leg.bodies}
    if len(apart) == len(bodies):  # nothing is left that the legs could hold
        legs, apart = [], set()
    taken = {joint for leg in legs for joint in leg.joints}
    first = plan_spatial(
        model,
        group_name,
        group_type,
        [b for b in bodies if b not in apart],
        [j for j in joints if j not in taken],
        drivers,
        [leg.bar() for leg in legs],
    )
    return (first, *(_plan_leg(model, f"{group_name}_leg{i}", leg) for i, leg in enumerate(legs, 1)))


def _legs(model: Model, bodies: Sequence[str], joints: Sequence[str], drivers: Sequence[str]) -> list[_Leg]:
    at: dict[str, list[Joint]] = {b: [] for b in bodies}
    for name in joints:
        for body in model.joints[name].bodies:
            if body in at:
                at[body].append(model.joints[name])
    slides = {d.joint: d.name for d in map(model.drivers.__getitem__, drivers) if d.kind == "displacement"}
    held = {b for d in map(model.drivers.__getitem__, drivers) if d.kind == "distance" for b in d.bodies}
    found: list[_Leg] = []
    for body in bodies:
        kinds = sorted(j.kind for j in at[body])
        if body in held or "U" not in kinds or len(kinds) != 2:
            continue
        universal, rest = sorted(at[body], key=lambda j: j.kind != "U")
        if kinds == ["S", "U"]:
            found.append(_Leg((body,), universal, rest, None, None))
        elif kinds == ["P", "U"] and rest.name in slides:
            upper = _other(rest, body)
            if upper in at and upper not in held and sorted(j.kind for j in at[upper]) == ["P", "S"]:
                spherical = next(j for j in at[upper] if j.kind == "S")
                found.append(_Leg((body, upper), universal, spherical, rest, slides[rest.name]))
    apart = {body for leg in found for body in leg.bodies}
    return [leg for leg in found if not any(b in apart or (b in at and model.bodies[b].rod) for b, _ in leg.ends())]


def _plan_leg(model: Model, name: str, leg: _Leg) -> GroupPlan:
    """Return the plan of a leg between two bodies that are known: a circle meets a line, then two linear equations.

    The distance of its ends is given already, so of its turn about the second axis one equation less is needed.
    """
    draft = Draft()
    lower = model.bodies[leg.bodies[0]]
    (base, _), (held, head) = leg.ends()
    joint = link(leg.universal, base)
    tip, along = leg.tip()
    mark = tip if leg.slide is None else joint.b + model.size * along  # the slide, or else the tip, lies across g
    ends = Ends(model.bodies[base], lower, model.size, None, mark)
    cross = carry_cross(draft, Known(draft, base), joint, ends, ("joint", 0), unit=False)
    framed = cross.framed
    e, f, _ = framed.basis
    D = draft.let("D", f"{Known(draft, held).place(('joint', 1), head).text} - {framed.base}")
    arm = framed.axes.T @ (tip - joint.b)
    carriers: list[Framed | Sliding] = [framed]
    if leg.slide is not None and leg.driver is not None:
        d, k = draft.length_driver(leg.driver), draft.parameter("k", "vector", arm)
        p, q = (draft.parameter("p", "number", part) for part in framed.axes[:, :2].T @ along)
        across, along_f = f"{k}.x + {d}*{p}", f"({k}.y + {d}*{q})"
        slide = link(leg.slide, leg.bodies[0])
        turn = columns(slide.n, slide.v) @ columns(slide.m, slide.u).T
        shift = f"{d}*({p}*{e} + {q}*{f})"
        carriers.append(Sliding(draft, framed, lower.name, turn, slide.a - turn @ slide.b, shift, "slide"))
        less, more = f" - {k}.z*{cross.s}", f" + {k}.z*{cross.c}"
    else:
        across, along_f = draft.parameter("q", "offset", arm[0]), draft.parameter("r", "length", arm[1])
        less = more = ""
    draft.equation("across", f"dot({e}, {D}) = {across}")
    draft.equation("along", f"dot({D}, {cross.n}) = {along_f}*{cross.c}{less}")
    draft.equation("along", f"dot({D}, {cross.x}) = {along_f}*{cross.s}{more}")
    placements: dict[str, Placement] = {}
    for i, (body, carrier) in enumerate(zip(leg.bodies, carriers, strict=True), 1):
        placements[body] = carrier.placement(i)
    kind = "US" if leg.slide is None else "U[P]S"
    drivers = () if leg.driver is None else (leg.driver,)
    return draft.plan(name, kind, leg.bodies, leg.joints, drivers, placements)
