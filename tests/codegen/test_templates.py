"""Templates get what they use and use what they get."""

from __future__ import annotations

import dataclasses
import re

from assurgent.codegen import layout
from assurgent.codegen.emit import ModuleText, template_sources


def used(prefix: str) -> set[str]:
    """Fields that the templates read from an object of that name."""
    return {name for text in template_sources().values() for name in re.findall(rf"\b{prefix}\.(\w+)", text)}


def test_module_fields_are_all_given_and_all_used() -> None:
    given = {f.name for f in dataclasses.fields(ModuleText)}
    assert used("module") == given


def test_kernel_fields_are_all_given_and_all_used() -> None:
    assert used("kernel") - {"py"} == {f.name for f in dataclasses.fields(layout.KernelText)}


def test_every_macro_says_what_it_prints() -> None:
    for name, text in template_sources().items():
        for match in re.finditer(r"\{% macro (\w+)", text):
            assert match.group(1) in text[: match.start()] or text.startswith("{#"), f"{name}: {match.group(1)}"


def test_arguments_are_all_used() -> None:
    from assurgent.codegen.derive import derive
    from assurgent.runtime.library_build import find_specification

    derivation = derive(find_specification("RRR"))
    given = set(layout.arguments(derivation, loops=False, n_branches=1))
    assert used("module.args") | used("args") == given
