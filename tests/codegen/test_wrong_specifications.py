"""Wrong specifications: refused with line and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from assurgent.codegen.specification_reader import parse_spec, read_spec
from assurgent.common.errors import InputError
from tests.codegen.specifications import BAR, BASE

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
