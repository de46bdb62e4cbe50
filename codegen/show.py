"""The derived equations of a type, as LaTeX or as readable text."""

from __future__ import annotations

import sympy as sp
from sympy.printing.pretty.pretty import PrettyPrinter, prettyForm
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from .closedform import ClosedForm, find_closed_form
from .derive import Derivation, by_least_squares
from .spec import GroupSpec

_GREEK = {
    "latex": (r"\Phi", r"\Phi_\varphi", r"\Phi_h", r"\Phi_t", "K", r"\varphi", "h"),
    "text": ("Φ", "Φ_φ", "Φ_h", "Φ_t", "K", "φ", "h"),
    "ascii": ("Phi", "Phi_phi", "Phi_h", "Phi_t", "K", "phi", "h"),
}


def equations(derivation: Derivation, style: str) -> list[tuple[str, str]]:
    """Return (title, formula) of Φ, its Jacobians, K where it is symbolic, and the velocity terms.

    `style` is latex, text, or ascii (text for terminals that have no Greek letters).
    """
    d = derivation
    Phi, Phi_phi, Phi_h, Phi_t, K, phi, h = _GREEK[style]
    show = {"latex": _latex, "text": _text, "ascii": _ascii}[style]
    chi_name = {"latex": r"\chi", "text": "χ", "ascii": "chi"}[style]
    found = [
        (f"{phi} (dependent)", show(sp.Matrix(d.phi.symbols).T)),
        (f"{h} (independent)", show(sp.Matrix(d.h.symbols).T)),
        (f"{Phi}, constraints (Eq. 17)", show(sp.Matrix(d.Phi))),
        (f"{Phi_phi} (Eq. 19b)", show(d.Phi_phi)),
        (f"{Phi_h} (Eq. 24a)", show(d.Phi_h)),
    ]
    if d.rheonomic:
        found.append((f"{Phi_t} (Eq. 24b)", show(sp.Matrix(d.Phi_t))))
    if d.K is not None:
        chi = d.Phi_phi.det()
        found.append((f"{K} = 1/{chi_name} times the matrix below (Eq. 25a)", show((d.K * chi).applyfunc(sp.factor))))
        found.append((f"{chi_name} = det {Phi_phi}", show(sp.Matrix([[sp.factor_terms(sp.expand(chi))]]))))
    found.append(("velocity terms of the acceleration (Eq. 31)", show(sp.Matrix(d.gamma))))
    return found


def positions(derivation: Derivation) -> str:
    """Say how positions are found."""
    form = find_closed_form(derivation)
    if form is None:
        return f"positions: Newton-Raphson{by_least_squares(derivation) or ' (no block-wise closed form)'}"
    return "positions: " + _closed_form(derivation, form)


def _closed_form(derivation: Derivation, form: ClosedForm) -> str:
    if form.given:
        return "closed form of the specification, proved by substitution"
    parts = []
    for step in form.steps:
        names = ", ".join(derivation.phi.symbols[c].name for c in step.block.columns)
        kind = "linear" if step.branch is None else f"a line meets a quadric, sign {form.branches[step.branch]}"
        parts.append(f"{{{names}}} {kind}")
    return "closed form by blocks: " + "; ".join(parts)


def _latex(value: sp.MatrixBase) -> str:
    names = {}
    for x in value.free_symbols:
        if x.name.endswith("_dot"):
            head, _, tail = x.name.removesuffix("_dot").partition("_")
            names[x] = rf"\dot{{{sp.latex(sp.Symbol(head))}}}" + (f"_{{{tail}}}" if tail else "")
    return str(sp.latex(value, mat_delim="[", symbol_names=names))


class _Pretty(PrettyPrinter):
    """Prints the index of every symbol alike: SymPy would print u_x as uₓ beside u_y, which has no such letter."""

    def _print_Symbol(self, expr: sp.Symbol, bold_name: bool = False) -> prettyForm:
        name = expr.name.removesuffix("_dot")
        head, _, index = name.partition("_")
        head = pretty_symbol(head)
        if name != expr.name:
            head = head[0] + "\u0307" + head[1:]
        return prettyForm(f"{head}_{index}" if index else head)


def _text(value: sp.MatrixBase) -> str:
    return str(_Pretty({"use_unicode": True, "wrap_line": False}).doprint(value))


def _ascii(value: sp.MatrixBase) -> str:
    return str(sp.pretty(value, use_unicode=False, wrap_line=False))


def summary(spec: GroupSpec) -> str:
    """One line on a type."""
    return f"{spec.name} ({spec.space}): {spec.title}"
