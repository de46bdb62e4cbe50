"""The text of a transform module: R passed through a set of group types, by templates/transform.py.jinja."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from .program import as_tuple, environment

TEMPLATE = "transform.py.jinja"


@dataclass(frozen=True)
class TransformVariant:
    """A type with constant coordinates, as finished strings. Places in the flat array are h0.., p0.. and b0..."""

    number: int
    name: str
    module: str
    constant_names: str
    r: int
    n_branches: int
    closed: bool
    n_work: int
    uses_work: bool
    and_work: str
    points: tuple[int, int]  # number and dimension
    bind: tuple[str, ...]
    bind_base: tuple[str, ...]
    par: str
    branch: str
    hs: str
    hd: str
    hdd: str
    column: str
    zero_h: str
    zero_phi: str
    found: str
    phi: str
    phid: str
    phidd: str
    phi_column: str
    prediction: str


@dataclass(frozen=True)
class TransformText:
    """What the template of a transform module needs."""

    digest: str
    title: str
    variants: tuple[TransformVariant, ...]


def _variant(number: int, module: ModuleType, constant: frozenset[int]) -> TransformVariant:
    if module.RHEONOMIC:
        raise ValueError(f"{module.NAME}: a type that knows the time itself has no velocity transformation of h alone")
    r, s = len(module.DEPENDENT), len(module.INDEPENDENT)

    def known(offset: str) -> str:
        """Return ḣ, ḧ or a column of R: what never changes has literal zeros, so that its products fold away."""
        return as_tuple(["0.0" if i in constant else f"x[h{i}{offset}]" for i in range(s)])

    def own(offset: str) -> str:
        return as_tuple([f"x[p{i}{offset}]" for i in range(r)])

    dimension = 2 if module.SPACE == "planar" else 3
    loops = module.SOLVER != "unrolled"
    return TransformVariant(
        number=number,
        name=module.NAME,
        module=module.__name__,
        constant_names=", ".join(module.INDEPENDENT[i] for i in sorted(constant)) or "none",
        r=r,
        n_branches=len(module.BRANCHES),
        closed=bool(module.CLOSED_FORM),
        n_work=module.WORK,
        uses_work=loops or not module.CLOSED_FORM,
        and_work=", work" if loops else "",
        points=(len(module.POINTS), dimension),
        bind=tuple([f"h{i} = ints[hr + {i}]" for i in range(s)] + [f"p{i} = ints[pr + {i}]" for i in range(r)]),
        bind_base=tuple(f"b{i} = ints[pr + {r + i}]" for i in range(r)),
        par=as_tuple([f"x[c + {i}]" for i in range(len(module.PARAMETERS))]),
        branch=as_tuple([f"x[s + {i}]" for i in range(len(module.BRANCHES))]),
        hs=as_tuple([f"x[h{i}]" for i in range(s)]),
        hd=known(" + 1"),
        hdd=known(" + 2"),
        column=known(" + j"),
        zero_h=as_tuple(["0.0"] * s),
        zero_phi=as_tuple(["0.0"] * r),
        found=as_tuple([f"found[{i}]" for i in range(r)]),
        phi=own(""),
        phid=own(" + 1"),
        phidd=own(" + 2"),
        phi_column=own(" + j"),
        prediction=as_tuple([f"x[b{i}] + dt * (x[b{i} + 1] + 0.5 * dt * x[b{i} + 2])" for i in range(r)]),
    )


def transform_text(variants: Sequence[tuple[ModuleType, frozenset[int]]]) -> str:
    """Return the module that passes the velocity transformation through groups of these types."""
    texts = tuple(_variant(i, m, constant) for i, (m, constant) in enumerate(variants))
    fields = TransformText("0" * 64, ", ".join(dict.fromkeys(t.name for t in texts)), texts)
    source = environment().loader.get_source(environment(), TEMPLATE)[0]  # type: ignore[union-attr]
    digest = hashlib.sha256("\n".join([source, repr(fields)]).encode()).hexdigest()
    text = environment().get_template(TEMPLATE).render(transform=replace(fields, digest=digest))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n") + "\n"
