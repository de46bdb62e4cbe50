"""K, L, S b and the closed form in symbols: identities with the paper's equations, and with values of 90 digits."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from assurgent.cli.commands import main
from assurgent.codegen.coefficients import Coefficients
from assurgent.codegen.derive import Derivation, along, derive, symbol
from assurgent.codegen.reference import Symbolic, array
from assurgent.codegen.sampling import Sampler
from assurgent.codegen.show import closed_form_formulas, described, document, equations, written
from assurgent.codegen.specification_reader import read_spec
from assurgent.runtime.library import package_folder

GROUPS = package_folder("codegen") / "groups"
SHIPPED = sorted(p.stem for p in GROUPS.glob("*.toml"))
x_A, y_A, x_B, y_B, x_C, y_C = (symbol(n) for n in ("x_A", "y_A", "x_B", "y_B", "x_C", "y_C"))
CHI = 2 * (x_A * y_B - x_B * y_A - x_A * y_C + x_C * y_A + x_B * y_C - x_C * y_B)  # Eq. 20b


def derived(stem: str) -> Derivation:
    return derive(read_spec(GROUPS / f"{stem}.toml"))


def vanishes(value: sp.MatrixBase) -> bool:
    return all(sp.expand(e) == 0 for e in value)


def test_the_inverse_of_the_dyad_is_eq_20() -> None:
    chi, N = Coefficients(derived("rrr")).inverse
    assert sp.expand(chi - CHI) == 0
    assert vanishes(N - sp.Matrix([[y_C - y_B, -(y_C - y_A)], [-(x_C - x_B), x_C - x_A]]))


def test_L_of_the_dyad_is_eq_40_with_its_sign_corrected() -> None:
    c = Coefficients(derived("rrr"))
    K11, K21 = c.K[0, 0], c.K[1, 0]
    q1 = 2 * K11**2 + 2 * K21**2
    q2 = 2 * K21**2 - 2 * K11 + K11 * (2 * K11 - 2) + 2
    corrected = sp.Matrix([(y_B - y_C) * q2 - (y_A - y_C) * q1, (x_A - x_C) * q1 - (x_B - x_C) * q2])
    found = c.solved(c.L_rhs(0, [0]))  # χ times the first column
    assert vanishes(found - corrected)
    assert not vanishes(found + corrected)  # the printed sign


LARGE = ("rrr_spatial", "rrrrr_spatial", "wishbone", "mcpherson")  # and platforms: minutes of SymPy
SOONER_OR_LATER = [
    pytest.param(s, marks=pytest.mark.long if s in LARGE or s.startswith("platform_") else ()) for s in SHIPPED
]


@pytest.mark.parametrize("stem", SOONER_OR_LATER)
def test_every_symbol_has_the_value_of_90_digits(stem: str) -> None:
    d = derived(stem)
    c = Coefficients(d)
    (at,) = Sampler(d, seed=3).draw(1)
    truth = Symbolic(d).at(at)
    K, Sb = array(truth.K), array(truth.Sb)[:, 0]
    known = (*d.phi.symbols, *d.h.symbols, *d.par.symbols, d.t)
    values = dict(zip(known, (*at.phi, *at.h, *at.par, at.t), strict=True))
    values |= dict(zip((*d.phi.rate(1), *d.h.rate(1)), (*array(truth.phidot)[:, 0], *at.hdot), strict=True))
    for entries, numbers in ((c.K, K.ravel()), (c.Sb, Sb)):
        for entry, number in zip(entries, numbers, strict=True):
            if entry == 0:
                assert abs(number) < 1e-14  # what is left out is zero
            else:
                values[entry] = number

    def solved(rhs: sp.MatrixBase) -> np.ndarray:
        A, B = (np.array(m.xreplace(values)).astype(float) for m in (c.A, rhs))
        return np.linalg.solve(A, B)

    chosen = c.columns[:: max(1, len(c.columns) // 3)]
    pairs = [(solved(c.L_rhs(i)), array(truth.L[i])) for i in chosen]
    pairs += [(solved(c.K_rhs), K), (solved(c.Sb_rhs), Sb[:, None])]
    if d.rheonomic:
        pairs += [(solved(c.K_t_rhs), array(truth.K_t)), (solved(c.Sb_dot_rhs), array(truth.Sb_dot))]
    for value, exact in pairs:  # conditioned below 20 (squared by normal equations)
        assert np.abs(value - exact).max() < 1e-12 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("stem", ["rrr", "rrp", "prp", "rssr", "leg_u_p_s", "2s1p", "rrr_t", "1r"])
def test_the_printed_closed_form_satisfies_the_constraints(stem: str) -> None:
    d = derived(stem)
    (at,) = Sampler(d, seed=5).draw(1)
    values: dict[sp.Symbol, float] = dict(zip((*d.h.symbols, *d.par.symbols, d.t), (*at.h, *at.par, at.t), strict=True))
    shown = closed_form_formulas(d)
    signs = {x for s in shown for x in s.value.free_symbols if x.name.lstrip("_").startswith("sigma")}
    values |= dict.fromkeys(signs, 1.0)
    for s in shown:
        values[symbol(s.name)] = float(s.value.xreplace(values))
    residual = [float(e.xreplace(values)) for e in d.Phi]
    assert set(d.phi.symbols) <= set(values)
    assert np.abs(residual).max() < 1e-12


def test_numbers_of_equations_are_those_of_the_type() -> None:
    text = described(derived("2e1p"), "text")
    assert "Φ_φ (Eq. 51c)" in text
    assert "Φ_h (Eq. 51d)" in text
    assert "24a" not in text
    assert "19b" not in text
    assert "(Eq. 40, corrected)" in described(derived("rrr"), "text")
    assert "Eq. 40" not in described(derived("rrp"), "text")


def test_of_many_columns_the_one_form_behind_them_is_shown() -> None:
    d = derived("leg_u_p_s")
    text = described(d, "text")
    assert "∂²Φ(du, dv)" in text
    assert ", column " not in text
    c = Coefficients(d)
    names = (*d.phi.symbols, *d.h.symbols)
    u, v = ({x: symbol(f"{letter}_{x.name}") for x in names} for letter in ("du", "dv"))
    form = c.bent(u, [v])
    i, j = c.columns[0], c.columns[3]
    rule = {}
    for direction, at in ((u, i), (v, j)):
        along = c.along_h(at)
        rule |= {direction[x]: along.get(x, sp.Integer(0)) for x in names}
    assert vanishes(form.xreplace(rule) - c.rows_of_L(i, [j]))


def test_the_terms_of_explicit_time_are_shown() -> None:
    text = described(derived("rrr_t"), "text")
    for title in ("S b = 1/χ", "K_t = 1/χ", "d(S b)/dt = 1/χ"):
        assert title in text


def test_a_group_is_shown_in_the_names_and_numbers_of_its_mechanism(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bars.toml"
    path.write_text(
        'format = 1\nspace = "planar"\n[points]\nO = [0, 0]\nK1 = [0, 2]\nM = [5, 5]\nW = [6, 0]\n'
        '[bodies]\nframe = { points = ["O", "W"] }\ncrank = { points = ["O", "K1"], length = 2 }\n'
        'rod = { points = ["K1", "M"], length = 6 }\nrocker = { points = ["W", "M"], length = 5 }\n'
        '[joints]\nO = { type = "R", bodies = ["frame", "crank"], at = "O" }\n'
        'K1 = { type = "R", bodies = ["crank", "rod"], at = "K1" }\n'
        'M = { type = "R", bodies = ["rod", "rocker"], at = "M" }\n'
        'W = { type = "R", bodies = ["frame", "rocker"], at = "W" }\n'
        '[drivers]\nturn = { joint = "O", angle = "pi/2 + t" }\n[simulation]\nstop = 1\nstep = 0.1\n'
    )
    assert main(["show", str(path), "RRR_1"]) == 0
    text = capsys.readouterr().out
    assert "[x_M  y_M]" in text
    assert re.search(r"- 36|-36", text)
    assert re.search(r"- 25|-25", text)
    assert "point W of frame = (6, 0)" in text
    assert "L_AC^2" in text  # the type's own equation, for the reader
    assert main(["show", str(path), "RRR_2"]) == 2
    assert "the groups are R_1, RRR_1" in capsys.readouterr().err
    assert main(["show", "RRR", "RRR_1"]) == 2
    assert main(["show", str(path), "R_1", "--latex"]) == 0
    assert r"\begin{document}" in capsys.readouterr().out


def test_latex_of_the_largest_type_compiles(tmp_path: Path) -> None:
    text = document([described(derived("2e1p"), "latex")], "latex")
    assert text.count(r"\[") == text.count(r"\]")
    assert text.count(r"\left[") == text.count(r"\right]")
    assert text.count("{") == text.count("}")
    engine = next((e for e in ("pdflatex", "lualatex", "xelatex", "tectonic") if shutil.which(e)), None)
    if engine is None:
        pytest.skip("NO LATEX ENGINE on this machine: the document was not compiled (apt install texlive-latex-base)")
    (tmp_path / "show.tex").write_text(text)
    flags = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run([engine, *flags, "show.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_cams_are_shown_in_values_and_slopes_of_their_outline() -> None:
    """The formulas of cam-P in slopes of its outline and shared names against Φ differentiated as it stands."""
    d = derived("cam_p")
    shown = equations(d)
    assert max(len(line) for line in written(shown, "text").splitlines()) < 220
    rng = np.random.default_rng(7)
    ((profile, unknown),) = d.spec.profiles
    at, *series = (symbol(n) for n in profile.symbols)
    names = (*d.phi.symbols, *d.h.symbols, *d.par.symbols, *d.phi.rate(1), *d.h.rate(1))
    numbers = {x: sp.Float(rng.uniform(0.5, 1.5)) for x in names}
    numbers[at] = numbers[symbol(unknown)]
    known = dict(numbers)
    for k, coefficient in enumerate(series):
        known[symbol(profile.name + "'" * k)] = sp.factorial(k) * numbers[coefficient]
    for letter in ("du", "dv"):
        known |= {symbol(f"{letter}_{x.name}"): sp.Float(rng.uniform(-1, 1)) for x in (*d.phi.symbols, *d.h.symbols)}
    u, v = ({x: known[symbol(f"{c}_{x.name}")] for x in (*d.phi.symbols, *d.h.symbols)} for c in ("du", "dv"))
    exact = {
        r"\Phi": sp.Matrix(d.Phi), r"\Phi_\varphi": d.Phi_phi, r"\Phi_h": d.Phi_h, r"\gamma": sp.Matrix(d.gamma),
        r"\partial^2\Phi(u, v)": sp.Matrix(along(along(d.Phi, u), v)),
    }  # fmt: skip
    for s in shown:
        if s.name:
            known[symbol(s.name)] = s.value.xreplace(known)
        elif s.left in exact:
            difference = s.value.xreplace(known) - exact.pop(s.left).xreplace(numbers)
            assert max(abs(float(e)) for e in difference) < 1e-12
    assert exact == {}
