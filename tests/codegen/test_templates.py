"""Templates get what they use and use what they get."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from assurgent.codegen import layout
from assurgent.codegen.emit import ModuleText, SweepText, environment, template_sources
from assurgent.codegen.joint_module import TEMPLATE, JointModuleText, KindText
from assurgent.codegen.profile_text import ProfileText
from assurgent.codegen.sizes import Sizes

FAMILIES = [  # what the templates call an object, its class
    ("module", ModuleText),
    (r"module\.lane", layout.LaneText),
    (r"(?:module\.)?size", Sizes),
    ("kernel", layout.KernelText),
    ("section", layout.SectionText),
    ("f", layout.RateText),
    ("s", SweepText),
    ("p", ProfileText),
]
JOINTS = [("module", JointModuleText), ("kind", KindText), ("section", layout.SectionText)]
# What Python alone knows: the place of the parameters, from which other places of an item follow; name and first
# part of a profile.
OWN = {"LaneText": {"par_place"}, "ProfileText": {"name", "first"}}


def joint_sources() -> dict[str, str]:
    jinja = environment()
    assert jinja.loader is not None
    return {TEMPLATE: jinja.loader.get_source(jinja, TEMPLATE)[0]}


def used(prefix: str, sources: dict[str, str]) -> set[str]:
    """Fields that the templates read from an object of that name; `py` is the end of a file's name."""
    found = {name for text in sources.values() for name in re.findall(rf"(?<![\w.])(?:{prefix})\.(\w+)", text)}
    return found - {"py", "py_func"}


def offered(kind: Any) -> set[str]:
    """Fields, and what follows from them."""
    return {f.name for f in dataclasses.fields(kind)} | {n for n, v in vars(kind).items() if isinstance(v, property)}


@pytest.mark.parametrize(("prefix", "kind"), FAMILIES, ids=[kind.__name__ for _, kind in FAMILIES])
def test_fields_of_a_type_are_all_given_and_all_used(prefix: str, kind: Any) -> None:
    assert used(prefix, template_sources()) == offered(kind) - OWN.get(kind.__name__, set())


@pytest.mark.parametrize(("prefix", "kind"), JOINTS, ids=[kind.__name__ for _, kind in JOINTS])
def test_fields_of_joints_are_all_given_and_all_used(prefix: str, kind: Any) -> None:
    assert used(prefix, joint_sources()) == offered(kind)


def test_every_macro_says_what_it_prints() -> None:
    for name, text in template_sources().items():
        for match in re.finditer(r"\{% macro (\w+)", text):
            assert match.group(1) in text[: match.start()] or text.startswith("{#"), f"{name}: {match.group(1)}"


def test_arguments_are_all_used() -> None:
    from assurgent.codegen.derive import derive
    from assurgent.runtime.library_build import find_specification

    derivation = derive(find_specification("RRR"))
    given = set(layout.arguments(derivation, loops=False, n_branches=1))
    assert used(r"(?:module\.)?args", template_sources()) == given
