"""GroupIR -> text of one Numba module through the Jinja templates; the digest that its header carries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import jinja2
from jinja2.meta import find_referenced_templates

from ..common.type_files import SPECIFICATION
from . import ir, layout
from .derive import Derivation, row_labels
from .kernels import GroupIR
from .line_width import within_width
from .linear import EXPLICIT_ORDER
from .profile_text import ProfileText, developed, profiles
from .sizes import Sizes
from .turn_text import TurnText, turns


@dataclass(frozen=True)
class SweepText:
    """One way to sweep a type over lanes: its name, how accelerations are found, and whether in loops."""

    name: str
    method: str
    tensor: bool
    in_loops: bool


@dataclass(frozen=True)
class ModuleText:
    """What the template of a group module needs, as finished strings."""

    name: str
    origin: str
    regenerate: str
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
    normal_terms: bool
    in_loops: bool
    inlined: bool
    trigonometric: bool
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
    unpack_motion: tuple[str, ...]
    unpack_change: tuple[str, ...]
    profile_names: str
    profiles: tuple[ProfileText, ...]
    developed: str
    varied: str
    turns: TurnText | None
    lane: layout.LaneText
    sweeps: tuple[SweepText, ...]
    kernels: tuple[layout.KernelText, ...]
    rate_functions: tuple[layout.RateText, ...]


@dataclass(frozen=True)
class EmittedModule:
    """A finished module: its name, text, and the digest of what it was made from."""

    name: str
    module: str
    text: str
    digest: str


TEMPLATE = "group.py.jinja"


@cache
def environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("assurgent.templates", ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, and no text of a user reaches it unchecked
    )


def template_sources() -> dict[str, str]:
    """Return by its name the text of every template that a type's module is made by."""
    jinja = environment()
    assert jinja.loader is not None
    found: dict[str, str] = {}
    waiting = [TEMPLATE]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = jinja.loader.get_source(jinja, name)[0]
            waiting += [n for n in find_referenced_templates(jinja.parse(found[name])) if n is not None]
    return dict(sorted(found.items()))


def _description(d: Derivation, group: GroupIR) -> tuple[str, ...]:
    spec = d.spec
    lines = ["Constraints:"] + [f"    {c.name}: {c.text}" for c in spec.constraints]
    if group.has_closed_form:
        how = "given, proved by substitution" if spec.closed_form else "recognised, proved by substitution"
        lines.append(f"Positions: closed form ({how}); {2 ** len(group.branches)} assembly mode(s).")
    else:
        lines.append("Positions: Newton-Raphson with the analytic Jacobian.")
    solver = {
        "unrolled": f"unrolled by blocks of {', '.join(map(str, group.block_sizes))}",
        "lu": "elimination in loops, partial pivoting",
        "qr": "least squares by Householder reflections",
    }[group.solver]
    lines.append(f"Linear systems: {solver}.")
    if spec.source:
        lines.append(f"Source: {spec.source}.")
    if spec.singular:
        lines.append(f"Singular {spec.singular}.")
    return tuple(lines[:1] + [("    " if line.startswith("    ") else "") + plain(line) for line in lines[1:]])


def plain(text: str) -> str:
    """Return a text of the specification as it may stand in a docstring or comment: one line that cannot end it."""
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "/").replace('"', "'").strip()


def _regenerate(name: str, origin: str) -> str:
    """Return how a module is made again and checked; an own type lies beside its specification."""
    if origin.startswith("codegen/groups/"):
        return "python -m assurgent.codegen.drift --write        Check: make check-generated"
    return f"assurgent generate {SPECIFICATION} (beside this file)        Check: assurgent verify {name}"


def _names(items: Sequence[str]) -> str:
    return "(" + ", ".join(f'"{i}"' for i in items) + ("," if len(items) == 1 else "") + ")"


