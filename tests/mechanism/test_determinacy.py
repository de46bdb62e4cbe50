"""Linkages that their drivers do not determine, by count and by rank."""

from __future__ import annotations

import json
import re

from assurgent.mechanism.structure import RankReport, analyse
from tests.mechanism.linkages_in_words import FIVE_BAR, FOUR_BAR, RSSR, linkage, sets


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
