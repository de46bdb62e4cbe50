"""GroupIR -> finished lines of text: tuples, unpacking, and the arguments that the array functions pass on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import ir, printer
from .derive import Derivation

INDENT = 4
# The kernels that a sweep calls for every lane.
_IN_SWEEPS = frozenset(
    {"position_at", "factor_at", "solve_with", "velocity_rhs", "acceleration_rhs", "acceleration_3ot_at"}
)


@dataclass(frozen=True)
class SectionText:
    """Lines of a kernel under one comment."""

    comment: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class KernelText:
    """A straight-line kernel as finished lines."""

    name: str
    options: str
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


def entries(items: Sequence[str]) -> str:
    """Return the inside of a tuple, with the comma that a single entry needs."""
    return ", ".join(items) + ("," if len(items) == 1 else "")


def as_tuple(items: Sequence[str]) -> str:
    return f"({entries(items)})"


def _indexed(name: str, n: int) -> str:
    return as_tuple([f"{name}[{i}]" for i in range(n)])


def lines(assignments: dict[str, str], indent: int = INDENT) -> tuple[str, ...]:
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
            target = entries(argument.symbols) if len(argument.symbols) > 1 else f"({argument.symbols[0]},)"
            line = f"{target} = {argument.name}"
            short = len(line) + INDENT <= printer.WIDTH
            unpack.append(
                line if short else printer.broken("(", entries(argument.symbols), " " * INDENT) + f" = {argument.name}"
            )
        else:
            unpack += _single(argument)
    sections = []
    for section in kernel.sections:
        temporaries = sum(a.target.startswith("_t") for a in section.statements)
        comment = section.comment or (f"temporaries ({temporaries}) and outputs" if temporaries else "outputs")
        sections.append(SectionText(comment, tuple(printer.statement(a, INDENT) for a in section.statements)))
    names = [a.name for a in kernel.arguments] + list(kernel.scalars) + ([kernel.output] if kernel.output else [])
    pad = " " * INDENT
    result = f"{pad}return OK" if kernel.output else f"{pad}return {as_tuple(kernel.results)}"
    if len(result) > printer.WIDTH:
        result = printer.broken(f"{pad}return (", entries(kernel.results), pad)
    options = "INLINED" if kernel.name in _IN_SWEEPS else "INTERNAL"
    return KernelText(
        kernel.name,
        options,
        ", ".join(names),
        kernel.doc,
        tuple(unpack),
        tuple(sections),
        result,
        kernel.operations,
    )


def _single(argument: ir.Argument) -> list[str]:
    return [f"{s} = {argument.name}[{i}]" for i, s in enumerate(argument.symbols) if s in argument.used]


def state(d: Derivation) -> dict[str, str]:
    r, s = d.n_dependent, d.n_independent
    return {"x": _indexed("phi", r), "hs": _indexed("h", s), "ps": _indexed("par", len(d.par.symbols))}


def rate_functions(d: Derivation) -> tuple[RateText, ...]:
    r, s = d.n_dependent, d.n_independent
    hd, hdd, hddd = (
        {"hd": _indexed("hdot", s)},
        {"hdd": _indexed("hddot", s)},
        {"hddd": _indexed("hdddot", s)},
    )
    phid, phidd = {"phid": _indexed("phidot", r)}, {"phidd": _indexed("phiddot", r)}
    velocity = "22c" if d.n_constraints == r else "23"
    acceleration = "30b" if d.n_constraints == r else "32"

    def function(name: str, known: str, output: str, doc: str, values: dict[str, str]) -> RateText:
        rhs = f"{name}_rhs(x, hs, ps, {', '.join(values)}, t)"
        return RateText(name, f"phi, h, par, t, {known}", output, doc, lines(state(d) | values), rhs)

    return (
        function("velocity", "hdot", "phidot", f"φ̇ from ḣ, Eq. {velocity}.", hd),
        function(
            "acceleration",
            "phidot, hdot, hddot",
            "phiddot",
            f"φ̈ by the time derivative, Eq. {acceleration} (TD).",
            phid | hd | hdd,
        ),
        function(
            "jerk",
            "phidot, hdot, phiddot, hddot, hdddot",
            "phidddot",
            "Third derivative of φ.",
            phid | hd | phidd | hdd | hddd,
        ),
    )


def rates(d: Derivation) -> dict[str, str]:
    return {"hd": _indexed("hdot", d.n_independent), "hdd": _indexed("hddot", d.n_independent)}


def lane(d: Derivation) -> dict[str, str]:
    """Return the known coordinates of lane k and their rates, from the rows of the state."""
    arrays = {"hs": "q", "hd": "qdot", "hdd": "qddot"}
    return {name: as_tuple([f"{array}[h{i}, k]" for i in range(d.n_independent)]) for name, array in arrays.items()}


def prediction(d: Derivation) -> dict[str, str]:
    """Return the second-order Taylor prediction of φ from the lane before."""
    terms = [f"out[p{i}, j] + dt * (outdot[p{i}, j] + 0.5 * dt * outddot[p{i}, j])" for i in range(d.n_dependent)]
    return {"x": as_tuple(terms)}


def motion(d: Derivation) -> dict[str, str]:
    r, s = d.n_dependent, d.n_independent
    names = {"phid": ("phidot", r), "hd": ("hdot", s), "phidd": ("phiddot", r), "hdd": ("hddot", s)}
    return {name: _indexed(array, n) for name, (array, n) in names.items()}


def change(d: Derivation) -> dict[str, str]:
    s = d.n_independent
    names = {
        "dhs": ("dh", s),
        "dhd": ("dhdot", s),
        "dhdd": ("dhddot", s),
        "dps": ("dpar", len(d.par.symbols)),
    }
    return {name: _indexed(array, n) for name, (array, n) in names.items()}


def arguments(d: Derivation, loops: bool, n_branches: int) -> dict[str, str]:
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
        "y": entries([f"y[{i}]" for i in range(r)]),
        "and_work": work,
        "factor": f"factor_at(x, hs, ps, t{work})",
        "factor_lane": f"factor_at(x, hs, ps, t[k]{work})",
        "unit": entries([f"1.0 if i == {i} else 0.0" for i in range(s)]),
        "zero_h": entries(["0.0"] * s),
        "sum_x": " + ".join(f"x[{i}]" for i in range(r)),
        "sum_Phi_squares": " + ".join(f"Phi[{i}] * Phi[{i}]" for i in range(p)),
        "max_dx": _largest([f"abs(dx[{i}])" for i in range(r)]),
        "max_x": _largest([f"abs(x[{i}])" for i in range(r)]),
        "trial": entries([f"x[{i}] - damping * dx[{i}]" for i in range(r)]),
        "accept": consistent if p > r else "OK",
        "minus_column": entries([f"-{columns}[{i}, j]" for i in range(p)]),
        "minus_c": entries([f"-c[{i}]" for i in range(p)]),
        "first_minus_second": entries([f"first[{i}] - second[{i}]" for i in range(r)]),
        "K_i": entries([f"K[{j}, i]" for j in range(r)]),
        "K_k": entries([f"K[{j}, k]" for j in range(r)]),
        "b_dependent": entries([f"b[{i}]" for i in range(r)]),
        "out_lane": entries([f"out[p{i}, k]" for i in range(r)]),
        "state_lane": entries([f"q[p{i}, k]" for i in range(r)]),
        "known_lane": entries([f"q[h{i}, k]" for i in range(s)]),
        "max_Phi": _largest([f"abs(Phi[{i}])" for i in range(p)]),
        "outdot_lane": entries([f"outdot[p{i}, k]" for i in range(r)]),
        "outddot_lane": entries([f"outddot[p{i}, k]" for i in range(r)]),
        "found": entries([f"found[{i}]" for i in range(r)]),
    }


def sizes(d: Derivation, loops: bool) -> Sizes:
    p, r, s = d.n_constraints, d.n_dependent, d.n_independent
    columns = p * r + r + p if loops else 0
    rheonomic = columns + (p * s if p > r else 0)
    tensors = rheonomic + (2 * r + r * s if d.rheonomic else 0)
    work = tensors + r + r * s + s * r * s
    return Sizes(p, r, s, len(d.active), columns, rheonomic, tensors, work)
