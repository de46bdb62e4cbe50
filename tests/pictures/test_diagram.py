"""The structural diagram: every body, joint and group, and what the user wrote."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from assurgent.mechanism.structure import analyse
from assurgent.pictures.diagram import structural_diagram
from tests.mechanism.linkages_in_words import EXPECTED, linkage


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
