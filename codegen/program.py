"""The text of a program module: the drivers over a set of group types, through templates/program.py.jinja."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

import jinja2

from .specialise import Kernel, common_factor, divided, specialised, with_larger_inverse


@dataclass(frozen=True)
class SweepText:
    """One way to sweep a variant: its function's name, how positions are found, and by which acceleration."""

    name: str
    kind: str
    tensor: bool
    doc: str


@dataclass(frozen=True)
class DriverText:
    """A function that runs all groups by one of their sweeps."""

    name: str
    sweep: str
    doc: str


@dataclass(frozen=True)
class VariantText:
    """A type with constant coordinates, as finished strings."""

    number: int
    name: str
    module: str
    constant_names: str
    p: int
    r: int
    points: bool
    scratch: int
    if_kept: tuple[str, ...]
    at_h: tuple[str, ...]
    at_phi: tuple[str, ...]
    point_h: tuple[str, ...]
    point_phi: tuple[str, ...]
    zero_h: str
    zero_phi: str
    n_coordinates: int
    unit_phi: str
    unit_h: str
    options: str
    bind_rows: tuple[str, ...]
    par: str
    par_at: str
    branch: str
    hs: str
    hd: str
    hdd: str
    found: str
    out: str
    corrected: str
    limit: str
    prediction: str
    step_square: str
    and_work: str
    kernels: tuple[Kernel, ...]
    plain: str
    aliases: tuple[tuple[str, str], ...]
    in_lanes: bool
    serial: str
    sweeps: tuple[SweepText, ...]


@dataclass(frozen=True)
class ProgramText:
    """What the template of a program module needs."""

    digest: str
    title: str
    variants: tuple[VariantText, ...]
    drivers: tuple[DriverText, ...]
    in_lanes: bool
    scratches: tuple[int, ...]


DRIVERS = (
    DriverText("run_td", "sweep", "Position, velocity and acceleration by the time derivative; Newton iterations."),
    DriverText("run_3ot", "sweep_3ot", "The same with accelerations by the third-order tensor."),
    DriverText("run_newton", "newton", "The same as run_td, every position by Newton from its Taylor prediction."),
)


LARGEST_FLAT = 3  # unknowns of a type whose kernels are copied into the loop over groups: more cost compile time

# Names in the program module of a type's kernels, copied into its loops over lanes.
_IN_LANES = (
    ("position", "position_at"),
    ("constraint", "constraint_at"),
    ("factor", "factor_at"),
    ("solve", "solve_with"),
    ("velocity", "velocity_rhs"),
    ("acceleration", "acceleration_rhs"),
    ("tensor", "acceleration_3ot_at"),
)


