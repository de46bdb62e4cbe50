"""GroupIR -> finished lines of text: tuples, unpacking, and the arguments that the array functions pass on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import ir, printer
from .derive import Derivation
from .sizes import Sizes

INDENT = printer.INDENT
# The kernels that a function over lanes calls for every lane.
_IN_LANES = frozenset(
    {
        *("position_at", "factor_at", "solve_with", "solve_transposed", "conditioning_at", "constraint_at"),
        *("velocity_rhs", "acceleration_rhs", "jerk_rhs", "acceleration_3ot_at"),
        *("tangent_position_rhs", "tangent_velocity_rhs", "tangent_acceleration_rhs"),
        *("adjoint_at", "adjoint_points_at"),
    }
)


# Those of them that find rates: rates that a caller gives as literal zeros fold away.
_RATES = frozenset(
    {
        "solve_with",
        *("velocity_rhs", "acceleration_rhs", "jerk_rhs", "acceleration_3ot_at"),
        *("tangent_position_rhs", "tangent_velocity_rhs", "tangent_acceleration_rhs"),
    }
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
    """Return `name = (entries)` for each tuple; line_width breaks those that are too long at their commas."""
    return tuple(f"{' ' * indent}{name} = {value}" for name, value in assignments.items())


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
        for comment, statements in _in_order(section):
            sections.append(SectionText(comment, tuple(printer.statement(a, INDENT) for a in statements)))
    names = [a.name for a in kernel.arguments] + list(kernel.scalars) + ([kernel.output] if kernel.output else [])
    pad = " " * INDENT
    result = f"{pad}return OK" if kernel.output else f"{pad}return {as_tuple(kernel.results)}"
    if len(result) > printer.WIDTH:
        result = printer.broken(f"{pad}return (", entries(kernel.results), pad)
    options = "RATES" if kernel.name in _RATES else "INLINED" if kernel.name in _IN_LANES else "INTERNAL"
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


def _in_order(section: ir.Section) -> Sequence[tuple[str, Sequence[ir.Assign]]]:
    """Return the statements of a section by comments: temporaries before outputs where none is made of an output."""
    if section.comment:
        return [(section.comment, section.statements)]
    first = [a for a in section.statements if a.target.startswith("_t")]
    then = [a for a in section.statements if a not in first]
    if any(ir.names(a.value) & {b.target for b in then} for a in first):
        return [(f"temporaries ({len(first)}) and outputs", section.statements)]
    return [(f"temporaries ({len(first)})", first)] * bool(first) + [("outputs", then)]


def _single(argument: ir.Argument) -> list[str]:
    return [f"{s} = {argument.name}[{i}]" for i, s in enumerate(argument.symbols) if s in argument.used]


def state(d: Derivation) -> dict[str, str]:
    r, s = d.n_dependent, d.n_independent
    return {"phi": _indexed("phi", r), "h": _indexed("h", s), "par": _indexed("par", len(d.par.symbols))}


def _vectors(sizes: dict[str, int]) -> dict[str, str]:
    """Return the caller's arrays as tuples of the same names."""
    return {name: _indexed(name, n) for name, n in sizes.items()}


def rate_functions(d: Derivation) -> tuple[RateText, ...]:
    r, s = d.n_dependent, d.n_independent
    known = {"phidot": r, "hdot": s, "phiddot": r, "hddot": s, "hdddot": s}
    velocity = "22c" if d.n_constraints == r else "23"
    acceleration = "30b" if d.n_constraints == r else "32"

    def function(name: str, output: str, doc: str, *rates: str) -> RateText:
        values = _vectors({rate: known[rate] for rate in rates})
        rhs = f"{name}_rhs(phi, h, par, {', '.join(rates)}, t)"
        return RateText(name, f"phi, h, par, t, {', '.join(rates)}", output, doc, lines(state(d) | values), rhs)

    by_time = f"φ̈ by the time derivative, Eq. {acceleration} (TD)."
    return (
        function("velocity", "phidot", f"φ̇ from ḣ, Eq. {velocity}.", "hdot"),
        function("acceleration", "phiddot", by_time, "phidot", "hdot", "hddot"),
        function("jerk", "phidddot", "Third derivative of φ.", *known),
    )


def rates(d: Derivation) -> dict[str, str]:
    return _vectors({"hdot": d.n_independent, "hddot": d.n_independent})


def motion(d: Derivation) -> dict[str, str]:
    r, s = d.n_dependent, d.n_independent
    return _vectors({"phidot": r, "hdot": s, "phiddot": r, "hddot": s})


def change(d: Derivation) -> dict[str, str]:
    s = d.n_independent
    return _vectors({"dh": s, "dhdot": s, "dhddot": s, "dpar": len(d.par.symbols)})


