"""KernelIR -> text of one Numba module through the Jinja templates; the digest that its header carries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

from . import ir, printer
from .derive import Derivation, row_labels
from .kernels import GroupIR

_INDENT = 4


@dataclass(frozen=True)
class SectionText:
    """Lines of a kernel under one comment."""

    comment: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class KernelText:
    """A straight-line kernel as finished lines."""

    name: str
    signature: str
    doc: str
    unpack: tuple[str, ...]
    sections: tuple[SectionText, ...]
    result: str
    operations: int


@dataclass(frozen=True)
class Sizes:
    """p constraints, r dependent, s independent; where the parts of the work array begin."""

    p: int
    r: int
    s: int
    n_active: int
    columns: int
    rheonomic: int
    tensors: int
    work: int


@dataclass(frozen=True)
class RateText:
    """A function that solves for one order of rates."""

    name: str
    signature: str
    output: str
    doc: str
    unpack: tuple[str, ...]
    rhs: str


@dataclass(frozen=True)
class ModuleText:
    """What the template of a group module needs, as finished strings."""

    name: str
    origin: str
    digest: str
    headline: str
    description: tuple[str, ...]
    space: str
    dependent: str
    independent: str
    parameters: str
    constraints: str
    coordinates: tuple[tuple[str, str], ...]
    branches: str
    points: str
    active: str
    closed_form: bool
    rheonomic: bool
    least_squares: bool
    in_loops: bool
    unrolled_3ot: bool
    solver: str
    newton_equation: str
    K_equation: str
    L_equation: str
    Sb_equation: str
    Sb_dot_equation: str
    size: Sizes
    args: dict[str, str]
    unpack_state: tuple[str, ...]
    unpack_rates: tuple[str, ...]
    unpack_tangent: tuple[str, ...]
    unpack_lane: tuple[str, ...]
    prediction: tuple[str, ...]
    kernels: tuple[KernelText, ...]
    rate_functions: tuple[RateText, ...]


@dataclass(frozen=True)
class EmittedModule:
    """A finished module: its name, text, and the digest of what it was made from."""

    name: str
    module: str
    text: str
    digest: str


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("assurgent.templates", ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, and no text of a user reaches it unchecked
    )


def template_sources() -> dict[str, str]:
    """Return every template's text by its name."""
    environment = _environment()
    assert environment.loader is not None
    return {n: environment.loader.get_source(environment, n)[0] for n in sorted(environment.list_templates()) if n.endswith(".jinja")}


def _entries(items: Sequence[str]) -> str:
    """Return the inside of a tuple, with the comma that a single entry needs."""
    return ", ".join(items) + ("," if len(items) == 1 else "")


def _tuple(items: Sequence[str]) -> str:
    return f"({_entries(items)})"


def _indexed(name: str, n: int) -> str:
    return _tuple([f"{name}[{i}]" for i in range(n)])


def _lines(assignments: dict[str, str], indent: int = _INDENT) -> tuple[str, ...]:
    """Return `name = (entries)` for each tuple, broken where it is too long."""
    pad = " " * indent
    found = []
    for name, value in assignments.items():
        line = f"{pad}{name} = {value}"
        found.append(line if len(line) <= printer.WIDTH else printer.broken(f"{pad}{name} = (", value[1:-1], pad))
    return tuple(found)