def as_tuple(items: Sequence[str]) -> str:
    """Return the text of a tuple of the items."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _unit(first: int, n: int) -> str:
    return as_tuple([f"1.0 if i == {first + j} else 0.0" for j in range(n)])


def variant_text(number: int, scratch: int, module: ModuleType, constant: frozenset[int]) -> VariantText:
    """Return the strings of one variant of a type's module."""
    r, s, n = len(module.DEPENDENT), len(module.INDEPENDENT), range(len(module.DEPENDENT))
    loops = module.SOLVER != "unrolled"
    bind = [f"h{i} = np.uint64(h_rows[{i}])" for i in range(s) if i not in constant]
    bind += [f"h{i} = q[h_rows[{i}], 0]" for i in range(s) if i in constant]
    bind += [f"p{i} = np.uint64(phi_rows[{i}])" for i in n]

    def known(array: str) -> str:
        still = "h{}" if array == "q" else "0.0"
        return as_tuple([still.format(i) if i in constant else f"{array}[h{i}, k]" for i in range(s)])

    closed, tensor = bool(module.CLOSED_FORM), hasattr(module, "acceleration_3ot_at")
    kind = "closed" if closed else "newton"
    sweeps = [SweepText("sweep", kind, False, "φ, φ̇, φ̈ by TD; lanes that failed, iterations.")]
    sweeps.append(SweepText("sweep_3ot", kind, tensor, "φ, φ̇, φ̈ by 3OT; lanes that failed, iterations."))
    if module.DEPENDENT:
        sweeps.append(SweepText("newton", "newton", False, "φ by Newton, φ̇, φ̈ by TD; lanes that failed, iterations."))
    p = len(module.CONSTRAINTS)
    own = [(n, f) for n, f in _IN_LANES if hasattr(module, f)]
    shared = {"factor_at", "solve_with"} if loops else set()  # not straight-line code
    zeros = {"hdot": constant, "hddot": constant}
    kernels, unit = _in_lanes({n: specialised(module, f, f"{n}_{number}", zeros) for n, f in own if f not in shared})
    return VariantText(
        number=number,
        name=module.NAME,
        module=module.__name__,
        constant_names=", ".join(module.INDEPENDENT[i] for i in sorted(constant)) or "none",
        p=p,
        r=r,
        points=bool(module.POINTS),
        scratch=scratch,
        if_kept=tuple(f"if rows[r0 + {i}] >= 0: " if p > r else "" for i in range(p)),
        at_h=tuple(as_tuple([f"y[{o}, h_rows[h0 + {i}]]" for i in range(s)]) for o in range(3)),
        at_phi=tuple(as_tuple([f"y[{o}, phi_rows[p0 + {i}]]" for i in n]) for o in range(3)),
        point_h=tuple(as_tuple([f"y[{o}, rows[h0 + {r + i}]]" for i in range(s)]) for o in range(3)),
        point_phi=tuple(as_tuple([f"y[{o}, rows[h0 + {i}]]" for i in n]) for o in range(3)),
        zero_h=as_tuple(["0.0"] * s),
        zero_phi=as_tuple(["0.0"] * r),
        n_coordinates=r + s,
        unit_phi=_unit(0, r),
        unit_h=_unit(r, s),
        options="FLAT" if r <= LARGEST_FLAT else "INTERNAL",
        bind_rows=tuple(bind),
        par=as_tuple([f"par[{i}]" for i in range(len(module.PARAMETERS))]),
        par_at=as_tuple([f"par[c0 + {i}]" for i in range(len(module.PARAMETERS))]),
        branch=as_tuple([f"branch[{i}]" for i in range(len(module.BRANCHES))]),
        hs=known("q"),
        hd=known("qdot"),
        hdd=known("qddot"),
        found=as_tuple([f"found[{i}]" for i in n]),
        out=as_tuple([f"out[p{i}, k]" for i in n]),
        corrected=as_tuple([f"xs[{i}] - {'' if unit == 1.0 else f'{1 / unit} * '}dx[{i}]" for i in n]),
        limit=f"{'' if unit == 1.0 else f'{unit * unit} * '}limit * limit",
        prediction=as_tuple([f"out[p{i}, j] + dt * (outdot[p{i}, j] + 0.5 * dt * outddot[p{i}, j])" for i in n]),
        step_square=" + ".join(f"dx[{i}] * dx[{i}]" for i in n),
        and_work=", work" if loops else "",
        kernels=tuple(kernels.values()),
        plain="plain_" if "plain_factor" in kernels else "",
        aliases=tuple((f"{n}_{number}", f) for n, f in own if f in shared),
        in_lanes=not loops,
        serial="newton",
        sweeps=tuple(sweeps),
    )


def _in_lanes(kernels: dict[str, Kernel]) -> tuple[dict[str, Kernel], float]:
    """Return the kernels with a number that all right-hand sides share moved into the inverse, and this number.

    Newton's step then comes out as many times too large. The third-order tensor has its own inverse, the plain one; the
    velocities beside it use the same, which the compiler then computes once.
    """
    rates = ("velocity", "acceleration")
    if "factor" not in kernels:
        return kernels, 1.0
    unit = common_factor([kernels[n] for n in rates])
    larger = with_larger_inverse(kernels["factor"], unit)
    if unit == 1.0 or larger is None:
        return kernels, 1.0
    changed = {**kernels, "factor": larger, **{n: divided(kernels[n], unit) for n in rates}}
    if "tensor" in kernels:
        changed |= {
            f"plain_{n}": replace(k, name=f"plain_{k.name}") for n, k in kernels.items() if n in ("factor", "velocity")
        }
    return changed, unit


def program_text(variants: Sequence[tuple[ModuleType, frozenset[int]]]) -> str:
    """Return the module that runs groups of these types."""
    texts: list[VariantText] = []
    scratch = 2  # the first two arrays are those of angles
    for i, (m, constant) in enumerate(variants):
        texts.append(variant_text(i, scratch, m, constant))
        scratch += 4 if m.POINTS else 2
    title = ", ".join(dict.fromkeys(t.name for t in texts))
    fields = ProgramText(
        "0" * 64, title, tuple(texts), DRIVERS, any(t.in_lanes for t in texts), tuple(range(2, scratch, 2))
    )
    source = environment().loader.get_source(environment(), "program.py.jinja")[0]  # type: ignore[union-attr]
    digest = hashlib.sha256("\n".join([source, repr(fields)]).encode()).hexdigest()
    text = environment().get_template("program.py.jinja").render(program=replace(fields, digest=digest))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n") + "\n"


@cache
def environment() -> jinja2.Environment:
    """Return how templates of sets of types are read; apart from that of single types, which loads SymPy."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("assurgent.templates", ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, and only names of modules and types reach it
    )