def arguments(d: Derivation, loops: bool, n_branches: int) -> dict[str, str]:
    """Return the tuples of scalars that the array functions pass to the straight-line kernels."""
    p, r, s, n_par = d.n_constraints, d.n_dependent, d.n_independent, len(d.par.symbols)
    phi, h, par, branch = (
        _indexed(name, n) for name, n in zip(("phi", "h", "par", "branch"), (r, s, n_par, n_branches), strict=True)
    )
    work = ", work" if loops else ""
    columns = "columns" if p > r else "K"
    consistent = "OK if residual <= 1e-16 * max(1.0, reach) ** 4 else NO_ASSEMBLY"
    return {
        "position_array": f"{h}, {par}, {branch}, t",
        "newton_array": f"{phi}, {h}, {par}, t, work{', NO_FUNCTIONS, par' if d.spec.profiles else ''}",
        "hdot": _indexed("hdot", s),
        "y": entries([f"y[{i}]" for i in range(r)]),
        "and_work": work,
        "factor": f"factor_at(phi, h, par, t{work})",
        "factor_lane": f"factor_at(phi, h, par, t[k]{work})",
        "unit": entries([f"1.0 if i == {i} else 0.0" for i in range(s)]),
        "zero_h": entries(["0.0"] * s),
        "all_move": entries(["True"] * s),
        "moves": as_tuple([f"hdot[{i}] != 0.0 or hddot[{i}] != 0.0" for i in range(s)]),
        "sum_x": " + ".join(f"x[{i}]" for i in range(r)),
        "sum_Phi_squares": " + ".join(f"Phi[{i}] * Phi[{i}]" for i in range(p)),
        "max_dphi": _largest([f"abs(dphi[{i}])" for i in range(r)]),
        "max_phi": _largest([f"abs(phi[{i}])" for i in range(r)]),
        "trial": entries([f"phi[{i}] - damping * dphi[{i}]" for i in range(r)]),
        "accept": consistent if p > r else "OK",
        "minus_column": entries([f"-{columns}[{i}, j]" for i in range(p)]),
        "minus_c": entries([f"-c[{i}]" for i in range(p)]),
        "first_minus_second": entries([f"first[{i}] - second[{i}]" for i in range(r)]),
        "K_i": entries([f"K[{j}, i]" for j in range(r)]),
        "K_k": entries([f"K[{j}, k]" for j in range(r)]),
        "b_dependent": entries([f"b[{i}]" for i in range(r)]),
        "b_constraints": entries([f"b[{i}]" for i in range(p)]),
        "max_Phi": _largest([f"abs(Phi[{i}])" for i in range(p)]),
        "found": entries([f"found[{i}]" for i in range(r)]),
        "newton_lane": "given, t[k], work, item, numbers" if d.spec.profiles else "par, t[k], work",
    }


def sizes(d: Derivation, loops: bool) -> Sizes:
    p, r, s = d.n_constraints, d.n_dependent, d.n_independent
    columns = p * r + r + p if loops else 0
    rheonomic = columns + (p * s if p > r else 0)
    tensors = rheonomic + (2 * r + r * s if d.rheonomic else 0)
    work = tensors + r + r * s + s * r * s
    return Sizes(p, r, s, len(d.active), columns, rheonomic, tensors, work)


# ---- over lanes ----------------------------------------------------------------------------------------------------
POINTERS = ("item", "numbers", "changes", "signs", "t", "q", "qdot", "qddot", "out", "outdot", "outddot", "call")


@dataclass(frozen=True)
class LaneText:
    """What the functions over lanes are written with: rows row_h0.., row_phi0.. as offsets, lane k, column offset o."""

    signature: str
    rows: tuple[str, ...]
    uses_work: bool  # Newton, or elimination in loops
    folds: bool  # known coordinates that never change are folded away
    constants: str
    bits: str
    fixed: tuple[str, ...]
    known: tuple[str, ...]
    prediction: tuple[str, ...]
    newton: bool  # has a function for all lanes at once
    reach: str
    step_square: str
    stepped: str
    par: str
    branch: str
    par_place: int
    start_place: int
    size_place: int
    sign_place: int
    profile_place: int
    point_place: int
    plain: tuple[str, str, str]
    state: tuple[str, str, str]
    out: tuple[str, str, str]
    out_h: str
    column_h: str
    change_h: tuple[str, str, str]
    change_phi: str
    change_phi_rates: tuple[str, str]
    change_par: str
    zero_h: str
    zero_phi: str
    zero_par: str
    sum_of_all: str
    modes: int
    n_branches: int
    mode_signs: str
    chosen_signs: tuple[str, ...]
    differences: tuple[str, ...]
    square: str
    start: str
    active: tuple[int, ...]
    n_par: int
    worth: str
    n_point: int
    point_shape: str
    axes: int

    @property
    def point_words(self) -> int:
        """Words of all points with their rates."""
        return 3 * self.n_point