def _largest(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"max({', '.join(items)})"


def kernel_text(kernel: ir.Kernel) -> KernelText:
    """Return the finished lines of a kernel."""
    unpack = []
    for argument in kernel.arguments:
        if not argument.used:
            continue
        if argument.used == frozenset(argument.symbols):
            target = _entries(argument.symbols) if len(argument.symbols) > 1 else f"({argument.symbols[0]},)"
            line = f"{target} = {argument.name}"
            short = len(line) + _INDENT <= printer.WIDTH
            unpack.append(line if short else printer.broken("(", _entries(argument.symbols), " " * _INDENT) + f" = {argument.name}")
        else:
            unpack += _single(argument)
    sections = []
    for section in kernel.sections:
        temporaries = sum(a.target.startswith("_t") for a in section.statements)
        comment = section.comment or (f"temporaries ({temporaries}) and outputs" if temporaries else "outputs")
        sections.append(SectionText(comment, tuple(printer.statement(a, _INDENT) for a in section.statements)))
    names = [a.name for a in kernel.arguments] + list(kernel.scalars) + ([kernel.output] if kernel.output else [])
    pad = " " * _INDENT
    result = f"{pad}return OK" if kernel.output else f"{pad}return {_tuple(kernel.results)}"
    if len(result) > printer.WIDTH:
        result = printer.broken(f"{pad}return (", _entries(kernel.results), pad)
    return KernelText(kernel.name, ", ".join(names), kernel.doc, tuple(unpack), tuple(sections), result, kernel.operations)


def _single(argument: ir.Argument) -> list[str]:
    return [f"{s} = {argument.name}[{i}]" for i, s in enumerate(argument.symbols) if s in argument.used]


def _state(d: Derivation) -> dict[str, str]:
    r, s = d.n_dependent, d.n_independent
    return {"x": _indexed("phi", r), "hs": _indexed("h", s), "ps": _indexed("par", len(d.par.symbols))}


def _rate_functions(d: Derivation) -> tuple[RateText, ...]:
    r, s = d.n_dependent, d.n_independent
    hd, hdd, hddd = {"hd": _indexed("hdot", s)}, {"hdd": _indexed("hddot", s)}, {"hddd": _indexed("hdddot", s)}
    phid, phidd = {"phid": _indexed("phidot", r)}, {"phidd": _indexed("phiddot", r)}
    velocity = "22c" if d.n_constraints == r else "23"
    acceleration = "30b" if d.n_constraints == r else "32"

    def function(name: str, known: str, output: str, doc: str, values: dict[str, str]) -> RateText:
        rhs = f"{name}_rhs(x, hs, ps, {', '.join(values)}, t)"
        return RateText(name, f"phi, h, par, t, {known}", output, doc, _lines(_state(d) | values), rhs)

    return (
        function("velocity", "hdot", "phidot", f"φ̇ from ḣ, Eq. {velocity}.", hd),
        function("acceleration", "phidot, hdot, hddot", "phiddot", f"φ̈ by the time derivative, Eq. {acceleration} (TD).", phid | hd | hdd),
        function("jerk", "phidot, hdot, phiddot, hddot, hdddot", "phidddot", "Third derivative of φ.", phid | hd | phidd | hdd | hddd),
    )


def _rates(d: Derivation) -> dict[str, str]:
    return {"hd": _indexed("hdot", d.n_independent), "hdd": _indexed("hddot", d.n_independent)}


def _lane(d: Derivation) -> dict[str, str]:
    """Return the known coordinates of lane k and their rates, from the rows of the state."""
    arrays = {"hs": "q", "hd": "qdot", "hdd": "qddot"}
    return {name: _tuple([f"{array}[h{i}, k]" for i in range(d.n_independent)]) for name, array in arrays.items()}


def _prediction(d: Derivation) -> dict[str, str]:
    """Return the second-order Taylor prediction of φ from the lane before."""
    terms = [f"out[p{i}, j] + dt * (outdot[p{i}, j] + 0.5 * dt * outddot[p{i}, j])" for i in range(d.n_dependent)]
    return {"x": _tuple(terms)}


def _tangent(d: Derivation) -> dict[str, str]:
    r, s = d.n_dependent, d.n_independent
    return {
        "phid": _indexed("phidot", r), "hd": _indexed("hdot", s), "phidd": _indexed("phiddot", r), "hdd": _indexed("hddot", s),
        "dhs": _indexed("dh", s), "dhd": _indexed("dhdot", s), "dhdd": _indexed("dhddot", s),
        "dps": _indexed("dpar", len(d.par.symbols)),
    }


def _arguments(d: Derivation, loops: bool, n_branches: int) -> dict[str, str]:
    """Return the tuples of scalars that the array functions pass to the straight-line kernels."""
    p, r, s, n_par = d.n_constraints, d.n_dependent, d.n_independent, len(d.par.symbols)
    h, par = _indexed("h", s), _indexed("par", n_par)
    work = ", work" if loops else ""
    columns = "columns" if p > r else "K"
    consistent = "OK if residual <= 1e-16 * max(1.0, reach) ** 4 else NO_ASSEMBLY"
    return {
        "h": h,
        "par": par,
        "branch": _indexed("branch", n_branches),
        "hdot": _indexed("hdot", s),
        "y": _entries([f"y[{i}]" for i in range(r)]),
        "and_work": work,
        "factor": f"factor_at(x, hs, ps, t{work})",
        "factor_lane": f"factor_at(x, hs, ps, t[k]{work})",
        "unit": _entries([f"1.0 if i == {i} else 0.0" for i in range(s)]),
        "zero_h": _entries(["0.0"] * s),
        "sum_x": " + ".join(f"x[{i}]" for i in range(r)),
        "sum_Phi_squares": " + ".join(f"Phi[{i}] * Phi[{i}]" for i in range(p)),
        "max_dx": _largest([f"abs(dx[{i}])" for i in range(r)]),
        "max_x": _largest([f"abs(x[{i}])" for i in range(r)]),
        "trial": _entries([f"x[{i}] - damping * dx[{i}]" for i in range(r)]),
        "accept": consistent if p > r else "OK",
        "minus_column": _entries([f"-{columns}[{i}, j]" for i in range(p)]),
        "minus_c": _entries([f"-c[{i}]" for i in range(p)]),
        "first_minus_second": _entries([f"first[{i}] - second[{i}]" for i in range(r)]),
        "K_i": _entries([f"K[{j}, i]" for j in range(r)]),
        "K_k": _entries([f"K[{j}, k]" for j in range(r)]),
        "b_dependent": _entries([f"b[{i}]" for i in range(r)]),
        "out_lane": _entries([f"out[p{i}, k]" for i in range(r)]),
        "found": _entries([f"found[{i}]" for i in range(r)]),
    }


def _sizes(d: Derivation, loops: bool) -> Sizes:
    p, r, s = d.n_constraints, d.n_dependent, d.n_independent
    columns = p * r + r + p if loops else 0
    rheonomic = columns + (p * s if p > r else 0)
    tensors = rheonomic + (2 * r + r * s if d.rheonomic else 0)
    work = tensors + r + r * s + s * r * s
    return Sizes(p, r, s, len(d.active), columns, rheonomic, tensors, work)


def _description(d: Derivation, group: GroupIR) -> tuple[str, ...]:
    spec = d.spec
    lines = ["Constraints:"] + [f"    {c.name}: {c.text}" for c in spec.constraints]
    if group.has_closed_form:
        how = "given, proved by substitution" if spec.closed_form else "recognised, proved by substitution"
        lines.append(f"Positions: closed form ({how}); {2**len(group.branches)} assembly mode(s).")
    else:
        lines.append("Positions: Newton-Raphson with the analytic Jacobian.")
    solver = {"unrolled": f"unrolled by blocks of {', '.join(map(str, group.block_sizes))}", "lu": "elimination in loops, partial pivoting",
              "qr": "least squares by Householder reflections"}[group.solver]
    lines.append(f"Linear systems: {solver}.")
    if spec.source:
        lines.append(f"Source: {spec.source}.")
    if spec.singular:
        lines.append(f"Singular {spec.singular}.")
    return tuple(lines[:1] + [("    " if line.startswith("    ") else "") + plain(line) for line in lines[1:]])


def plain(text: str) -> str:
    """Return a text of the specification as it may stand in a docstring or comment: one line that cannot end it."""
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "/").replace('"', "'").strip()


