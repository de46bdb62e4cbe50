"""Specifications that no solver could serve are refused with the reason: rank, contradiction, closed form."""

from __future__ import annotations

import pytest

from assurgent.codegen.closedform import find_closed_form
from assurgent.codegen.derive import derive
from assurgent.codegen.sampling import Sampler, check_rank
from assurgent.codegen.specification_reader import parse_spec, read_spec
from assurgent.common.errors import InputError
from assurgent.runtime.library import package_folder

SHIPPED = sorted((package_folder("codegen") / "groups").glob("*.toml"))

PPP = """format = 1
name = "PPP"
space = "planar"

[dependent]
w = "unit vector"
s_1 = "number"
s_2 = "number"

[independent]
A = "point"
u = "unit vector"
B = "point"
v = "unit vector"

[parameters]
alpha = "angle"
beta = "angle"
e_w = "offset"

[constraints]
unit = "|w|^2 = 1"
first = "angle(u, w) = alpha"
second = "angle(v, w) = beta"
slide = "cross(w, B + s_2*v - A - s_1*u) = e_w"
"""

RRR = """format = 1
name = "D"
space = "planar"
[dependent]
C = "point"
[independent]
A = "point"
B = "point"
[parameters]
L_A = "length"
L_B = "length"
[constraints]
"""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_shipped_types_have_full_rank(path: object) -> None:
    """No type of the library is refused."""
    derivation = derive(read_spec(path))  # type: ignore[arg-type]
    check_rank(derivation)
    assert derivation.n_constraints >= derivation.n_dependent


def test_ppp_is_refused_and_explained() -> None:
    """The orientation is said twice, one slide is left free, and the message says so and what to do."""
    with pytest.raises(InputError) as caught:
        check_rank(derive(parse_spec(PPP, "ppp.toml")))
    text = str(caught.value)
    line = PPP.split("\n").index("[constraints]") + 2
    assert text.startswith(f"ppp.toml:{line}: ")
    assert "rank 3 for 4 unknowns" in text
    assert "Left free: s_1, s_2." in text
    assert "Say the same thing more than once: first, second." in text
    assert "In a PPP chain, which is no dyad: replace one prismatic joint by a revolute" in text
    assert len(text) < 450


def test_constraint_without_unknowns_is_named() -> None:
    """A row that restricts only what is known already is named as such."""
    spec = parse_spec(RRR + 'bar = "|C - A|^2 = L_A^2"\nbase = "|B - A|^2 = L_B^2"\n', "d.toml")
    with pytest.raises(InputError) as caught:
        check_rank(derive(spec))
    text = str(caught.value)
    assert text.startswith("d.toml:13: ")
    assert "rank 1 for 2 unknowns" in text
    assert "Left free: x_C, y_C." in text
    assert "Contain no unknown, so they only restrict what is known already: base." in text


def test_same_constraint_twice_is_named() -> None:
    spec = parse_spec(RRR + 'bar = "|C - A|^2 = L_A^2"\nagain = "2*|A - C|^2 = 2*L_A^2"\n', "d.toml")
    with pytest.raises(InputError) as caught:
        check_rank(derive(spec))
    assert "Say the same thing more than once: bar, again." in str(caught.value)


def test_contradiction_is_named() -> None:
    """Where nothing can be assembled the message names the constraints to look at."""
    spec = parse_spec(RRR + 'here = "C.x = 1"\nthere = "C.x = 2"\nbar = "|C - A|^2 = L_A^2"\n', "d.toml")
    with pytest.raises(InputError) as caught:
        check_rank(derive(spec))
    text = str(caught.value)
    assert text.startswith("d.toml:12: ")
    assert "the constraints contradict each other" in text
    assert "here, there, bar" in text


@pytest.mark.parametrize(
    ("constraint", "says"),
    [
        ("|C - A|^2 = L_A^2/0", "divides by zero"),
        ("|C - A|^2 = L_A^2 + log(0)", "divides by zero, or takes log(0)"),
        ("|C - A|^2 = sqrt(-1)", "takes the root (or log) of a negative number"),
        ("|C.x - A.x| = L_A", "has no derivative at 0 - square it: |x|^2"),
        ("|C - A|^2 = 1e300*1e300", "a number beyond the range of doubles"),
        ("|C - A|^2 = acos(2)", "contains acos(2), which has no real value"),
        ("|C - A|^2 = acos(2*L_A/L_A)", "contains acos(2), which has no real value"),
        ("|C - A|^2 = exp(1000)*L_A", "contains exp(1000), which has no real value within the range of doubles"),
        ("|C - A|^2 = exp(exp(exp(1000)))", "contains exp(1000), which has no real value"),
        ("|C - A|^2 = exp(700)*exp(700)", "contains exp(1400), which has no real value"),
    ],
)
def test_constraint_that_is_no_smooth_function(constraint: str, says: str) -> None:
    """What has no value or no derivative is refused before anything is emitted."""
    spec = parse_spec(RRR + f'bar = "|C - B|^2 = L_B^2"\nodd = "{constraint}"\n', "d.toml")
    with pytest.raises(InputError) as caught:
        derive(spec)
    text = str(caught.value)
    assert text.startswith(f'd.toml:14: [constraints] odd: "{constraint}" ')
    assert says in text


