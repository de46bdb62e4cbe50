"""The derived equations of a type, as LaTeX or as readable text, in its own names or in those of a mechanism."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import sympy as sp
from sympy.printing.pretty.pretty import PrettyPrinter, prettyForm
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from .closedform import ClosedForm, SolutionStep, find_closed_form, is_sphere
from .coefficients import EXPLICIT, Coefficients
from .derive import Derivation, by_least_squares, symbol
from .intersection import line_meets_quadric, linear_solution, total
from .notation import equation_number
from .spec import GroupSpec

SMALL = 2  # unknowns up to which K and L are written out without being asked for
EXPANDED = 4  # and with --expand
MOST_COLUMNS = 80  # of L that are written one by one without being asked for
_PARTS = re.compile(r"((?:d[uv]_)?)(.*?)((?:_d+ot)?)")  # of a symbol: a direction, its name, a rate
_WORD = re.compile(r"^([A-Za-z]{2,})((?:_.*)?)$")  # a name of several letters, which would read as a product
_ASCII = {
    "Φ": "Phi", "φ": "phi", "χ": "chi", "σ": "sigma", "τ": "tau", "⁻¹": "^-1", "ᵀ": "'", "∂²": "d2", "·": "*",
    "ḣ": "hdot", "φ̇": "phidot", "ḃ": "bdot",
}  # fmt: skip


@dataclass(frozen=True)
class Naming:
    """How symbols are written: other names for some, numbers for others."""

    names: Mapping[str, str] = field(default_factory=dict)  # symbol -> symbol
    numbers: Mapping[str, float] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return how a symbol of the type is written."""
        return self.names.get(name, name)

    def __call__(self, value: sp.Basic) -> sp.Basic:
        rule: dict[sp.Symbol, sp.Expr] = {}
        for x in value.free_symbols:
            before, stem, after = _PARTS.fullmatch(x.name).groups()  # type: ignore[union-attr]
            if x.name in self.numbers:
                number = self.numbers[x.name]
                rule[x] = sp.Integer(int(number)) if number == int(number) else sp.Float(number)
            elif stem in self.names:
                rule[x] = symbol(before + self.names[stem] + after)
        return value.xreplace(rule)

    def shown(self, formula: ShownFormula) -> ShownFormula:
        left = _latex_name(self.of(formula.name)) if formula.name else formula.left
        return ShownFormula(formula.title, left, self(formula.value), self.of(formula.name))


@dataclass(frozen=True)
class ShownFormula:
    """One formula: a title, and left = value; a scalar may have a name of its own to be written before it."""

    title: str
    left: str  # LaTeX
    value: sp.MatrixBase | sp.Expr
    name: str = ""


