"""Kernels: straight-line code without SymPy, every name assigned once and before it is used."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import sympy as sp

from assurgent.codegen import ir
from assurgent.codegen.closedform import find_closed_form
from assurgent.codegen.derive import derive
from assurgent.codegen.kernels import GroupIR, build_kernels
from assurgent.codegen.redundancy import solution_blocks
from assurgent.runtime.library_build import find_specification

TYPES = ("RRR", "RPR", "triad-6R", "2E1P")


@pytest.fixture(scope="module", params=TYPES)
def group(request: pytest.FixtureRequest) -> GroupIR:
    derivation = derive(find_specification(request.param))
    return build_kernels(derivation, find_closed_form(derivation), solution_blocks(derivation))


def inside(value: Any) -> Iterator[Any]:
    """Yield a value and all that it is made of."""
    yield value
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from inside(getattr(value, field.name))
    elif isinstance(value, tuple | list | frozenset):
        for entry in value:
            yield from inside(entry)


def test_no_sympy_travels_on(group: GroupIR) -> None:
    assert not [value for value in inside(group) if isinstance(value, sp.Basic)]


def test_names_are_assigned_once_and_before_they_are_used(group: GroupIR) -> None:
    for kernel in group.kernels:
        known = {*kernel.scalars, *(name for a in kernel.arguments for name in a.symbols)}
        for statement in (s for section in kernel.sections for s in section.statements):
            used = {node.name for node in inside(statement.value) if isinstance(node, ir.Sym)}
            assert used <= known, f"{kernel.name}: {statement.target}"
            assert statement.target not in known, f"{kernel.name}: {statement.target}"
            known.add(statement.target)


def test_operations_are_counted(group: GroupIR) -> None:
    for kernel in group.kernels:
        statements = [s for section in kernel.sections for s in section.statements]
        assert kernel.operations == sum(ir.operations(s.value) for s in statements)