def _names(items: Sequence[str]) -> str:
    return "(" + ", ".join(f'"{i}"' for i in items) + ("," if len(items) == 1 else "") + ")"


def emit(derivation: Derivation, group: GroupIR, origin: str) -> EmittedModule:
    """Return the text of a type's module; `origin` names the specification in its header."""
    d, spec = derivation, derivation.spec
    loops = group.solver != "unrolled"
    kernels = tuple(kernel_text(k) for k in group.kernels)
    least_squares = d.n_constraints > d.n_dependent
    headline = (f"{spec.name}, {spec.space}: {spec.title or 'group'}; {d.n_dependent} dependent, "
                f"{d.n_independent} independent, {d.n_constraints} constraints.")
    fields = ModuleText(
        name=spec.name,
        origin=plain(origin),
        digest="0" * 64,
        headline=plain(headline),
        description=_description(d, group),
        space=spec.space,
        dependent=_names(spec.phi),
        independent=_names(spec.h),
        parameters=_names(spec.par),
        constraints=_names(row_labels(d)),
        coordinates=tuple((c.name, _names(c.symbols)) for c in spec.coordinates),
        branches=_names(group.branches),
        points=_names([p.name for p in spec.points]),
        active=_tuple([str(i) for i in d.active]),
        closed_form=group.has_closed_form,
        rheonomic=d.rheonomic,
        least_squares=least_squares,
        in_loops=loops,
        unrolled_3ot=group.has_unrolled_3ot,
        solver=group.solver,
        newton_equation="21" if least_squares else "19a",
        K_equation="28a" if least_squares else "25a",
        L_equation="43" if least_squares else "39",
        Sb_equation="28" if least_squares else "25",
        Sb_dot_equation="42a" if least_squares else "34a",
        size=_sizes(d, loops),
        args=_arguments(d, loops, len(group.branches)),
        unpack_state=_lines(_state(d)),
        unpack_rates=_lines(_rates(d)),
        unpack_tangent=_lines(_tangent(d)),
        unpack_lane=_lines(_lane(d), 2 * _INDENT),
        prediction=_lines(_prediction(d), 3 * _INDENT),
        kernels=kernels,
        rate_functions=_rate_functions(d),
    )
    digest = hashlib.sha256("\n".join([spec.text, repr(fields), *template_sources().values()]).encode()).hexdigest()
    text = _environment().get_template("group.py.jinja").render(module=_with_digest(fields, digest))
    return EmittedModule(spec.name, spec.module, tidy(text), digest)


def _with_digest(fields: ModuleText, digest: str) -> ModuleText:
    return ModuleText(**{**fields.__dict__, "digest": digest})


def tidy(text: str) -> str:
    """Return the text with at most two blank lines in a row and one line end at its end."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() or lines[-2:] != ["", ""]:
            lines.append(line.rstrip())
    return "\n".join(lines).strip("\n") + "\n"
