"""The verification itself: it passes where the code is right, and fails where one sign is wrong."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assurgent.codegen.derive import derive
from assurgent.codegen.generate import compile_spec
from assurgent.codegen.spec import GroupSpec
from assurgent.codegen.specification_reader import parse_spec
from assurgent.codegen.verification_errors import Verification, relative
from assurgent.codegen.verify import verify_module
from assurgent.runtime.group_type import GroupType
from assurgent.runtime.library_build import as_plain_python, find_specification

PLATFORM = """
format = 1
name = "platform-6S"
title = "platform on six rods of given length: nine equations in one irreducible block"
space = "spatial"
[dependent]
P = "point"
f = "vector"
g = "vector"
[independent]
A = "point"
B = "point"
C = "point"
D = "point"
E = "point"
F = "point"
[parameters]
a = "length"
b = "length"
c = "length"
L_A = "length"
L_B = "length"
L_C = "length"
L_D = "length"
L_E = "length"
L_F = "length"
[constraints]
f_unit = "|f|^2 = 1"
g_unit = "|g|^2 = 1"
square = "dot(f, g) = 0"
rod_A = "|P + a*f - A|^2 = L_A^2"
rod_B = "|P + a*f + b*cross(f, g) - B|^2 = L_B^2"
rod_C = "|P + b*g - C|^2 = L_C^2"
rod_D = "|P + c*g - a*f - D|^2 = L_D^2"
rod_E = "|P - b*f - c*g - E|^2 = L_E^2"
rod_F = "|P - c*cross(f, g) - F|^2 = L_F^2"
"""


def emitted(spec: GroupSpec, folder: Path, change: tuple[str, str] | None = None) -> GroupType:
    """Import the module of a specification from a folder, with one change of its text if wanted."""
    text = compile_spec(spec, "spec.toml").module.text
    if change is not None:
        assert change[0] in text
        text = text.replace(*change)
    path = folder / f"{spec.module}.py"
    path.write_text(text, "utf-8")
    found = importlib.util.spec_from_file_location(spec.module, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return GroupType(module)


def in_plain_python(text: str, folder: Path) -> ModuleType:
    """Import the text of a module without compiling it."""
    path = folder / "plain.py"
    path.write_text(text, "utf-8")
    return as_plain_python(path, "plain")


@pytest.mark.parametrize(
    ("original", "altered", "quantity"),
    [
        ("x_A_ddot * (x_C - x_A)", "x_A_ddot * (x_C + x_A)", "acceleration TD"),
        ("x_A_dot * (x_C - x_A)", "x_A_dot * (x_C + x_A)", "velocity"),
        ("Phi_phi[0, 1] = 2.0", "Phi_phi[0, 1] = 2.0000000001", "Phi_phi"),
    ],
)
def test_one_wrong_term_is_found(original: str, altered: str, quantity: str, tmp_path: Path) -> None:
    """A changed term of an emitted kernel makes the verification fail, and names the quantity."""
    spec = find_specification("RRR")
    result = verify_module(derive(spec), emitted(spec, tmp_path, (original, altered)), count=3)
    assert not result.passed
    assert result.errors[quantity].worst > 1e-12


def test_a_wrong_term_of_the_running_type_is_found(tmp_path: Path) -> None:
    """With the module as plain Python for the rest, the compiled sweep is still compared with the truth."""
    spec = find_specification("RRR")
    derivation, plain = derive(spec), GroupType(in_plain_python(compile_spec(spec, "spec.toml").module.text, tmp_path))
    running = emitted(spec, tmp_path, ("x_A_dot * (x_C - x_A)", "x_A_dot * (x_C + x_A)"))
    result = verify_module(derivation, plain, count=2, running=running)
    assert [q for q, e in result.errors.items() if e.worst > result.bound] == ["sweep TD"]
    assert not running.module.jerk.signatures


LIMITED = ["acos(s) = d", "log(s) = d*L", "sqrt(s) = d + L", "asin(s)*L = d", "exp(exp(exp(s))) = d"]
# what SymPy turns into other functions: a fourth root, a power that is no whole number, a cotangent
REWRITTEN = [
    "sqrt(sqrt(s)) = d",
    "sqrt(s)*sqrt(sqrt(s)) = L",
    "exp(0.3*log(s)) = L",
    "exp(pi*log(s)) = L",
    "tan(s + pi/2) = d",
]


@pytest.mark.parametrize("equation", [*LIMITED, *REWRITTEN])
def test_functions_with_a_limited_domain(equation: str, tmp_path: Path) -> None:
    """Every quantity of a type whose constraint has no value for many s: the checks stay where it has one."""
    text = 'format = 1\nname = "f"\nspace = "planar"\n[dependent]\ns = "number"\n[independent]\nd = "number"\n'
    text += f'[parameters]\nL = "length"\n[constraints]\nf = "{equation}"\n'
    spec = parse_spec(text, "f.toml")
    group = GroupType(in_plain_python(compile_spec(spec, "f.toml").module.text, tmp_path))
    result = verify_module(derive(spec), group, count=20)
    assert result.passed, result.headline


def test_least_squares_are_named_among_the_stages() -> None:
    stages: dict[str, str] = {}
    compile_spec(find_specification("1R3D"), "1r3d.toml", lambda stage, _, outcome: stages.update({stage: outcome}))
    assert stages["positions"] == "Newton-Raphson, least squares (9 equations for 6 unknowns)"


def test_large_square_groups_run_in_loops(tmp_path: Path) -> None:
    """Nine unknowns in one block: elimination in loops with partial pivoting, every quantity three ways."""
    spec = parse_spec(PLATFORM, "platform.toml")
    derivation = derive(spec)
    assert derivation.blocks is not None
    assert [b.size for b in derivation.blocks] == [9]
    group = emitted(spec, tmp_path)
    assert group.module.SOLVER == "lu"
    result = verify_module(derivation, group, count=8)
    assert result.passed, result.headline


def test_lengths_written_with_a_root(tmp_path: Path) -> None:
    """|C - A| = L instead of |C - A|^2 = L^2: no closed form is found, every quantity is right all the same."""
    text = (
        find_specification("RRR").text.replace("|^2 = L_AC^2", "| = L_AC").replace('name = "RRR"', 'name = "RRR-root"')
    )
    spec = parse_spec(text.replace('aliases = ["3R"]', ""), "root.toml")
    group = emitted(spec, tmp_path)
    assert not group.module.CLOSED_FORM
    result = verify_module(derive(spec), group, count=8)
    assert result.passed, result.headline


def test_bound_and_headline() -> None:
    result = Verification("X", 1)
    result.add("K", "symbolic", 3e-13)
    result.add("K", "independent", 1e-15)
    assert result.passed
    result.add("L", "symbolic", float("nan"))  # what is not a number is not right
    assert not result.passed
    assert "(L)" in result.headline


def test_relative_error_has_a_scale() -> None:
    assert relative(np.array([1.0, 2.0]), np.array([1.0, 2.002])) == pytest.approx(0.002 / 2.002)
    assert relative(np.array([1e-3]), np.array([0.0])) == pytest.approx(1e-3)
    assert relative(np.array([1e-3]), np.array([0.0]), terms=10.0) == pytest.approx(1e-4)


def test_conditioning_is_the_scaled_determinant() -> None:
    """For RRR it is the sine of the angle between the two bars."""
    import assurgent

    dyad = assurgent.load("RRR")
    for angle in (0.02, 0.7, np.pi / 2, 3.0):
        C = np.array([2.0 * np.cos(angle), 2.0 * np.sin(angle)])
        value = dyad.conditioning(np.zeros(2), {"A": C, "B": (3.0, 0.0)}, {"L_AC": 2, "L_BC": 3})
        assert value == pytest.approx(np.sin(angle), rel=1e-13)