def emit(derivation: Derivation, group: GroupIR, origin: str) -> EmittedModule:
    """Return the text of a type's module; `origin` names the specification in its header."""
    d, spec = derivation, derivation.spec
    loops = group.solver != "unrolled"
    kernels = tuple(layout.kernel_text(k) for k in group.kernels)
    least_squares = d.n_constraints > d.n_dependent
    inlined = not loops and max(group.block_sizes) <= EXPLICIT_ORDER
    headline = (
        f"{spec.name}, {spec.space}: {spec.title or 'group'}; {d.n_dependent} dependent, "
        f"{d.n_independent} independent, {d.n_constraints} constraints."
    )
    fields = ModuleText(
        name=spec.name,
        origin=plain(origin),
        regenerate=_regenerate(spec.name, origin),
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
        active=layout.as_tuple([str(i) for i in d.active]),
        closed_form=group.has_closed_form,
        rheonomic=d.rheonomic,
        least_squares=least_squares,
        normal_terms=group.solver == "qr",
        in_loops=loops,
        inlined=inlined,
        trigonometric=any(_calls(k, ("sin", "cos")) for k in group.kernels),
        solver=group.solver,
        newton_equation="21" if least_squares else "19a",
        K_equation="28a" if least_squares else "25a",
        L_equation="43" if least_squares else "39",
        Sb_equation="28" if least_squares else "25",
        Sb_dot_equation="42a" if least_squares else "34a",
        size=layout.sizes(d, loops),
        args=layout.arguments(d, loops, len(group.branches)),
        unpack_state=layout.lines(layout.state(d)),
        unpack_rates=layout.lines(layout.rates(d)),
        unpack_motion=layout.lines(layout.motion(d)),
        unpack_change=layout.lines(layout.change(d)),
        profile_names=_names([p.name for p in profiles(d)]),
        profiles=profiles(d),
        developed=developed(d, "par"),
        varied=developed(d, "dpar"),
        turns=None if group.has_closed_form else turns(d),
        lane=layout.lanes(
            d,
            len(group.branches),
            folds=inlined and group.has_closed_form,
            uses_work=loops or not group.has_closed_form,
            newton=not loops and not group.has_closed_form and not spec.profiles,
        ),
        sweeps=(
            SweepText("sweep", "TD", False, False),
            SweepText("sweep_3ot", "3OT", True, not group.has_unrolled_3ot),
        ),
        kernels=kernels,
        rate_functions=layout.rate_functions(d),
    )
    compiler = (files("assurgent.runtime") / "straight_line.py").read_text("utf-8")  # of the kernels
    inputs = [spec.text, repr(fields), *template_sources().values(), compiler]
    digest = hashlib.sha256("\n".join(inputs).encode()).hexdigest()
    text = environment().get_template(TEMPLATE).render(module=_with_digest(fields, digest))
    return EmittedModule(spec.name, spec.module, tidy(text), digest)


def _calls(kernel: ir.Kernel, functions: Sequence[str]) -> bool:
    """Return whether a kernel calls one of some functions."""

    def inside(node: ir.Node) -> bool:
        match node:
            case ir.Call(function, argument):
                return function in functions or inside(argument)
            case ir.Scaled(_, inner):
                return inside(inner)
            case ir.Sum(terms):
                return any(inside(n) for _, n in terms)
            case ir.Product(factors):
                return any(inside(n) for n, _ in factors)
            case ir.Select(less, greater, yes, no):
                return any(inside(n) for n in (less, greater, yes, no))
        return False

    return any(inside(a.value) for section in kernel.sections for a in section.statements)


def _with_digest(fields: ModuleText, digest: str) -> ModuleText:
    return ModuleText(**{**fields.__dict__, "digest": digest})


def tidy(text: str) -> str:
    """Return the text with at most two blank lines in a row and one line end at its end."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() or lines[-2:] != ["", ""]:
            lines.append(line.rstrip())
    return "\n".join(within_width(lines)).strip("\n") + "\n"
