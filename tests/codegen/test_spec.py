"""Specifications: the shipped ones read, wrong ones are refused with place and remedy.

None can reach the emitted code other than as names, numbers and one-line texts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from assurgent.codegen.derive import derive
from assurgent.codegen.spec import module_name
from assurgent.codegen.specification_reader import parse_spec, read_spec
from assurgent.common.errors import InputError
from assurgent.runtime.library import package_folder
from tests.codegen.specifications import BASE

SHIPPED = sorted((package_folder("codegen") / "groups").glob("*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_shipped_specification_reads(path: Path) -> None:
    """Every shipped file is a specification whose file is named after it, with enough equations."""
    spec = read_spec(path)
    assert path.stem in (spec.module, spec.module.removeprefix("g"))
    assert spec.title
    assert len(spec.phi) == len(set(spec.phi)) > 0
    assert spec.text == path.read_text("utf-8")
    assert all(path.read_text("utf-8").splitlines()[c.line - 1].startswith(c.name) for c in spec.constraints)


def test_base_is_right() -> None:
    """Each case below has the one mistake that it names: without it the specification reads."""
    spec = parse_spec(BASE, "d.toml")
    assert spec.phi == ("x_C", "y_C")
    assert spec.h == ("x_A", "y_A", "x_B", "y_B", "u_x", "u_y")
    assert spec.par == ("L_A", "L_B")
    assert spec.dimension == 2


@pytest.mark.parametrize(
    ("name", "module"), [("RRR", "rrr"), ("RR[P]R", "rr_p_r"), ("1R3D", "g1r3d"), ("triad-6R", "triad_6r")]
)
def test_module_name(name: str, module: str) -> None:
    assert module_name(name) == module
    assert module.isidentifier()


PROFILED = BASE.replace('L_B = "length"', 'r = "profile"').replace('C = "point"', 'C = "point"\nx = "number"')


@pytest.mark.parametrize(
    ("equations", "says"),
    [
        ('c = "C - A = r*u"\nd = "x = L_A"', "a profile is a function: r(x), slope(r, x)"),
        ('c = "C - A = r(x)*u"\nd = "slope(r, L_A) = 0"', "a function of one unknown number, everywhere the same"),
        ('c = "C - A = r(L_A)*u"\nd = "x = L_A"', "a function of one unknown number, everywhere the same"),
        ('c = "C - A = slope(L_A, x)*u"\nd = "x = L_A"', "slope(f, x): derivative of the profile f"),
        ('c = "C - A = r(x, x)*u"\nd = "x = L_A"', "r has 2 arguments"),
    ],
)
def test_profile_is_a_function_of_one_unknown(equations: str, says: str) -> None:
    text = PROFILED[: PROFILED.index("bar_A")] + equations + "\n"
    with pytest.raises(InputError) as refused:
        parse_spec(text, "own.toml")
    assert says in str(refused.value)


def test_profile_and_its_derivatives_where_it_is_developed() -> None:
    """At the place of development Φ, its Jacobian and its second derivative have the coefficients themselves."""
    import sympy as sp

    text = PROFILED[: PROFILED.index("bar_A")] + 'c = "C - A = r(x)*u"\nd = "slope(r, x) = L_A"\n'
    d = derive(parse_spec(text, "own.toml"))
    assert d.spec.par == ("L_A", "r_at", "r_0", "r_1", "r_2", "r_3", "r_4")
    x, at, r1, r2, r3, ux = sp.symbols("x r_at r_1 r_2 r_3 u_x", real=True)
    here = [sp.expand(sp.diff(row, x).subs(x, at)) for row in d.Phi]
    assert here[0] == sp.expand(-r1 * ux)
    assert here[2] == 2 * r2
    assert sp.expand(sp.diff(d.Phi[2], x, 2).subs(x, at)) == 6 * r3
