"""Specifications: the shipped ones read, wrong ones are refused with place and remedy.

None can reach the emitted code other than as names, numbers and one-line texts.
"""

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
from assurgent.codegen.spec import module_name
from assurgent.codegen.specification_reader import parse_spec, read_spec
from assurgent.common.errors import InputError
from assurgent.runtime.library import package_folder

SHIPPED = sorted((package_folder("codegen") / "groups").glob("*.toml"))

BASE = """format = 1
name = "D"
title = "a dyad"
space = "planar"

[dependent]
C = "point"

[independent]     # given by other groups
A = "point"
B = "point"
u = "unit vector"

[parameters]
L_A = "length"
L_B = "length"

[constraints]
bar_A = "|C - A|^2 = L_A^2"
bar_B = "|C - B|^2 = L_B^2"
"""


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


BAR = 'bar_A = "|C - A|^2 = L_A^2"'
END = 'bar_B = "|C - B|^2 = L_B^2"\n'
# What is replaced by what in BASE; the line and every text that the message must contain.
WRONG: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "unknown symbol": (
        BAR,
        'bar_A = "|C - A|^2 = L_AA^2"',
        19,
        ("[constraints] bar_A", "unknown symbol 'L_AA'", "did you mean 'L_A'?", "Declare it in [dependent]"),
    ),
    "unknown symbol, nothing like it": (
        BAR,
        'bar_A = "|C - A|^2 = moment^2"',
        19,
        ("unknown symbol 'moment'.", "Declare it"),
    ),
    "unknown function": (
        BAR,
        'bar_A = "dott(C - A, u) = L_A"',
        19,
        ("column 1", "'dott'", "did you mean 'dot'?"),
    ),
    "too few equations": (
        END,
        "",
        18,
        ("[constraints]", "1 scalar equations", "x_C, y_C", "1 too few", "add a constraint"),
    ),
    "undeclared unknown": ('C = "point"\n', '# C = "point"\n', 19, ("unknown symbol 'C'", "[dependent]")),
    "empty [dependent]": (
        BASE[BASE.index("[dependent]") :],
        '[dependent]\n[constraints]\na = "1 = 1"\n',
        6,
        ("[dependent]", "has no coordinate", "name at least one unknown"),
    ),
    "unknown table": ("[parameters]", "[parameter]", 14, ("[parameter]", "did you mean 'parameters'?")),
    "unknown key": (
        'title = "a dyad"',
        'titel = "a dyad"',
        3,
        ("titel", "is not known here", "did you mean 'title'?"),
    ),
    "table that is a value": (
        '[dependent]\nC = "point"\n',
        "dependent = 3\n",
        6,
        ("dependent", "is a table: [dependent]"),
    ),
    "unknown kind": (
        'C = "point"',
        'C = "pont"',
        7,
        ("[dependent] C", "'pont'", "did you mean 'point'?", "unit vector"),
    ),
    "kind that is no text": (
        'C = "point"',
        "C = 3",
        7,
        ("[dependent] C", "3", "the kinds are point, vector"),
    ),
    "kind of parameters only": (
        'A = "point"',
        'A = "offset"',
        10,
        ("[independent] A", "'offset'", "the kinds are"),
    ),
    "driven unknown": (
        'C = "point"',
        'C = "driven angle"',
        7,
        ("[dependent] C", "'driven angle'", "the kinds are"),
    ),
    "reserved name": (
        'u = "unit vector"',
        'phi = "angle"',
        12,
        ("[independent] phi", "'phi' cannot name", "'phi_1'"),
    ),
    "name of time": (
        'u = "unit vector"',
        't = "number"',
        12,
        ("[independent] t", "'t' cannot name", "rename it"),
    ),
    "keyword": (
        'u = "unit vector"',
        'lambda = "angle"',
        12,
        ("[independent] lambda", "'lambda_1'", "rename it"),
    ),
    "name of a function": (
        'u = "unit vector"',
        'cross = "vector"',
        12,
        ("[independent] cross", "'cross'", "rename it"),
    ),
    "name of a rate": (
        'u = "unit vector"',
        'x_dot = "number"',
        12,
        ("[independent] x_dot", "'x_dot'", "rename it"),
    ),
    "leading underscore": (
        'u = "unit vector"',
        '_u = "vector"',
        12,
        ("[independent] _u", "'_u", "rename it"),
    ),
    "name that is no name": (
        'u = "unit vector"',
        '"u v" = "vector"',
        12,
        ("[independent] u v", "letters, digits and _"),
    ),
    "name with a quote": (
        'u = "unit vector"',
        '\'u"]\' = "vector"',
        12,
        ('[independent] u"]', "letters, digits and _"),
    ),
    "duplicate symbol": (
        'L_A = "length"',
        'C = "length"',
        15,
        ("[parameters] C", "'C'", "already in [dependent]", "one place"),
    ),
    "duplicate component": (
        'L_A = "length"',
        'u_x = "length"',
        15,
        ("[parameters] u_x", "'u_x'", "already in [independent]"),
    ),
    "component of a point": (
        'L_A = "length"',
        'x_C = "length"',
        15,
        ("[parameters] x_C", "'x_C'", "already in [dependent]"),
    ),
    "duplicate key": ('L_B = "length"', 'L_A = "length"', 16, ("not valid TOML", "overwrite", "line 16")),
    "bad TOML": ('C = "point"', "C = point", 7, ("not valid TOML", "line 7")),
    "missing format": ("format = 1\n", "", 1, ("format: is missing", "begins with format = 1")),
    "later format": ("format = 1\n", "format = 2\n", 1, ("format: 2", "begins with format = 1")),
    "missing name": ('name = "D"\n', "", 1, ("name: is missing or not text", 'write name = "..."')),
    "missing space": ('space = "planar"\n', "", 1, ("space: is missing or not text", 'write space = "..."')),
    "wrong space": ('"planar"', '"plane"', 4, ("space: 'plane'", 'write "planar" or "spatial"')),
    "title that is no text": ('"a dyad"', "3", 3, ("title: is missing or not text", 'write title = "..."')),
    "name with quotes": (
        'name = "D"',
        "name = 'D\"; import os; \"'",
        2,
        ("name: ", "letters, digits", "at most 60"),
    ),
    "name with a newline": (
        'name = "D"',
        'name = "D\\nimport os"',
        2,
        ("name: ", "letters, digits", "at most 60"),
    ),
    "name with a path": ('name = "D"', 'name = "../D"', 2, ("name: '../D'", "letters, digits")),
    "name too long": ('name = "D"', f'name = "{"D" * 61}"', 2, ("name: ", "at most 60 characters")),
    "empty name": ('name = "D"', 'name = ""', 2, ("name: ''", "letters, digits")),
    "aliases": ('title = "a dyad"', 'aliases = "3R"', 3, ("aliases: is a list of names", 'aliases = ["3R"]')),
    "alias that is no name": ('title = "a dyad"', 'aliases = ["../D"]', 3, ("aliases: '../D'", "letters, digits")),
    "alias twice": ('title = "a dyad"', 'aliases = ["E", "E"]', 3, ("aliases: ", "twice")),
    "alias that is the name": ('title = "a dyad"', 'aliases = ["D"]', 3, ("aliases: ", "the name of the type itself")),
    "constraint key": (
        BAR,
        '"bar A" = "|C - A|^2 = L_A^2"',
        19,
        ("[constraints] bar A", "begins with a letter"),
    ),
    "constraint key, quoted": (
        BAR,
        '\'a"\' = "|C - A|^2 = L_A^2"',
        19,
        ('[constraints] a"', "letters, digits and _"),
    ),
    "constraint that is no text": (BAR, "bar_A = 3", 19, ("[constraints] bar_A", "is a formula in quotes")),
    "no equation": (BAR, 'bar_A = "|C - A|^2 - L_A^2"', 19, ("[constraints] bar_A", "left = right")),
    "unbalanced": (BAR, 'bar_A = "|C - A^2 = L_A^2"', 19, ("column 10", "'|' opened in column 1 needs '|'")),
    "vector = number": (
        BAR,
        'bar_A = "C - A = L_A"',
        19,
        ("[constraints] bar_A", "one side of the equation is a vector"),
    ),
    "vector + number": (BAR, 'bar_A = "|C - L_A|^2 = 1"', 19, ("column 4", "a vector and a number")),
    "perp in space": (
        '"planar"',
        '"spatial"\n[let]\nv = "perp(A)"',
        6,
        ("[let] v", "perp belongs to the plane"),
    ),
    "admissible with an unknown": (
        END,
        END + '[admissible]\nq = "C.x = 0"\n',
        22,
        ("[admissible] q", "uses the unknown 'C'", "move it to [constraints]"),
    ),
    "admissible with an unknown by [let]": (
        END,
        END + '[let]\nM = "C + A"\n[admissible]\nq = "M.x = 0"\n',
        24,
        ("[admissible] q", "uses the unknown 'M'", "move it to [constraints]"),
    ),
    "incomplete closed form": (
        END,
        END + '[closed_form]\nD = "A"\n',
        21,
        ("[closed_form]", "gives no formula for C", "or remove the table"),
    ),
    "closed form of the wrong shape": (
        END,
        END + '[closed_form]\nC = "L_A"\n',
        22,
        ("[closed_form] C", "is a point, the formula is not"),
    ),
    "closed form with an unknown": (
        END,
        END + '[closed_form]\nC = "A + C - A"\n',
        22,
        ("[closed_form] C", "unknown symbol 'C'"),
    ),
    "closed form with an unknown by [let]": (
        END,
        END + '[let]\nM = "C"\n[closed_form]\nC = "M"\n',
        24,
        ("[closed_form] C", "unknown symbol 'M'"),
    ),
    "branches": (
        END,
        END + '[closed_form]\nbranches = "sigma"\nC = "A"\n',
        22,
        ("[closed_form] branches", 'branches = ["sigma"]'),
    ),
    "branch of a known name": (
        END,
        END + '[closed_form]\nbranches = ["u"]\nC = "A"\n',
        22,
        ("[closed_form] branches", "'u'", "already in [independent]"),
    ),
    "point of interest that is a number": (
        END,
        END + '[points]\nP = "C.x"\n',
        22,
        ("[points] P", "a point of interest is a vector"),
    ),
    "let with a later let": (
        END,
        END + '[let]\nM = "2*N"\nN = "L_A"\n',
        22,
        ("[let] M", "unknown symbol 'N'"),
    ),
    "tower of powers": (
        BAR,
        f'bar_A = "C.x = {"(" * 9}9{"^8)" * 9}"',
        19,
        ("[constraints] bar_A", "reach degree 134217728", "lower the exponents"),
    ),
    "chain of functions": (
        END,
        f"{END}[let]\na0 = 'C.x'\n" + "".join(f"a{k + 1} = 'sin(a{k}) + cos(a{k})'\n" for k in range(25)),
        29,
        ("[let] a7", "functions stand inside functions 7 deep", "6 is allowed", "an unknown of its own"),
    ),
    "chain of products": (
        END,
        f"{END}[let]\na0 = 'C.x'\n" + "".join(f"a{k + 1} = 'a{k}*u.x + a{k}'\n" for k in range(60)),
        34,
        ("[let] a12", "has 8191 terms with [let] written out", "5000 are allowed", "an unknown of its own"),
    ),
    "tower of exp": (
        BAR,
        f'bar_A = "C.x = {"exp(" * 60}A.x{")" * 60}"',
        19,
        ("[constraints] bar_A", "functions stand inside functions 60 deep"),
    ),
    "exponent of an exponent": (
        BAR,
        'bar_A = "C.x = 9^9^9"',
        19,
        ("[constraints] bar_A", "the exponent is a whole number from -8 to 8", "for roots: sqrt"),
    ),
    "exponent too large": (BAR, 'bar_A = "C.x = A.x^9"', 19, ("whole number from -8 to 8", ", not 9")),
    "name with underscores": (
        BAR,
        "bar_A = \"C.x = __import__('os')\"",
        19,
        ("[constraints] bar_A", "column 7", "'__import__'", "a name begins with a letter"),
    ),
    "number out of range": (BAR, 'bar_A = "C.x = 1e999999"', 19, ("column 7", "beyond the range of numbers")),
    "too long": (BAR, f'bar_A = "C.x = {"+".join(["1"] * 5_000)}"', 19, ("column 1", "10000 are allowed")),
    "number of 5000 digits": ("format = 1", f"format = {'1' * 5_000}", 1, ("not valid TOML",)),
    "brackets without end": ("format = 1", f"format = {'[' * 5_000}", 1, ("not valid TOML",)),
}


