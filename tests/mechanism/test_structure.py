"""Structural groups of known mechanisms, of mechanisms that are not determined, and their types and order."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from assurgent.mechanism.model import FRAME, Array, Body, Driver, Joint, Member, Model
from assurgent.mechanism.naming import group_graph, ordered, type_key
from assurgent.mechanism.reader import loads
from assurgent.mechanism.structure import Group, RankReport, Structure, analyse
from assurgent.pictures.diagram import structural_diagram


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


def renamed(model: Model, seed: int) -> tuple[Model, Mapping[str, str]]:
    """Return the model with everything renamed and in another order, and the new names of the bodies."""
    r = random.Random(seed)

    def fresh(names: list[str], letter: str) -> dict[str, str]:
        numbers = list(range(len(names)))
        r.shuffle(numbers)
        return {name: f"{letter}{k}" for name, k in zip(names, numbers, strict=True)}

    body = fresh([b for b in model.bodies if b != FRAME], "b") | {FRAME: FRAME}
    joint, driver = fresh(list(model.joints), "j"), fresh(list(model.drivers), "d")
    point = fresh(sorted({j.at for j in model.joints.values() if j.at is not None}), "p")
    joints = []
    for j in model.joints.values():
        carrier = body[j.carrier] if j.carrier else None
        at = point[j.at] if j.at else None
        ends = {"first": body[j.first], "second": body[j.second], "carrier": carrier}
        joints.append(replace(j, name=joint[j.name], at=at, **ends))
    drivers = []
    for d in model.drivers.values():
        tied = (body[d.bodies[0]], body[d.bodies[1]])
        points = (point.get(d.points[0], "x"), point.get(d.points[1], "y")) if d.points else None
        drivers.append(replace(d, name=driver[d.name], joint=d.joint and joint[d.joint], bodies=tied, points=points))
    bodies = []
    for b in model.bodies.values():
        bodies.append(replace(b, name=body[b.name], members=(replace(b.members[0], name=body[b.name]),)))
    for things in (joints, drivers, bodies):
        r.shuffle(things)  # type: ignore[arg-type]
    bodies.sort(key=lambda b: b.name != FRAME)
    fields = {b.name: b for b in bodies}, {j.name: j for j in joints}, {d.name: d for d in drivers}
    return replace(model, bodies=fields[0], joints=fields[1], drivers=fields[2]), body


def sets(structure: Structure) -> list[str]:
    return [" ".join(group.members) for group in structure.groups]


def types(structure: Structure) -> list[str]:
    return [group.type for group in structure.groups]


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


@pytest.mark.parametrize("case", EXPECTED)
def test_known_mechanisms(case: str) -> None:
    model, mobility, expected = EXPECTED[case]
    structure = analyse(model)
    assert structure.mobility == structure.count == mobility
    assert not structure.free
    assert not structure.redundant
    assert sets(structure) == [bodies for bodies, *_ in expected]
    bodies = {group.name: " ".join(group.members) for group in structure.groups}
    for group, (_, joints, drivers, needs, kind) in zip(structure.groups, expected, strict=True):
        assert " ".join(group.joints) == joints
        assert " ".join(group.drivers) == drivers
        assert sorted(bodies[name] for name in group.depends_on) == sorted(needs)
        assert re.fullmatch(re.escape(kind) + ("[0-9a-f]{8}" if kind.endswith("-") else ""), group.type)
        assert re.fullmatch(re.escape(group.type) + r"_\d+", group.name)


def test_json_is_as_the_format_says() -> None:
    assert analyse(linkage(FOUR_BAR, "theta@A")).to_json() == {
        "mobility": 1,
        "count": 1,
        "groups": [
            {"name": "R_1", "type": "R", "bodies": ["crank"], "joints": ["A"], "drivers": ["theta"], "depends_on": []},
            {
                "name": "RRR_1",
                "type": "RRR",
                "bodies": ["rocker", "rod"],
                "joints": ["B", "C", "D"],
                "drivers": [],
                "depends_on": ["R_1"],
            },
        ],
    }


@pytest.mark.parametrize("case", EXPECTED)
def test_names_and_order_of_the_file_change_nothing(case: str) -> None:
    model, mobility, _ = EXPECTED[case]
    plain = analyse(model)
    for seed in range(5):
        other, body = renamed(model, seed)
        structure = analyse(other)
        assert structure.mobility == mobility
        wanted = {(frozenset(body[b] for b in g.bodies), g.type, g.level) for g in plain.groups}
        assert {(frozenset(g.bodies), g.type, g.level) for g in structure.groups} == wanted
        for group in structure.groups:
            twin = next(g for g in plain.groups if {body[b] for b in g.bodies} == set(group.bodies))
            assert type_key(other, group) == type_key(model, twin)


@pytest.mark.parametrize("case", EXPECTED)
def test_groups_of_a_type_correspond_place_by_place(case: str) -> None:
    """In canonical order the graph of a renamed group is literally the same."""

    def in_order(model: Model, group: Group) -> tuple[list[str], list[tuple[object, ...]]]:
        bodies, joints, drivers = ordered(model, group)
        pairs = {pair.name: pair for pair in group.pairs}
        at = {body: k for k, body in enumerate(bodies)}
        kinds = [pairs[j].kind for j in joints]
        ties: list[tuple[object, ...]] = []
        for name in joints:
            roles = [at.get(b) for b in pairs[name].bodies]
            symmetric = pairs[name].kind in ("R", "S") and not any(d.joint == name for d in group.inputs)
            ties.append(tuple(sorted(roles, key=str)) if symmetric else tuple(roles))
        inputs = {driver.name: driver for driver in group.inputs}
        ties += [(inputs[d].kind, joints.index(j) if (j := inputs[d].joint) else None) for d in drivers]
        return kinds, ties

    model = EXPECTED[case][0]
    plain = analyse(model)
    for seed in range(4):
        other, body = renamed(model, seed)
        for group in analyse(other).groups:
            twin = next(g for g in plain.groups if {body[b] for b in g.bodies} == set(group.bodies))
            assert in_order(other, group) == in_order(model, twin)


# ---- against the definition: least tight sets, found by trying all -------------------------------------------------
def peeled(model: Model) -> set[frozenset[str]]:
    """Return the groups of Eq. 14, L = B (P - N): chains that are determined once those before them are known."""
    rows = {"R": 2, "P": 2, "slot": 1, "gear": 1}
    units = [(rows[j.kind], set(j.bodies) - {FRAME}) for j in model.joints.values()]
    units += [(1, set(d.bodies) - {FRAME}) for d in model.drivers.values()]
    known: set[str] = set()
    groups: set[frozenset[str]] = set()
    while len(known) < len(model.movable):
        rest = sorted(set(model.movable) - known)
        for chain in itertools.chain.from_iterable(itertools.combinations(rest, k) for k in range(1, len(rest) + 1)):
            inside = known | set(chain)
            if sum(n for n, touched in units if touched <= inside and touched - known) == 3 * len(chain):
                groups.add(frozenset(chain))
                known = inside
                break
    return groups


SIX_BARS = {
    "Watt I": "a:R:0,1 b:R:1,2 c:R:2,3 d:R:3,0 e:R:2,4 f:R:4,5 g:R:5,3",
    "Watt II": "a:R:0,1 b:R:1,2 c:R:2,3 d:R:3,0 e:R:3,4 f:R:4,5 g:R:5,0",
    "Stephenson I": "a:R:0,1 b:R:1,2 c:R:2,3 d:R:3,0 e:R:1,4 f:R:4,5 g:R:5,3",
    "Stephenson II": "a:R:0,1 b:R:1,2 c:R:2,3 d:R:3,4 e:R:4,0 f:R:1,5 g:R:5,3",
    "Stephenson III": "a:R:0,1 b:R:1,2 c:R:2,3 d:R:3,0 e:R:2,4 f:R:4,5 g:R:5,0",
}


@pytest.mark.parametrize("joint", "abcdefg")
@pytest.mark.parametrize("chain", SIX_BARS)
def test_six_bars_driven_at_each_joint(chain: str, joint: str) -> None:
    words = re.sub(r"\b0\b", FRAME, SIX_BARS[chain])
    model = linkage(words, f"q@{joint}")
    structure = analyse(model)
    assert structure.mobility == structure.count == 1
    assert {frozenset(group.bodies) for group in structure.groups} == peeled(model)
    known = {FRAME}
    for group in structure.groups:
        known.update(group.bodies)
        assert all(known.issuperset(pair.bodies) for pair in group.pairs)


# ---- pins of several bodies ----------------------------------------------------------------------------------------
PINNED = "A:R:frame,a B:R:a,b D:R:frame,c F:R:d,e G:R:frame,e"  # and b, c, d on one pin at P


@pytest.mark.parametrize("pairs", ["x:R:b,c@P y:R:b,d@P", "x:R:d,b@P y:R:d,c@P", "x:R:c,b@P y:R:d,c@P"])
def test_a_shared_pin_may_be_written_by_any_pairs(pairs: str) -> None:
    model = linkage(f"{PINNED} {pairs}", "theta@A")
    structure = analyse(model)
    assert sets(structure) == ["a", "b c", "d e"]
    assert types(structure) == ["R", "RRR", "RRR"]
    assert structure.mobility == structure.count == 1
    assert [group.depends_on for group in structure.groups] == [(), ("R_1",), ("RRR_1",)]
    known = {FRAME}
    for group in structure.groups:  # the solver's pairs never look ahead, whatever the user's do
        known.update(group.bodies)
        assert all(known.issuperset(pair.bodies) for pair in group.pairs)
    assert sorted(j for group in structure.groups for j in group.joints) == sorted(model.joints)


def test_a_joint_belongs_to_the_group_solved_last_even_at_a_pin() -> None:
    structure = analyse(linkage(f"{PINNED} x:R:d,b@P y:R:d,c@P", "theta@A"))
    assert structure.groups[2].joints == ("F", "G", "x", "y")
    assert [{pair.first, pair.second} for pair in structure.groups[1].pairs if pair.at == "P"] == [{"b", "c"}]
    assert [{pair.first, pair.second} for pair in structure.groups[2].pairs if pair.at == "P"] == [{"b", "d"}]


def test_a_pin_within_one_group_is_one_vertex() -> None:
    """Three legs meet in one pin above a body: the type does not depend on the pairs."""
    legs = "A:R:a,frame B:R:b,k E:R:c,k F:R:frame,k2 G:R:k,k2"
    keys = set()
    for pairs in ("x:R:a,b@P y:R:a,c@P", "x:R:b,a@P y:R:b,c@P", "x:R:c,a@P y:R:b,c@P"):
        model = linkage(f"{legs} {pairs}", "q=turn:frame,k2")
        structure = analyse(model)
        group = next(g for g in structure.groups if "a" in g.bodies)
        assert {"a", "b", "c", "k"} <= set(group.bodies)
        keys.add(type_key(model, group))
        assert sum(colour == "R" for colour in group_graph(model, group).colours) == 3  # P, B and E
        first = {pair.first for pair in group.pairs if pair.at == "P"} & {pair.second for pair in group.pairs}
        assert len([pair for pair in group.pairs if pair.at == "P"]) == 2, first
    assert len(keys) == 1


def test_distances_that_place_a_pin() -> None:
    """Two cylinders hold the pin of a chain; the bodies on it then follow one by one."""
    words = "x:R:b,c@P s:slot:frame,b t:slot:frame,c"
    structure = analyse(linkage(words, "p=distance:frame.F,b.P q=distance:frame.G,c.P"))
    assert structure.mobility == 2
    assert sets(structure) == ["b", "c"]
    assert structure.groups[0].drivers == ("p", "q")
    assert structure.groups[1].depends_on == (structure.groups[0].name,)
    assert all(driver.bodies == (FRAME, "b") for driver in structure.groups[0].inputs)


# ---- not determined ------------------------------------------------------------------------------------------------
def test_both_drivers_on_one_crank_are_refused_though_the_count_is_right() -> None:
    structure = analyse(linkage(FIVE_BAR, "theta1@A theta2=turn:frame,AB"))
    assert structure.count == structure.mobility == 2
    assert [f.bodies for f in structure.redundant] == [("AB",)]
    assert structure.redundant[0].drivers == ("theta1", "theta2")
    assert [f.bodies for f in structure.free] == [("BC", "DC", "ED")]
    assert structure.free[0].number == structure.redundant[0].number == 1
    assert structure.groups == ()
    assert "theta2" in structure.redundant[0].message
    assert "joint E" in structure.free[0].message


def test_what_does_not_depend_on_a_starved_part_is_still_shown() -> None:
    structure = analyse(linkage(FOUR_BAR + " X:R:rocker,p Y:R:p,q", "theta@A"))
    assert sets(structure) == ["crank", "rocker rod"]
    assert [f.bodies for f in structure.free] == [("p", "q")]
    assert structure.free[0].number == 2
    assert structure.mobility == 3
    text = json.dumps(structure.to_json()["free"])
    assert all(re.search(rf"\b{name}\b", text) for name in ("p", "q", "X", "Y"))


def test_a_linkage_without_drivers_is_free_as_a_whole() -> None:
    structure = analyse(linkage(FOUR_BAR))
    assert structure.mobility == 1
    assert structure.groups == ()
    assert [(f.bodies, f.number) for f in structure.free] == [(("crank", "rocker", "rod"), 1)]


def test_spin_of_a_rod_that_is_no_rod() -> None:
    structure = analyse(linkage(RSSR, "theta@A", "spatial"))
    assert sets(structure) == ["crank"]
    assert [(f.bodies, f.number) for f in structure.free] == [(("rocker", "rod"), 1)]


def test_four_bar_in_space_by_count_and_by_rank() -> None:
    model = linkage(FOUR_BAR, "theta@A", "spatial")
    counted = analyse(model)
    assert counted.count == -2
    assert [(f.bodies, f.number) for f in counted.redundant] == [(("crank", "rocker", "rod"), 3)]
    ranked = analyse(model, RankReport(mobility=1, redundant={"D": 3}))
    assert ranked.mobility == 1
    assert sets(ranked) == ["crank", "rocker rod"]
    assert not ranked.free
    assert ranked.redundant[0].number == 3
    assert ranked.redundant[0].consistent
    assert ranked.redundant[0].joints == ("A", "B", "C", "D")
    assert ranked.groups[1].dropped == (("D", 3),)
    locked = analyse(model, RankReport(mobility=0, redundant={"D": 3}, locked=True))
    assert "locked" in locked.redundant[0].message
    assert not locked.redundant[0].consistent


def test_parallel_cranks_by_rank() -> None:
    model = linkage(FOUR_BAR + " E:R:rod,third F:R:frame,third", "theta@A")
    assert analyse(model).redundant[0].bodies == ("crank", "rocker", "rod", "third")
    ranked = analyse(model, RankReport(mobility=1, redundant={"E": 1}))
    assert sets(ranked) == ["crank", "rocker rod", "third"]


def test_implied_hinge_is_named_by_rank() -> None:
    """A body on two spherical joints: the count is right (6 = 6), the rank is 5."""
    model = linkage("A:S:frame,plate B:S:frame,plate", "", "spatial")
    assert sets(analyse(model)) == ["plate"]
    ranked = analyse(model, RankReport(mobility=1, redundant={"B": 1}, free=("plate",)))
    assert ranked.groups == ()
    assert ranked.free[0].bodies == ("plate",)
    assert ranked.redundant[0].joints == ("B",)


def test_three_sliding_joints_are_no_dyad() -> None:
    """Two wedges: the angles are held twice, so that one motion is left though the count says none."""
    wedges = "a:P:frame,w1 b:P:w1,w2 c:P:frame,w2"
    idle = analyse(linkage(wedges))
    assert idle.count == 0
    assert idle.mobility == 1
    assert idle.groups == ()
    assert idle.redundant[0].joints == ("a", "b", "c")
    driven = analyse(linkage(wedges, "s@a"))
    assert sets(driven) == ["w1", "w2"]
    assert not driven.free


def test_driver_of_an_angle_that_sliding_joints_hold() -> None:
    """The count is right (6 = 6), but the angle cannot be driven and a slide is left free."""
    structure = analyse(linkage("A:slot:frame,a p:P:a,b q:P:frame,b", "theta=turn:frame,a"))
    assert structure.mobility == structure.count == 1
    assert structure.redundant[0].drivers == ("theta",)
    assert structure.redundant[0].joints == ("p", "q")
    assert not structure.redundant[0].consistent
    assert structure.free[0].bodies == ("a", "b")


# ---- names, speed, picture -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("word", ["RRR", "RRP", "PRR", "RPR", "PRP", "RPP", "PPR"])
def test_dyads_have_five_names(word: str) -> None:
    a, b, c = word
    structure = analyse(linkage(f"O:R:frame,crank x:{a}:crank,u y:{b}:u,v z:{c}:v,frame", "theta@O"))
    assert types(structure) == ["R", {"PRR": "RRP", "PPR": "RPP"}.get(word, word)]


def test_triads_of_one_kind_of_joints_are_one_type_and_others_not() -> None:
    found = {}
    for kinds in itertools.product("RP", repeat=6):
        words = " ".join(f"a{k}:R:frame,c{k} b{k}:{kinds[k]}:c{k},l{k} p{k}:{kinds[k + 3]}:plat,l{k}" for k in range(3))
        model = linkage(words, "q0@a0 q1@a1 q2@a2")
        group = analyse(model).groups[-1]
        if len(group.bodies) == 4:
            found.setdefault(tuple(sorted(zip(kinds[:3], kinds[3:], strict=True))), set()).add(type_key(model, group))
    # multisets of three legs out of four kinds are 20; those with two legs that hold the angle are no triads
    assert all(len(keys) == 1 for keys in found.values())
    assert len({key for keys in found.values() for key in keys}) == len(found)


def test_ten_thousand_bodies_in_any_order() -> None:
    """No recursion and no search that grows with the square: this would not end in reasonable time otherwise."""
    words, before = ["A:R:frame,crank"], "crank"
    for k in range(5000):
        words += [f"B{k}:R:{before},rod{k}@C{k}", f"C{k}:R:rod{k},rocker{k}@C{k + 1}", f"D{k}:R:frame,rocker{k}"]
        before = f"rocker{k}"
    random.Random(2).shuffle(words)
    structure = analyse(linkage(" ".join(words), "theta@A"))
    assert [group.level for group in structure.groups] == list(range(5001))
    assert structure.groups[-1].name == "RRR_5000"


@pytest.mark.parametrize("case", ["Jansen leg", "planetary gear", "driven distance", "3-RRR platform"])
def test_diagram_shows_every_body_joint_and_group(case: str) -> None:
    model = EXPECTED[case][0]
    structure = analyse(model)
    root = ElementTree.fromstring(structural_diagram(model, structure))
    space = "{http://www.w3.org/2000/svg}"
    words = [element.text or "" for element in root.iter(f"{space}text")]
    for group in structure.groups:
        assert group.name in words
        assert f"({len(group.bodies)}, {len(group.drivers)})" in words
    assert set(model.bodies) <= set(words)
    for name in (*model.joints, *model.drivers):
        assert any(re.search(rf"\b{name}\b", text) for text in words)
    assert len(list(root.iter(f"{space}circle"))) == len(structure.groups) + 1
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert 0 < width < 2500
    assert 0 < height < 2500


def test_diagram_escapes_what_the_user_wrote() -> None:
    model = replace(linkage("A:R:frame,<b>&", "theta@A"), name="</svg><script>")
    root = ElementTree.fromstring(structural_diagram(model, analyse(model)))
    assert root.find("{http://www.w3.org/2000/svg}script") is None
    assert any(element.text == "<b>&" for element in root.iter())


def test_a_driven_joint_on_a_shared_pin_is_that_of_any_pin() -> None:
    """Three bodies on one pin, one driven from the frame and one from that: two driven cranks."""
    text = """
    format = 1
    space = "planar"
    points = { A = [0, 0], B = [0, 2], E = [-2, 1] }
    [bodies]
    frame = { points = ["A"] }
    crank = { points = ["A", "B"] }
    arm = { points = ["A", "E"] }
    [joints]
    A = { type = "R", bodies = ["frame", "crank"], at = "A" }
    A2 = { type = "R", bodies = ["crank", "arm"], at = "A" }
    [drivers]
    one = { joint = "A", angle = "pi/2 + t" }
    two = { joint = "A2", angle = "1 + t/3" }
    """
    found = [(g.type, g.bodies, g.drivers) for g in analyse(loads(text, "pin")).groups]
    assert found == [("R", ("crank",), ("one",)), ("R", ("arm",), ("two",))]
