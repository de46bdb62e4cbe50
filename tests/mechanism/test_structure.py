"""Structural groups of known mechanisms, of mechanisms that are not determined, and their types and order."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from assurgent.mechanism.model import FRAME, Model
from assurgent.mechanism.naming import group_graph, ordered, type_key
from assurgent.mechanism.reader import loads
from assurgent.mechanism.structure import Group, Structure, analyse
from tests.mechanism.linkages_in_words import EXPECTED, FOUR_BAR, linkage, sets


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


def types(structure: Structure) -> list[str]:
    return [group.type for group in structure.groups]


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
