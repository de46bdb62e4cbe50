"""TOML text -> GroupSpec, validated: every mistake named with file, line, symbol and remedy. Nothing is executed."""

from __future__ import annotations

import contextlib
import keyword
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ..common import expressions as ex
from ..common.errors import InputError, nearest
from ..common.files import read_text
from .algebra import ELEMENTARY, VECTOR_FUNCTIONS, Evaluator, UnknownName
from .shape import SHAPE, SHAPES
from .spec import (
    COORDINATE_KINDS,
    PARAMETER_KINDS,
    Constraint,
    Coordinate,
    Formula,
    GroupSpec,
    component_names,
    line_of,
)

TABLES = (
    "dependent",
    "independent",
    "parameters",
    "let",
    "constraints",
    "admissible",
    "closed_form",
    "points",
)
TEXTS = ("name", "title", "source", "space", "singular")
# Names that the emitted code uses itself; a coordinate of that name would be shadowed there.
RESERVED = (
    frozenset(
        {
            "t",
            "pi",
            "e",
            "phi",
            "h",
            "par",
            "branch",
            "work",
            "out",
            "math",
            "np",
            "njit",
            "straight_line",
            "abs",
            "OK",
            "factors",
            "rhs",
            "weights",
        }
    )
    | frozenset(
        {
            "Phi",
            "Phi_phi",
            "Phi_h",
            "phidot",
            "phiddot",
            "hdot",
            "hddot",
            "hdddot",
            "u_phi",
            "u_h",
            "v_phi",
            "v_h",
        }
    )
    | frozenset({"dh", "dpar", "dphi", "dhdot", "dphidot", "dhddot"})
    | frozenset(ELEMENTARY)
    | frozenset(VECTOR_FUNCTIONS)
)
TYPE_NAME = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_\[\]()+]{0,59}")
TYPE_NAME_RULE = "a type's name has letters, digits, - _ [ ] ( ) + and at most 60 characters"
MAX_BYTES = 1_000_000


def read_spec(path: Path) -> GroupSpec:
    """Read and validate one specification file."""
    near = ""
    with contextlib.suppress(OSError, ValueError):  # a name too long, or with a null character
        near = nearest(path.name, [p.name for p in path.parent.glob("*.toml") if p != path])[3:]
    remedy = "give the path of a specification file (docs/new-group.md shows one)"
    text = read_text(path, MAX_BYTES, remedy=f"{near} - {remedy}" if near and not path.exists() else remedy)
    return parse_spec(text, str(path))


