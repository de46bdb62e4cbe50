"""Kinds of joints -> the text of `generated/joints/`: one module per space, every kind a straight-line function."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import sympy as sp

from . import ir, printer
from . import joint_codes as code
from .emit import EmittedModule, environment, tidy
from .joint_kinds import Kind, gamma, jacobian, kinds
from .layout import INDENT, SectionText
from .value_numbering import Pool

TEMPLATE = "joints.py.jinja"
VECTORS = {"a": code.A, "b": code.B, "axis_a": code.AXIS_A, "axis_b": code.AXIS_B, "normal_a": code.NORMAL_A,
           "normal_b": code.NORMAL_B}  # fmt: skip
CONTACT = ("cos_u", "sin_u", "radius", "radius_1", "radius_2", "side")


@dataclass(frozen=True)
class KindText:
    """A kind as finished lines."""

    name: str
    number: int
    doc: str
    rows: int
    unpack: tuple[str, ...]
    sections: tuple[SectionText, ...]
    operations: int
    whole_turns: tuple[int, ...]


@dataclass(frozen=True)
class JointModuleText:
    """What the template of a module of joints needs."""

    space: str
    velocities: str
    body_columns: int
    body_doc: str
    width: int
    most_rows: int
    gear: int
    item_columns: int
    number_columns: int
    extra_columns: int
    body_tuple: tuple[str, ...]
    number_tuple: tuple[str, ...]
    extra_tuple: tuple[str, ...]
    kinds: tuple[KindText, ...]
    digest: str = ""

    @property
    def row_width(self) -> int:
        """Words of a row: Φ, γ, and J of three bodies."""
        return 2 + 3 * self.width


def inputs(planar: bool) -> dict[str, str]:
    """Return by its name where every scalar input of a kind stands."""
    found: dict[str, str] = {}
    for k, body in ((1, "one"), (2, "two"), (3, "three")):
        if planar:
            names = [f"r{k}_0", f"r{k}_1", f"angle{k}", f"c{k}", f"s{k}", f"v{k}_0", f"v{k}_1", f"w{k}_0"]
        else:
            parts = (("r", 3), ("R", 9), ("v", 3), ("w", 3))
            names = [f"{letter}{k}_{n}" for letter, count in parts for n in range(count)]
        found.update({name: f"{body}[{n}]" for n, name in enumerate(names)})
    for vector, at in VECTORS.items():
        found.update({f"local_{vector}_{n}": f"numbers[{at + n}]" for n in range(3)})
    found |= {"number": f"numbers[{code.NUMBER}]", "offset": f"numbers[{code.OFFSET}]"}
    found |= dict.fromkeys(("turn", "spun", "turn1"), f"extras[{code.TURNED}]")
    found |= {"turn2": f"extras[{code.TURNED + 1}]"}
    found |= {name: f"extras[{code.CONTACT + n}]" for n, name in enumerate(CONTACT)}
    return found | {f"driven_{n}": f"extras[{code.DRIVEN + n}]" for n in range(3)}


def emit_kind(kind: Kind) -> KindText:
    """Return the function of one kind: carried vectors first, then Φ, J of each body, γ."""
    known = inputs(kind.planar)
    pool = Pool(known)
    pool.section = "vectors in global axes"
    named = {symbol.name: pool.assign(symbol.name, pool.freeze(e)) for symbol, e in kind.definitions.items()}
    assert len(named) == len(kind.definitions)
    pool.section = "Φ"
    for r, row in enumerate(kind.rows):
        pool.assign(f"out[{r}, 0]", pool.freeze(row))
    for b in range(len(kind.bodies)):
        pool.section = f"J of the {('first', 'second', 'third')[b]} body"
        matrix = jacobian(kind, b)
        for r in range(matrix.rows):
            for c in range(matrix.cols):
                pool.assign(f"out[{r}, {2 + matrix.cols * b + c}]", pool.freeze(matrix[r, c]))
    if kind.hidden is not None:
        pool.section = "the contact moves along the outline"
        pool.assign(kind.hidden[0].name, pool.freeze(kind.hidden[1]))
    pool.section = "γ"
    for r, bend in enumerate(gamma(kind)):
        pool.assign(f"out[{r}, 1]", pool.freeze(sp.sympify(bend)))
    sections = pool.sections()
    statements = [a for section in sections for a in section.statements]
    read = {n for a in statements for n in ir.names(a.value)}
    unpack = tuple(f"{name} = {place}" for name, place in known.items() if name in read)
    text = tuple(SectionText(s.comment, tuple(printer.statement(a, INDENT) for a in s.statements)) for s in sections)
    count = sum(ir.operations(a.value) for a in statements)
    return KindText(kind.name, kind.number, kind.doc, len(kind.rows), unpack, text, count, kind.whole_turns)


def _entries(array: str, line: str, n: int) -> tuple[str, ...]:
    """Return the lines of a tuple of all entries of a line of an array."""
    parts = [f"{array}[{line}, {k}]" for k in range(n)]
    return tuple(", ".join(parts[k : k + 6]) + "," for k in range(0, n, 6))


def joint_module(space: str) -> EmittedModule:
    """Return the module of all kinds of a space."""
    planar = space == "planar"
    made = tuple(emit_kind(kind) for kind in kinds(planar))
    fields = JointModuleText(
        space,
        "(vx, vy, ω)" if planar else "(v, ω in global axes)",
        code.BODY2 if planar else code.BODY3,
        "x, y, angle, its cosine and sine, vx, vy, ω" if planar else "place, rotation matrix by rows, v, ω",
        3 if planar else 6,
        max(kind.rows for kind in made),
        code.GEAR2 if planar else code.GEAR3,
        code.ITEM_SIZE,
        code.NUMBERS,
        code.EXTRAS,
        _entries("bodies", "i", code.BODY2 if planar else code.BODY3),
        _entries("numbers", "e", code.NUMBERS),
        _entries("extras", "e", code.EXTRAS),
        made,
    )
    jinja = environment()
    assert jinja.loader is not None
    template = jinja.loader.get_source(jinja, TEMPLATE)[0]
    digest = hashlib.sha256("\n".join([repr(fields), template]).encode()).hexdigest()
    text = jinja.get_template(TEMPLATE).render(module=replace(fields, digest=digest))
    return EmittedModule(space, space, tidy(text), digest)