# ---- what is shown ------------------------------------------------------------------------------------------------
def equations(derivation: Derivation, naming: Naming | None = None, expand: bool = False) -> list[ShownFormula]:
    """Return Φ, its Jacobians and their inverse, K, S b and L, the velocity terms, and the closed form.

    K and L are written out where Φ_φ is 2 x 2, with `expand` up to 4 x 4; the entries of K stay symbols within L.
    """
    cam = bool(derivation.spec.profiles)
    d, c, name = derivation, Coefficients(derivation, touching=cam), naming or Naming()
    eq = partial(equation_number, d.spec.name, c.square)
    r = d.n_dependent
    out = r <= (EXPANDED if expand else SMALL) and (c.square or expand)
    found = [
        ShownFormula("φ (dependent)", r"\varphi^T", sp.Matrix(d.phi.symbols).T),
        ShownFormula("h (independent)", "h^T", sp.Matrix(d.h.symbols).T),
        ShownFormula(f"Φ, constraints{eq('Phi')}", r"\Phi", sp.Matrix(d.Phi)),
        ShownFormula(f"Φ_φ{eq('Phi_phi')}", r"\Phi_\varphi", d.Phi_phi),
    ]
    A, inverse = ("Φ_φ", r"\Phi_\varphi") if c.square else ("(Φ_φᵀ Φ_φ)", r"(\Phi_\varphi^T \Phi_\varphi)")
    if expand and not c.square:
        found.append(ShownFormula(f"Φ_φᵀ Φ_φ{eq('A')}", inverse, c.A))
    if out or (c.square and r <= EXPLICIT and not cam):  # whose polynomials swell without end
        chi, N = c.inverse
        found.append(ShownFormula(f"{A}⁻¹ = 1/χ times the matrix below{eq('inverse')}", rf"\chi\, {inverse}^{{-1}}", N))
        found.append(ShownFormula(f"χ{eq('chi')}", r"\chi", chi))
    found.append(ShownFormula(f"Φ_h{eq('Phi_h')}", r"\Phi_h", d.Phi_h))
    if d.rheonomic:
        found.append(ShownFormula(f"Φ_t{eq('Phi_t')}", r"\Phi_t", sp.Matrix(d.Phi_t)))
    write = _Writer(c, A, inverse, out, expand)
    found += write.one("K", "K", eq("K"), -d.Phi_h, c.K_rhs)
    if not out:
        found.append(ShownFormula("K, its entries as they are named below", "K", c.K))
    if d.rheonomic:
        found += write.one("S b", "S b", eq("Sb"), -sp.Matrix(d.Phi_t), c.Sb_rhs)
    gamma = -c.bent(c.along_motion, [c.along_motion]) if cam else sp.Matrix(d.gamma)
    found.append(ShownFormula(f"velocity terms of the acceleration{eq('gamma')}", r"\gamma", gamma))
    found += write.tensor(name, eq)
    if d.rheonomic:
        found += write.one("K_t", "K_t", eq("K_t"), c.rows_of_K_t, c.K_t_rhs)
        found += write.one("d(S b)/dt", r"\tfrac{d}{dt}(S b)", eq("Sb_dot"), c.rows_of_Sb_dot, c.Sb_dot_rhs)
    found += closed_form_formulas(d)
    if cam:
        found = _shortened([ShownFormula(s.title, s.left, c.at_contact(s.value), s.name) for s in found])
    return [name.shown(s) for s in found]


def _shortened(found: list[ShownFormula]) -> list[ShownFormula]:
    """Return formulas with names for what they share; they stand after Φ, in the order in which they are needed."""
    first = next(i for i, s in enumerate(found) if s.left == r"\Phi_\varphi")
    whole, rest = found[:first], found[first:]
    names, values = sp.cse([sp.ImmutableMatrix(s.value) for s in rest])
    written: dict[sp.Symbol, sp.Expr] = {}  # -u_y and cos(ψ) stay as they are
    given: list[ShownFormula] = []
    for x, value in names:
        value = value.xreplace(written)
        written[x] = symbol(f"w{len(given) + 1}") if value.count_ops() > 1 else value
        if value.count_ops() > 1:
            title = "" if given else "w1, w2, ...: what the formulas below share"
            given.append(ShownFormula(title, "", value, written[x].name))
    return [*whole, *given, *(replace(s, value=v.xreplace(written)) for s, v in zip(rest, values, strict=True))]


