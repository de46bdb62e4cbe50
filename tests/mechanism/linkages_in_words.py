"""Mechanisms in a few words: only bodies, joints and drivers count, no lengths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assurgent.mechanism.model import FRAME, Array, Body, Driver, Joint, Member, Model
from assurgent.mechanism.structure import Structure


# ---- mechanisms in a few words: only bodies, joints and drivers count here, no lengths ------------------------------
class Still:
    """A driver's motion that never matters here."""

    text = "0"

    def __call__(self, x: Array) -> Array:
        return np.zeros((4, len(x)))


def linkage(joints: str, drivers: str = "", space: str = "planar", rods: str = "") -> Model:
    """Return a model from words.

    Joints: `A:R:frame,crank`, or `A:R:frame,crank@P` at the point P; a third body is the carrier. Drivers: `theta@A`,
    `s@C.displacement`, `q=turn:a,b`, `q=distance:a.P,b.Q`.
    """
    n = 2 if space == "planar" else 3
    zero, one = np.zeros(n), np.eye(n)
    found: dict[str, Joint] = {}
    for word in joints.split():
        name, kind, rest = word.split(":")
        tied, _, at = rest.partition("@")
        first, second, *carrier = tied.split(",")
        joint = Joint(name, kind, first, second, at or name, zero, zero, zero, zero, zero, zero)
        found[name] = replace(joint, carrier=carrier[0]) if carrier else joint
    driven: dict[str, Driver] = {}
    for word in drivers.split():
        if "=" in word:
            name, rest = word.split("=")
            kind, ends = rest.split(":")
            (a, _, p), (b, _, q) = (end.partition(".") for end in ends.split(","))
            points = (p, q) if kind == "distance" else None
            driven[name] = Driver(name, kind, Still(), None, (a, b), points, (zero, zero) if points else None)
        else:
            name, _, rest = word.partition("@")
            on, _, kind = rest.partition(".")
            kind = kind or ("displacement" if found[on].kind in ("P", "slot") else "angle")
            driven[name] = Driver(name, kind, Still(), on, (found[on].first, found[on].second))
    names = {b for j in found.values() for b in j.bodies} | {b for d in driven.values() for b in d.bodies}
    order = [FRAME, *sorted(names - {FRAME})]
    bodies = {b: Body(b, {}, zero, one, b in rods.split(), (Member(b, zero, one),)) for b in order}
    return Model("test", space, {}, bodies, found, driven)


def sets(structure: Structure) -> list[str]:
    return [" ".join(group.members) for group in structure.groups]


FOUR_BAR = "A:R:frame,crank B:R:crank,rod C:R:rod,rocker D:R:frame,rocker"
SCALABLE = (
    "A:R:frame,crank B:R:crank,rod1 C1:R:rod1,rocker1 D1:R:frame,rocker1 C1b:R:rocker1,rod2@C1 C2:R:rod2,rocker2 "
    "D2:R:frame,rocker2 C2b:R:rocker2,rod3@C2 C3:R:rod3,rocker3 D3:R:frame,rocker3"
)
STEPHENSON = "A0:R:frame,A0A A:R:A0A,ABC B:R:ABC,B0B B0:R:frame,B0B C:R:ABC,CD D:R:CD,D0D D0:R:frame,D0D"
JANSEN = (
    "O:R:frame,crank P1:R:crank,j@P P2:R:crank,k@P U:R:j,bde Z1:R:frame,bde@Z Z2:R:frame,c@Z L1:R:k,c@L L2:R:c,ghi@L "
    "V:R:bde,f W:R:f,ghi"
)
THREE_RRR = " ".join(f"a{k}:R:frame,c{k} b{k}:R:c{k},l{k} p{k}:R:l{k},plat" for k in (1, 2, 3))
FIVE_BAR = "A:R:frame,AB B:R:AB,BC C:R:BC,DC D:R:DC,ED E:R:frame,ED"
TWO_RODS = (
    "A:R:frame,crank B1:S:crank,rod1@B C1:S:rod1,sl1 G1:P:frame,sl1 B2:S:crank,rod2@B C2:S:rod2,sl2 G2:P:frame,sl2"
)
RSSR = "A:R:frame,crank B:S:crank,rod C:S:rod,rocker D:R:frame,rocker"

