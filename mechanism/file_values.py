"""The text of a mechanism file and its values: typed access, and messages that say where, what and what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..common.errors import InputError, nearest
from ..common.expressions import FormulaError
from . import functions
from .arguments import shown as shown
from .functions import LARGEST, Expression, excerpt
from .model import Array
from .numbers import arithmetic
from .numbers.traced import Traced
from .tables import Table, read_table

Where = tuple[str, ...]
_KEY = r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+)"
_DOTTED = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*(=|\])")
_NESTED = ("bodies", "groups")  # tables of tables: the table is [bodies.crank], the key stands in it


class Source:
    """One mechanism file being read. Every check leaves by `fail` when something is wrong."""

    def __init__(self, data: Mapping[str, Any], text: str, origin: str, folder: Path | None) -> None:
        self.data = data
        self.text = text
        self.origin = origin
        self.folder = folder
        self.parameters: dict[str, float] = {}
        self.dimension = 2

    # ---- messages ----
    def line(self, where: Where) -> int | None:
        """Return the line (from 1) where a key, or the nearest thing that holds it, stands; None without a text."""
        best, found, prefix = 0, None, ()
        for number, line in enumerate(self.text.splitlines(), 1):
            stripped = line.strip()
            head = stripped.startswith("[")
            match = _DOTTED.match(stripped.lstrip("[") if head else stripped)
            if match is None or (match[2] == "]") != head:
                continue
            keys = tuple(k.strip("\"'") for k in re.findall(_KEY, match[1]))
            prefix, path = (keys, keys) if head else (prefix, (*prefix, *keys))
            depth = len(path)
            if path == where[:depth] and depth > best:
                best, found = depth, number
            elif head and best == 0 and where and path[:1] == where[:1] and found is None:
                found = number
        return found

    def label(self, where: Where) -> str:
        """Return the place as a message shows it: file, line, [table] and key."""
        line = self.line(where) if where else None
        label = self.origin if line is None else f"{self.origin}:{line}"
        if not where:
            return label
        if len(where) == 1:
            return f"{label}: [{where[0]}]" if isinstance(self.data.get(where[0]), dict) else f"{label}: {where[0]}"
        depth = 2 if where[0] in _NESTED else 1
        table, key = ".".join(where[:depth]), ".".join(where[depth:])
        return f"{label}: [{table}] {key}" if key else f"{label}: [{table}]"

    def fail(self, where: Where, message: str) -> NoReturn:
        text = f"{self.label(where)}: {message}"
        # a name in quotes may hold anything; a message is one line
        raise InputError("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))

    def unknown(self, where: Where, what: str, name: object, known: Iterable[str]) -> NoReturn:
        """Refuse a name that nothing has."""
        names = sorted(known)
        near = nearest(name, names)
        listed = ", ".join(names) if len(names) <= 12 else ", ".join(names[:12]) + ", ..."
        self.fail(where, f"there is no {what} {shown(name)}{near or (f' - there are {listed}' if names else '')}")

    # ---- values ----
    def table(self, where: Where, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.fail(where, f"is a table, not {shown(value)}")
        return value

    def keys(self, where: Where, table: Mapping[str, Any], allowed: Iterable[str], needed: Iterable[str] = ()) -> None:
        """Refuse keys that have no meaning in a table, and the lack of those that it needs."""
        allowed = tuple(allowed)
        for key in table:
            if key not in allowed:
                near = nearest(key, allowed) or f" - the keys are {', '.join(allowed)}"
                self.fail((*where, key), f"'{key}' is not known here{near}")
        for key in needed:
            if key not in table:
                self.fail(where, f"lacks '{key}' - write {key} = ...")

    def string(self, where: Where, value: object) -> str:
        if not isinstance(value, str):
            self.fail(where, f"is a text in quotes, not {shown(value)}")
        return value

    def names(self, where: Where, value: object, count: int | None = None) -> list[str]:
        """Return a list of names, of a given length if it matters."""
        right = isinstance(value, list) and all(isinstance(v, str) for v in value)
        if not right or (count is not None and len(value) != count):  # type: ignore[arg-type]
            asked = "a list of names" if count is None else f"a list of {count} names"
            self.fail(where, f'is {asked}, such as ["A", "B"], not {shown(value)}')
        found: list[str] = value  # type: ignore[assignment]
        return found

    def number(self, where: Where, value: object) -> float:
        """Return a number, or the value of a formula in the parameters."""
        found: float
        if isinstance(value, str):
            try:
                found = functions.evaluate(value, self.parameters)
            except FormulaError as error:
                self.formula(where, value, error)
            return self.within(where, value, found)
        if isinstance(value, Traced):
            found = arithmetic.scalar(value)
            arithmetic.finite(found)
            return found
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(where, f"is a number or a formula in quotes, not {shown(value)}")
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        return self.within(where, value, found)

    def within(self, where: Where, value: object, found: Any) -> float:
        """Refuse a number that is not finite, or whose powers in the equations would not be."""
        if not isinstance(found, Traced):
            if not math.isfinite(found):
                self.fail(where, f"{shown(value)} is not a finite number")
            if abs(found) > LARGEST:
                self.fail(where, f"{shown(value)} is out of range - numbers go up to {LARGEST:g}")
        number: float = found
        return number

    def vector(self, where: Where, value: object, length: int | None = None) -> Array:
        """Return a list of numbers as an array, by default with as many entries as space has directions."""
        count = self.dimension if length is None else length
        if not isinstance(value, list) or len(value) != count:
            kind = "" if length else f" in a {'planar' if self.dimension == 2 else 'spatial'} mechanism"
            size = f" of {len(value)}" if isinstance(value, list) else ""
            self.fail(where, f"is a list of {count} numbers{kind}, not {shown(value)}{size}")
        return arithmetic.array([self.number(where, v) for v in value])

    def positive(self, where: Where, value: object) -> float:
        found = self.number(where, value)
        if found <= 0:
            self.fail(where, f"is {found:.12g} and must be greater than 0")
        return found

    def function(self, where: Where, value: object, variable: str = "t") -> Expression | Table:
        """Return a function of time (or of a cam's angle u) from a number, a formula, or { table = "file.csv" }."""
        if isinstance(value, dict):
            self.keys(where, value, ("table",), ("table",))
            return self.spline((*where, "table"), value["table"], variable)
        if not isinstance(value, str):
            value = repr(self.number(where, value))
        if value.strip().lower().endswith(".csv"):
            if variable == "u":
                return self.spline(where, value, variable)
            self.fail(where, f'is a formula; a table is named by {{ table = "{excerpt(value.strip())}" }}')
        try:
            return functions.expression(value, self.parameters, variable)
        except FormulaError as error:
            self.formula(where, value, error)

    def spline(self, where: Where, value: object, variable: str = "t") -> Table:
        """Return the spline through a table of the mechanism's folder."""
        name = self.string(where, value)
        if self.folder is None:
            self.fail(where, f"'{excerpt(name)}' cannot be found: a mechanism that is no file has no folder for tables")
        period = 2 * math.pi if variable == "u" else 0.0
        return read_table(self.folder / name, self.label(where), name, variable, period)

    def formula(self, where: Where, text: str, error: FormulaError) -> NoReturn:
        if str(error).startswith("is not"):
            self.fail(where, f'"{excerpt(text)}" {error}')
        self.fail(where, f'column {error.column} of "{excerpt(text)}": {error}')