def lanes(d: Derivation, n_branches: int, folds: bool, uses_work: bool, newton: bool) -> LaneText:
    """Return the strings of the functions over lanes."""
    r, s, n_par = d.n_dependent, d.n_independent, len(d.par.symbols)
    par_place, axes = s + r, 2 if d.spec.space == "planar" else 3
    n_profiles = len(d.spec.profiles)
    n_point = len(d.spec.points) * axes

    def known(array: str, offset: str = "") -> str:
        return as_tuple([f"{array}[{offset}row_h{i} + k]" for i in range(s)])

    def own(array: str, offset: str = "") -> str:
        return as_tuple([f"{array}[{offset}row_phi{i} + k]" for i in range(r)])

    def folded(array: str, instead: str, offset: str = "") -> str:
        if not folds:
            return known(array, offset)
        parts = [f"{instead.format(i)} if c{i} else {array}[{offset}row_h{i} + k]" for i in range(s)]
        return as_tuple(parts)

    def sign(i: int, mode: str) -> str:
        return f"1.0 - 2.0 * ({mode} >> {n_branches - 1 - i} & 1)"

    lengths = [str(x).startswith(("x_", "y_", "z_")) for x in d.phi.symbols]
    scale = [" / size" if length else "" for length in lengths]  # lengths by the mechanism's size, directions by one
    taylor = [
        f"out[row_phi{i} + j] + dt * (outdot[row_phi{i} + j] + 0.5 * dt * outddot[row_phi{i} + j])" for i in range(r)
    ]
    fixed = [f"h{i} = q[row_h{i} + np.uint64(first)]" for i in range(s)] if folds else []
    return LaneText(
        signature=",\n".join(", ".join(f"{name}_at" for name in part) for part in (POINTERS[:8], POINTERS[8:]))
        + ", first, last, work_at",
        rows=(
            "n = np.uint64(call[STRIDE])",
            *(f"row_h{i} = np.uint64(item[{i}]) * n" for i in range(s)),
            *(f"row_phi{i} = np.uint64(item[{s + i}]) * n" for i in range(r)),
            f"par_at = item[{par_place}]",
        ),
        uses_work=uses_work,
        folds=folds,
        constants=entries([f"c{i}" for i in range(s)]),
        bits=entries([f"bool(constant & {1 << i})" for i in range(s)]),
        fixed=tuple(fixed),
        known=lines(
            {
                "h": folded("q", "h{}"),
                "hdot": folded("qdot", "0.0"),
                "hddot": folded("qddot", "0.0"),
            },
            2 * INDENT,
        ),
        prediction=lines({"phi": as_tuple(taylor)}, 3 * INDENT),
        newton=newton,
        reach=_largest([f"abs(q[row_h{i} + k])" for i in range(s)] + [f"abs(out[row_phi{i} + k])" for i in range(r)]),
        step_square=" + ".join(f"dphi[{i}] * dphi[{i}]" for i in range(r)),
        stepped=as_tuple([f"phi[{i}] - dphi[{i}]" for i in range(r)]),
        par=as_tuple([f"numbers[par_at + {i}]" for i in range(n_par)]),
        branch=as_tuple([f"signs[sigma_at + {i}]" for i in range(n_branches)]),
        par_place=par_place,
        start_place=par_place + 1,
        size_place=par_place + 2,
        sign_place=par_place + 3,
        profile_place=par_place + 4,
        point_place=par_place + 4 + n_profiles,
        plain=(known("q"), known("qdot"), known("qddot")),
        state=(own("q"), own("qdot"), own("qddot")),
        out=(own("out"), own("outdot"), own("outddot")),
        out_h=known("out"),
        column_h=folded("out", "0.0", "o + "),
        change_h=(known("out", "o + "), known("outdot", "o + "), known("outddot", "o + ")),
        change_phi=own("out", "o + "),
        change_phi_rates=(own("outdot", "o + "), own("outddot", "o + ")),
        change_par=as_tuple([f"changes[change_at + {i}]" for i in range(n_par)]),
        zero_h=as_tuple(["0.0"] * s),
        zero_phi=as_tuple(["0.0"] * r),
        zero_par=as_tuple(["0.0"] * n_par),
        sum_of_all=" + ".join(f"{name}[{i}]" for name in ("phi", "phidot", "phiddot") for i in range(r)),
        modes=2**n_branches,
        n_branches=n_branches,
        mode_signs=as_tuple([sign(i, "mode") for i in range(n_branches)]),
        chosen_signs=tuple(sign(i, "chosen") for i in range(n_branches)),
        differences=tuple(f"d{i} = (found[{i}] - numbers[start + {i}]){scale[i]}" for i in range(r)),
        square=" + ".join(f"d{i} * d{i}" for i in range(r)),
        start=as_tuple([f"numbers[start + {i}]" for i in range(r)]),
        active=d.active,
        n_par=n_par,
        worth=as_tuple([f"out[g{i} + k]" for i in range(n_point)]),
        n_point=n_point,
        point_shape=f"{len(d.spec.points)}, 3, {axes}",
        axes=axes,
    )
