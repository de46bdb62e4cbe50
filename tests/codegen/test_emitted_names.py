"""Texts and names of a specification cannot meet those of the emitted code."""

from __future__ import annotations

import ast
import importlib.util
import math
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from assurgent.codegen.algebra import ELEMENTARY, Field
from assurgent.codegen.closedform import find_closed_form
from assurgent.codegen.derive import derive
from assurgent.codegen.emit import emit
from assurgent.codegen.kernels import build_kernels
from assurgent.codegen.sampling import Sampler, check_rank
from assurgent.codegen.specification_reader import parse_spec
from assurgent.common.errors import InputError
from assurgent.runtime.library import package_folder
from tests.codegen.specifications import BAR, BASE


def emitted(text: str, origin: str = "d.toml") -> str:
    """The module of a specification, after the same checks as in the pipeline."""
    derivation = derive(parse_spec(text, "d.toml"))
    check_rank(derivation)
    return emit(derivation, build_kernels(derivation, find_closed_form(derivation), derivation.blocks), origin).text


# ---- texts of a specification cannot leave the docstring ----
HOSTILE = [
    '"""\nimport os\n"""',
    "'''\nimport os\n'''",
    '\\"""; import os',
    "ends with a backslash \\",
    'ends with a quote "',
    "\\N{DIGIT ONE} \\x41 \\",
    "a\r\nimport os\u2028import os\x85import os\x0cimport os",
    "{{ 1 + 1 }} {% raw %} {# #}",
]


def quoted(text: str) -> str:
    """A TOML basic string with that text."""
    body = "".join(c if c.isalnum() or c in " {}%#'();+" else f"\\U{ord(c):08X}" for c in text)
    return f'"{body}"'


def statements(module: str) -> tuple[ast.expr, list[str]]:
    """The docstring's node, and every other statement of the module."""
    first, *rest = ast.parse(module).body
    assert isinstance(first, ast.Expr)
    return first.value, [ast.dump(s) for s in rest]


@pytest.fixture(scope="module")
def plain_statements() -> list[str]:
    return statements(emitted(BASE))[1]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_texts_stay_inside_the_docstring(hostile: str, plain_statements: list[str]) -> None:
    """Title, source, place of singularity and origin of any content change no statement of the module."""
    head = f"title = {quoted(hostile)}\nsource = {quoted(hostile)}\nsingular = {quoted(hostile)}"
    docstring, rest = statements(emitted(BASE.replace('title = "a dyad"', head), hostile))
    assert rest == plain_statements
    assert isinstance(docstring, ast.Constant)
    assert isinstance(docstring.value, str)


def test_constraint_over_several_lines_stays_inside_the_docstring(plain_statements: list[str]) -> None:
    """White space is all that a formula may add: quotes and backslashes are refused by its grammar."""
    broken = 'bar_A = """|C - A|^2\n\t=\r\n\f L_A^2"""'.replace("\f", "\\f")
    assert statements(emitted(BASE.replace(BAR, broken)))[1] == plain_statements
    for bad in ("|C - A|^2 = L_A^2 \\\\", '|C - A|^2 = L_A^2 \\"\\"\\"'):
        with pytest.raises(InputError, match="has no meaning in a formula"):
            parse_spec(BASE.replace(BAR, f'bar_A = "{bad}"'), "d.toml")


# ---- names of a specification do not meet the names of the emitted code ----
SCALARS = """format = 1
name = "D"
space = "planar"
[dependent]
{0} = "number"
{1} = "number"
[independent]
{2} = "number"
{3} = "number"
{4} = "number"
{5} = "number"
[parameters]
{6} = "length"
{7} = "length"
[constraints]
first = "|[{0}, {1}] - [{2}, {3}]|^2 = {6}^2"
second = "|[{0}, {1}] - [{4}, {5}]|^2 = {7}^2"
"""
VECTORS = """format = 1
name = "D"
space = "planar"
[dependent]
w = "point"
[independent]
u = "vector"
x = "number"
y = "number"
[parameters]
k = "length"
pivot0 = "length"
[constraints]
first = "|w - u|^2 = k^2"
second = "|w - [x, y]|^2 = pivot0^2"
"""
NAME_SETS = [
    "tau root x0 b1 inv00 swap01 c0 gap",
    "sigma w k pivot0 u_x x tau_2 tau",
    "u0x u0y sigma sigma_1 discriminant inverse a00 a10",
    "x1 x0 x0_2 inv00_2 inv00 inv01 reciprocal indicator",
    "r0 r1 y0 y1 K0_0 K0_1 L0_0_0 L0_0_1",
    "rhs_0 rhs_1 Phi_0 Phi_1 c_0 c_1 K0_b0 c00",
    "OPTIONS SINGULAR unit finite position K L range",
    "x hs ps hd E I S max",
    "p q inverse inverse_2 u0x u0x_2 c0 c0_2",
]
VARIANTS = {**{names: SCALARS.format(*names.split()) for names in NAME_SETS}, "u x w k pivot0": VECTORS}
# Terms are ordered by name, so rounding differs: some hundred operations of 1.1e-16, well conditioned.
SAME = 1e-13