# bodies / joints / drivers / bodies of the groups it depends on / type
EXPECTED: dict[str, tuple[Model, int, list[tuple[str, str, str, list[str], str]]]] = {
    "four-bar": (
        linkage(FOUR_BAR, "theta@A"),
        1,
        [("crank", "A", "theta", [], "R"), ("rocker rod", "B C D", "", ["crank"], "RRR")],
    ),
    "four-bar driven between crank and rod": (
        linkage(FOUR_BAR, "beta@B"),
        1,
        [("crank rocker rod", "A B C D", "beta", [], "RR[R]R")],
    ),
    "scalable four-bar": (
        linkage(SCALABLE, "theta@A"),
        1,
        [
            ("crank", "A", "theta", [], "R"),
            ("rocker1 rod1", "B C1 D1", "", ["crank"], "RRR"),
            ("rocker2 rod2", "C1b C2 D2", "", ["rocker1 rod1"], "RRR"),
            ("rocker3 rod3", "C2b C3 D3", "", ["rocker2 rod2"], "RRR"),
        ],
    ),
    "slider-crank": (
        linkage("A:R:frame,crank B:R:crank,rod C:R:rod,slider guide:P:frame,slider", "theta@A"),
        1,
        [("crank", "A", "theta", [], "R"), ("rod slider", "B C guide", "", ["crank"], "RRP")],
    ),
    "inverted slider-crank": (
        linkage("O2:R:frame,crank O4:R:frame,lever P:R:crank,block slide:P:lever,block", "theta@O2"),
        1,
        [("crank", "O2", "theta", [], "R"), ("block lever", "O4 P slide", "", ["crank"], "RPR")],
    ),
    "Stephenson III at A0": (
        linkage(STEPHENSON, "theta@A0"),
        1,
        [
            ("A0A", "A0", "theta", [], "R"),
            ("ABC B0B", "A B B0", "", ["A0A"], "RRR"),
            ("CD D0D", "C D D0", "", ["ABC B0B"], "RRR"),
        ],
    ),
    "Stephenson III at D0": (
        linkage(STEPHENSON, "eta@D0"),
        1,
        [("D0D", "D0", "eta", [], "R"), ("A0A ABC B0B CD", "A A0 B B0 C D", "", ["D0D"], "g4-R3-R3-")],
    ),
    "five-bar": (
        linkage(FIVE_BAR, "theta1@A theta2@E"),
        2,
        [
            ("AB", "A", "theta1", [], "R"),
            ("ED", "E", "theta2", [], "R"),
            ("BC DC", "B C D", "", ["AB", "ED"], "RRR"),
        ],
    ),
    "Jansen leg": (
        linkage(JANSEN, "theta@O"),
        1,
        [
            ("crank", "O", "theta", [], "R"),
            ("bde j", "P1 U Z1", "", ["crank"], "RRR"),
            ("c k", "L1 P2 Z2", "", ["crank"], "RRR"),
            ("f ghi", "L2 V W", "", ["bde j", "c k"], "RRR"),
        ],
    ),
    "3-RRR platform": (
        linkage(THREE_RRR, "q1@a1 q2@a2 q3@a3"),
        3,
        [
            ("c1", "a1", "q1", [], "R"),
            ("c2", "a2", "q2", [], "R"),
            ("c3", "a3", "q3", [], "R"),
            ("l1 l2 l3 plat", "b1 b2 b3 p1 p2 p3", "", ["c1", "c2", "c3"], "g4-R3-R3-"),
        ],
    ),
    "spatial slider-crank with two rods": (
        linkage(TWO_RODS, "theta@A", "spatial", "rod1 rod2"),
        1,
        [
            ("crank", "A", "theta", [], "R"),
            ("rod1 sl1", "B1 C1 G1", "", ["crank"], "SSP"),
            ("rod2 sl2", "B2 C2 G2", "", ["crank"], "SSP"),
        ],
    ),
    "RSSR": (
        linkage(RSSR, "theta@A", "spatial", "rod"),
        1,
        [("crank", "A", "theta", [], "R"), ("rocker rod", "B C D", "", ["crank"], "SSR")],
    ),
    "hydraulic rocker": (
        linkage("A:R:frame,tube p:P:tube,piston B:R:piston,arm C:R:frame,arm", "stroke@p"),
        1,
        [("arm piston tube", "A B C p", "stroke", [], "RR[P]R")],
    ),
    "geared five-bar": (
        linkage(FIVE_BAR + " G:gear:AB,ED", "theta@A"),
        1,
        [
            ("AB", "A", "theta", [], "R"),
            ("ED", "E G", "", ["AB"], "g1-R1gear1-0-"),
            ("BC DC", "B C D", "", ["AB", "ED"], "RRR"),
        ],
    ),
    "planetary gear": (
        linkage("s:R:frame,sun c:R:frame,arm p:R:arm,planet g:gear:sun,planet,arm r:gear:planet,frame,arm", "w@s"),
        1,
        [("sun", "s", "w", [], "R"), ("arm planet", "c g p r", "", ["sun"], "g2-R1gear2-R1-")],
    ),
    "slotted lever": (
        linkage("A:R:frame,crank s:slot:lever,crank D:R:frame,lever", "theta@A"),
        1,
        [("crank", "A", "theta", [], "R"), ("lever", "D s", "", ["crank"], "g1-R1slot1-0-")],
    ),
    "driven distance": (
        linkage("A:R:frame,boom", "q=distance:frame.F,boom.B"),
        1,
        [("boom", "A", "q", [], "g1-R1[distance]1-0-")],
    ),
    "cylindrical joint driven twice": (
        linkage("A:C:frame,drum", "turn@A.angle slide@A.displacement", "spatial"),
        2,
        [("drum", "A", "slide turn", [], "C")],
    ),
}