FUNCTION = """format = 1
name = "function"
space = "planar"
[dependent]
s = "number"
[independent]
d = "number"
[parameters]
L = "length"
[constraints]
"""


@pytest.mark.parametrize(
    "equation",
    [
        "acos(s) = d",
        "asin(s) = d*L",
        "log(s) = d",
        "sqrt(s) = d + L",
        "exp(s) = d",
        "s^3 = sqrt(d)*sqrt(d)*sqrt(d) + L",
        "s = exp(exp(d))",
        "s + sqrt(2)*asin(0.5)*atan(3)*pi*exp(1)*log(3)*d = 0",
    ],
)
def test_draws_outside_a_function_are_drawn_again(equation: str) -> None:
    """Where a root, logarithm, inverse function or exp has no value, the draw counts as not assembled."""
    derivation = derive(parse_spec(FUNCTION + f'f = "{equation}"\n', "f.toml"))
    check_rank(derivation)
    for c in Sampler(derivation, seed=5).draw(20):
        values = dict(zip((*derivation.phi.symbols, *derivation.h.symbols, *derivation.par.symbols),
                          (*c.phi, *c.h, *c.par), strict=True))  # fmt: skip
        # the sampler stops at a residual of 1e-13; the terms here are below 10
        assert abs(derivation.Phi[0].evalf(30, subs=values)) < 1e-12


@pytest.mark.parametrize("equation", ["log(sin(s) - 3) = d", "acos(s^2 + 2) = d", "exp(exp(exp(exp(s^2)))) = d"])
def test_a_function_without_any_value_is_refused(equation: str) -> None:
    with pytest.raises(InputError) as caught:
        check_rank(derive(parse_spec(FUNCTION + f'f = "{equation}"\n', "f.toml")))
    assert str(caught.value).startswith("f.toml:10: no random configuration could be assembled")
    assert "a function in them has no value" in str(caught.value)
    assert "look at f" in str(caught.value)


CRANK = """format = 1
name = "crank"
space = "planar"
[dependent]
B = "point"
[independent]
A = "point"
u = "unit vector"
theta = "driven angle"
[parameters]
L_AB = "length"
[constraints]
rigid = "|B - A|^2 = L_AB^2"
drive = "B = A + L_AB*rot(u, theta)"
[admissible]
unit = "dot(u, u) = 1"
[closed_form]
"""


def test_right_closed_form_is_proved() -> None:
    """The proof uses the [admissible] conditions: rigid holds only because u has length one."""
    derivation = derive(parse_spec(CRANK + 'B = "A + L_AB*rot(u, theta)"\n', "crank.toml"))
    form = find_closed_form(derivation)
    assert form is not None
    assert [name for name, _ in form.given] == ["x_B", "y_B"]


@pytest.mark.parametrize(
    ("formula", "line", "name"),
    [
        ("A + 2*L_AB*rot(u, theta)", 13, "rigid"),
        ("A + L_AB*rot(u, -theta)", 14, "drive"),
        ("A - L_AB*rot(u, theta)", 14, "drive"),
        ("A + acos(2)*rot(u, theta)", 13, "rigid"),
    ],
)
def test_wrong_closed_form_is_refused(formula: str, line: int, name: str) -> None:
    """The message stands at the formula and names the constraint, its line, what is left over, and the remedy."""
    derivation = derive(parse_spec(CRANK + f'B = "{formula}"\n', "crank.toml"))
    with pytest.raises(InputError) as caught:
        find_closed_form(derivation)
    text = str(caught.value)
    place = f"crank.toml:{CRANK.count(chr(10)) + 1}: [closed_form] B: "
    assert text.startswith(f"{place}does not satisfy the constraint '{name}' of line {line} (")
    assert "instead of 0" in text
    assert "remove [closed_form] and let the program find one" in text


@pytest.mark.parametrize("factor", ["pi", "exp(1)", "acos(L_AB/4)", "cos(L_AB)"])
def test_closed_form_with_constants_and_functions_is_proved(factor: str) -> None:
    """What is neither a root nor a sine is a symbol of the proof, beside the [admissible] conditions."""
    text = CRANK.replace("L_AB^2", f"({factor}*L_AB)^2").replace("A + L_AB*rot", f"A + {factor}*L_AB*rot")
    form = find_closed_form(derive(parse_spec(text + f'B = "A + L_AB*{factor}*rot(u, theta)"\n', "crank.toml")))
    assert form is not None
    assert [name for name, _ in form.given] == ["x_B", "y_B"]


def test_wrong_sign_of_a_closed_form_with_a_root() -> None:
    """A formula that holds on no branch is refused, one that holds on both is proved."""
    spec = """format = 1
name = "line"
space = "planar"
[dependent]
s = "length"
[independent]
A = "point"
[parameters]
L = "length"
[constraints]
circle = "(s - A.x)^2 + A.y^2 = L^2"
[closed_form]
branches = ["sigma"]
s = "A.x + sigma*sqrt(L^2 {sign} A.y^2)"
"""
    right = find_closed_form(derive(parse_spec(spec.replace("{sign}", "-"), "line.toml")))
    assert right is not None
    assert right.branches == ("sigma",)
    says = r"line\.toml:14: \[closed_form\] s: does not satisfy the constraint 'circle' of line 11"
    with pytest.raises(InputError, match=says):
        find_closed_form(derive(parse_spec(spec.replace("{sign}", "+"), "line.toml")))