@pytest.mark.parametrize(("old", "new", "line", "says"), WRONG.values(), ids=WRONG.keys())
def test_wrong_specification(old: str, new: str, line: int, says: tuple[str, ...]) -> None:
    """One mistake: the message names the file, the line, the symbol and the remedy, on a readable length."""
    assert BASE.count(old) == 1
    with pytest.raises(InputError) as caught:
        parse_spec(BASE.replace(old, new), "d.toml")
    text = str(caught.value)
    assert text.startswith(f"d.toml:{line}: ")
    for part in says:
        assert part in text
    assert len(text) < 600


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, too large, not UTF-8: each is an error of the input that names the file."""
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: .* - give the path of a specification file"):
        read_spec(tmp_path / "none.toml")
    (tmp_path / "dyad.toml").write_text(BASE, "utf-8")
    with pytest.raises(InputError, match=r"dyad\.tml: cannot be read: .* - did you mean 'dyad\.toml'\?"):
        read_spec(tmp_path / "dyad.tml")
    large = tmp_path / "large.toml"
    large.write_text("#" * 1_000_001, "utf-8")
    with pytest.raises(InputError, match=r"large\.toml: has more than 1000000 bytes"):
        read_spec(large)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "\xe9"')
    with pytest.raises(InputError, match=r"latin\.toml: is not UTF-8 text \(byte 9\)"):
        read_spec(latin)


@pytest.mark.parametrize(
    ("name", "module"), [("RRR", "rrr"), ("RR[P]R", "rr_p_r"), ("1R3D", "g1r3d"), ("triad-6R", "triad_6r")]
)
def test_module_name(name: str, module: str) -> None:
    assert module_name(name) == module
    assert module.isidentifier()


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