def load(text: str, folder: Path, name: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, "utf-8")
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def solved(module: ModuleType) -> list[np.ndarray]:
    """Position on both branches, velocity, acceleration both ways, jerk, K, L and the tangent at one pose."""
    rng = np.random.default_rng(7)
    h, par, work = np.array([0.1, -0.2, 1.9, 0.3]), np.array([1.4, 1.2]), np.zeros(module.WORK)
    hdot, hddot, hdddot, dh, dhdot, dhddot = rng.uniform(-1.0, 1.0, (6, 4))
    found = []
    for sign in (1.0, -1.0):
        phi, phidot, phiddot, tensor, phidddot = np.zeros((5, 2))
        dphi, dphidot, dphiddot = np.zeros((3, 2))
        K, L = np.zeros((2, 4)), np.zeros((4, 2, 4))
        status = [
            module.position(phi, h, par, 0.0, np.array([sign]), work),
            module.velocity(phi, h, par, 0.0, hdot, phidot, work),
            module.acceleration(phi, h, par, 0.0, phidot, hdot, hddot, phiddot, work),
            module.jerk(phi, h, par, 0.0, phidot, hdot, phiddot, hddot, hdddot, phidddot, work),
            module.acceleration_3ot(phi, h, par, 0.0, hdot, hddot, K, L, tensor, work),
            module.tangent(
                phi,
                h,
                par,
                0.0,
                phidot,
                hdot,
                phiddot,
                hddot,
                dh,
                dhdot,
                dhddot,
                par,
                dphi,
                dphidot,
                dphiddot,
                work,
            ),
        ]
        assert status == [0] * 6
        small = module.acceleration_3ot_at(tuple(phi), tuple(h), tuple(par), tuple(hdot), tuple(hddot), 0.0)
        margin = np.array([module.conditioning(phi, h, par, 0.0, work)])
        found += [
            phi,
            phidot,
            phiddot,
            tensor,
            phidddot,
            K,
            L,
            dphi,
            dphidot,
            dphiddot,
            np.array(small),
            margin,
        ]
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    """The shipped RRR, run as plain Python."""
    text = (package_folder("generated") / "rrr.py").read_text("utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", True)
        return solved(load(text, tmp_path_factory.mktemp("rrr"), "shipped_rrr"))


@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS.keys())
def test_names_do_not_collide(
    text: str, reference: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An RRR dyad written with names that the emitted code also uses gives the values of the shipped RRR."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    for found, expected in zip(solved(load(emitted(text), tmp_path, "renamed")), reference, strict=True):
        assert_allclose(found, expected, rtol=SAME, atol=SAME * max(1.0, np.max(np.abs(expected))))


def test_compiled_functions_with_colliding_names(reference: list[np.ndarray], tmp_path: Path) -> None:
    """The same through Numba, for the names most used inside the closed form and the solver."""
    module = load(emitted(VARIANTS[NAME_SETS[0]]), tmp_path, "renamed_compiled")
    expected = {1.0: reference[:2], -1.0: reference[12:14]}
    h, par, work = np.array([0.1, -0.2, 1.9, 0.3]), np.array([1.4, 1.2]), np.zeros(module.WORK)
    hdot = np.random.default_rng(7).uniform(-1.0, 1.0, (6, 4))[0]
    for sign, (phi_expected, phidot_expected) in expected.items():
        phi, phidot = np.zeros(2), np.zeros(2)
        assert module.position(phi, h, par, 0.0, np.array([sign]), work) == 0
        assert module.velocity(phi, h, par, 0.0, hdot, phidot, work) == 0
        assert_allclose(phi, phi_expected, rtol=SAME)
        assert_allclose(phidot, phidot_expected, rtol=SAME)


@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS.keys())
def test_sampled_configurations_satisfy_the_constraints(text: str) -> None:
    """The names of temporaries in SymPy's own functions do not meet those of the specification either."""
    spec = parse_spec(text, "d.toml")
    floats = Field(number=float, functions={f: getattr(math, f) for f in ELEMENTARY}, pi=math.pi)
    for c in Sampler(derive(spec), 3).draw(3):
        at = dict(zip((*spec.phi, *spec.h, *spec.par, "t"), (*c.phi, *c.h, *c.par, c.t), strict=True))
        evaluate = spec.evaluator(at.__getitem__, floats)
        for constraint in spec.constraints:
            # the sampler stops at 1e-13; squares of lengths below 4 round by less
            assert np.max(np.abs(evaluate.residual(constraint.equation))) < 1e-12


def test_constants_are_known_to_the_emitted_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pi, exp(1) and roots of numbers are written so that the module finds them."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    module = load(emitted(BASE.replace("= L_A^2", "= pi*exp(1)*sqrt(2)*L_A^2")), tmp_path, "constants")
    Phi = module.constraint_at((0.0, 0.0), (3.0, 4.0, 1.0, 1.0, 1.0, 0.0), (1.0, 1.0), 0.0)
    assert_allclose(Phi, [25.0 - math.pi * math.e * math.sqrt(2.0), 1.0], rtol=1e-15)