def parse_spec(text: str, origin: str) -> GroupSpec:
    """Return the validated specification; every error names the file, the line, the symbol and the remedy."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also thousands of digits, or as many nested brackets
        raise InputError(f"{origin}:{_toml_line(error)}: not valid TOML: {error}") from error
    return _Reader(text, origin, data).spec()


def _excerpt(formula: str) -> str:
    return formula if len(formula) <= 120 else formula[:117] + "..."


def _toml_line(error: Exception) -> int:
    found = re.search(r"at line (\d+)", str(error))
    return int(found[1]) if found else 1


class _Reader:
    """One specification being read; every method leaves by `fail` when something is wrong."""

    def __init__(self, text: str, origin: str, data: dict[str, Any]) -> None:
        self.text = text
        self.origin = origin
        self.data = data
        self.dimension = 2

    def line(self, table: str | None, key: str | None = None) -> int:
        return line_of(self.text, table, key)

    def fail(self, table: str | None, key: str | None, message: str) -> NoReturn:
        where = f"[{table}] {key}: " if table and key else f"[{table}] " if table else f"{key}: " if key else ""
        raise InputError(f"{self.origin}:{self.line(table, key)}: {where}{message}")

    def spec(self) -> GroupSpec:
        self.known_keys()
        texts = {key: self.string(key) for key in TEXTS}
        if texts["space"] not in ("planar", "spatial"):
            self.fail(None, "space", f'\'{texts["space"]}\' - write "planar" or "spatial"')
        if not TYPE_NAME.fullmatch(texts["name"]):
            self.fail(None, "name", f"'{texts['name']}' - {TYPE_NAME_RULE}")
        self.dimension = 2 if texts["space"] == "planar" else 3
        spec = GroupSpec(
            **texts,
            aliases=self.aliases(),
            dependent=self.coordinates("dependent", COORDINATE_KINDS),
            independent=self.coordinates("independent", COORDINATE_KINDS),
            parameters=self.coordinates("parameters", PARAMETER_KINDS),
            definitions=self.formulas("let"),
            constraints=self.equations("constraints"),
            admissible=self.equations("admissible"),
            branches=self.branches(),
            closed_form=self.formulas("closed_form", skip="branches"),
            points=self.formulas("points"),
            text=self.text,
            origin=self.origin,
        )
        self.names_are_free(spec)
        self.formulas_have_shape(spec)
        self.counts(spec)
        for profile, unknown in spec.profiles:
            if unknown not in spec.phi:
                self.fail(
                    "parameters",
                    profile.name,
                    f"a profile is a function of one unknown number, everywhere the same: {profile.name}(x)",
                )
        return spec

    def known_keys(self) -> None:
        if self.data.get("format") != 1:
            found = repr(self.data["format"]) if "format" in self.data else "is missing"
            self.fail(None, "format", f"{found} - a group specification begins with format = 1")
        allowed = ["format", "aliases", *TEXTS, *TABLES]
        for key, value in self.data.items():
            if key not in allowed:
                self.fail(
                    key if isinstance(value, dict) else None,
                    None if isinstance(value, dict) else key,
                    f"'{key}' is not known here{nearest(key, allowed)}",
                )
            if key in TABLES and not isinstance(value, dict):
                self.fail(None, key, f"is a table: [{key}]")

    def string(self, key: str) -> str:
        value = self.data.get(key, "" if key in ("source", "singular", "title") else None)
        if not isinstance(value, str):
            self.fail(None, key, f'is missing or not text - write {key} = "..."')
        return value

    def aliases(self) -> tuple[str, ...]:
        value = self.data.get("aliases", [])
        if not isinstance(value, list) or not all(isinstance(a, str) for a in value):
            self.fail(None, "aliases", 'is a list of names: aliases = ["3R"]')
        for alias in value:
            if not TYPE_NAME.fullmatch(alias):
                self.fail(None, "aliases", f"'{alias}' - {TYPE_NAME_RULE}")
        if len({*value, self.data["name"]}) <= len(value):
            self.fail(None, "aliases", f"{value} - a name stands there twice, or is the name of the type itself")
        return tuple(value)

    def coordinates(self, table: str, kinds: dict[str, str]) -> tuple[Coordinate, ...]:
        found = []
        for name, value in self.data.get(table, {}).items():
            kind = value if isinstance(value, str) else ""
            driven = kind.startswith("driven ")
            kind = kind.removeprefix("driven ")
            if kind not in kinds or (driven and table != "independent"):
                hint = nearest(kind, kinds) if kind else ""
                self.fail(
                    table,
                    name,
                    f"{value!r}{hint} - the kinds are {', '.join(kinds)}"
                    + (', with "driven" before it for the value of a driver' if table == "independent" else ""),
                )
            found.append(Coordinate(name, kind, component_names(name, kind, self.dimension), driven))
        return tuple(found)

    def texts(self, table: str, skip: str = "") -> list[tuple[str, str]]:
        found = []
        for name, value in self.data.get(table, {}).items():
            if name == skip:
                continue
            if not isinstance(value, str):
                self.fail(table, name, 'is a formula in quotes, such as "|C - B|^2 = L^2"')
            found.append((name, value))
        return found

    def formulas(self, table: str, skip: str = "") -> tuple[Formula, ...]:
        found = []
        for name, text in self.texts(table, skip):
            try:
                found.append(Formula(name, text, ex.parse(text), self.line(table, name)))
            except ex.FormulaError as error:
                self.fail(table, name, f'column {error.column} of "{_excerpt(text)}": {error}')
        return tuple(found)

    def equations(self, table: str) -> tuple[Constraint, ...]:
        found = []
        for name, text in self.texts(table):
            try:
                found.append(Constraint(name, text, ex.parse_equation(text), self.line(table, name)))
            except ex.FormulaError as error:
                self.fail(table, name, f'column {error.column} of "{_excerpt(text)}": {error}')
        return tuple(found)

    def branches(self) -> tuple[str, ...]:
        value = self.data.get("closed_form", {}).get("branches", [])
        if not isinstance(value, list) or not all(isinstance(b, str) for b in value):
            self.fail("closed_form", "branches", 'is a list of names of signs: branches = ["sigma"]')
        return tuple(value)

    def names_are_free(self, spec: GroupSpec) -> None:
        seen: dict[str, str] = {}
        tables = [
            ("dependent", spec.dependent),
            ("independent", spec.independent),
            ("parameters", spec.parameters),
        ]
        entries = [(t, c.name, s) for t, cs in tables for c in cs for s in dict.fromkeys((c.name, *c.symbols))]
        entries += [("let", f.name, f.name) for f in spec.definitions]
        entries += [("closed_form", "branches", b) for b in spec.branches]
        for table, items in (
            ("constraints", spec.constraints),
            ("admissible", spec.admissible),
            ("points", spec.points),
        ):
            for item in items:
                if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,59}", item.name):
                    self.fail(
                        table,
                        item.name,
                        f"{item.name!r} - a name has letters, digits and _, and begins with a letter",
                    )
        for table, key, symbol in entries:
            if (
                not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", symbol)
                or keyword.iskeyword(symbol)
                or symbol in RESERVED
                or symbol.endswith("dot")
            ):
                self.fail(
                    table,
                    key,
                    f"'{symbol}' cannot name a quantity (reserved, or not letters, digits and _) - "
                    f"rename it, for example '{symbol}_1'",
                )
            if symbol in seen:
                self.fail(
                    table,
                    key,
                    f"the symbol '{symbol}' is declared already in [{seen[symbol]}] - each has one place",
                )
            seen[symbol] = table

    def formulas_have_shape(self, spec: GroupSpec) -> None:
        names = spec.values(lambda _: SHAPE)
        evaluate = Evaluator(names, SHAPES, spec.dimension)

        def check(table: str, item: Formula | Constraint) -> Any:
            try:
                value = evaluate(item.node) if isinstance(item, Formula) else evaluate.residual(item.equation)
            except UnknownName as error:
                end = "" if str(error).endswith("?") else "."
                self.fail(
                    table,
                    item.name,
                    f"{error}{end} Declare it in [dependent], [independent], "
                    f'[parameters] or [let], or correct the formula "{_excerpt(item.text)}".',
                )
            except ex.FormulaError as error:
                self.fail(table, item.name, f'column {error.column} of "{_excerpt(item.text)}": {error}')
            for part in value if isinstance(value, tuple) else (value,):
                if excess := part.excess():
                    self.fail(table, item.name, f'"{_excerpt(item.text)}": {excess}')
            return value

        unknown = {c.name for c in spec.dependent} | set(spec.phi)
        for formula in spec.definitions:
            names[formula.name] = check("let", formula)
            if unknown & set(ex.names(formula.node)):
                unknown.add(formula.name)
        for constraint in spec.constraints:
            check("constraints", constraint)
        for formula in spec.points:
            if not isinstance(check("points", formula), tuple):
                self.fail("points", formula.name, 'a point of interest is a vector, such as "A + p*(C - A)"')
        for condition in spec.admissible:
            check("admissible", condition)
            used = set(ex.names(condition.equation)) & unknown
            if used:
                self.fail(
                    "admissible",
                    condition.name,
                    f"uses the unknown '{sorted(used)[0]}'; conditions on h and parameters only - "
                    "move it to [constraints]",
                )
        for name in unknown:
            names.pop(name, None)
        self.closed_form_is_complete(spec, names, check)

    def closed_form_is_complete(
        self, spec: GroupSpec, names: dict[str, Any], check: Callable[[str, Formula], Any]
    ) -> None:
        unknown = {c.name: c for c in spec.dependent}
        names.update(dict.fromkeys(spec.branches, SHAPE))
        given = set()
        for formula in spec.closed_form:
            names[formula.name] = check("closed_form", formula)
            given.add(formula.name)
            if formula.name in unknown and isinstance(names[formula.name], tuple) != unknown[formula.name].is_vector:
                self.fail("closed_form", formula.name, f"is a {unknown[formula.name].kind}, the formula is not")
        missing = sorted(set(unknown) - given)
        if spec.closed_form and missing:
            self.fail(
                "closed_form",
                None,
                f"gives no formula for {', '.join(missing)} - "
                "give one for every dependent coordinate, or remove the table",
            )

    def counts(self, spec: GroupSpec) -> None:
        if not spec.phi:
            self.fail("dependent", None, "has no coordinate - name at least one unknown of the group")
        names = spec.values(lambda _: SHAPE)
        evaluate = Evaluator(names, SHAPES, spec.dimension)
        for formula in spec.definitions:
            names[formula.name] = evaluate(formula.node)
        rows = sum(len(evaluate.residual(c.equation)) for c in spec.constraints)
        if rows < len(spec.phi):
            self.fail(
                "constraints",
                None,
                f"{rows} scalar equations for the {len(spec.phi)} unknowns {', '.join(spec.phi)}: "
                f"{len(spec.phi) - rows} too few - add a constraint, "
                "or move a coordinate that earlier groups or a driver give to [independent]",
            )