@dataclass(frozen=True)
class _Writer:
    """Writes quantities X of A X = B: as 1/χ times a matrix, or as the right-hand side with the inverse left out."""

    c: Coefficients
    A: str
    latex: str
    out: bool
    expand: bool

    def one(self, name: str, left: str, eq: str, rows: sp.MatrixBase, rhs: sp.MatrixBase) -> list[ShownFormula]:
        if self.out:
            value = self.c.solved(rhs).applyfunc(sp.factor) if name == "K" else self.c.solved(rhs)
            return [ShownFormula(f"{name} = 1/χ times the matrix below{eq}", rf"\chi\, {left}", value)]
        if self.c.square:
            return [ShownFormula(f"Φ_φ {name}{eq}", rf"\Phi_\varphi {left}", rows)]
        if self.expand:
            return [ShownFormula(f"Φ_φᵀ Φ_φ {name}{eq}", rf"\Phi_\varphi^T \Phi_\varphi {left}", rhs)]
        if name in ("K", "S b"):
            return [ShownFormula(f"Φ_φᵀ Φ_φ {name} = Φ_φᵀ times the matrix below{eq}", rf"R_{{{left}}}", rows)]
        title = f"Φ_φᵀ Φ_φ {name} = Φ_φᵀ R - (D Φ_φ)ᵀ times what K or S b leaves of its rows, with R{eq}"
        return [ShownFormula(title, rf"R_{{{left}}}", rows)]

    def tensor(self, name: Naming, eq: Callable[[str], str]) -> list[ShownFormula]:
        """L, column by column; L is symmetric in its two indices of h, so each column stands once (p = r)."""
        c, h = self.c, self.c.d.h.symbols
        n = len(c.columns)
        many = (n * (n + 1) // 2 if c.square else n * n) > MOST_COLUMNS or c.touching
        if many and not self.expand:
            return [self.bilinear(eq)]
        found: list[ShownFormula] = []
        for i in c.columns:
            columns = [j for j in c.columns if j >= i or not c.square]
            rhs = (c.L_rhs if self.out or self.expand else c.rows_of_L)(i, columns)
            hi = name.of(h[i].name)
            latex = rf"L_{{/{_latex_name(hi)}}}"
            if not c.square and not (self.out or self.expand):
                found.append(
                    ShownFormula(f"Φ_φ/{hi} = dΦ_φ/d{hi}{eq('moved')}", rf"\Phi_{{\varphi/{_latex_name(hi)}}}",
                          c.moved(c.along_h(i)))
                )  # fmt: skip
            for j, rhs_column in zip(columns, (rhs[:, k] for k in range(rhs.cols)), strict=True):
                if rhs_column.is_zero_matrix:
                    continue
                hj = name.of(h[j].name)
                column = rf"{latex}\, e_{{{_latex_name(hj)}}}"
                what = f"L_{hi}, column {hj}"
                if c.square and j != i:
                    what += f" (and L_{hj}, column {hi})"
                number = eq("L40" if i == j == 0 else "L")
                if self.out:
                    found.append(ShownFormula(f"{what} = 1/χ times{number}", rf"\chi\, {column}", c.solved(rhs_column)))
                elif c.square or self.expand:
                    found.append(ShownFormula(f"{self.A} times {what}{number}", rf"{self.latex} {column}", rhs_column))
                else:
                    title = f"Φ_φᵀ Φ_φ times {what} = Φ_φᵀ R - Φ_φ/{hi}ᵀ (Φ_φ K + Φ_h)_{hj}, with R{number}"
                    found.append(ShownFormula(title, rf"R_{{{_latex_name(hi)}, {_latex_name(hj)}}}", rhs_column))
        return found

    def bilinear(self, eq: Callable[[str], str]) -> ShownFormula:
        """The one form behind all columns of L, for types with too many of them to be read."""
        d = self.c.d
        names = (*d.phi.symbols, *d.h.symbols)
        u, v = ({x: symbol(f"{letter}_{x.name}") for x in names} for letter in ("du", "dv"))
        title = (
            f"column j of Φ_φ L_i{'' if self.c.square else ' (p = r part)'} is -∂²Φ(K_i and h_i = 1, K_j and h_j = 1); "
            f"{len(self.c.columns)} x {len(self.c.columns)} columns in all; ∂²Φ(du, dv){eq('L')}"
        )
        return ShownFormula(title, r"\partial^2\Phi(u, v)", -self.c.bent(u, [v]))


# ---- the closed form ----------------------------------------------------------------------------------------------
def positions(derivation: Derivation) -> str:
    """Say how positions are found."""
    form = find_closed_form(derivation)
    if form is None:
        return f"positions: Newton-Raphson{by_least_squares(derivation) or ' (no block-wise closed form)'} (Eq. 19a)"
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


CLOSED = "positions in closed form, in this order (signs σ are +1 or -1)"


def closed_form_formulas(derivation: Derivation) -> list[ShownFormula]:
    """Return the closed form as formulas in the order in which they are evaluated; none where Newton-Raphson must do.

    They are those that were proved and that the emitted kernel computes, but for its guards against rounding.
    """
    form = find_closed_form(derivation)
    if form is None:
        return []
    if form.given:
        return [ShownFormula(CLOSED if i == 0 else "", "", e, name) for i, (name, e) in enumerate(form.given)]
    found: list[ShownFormula] = []
    taken = {x.name for c in (derivation.phi, derivation.h, derivation.par) for x in c.symbols}
    for number, step in enumerate(form.steps):
        _block(derivation, form, step, "" if len(form.steps) == 1 else f"_{number + 1}", taken, found)
    return found


def _block(
    d: Derivation, form: ClosedForm, step: SolutionStep, suffix: str, taken: set[str], found: list[ShownFormula]
) -> None:
    """One block's formulas: intermediate values by name, then the unknowns."""
    e, n = step.expansion, step.block.size

    def named(label: str, value: sp.Expr) -> sp.Expr:
        if value.is_number or value.is_Symbol:
            return value
        name = f"{label}{suffix}"
        while name in taken:
            name += "'"
        taken.add(name)
        found.append(ShownFormula("" if found else CLOSED, "", value, name))
        return symbol(name)

    if step.branch is None:
        a = [[named(f"a{i}{j}", x) for j, x in enumerate(row)] for i, row in enumerate(e.gradients)]
        c = [named(f"c{i}", x / m) for i, (x, m) in enumerate(zip(e.constants, e.contents, strict=True))]
        u = linear_solution(a, c, named)
    else:
        assert e.quadric is not None
        linear = [i for i in range(n) if i != e.reference]
        a = [[named(f"a{i}{j}", x) for j, x in enumerate(e.gradients[i])] for i in linear]
        c = [named(f"c{i}", e.constants[i]) for i in linear]
        Q = [[e.quadric[i, j] for j in range(n)] for i in range(n)]
        g = [named(f"g{j}", x) for j, x in enumerate(e.gradients[e.reference])]
        k = named("k", e.constants[e.reference])
        m = [e.contents[i] for i in linear]
        line = line_meets_quadric(a, c, m, Q, g, k, is_sphere(e.quadric), named)
        beta = named("beta", sp.S.Zero + line.beta)
        root = sp.sqrt(named("discriminant", beta**2 - total(line.parts)), evaluate=False)
        tau = named("tau", (symbol(form.branches[step.branch]) * root - beta) * line.inverse)
        u = [p + tau * q for p, q in zip(line.x0, line.d, strict=True)]
    for column, origin, value in zip(step.block.columns, e.center, u, strict=True):
        name = d.phi.symbols[column].name
        found.append(ShownFormula("" if found else CLOSED, "", sp.S.Zero + origin + value, name))


# ---- how it is written --------------------------------------------------------------------------------------------
def written(shown: Sequence[ShownFormula], style: str) -> str:
    """Return formulas with their titles; `style` is latex, text, or ascii (for terminals without Greek letters)."""
    parts = []
    for s in shown:
        if style == "latex":
            line = f"\\[ {formula(s)} \\]"
            parts.append(f"% {s.title}\n{line}" if s.title else line)
        else:
            show = _text if style == "text" else _ascii
            line = show(sp.Eq(symbol(s.name), s.value, evaluate=False) if s.name else s.value)
            parts.append(f"{plain(s.title, style)}\n{line}" if s.title else line)
    return "\n\n".join(parts)


def formula(shown: ShownFormula) -> str:
    """Return left = value as LaTeX."""
    return f"{shown.left} = {_latex(shown.value)}"


def described(
    derivation: Derivation,
    style: str,
    expand: bool = False,
    naming: Naming | None = None,
    head: Sequence[str] = (),
) -> str:
    """Return everything on a type: what it is, its equations as written, and all that was derived from them."""
    spec, latex = derivation.spec, style == "latex"
    lines = [*head, summary(spec), *(f"    {c.name}: {c.text}" for c in spec.constraints)]
    parts = ["\n".join(f"% {line}" if latex else plain(line, style) for line in lines)]
    parts.append(written(equations(derivation, naming, expand), style))
    parts.append(("% " if latex else "") + positions(derivation))
    return "\n\n".join(parts)


def document(parts: Sequence[str], style: str) -> str:
    """Return texts one after the other; in LaTeX as a document that can be compiled."""
    return "\n\n".join([LATEX_HEAD, *parts, LATEX_END] if style == "latex" else parts)


def plain(text: str, style: str) -> str:
    """Return a title without Greek letters where the terminal has none."""
    if style == "ascii":
        for letter, name in sorted(_ASCII.items(), key=lambda item: -len(item[0])):
            text = text.replace(letter, name)
    return text


LATEX_HEAD = (
    "\\documentclass{article}\n\\usepackage[a2paper,landscape,margin=15mm]{geometry}\n\\usepackage{amsmath}\n"
    "\\allowdisplaybreaks\n\\begin{document}"
)
LATEX_END = "\\end{document}"


def _latex_name(name: str) -> str:
    """Return a name as LaTeX: what follows the first _ below the line, letters that mean something escaped."""
    head, _, index = name.partition("_")
    simple = head.isascii() and head.isalnum()
    head = _WORD.sub(r"\\mathrm{\1}\2", sp.latex(sp.Symbol(head))) if simple else _roman(head)
    if not index:
        return head
    below = index if index.isascii() and index.replace(",", "").isalnum() else _roman(index)
    if head.endswith("}") and "_{" in head:  # c0_1: the number of the name stands below the line already
        return f"{head[:-1]},{below}}}"
    return f"{head}_{{{below}}}"


def _roman(text: str) -> str:
    return rf"\mathrm{{{_escaped(text)}}}"


def _escaped(text: str) -> str:
    return re.sub(r"([_#$%&{}])", r"\\\1", text).replace("^", r"\hat{\ }").replace("'", "{}'")


def _latex(value: sp.MatrixBase | sp.Expr) -> str:
    names = {}
    for x in value.free_symbols:
        stem = x.name.removesuffix("_dot")
        names[x] = _latex_name(x.name)
        if stem != x.name:
            head, below, index = _latex_name(stem).partition("_{")
            names[x] = rf"\dot{{{head}}}{below}{index}"
    return str(sp.latex(value, mat_delim="[", symbol_names=names, full_prec=False, mul_symbol=r"\, "))


class _Pretty(PrettyPrinter):
    """Prints the index of every symbol alike: SymPy would print u_x as uₓ beside u_y, which has no such letter."""

    def _print_Symbol(self, expr: sp.Symbol, bold_name: bool = False) -> prettyForm:
        name = expr.name.removesuffix("_dot")
        head, _, index = name.partition("_")
        head = pretty_symbol(head)
        if name != expr.name:
            head = head[0] + "\u0307" + head[1:]
        return prettyForm(f"{head}_{index}" if index else head)


def _text(value: sp.MatrixBase | sp.Expr) -> str:
    return str(_Pretty({"use_unicode": True, "wrap_line": False, "full_prec": False}).doprint(value))


def _ascii(value: sp.MatrixBase | sp.Expr) -> str:
    return str(sp.pretty(value, use_unicode=False, wrap_line=False, full_prec=False))


def summary(spec: GroupSpec) -> str:
    """One line on a type."""
    return f"{spec.name} ({spec.space}): {spec.title}"
