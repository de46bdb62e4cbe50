"""Edits of a mechanism file's text that keep what they do not change: names, order, comments, blank lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.container import Container, OutOfOrderTableProxy
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, Comment, InlineTable, Table

from ..common.errors import InputError
from ..mechanism.toml_text import to_toml

# Where other tables name an entry: table -> (table, key) pairs. A key may hold a name or a list of names.
REFERENCES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "points": (
        ("bodies", "points"),
        ("bodies", "centre"),
        ("joints", "at"),
        ("joints", "through"),
        ("joints", "centre"),
        ("drivers", "between"),
        ("drivers", "point"),
        ("forces", "point"),
        ("forces", "between"),
        ("vectors", "of"),
    ),
    "bodies": (
        ("joints", "bodies"),
        ("joints", "carrier"),
        ("drivers", "bodies"),
        ("forces", "body"),
        ("vectors", "body"),
    ),
    "joints": (("drivers", "joint"), ("forces", "joint"), ("initial", "joint"), ("actuators", "joint")),
    "drivers": (),
    "forces": (),
    "parameters": (),
}
MOST_OPERATIONS = 2000

Document = tomlkit.TOMLDocument
Operation = Sequence[Any]


class Editor:
    """A document under edit. The last one is kept: while a point is dragged the same keys are set again and again."""

    def __init__(self) -> None:
        self._base = ""
        self._keys: tuple[str, ...] = ()
        self._document: Document | None = None

    def apply(self, text: str, operations: Sequence[Operation]) -> str:
        """Return the text after the operations: ["set", path, value], ["delete", path], ["rename", table, old, new]."""
        if not isinstance(operations, list) or len(operations) > MOST_OPERATIONS:
            raise InputError(f"edit: a list of at most {MOST_OPERATIONS} operations is expected")
        if not all(isinstance(operation, list) and operation for operation in operations):
            raise InputError("edit: an operation is a list")
        keys = tuple(str(operation[:2]) for operation in operations)
        again = self._document is not None and self._base == text and self._keys == keys and _only_sets(operations)
        document = self._document if again else _parsed(text)
        assert document is not None
        for operation in operations:
            _one(document, operation)
        kept = _only_sets(operations)
        self._base, self._keys, self._document = (text, keys, document) if kept else ("", (), None)
        return tomlkit.dumps(document)


def _only_sets(operations: Sequence[Operation]) -> bool:
    return all(operation[0] == "set" for operation in operations)


def _parsed(text: str) -> Document:
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise InputError(f"the text is not valid TOML: {error} - correct it in the tab File") from None


def _one(document: Document, operation: Operation) -> None:
    match operation:
        case ["set", [*path], value] if _names(path):
            _set(document, path, value)
        case ["delete", [*path]] if _names(path):
            _delete(document, path)
        case ["rename", str(table), str(old), str(new)] if table in REFERENCES:
            _rename(document, table, old, new)
        case _:
            raise InputError(f"edit: {str(operation)[:80]} is no operation")


def _names(path: Sequence[Any]) -> bool:
    return 1 <= len(path) <= 5 and all(isinstance(key, str) and len(key) <= 200 for key in path)


def _set(document: Document, path: Sequence[str], value: Any) -> None:
    *parents, last = path
    place: Any = document
    for depth, key in enumerate(parents):
        if key not in place:
            _add_table(place, key, depth)
        place = place[key]
        if not isinstance(place, AbstractTable | Container | OutOfOrderTableProxy):
            raise InputError(f"edit: {'.'.join(path[: depth + 1])} is no table")
    if len(parents) == 1 and parents[0] == "bodies" and isinstance(value, dict):
        if last in place:
            _update(place[last], value)
        else:
            place[last] = _table(value)
        return
    if last in place and isinstance(value, dict) and isinstance(place[last], AbstractTable):
        _update(place[last], value)
        return
    place[last] = _item(value)


def _update(table: Any, values: Mapping[str, Any]) -> None:
    """Make a table hold these values; what is equal already keeps its way of writing."""
    for key in [key for key in table if key not in values]:
        del table[key]
    for key, value in values.items():
        if key not in table or table[key] != value:
            table[key] = _item(value)


def _add_table(place: Any, key: str, depth: int) -> None:
    """Add an empty table; bodies are tables of their own below `[bodies.`."""
    if isinstance(place, InlineTable):
        place[key] = tomlkit.inline_table()
        return
    place[key] = tomlkit.table(is_super_table=depth == 0 and key == "bodies")


def _table(values: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in values.items():
        table[key] = _item(value)
    table.add(tomlkit.nl())
    return table


def _item(value: Any) -> Any:
    """Return a value as a person writes it: `{ type = "R" }` with blanks inside the braces."""
    return tomlkit.parse(to_toml({"x": {"y": value}}))["x"]["y"]


def _delete(document: Document, path: Sequence[str]) -> None:
    *parents, last = path
    place: Any = document
    for key in parents:
        if key not in place:
            return
        place = place[key]
    if last in place:
        if isinstance(place, Table) and isinstance(place[last], Table):
            _keep_comments(place, last)
        del place[last]


def _keep_comments(place: Table, last: str) -> None:
    """Comments at the end of a table speak of the next one: the table before takes them over."""
    body = place[last].value.body
    end = max((k for k, (key, _) in enumerate(body) if key is not None), default=-1) + 1
    before = [key for key in place if isinstance(place[key], Table)]
    index = before.index(last)
    if index and any(isinstance(item, Comment) for _, item in body[end:]):
        target: Any = place[before[index - 1]]
        for _, item in body[end:]:
            target.add(item)


def _rename(document: Document, table: str, old: str, new: str) -> None:
    if not new.strip() or len(new) > 200:
        raise InputError(f"[{table}] {old}: a new name must not be empty")
    if table not in document or old not in document[table]:
        raise InputError(f"[{table}] {old}: is not there")
    entries: Any = document[table]
    if new == old:
        return
    if new in entries:
        raise InputError(f"[{table}] {new}: is there already - choose another name")
    _rename_key(entries, old, new)
    for where, key in REFERENCES[table]:
        for entry in document.get(where, {}).values():
            if isinstance(entry, dict) and key in entry:
                _replace(entry, key, old, new)
    if table == "points":
        for body in document.get("bodies", {}).values():
            if isinstance(body.get("local"), dict) and old in body["local"]:
                _rename_key(body["local"], old, new)
        for joint in document.get("joints", {}).values():
            if isinstance(joint, dict) and isinstance(joint.get("follower"), dict):
                _replace(joint["follower"], "point", old, new)
    if table == "joints" and "cut" in document.get("simulation", {}):
        _replace(document["simulation"], "cut", old, new)


def _replace(entry: Any, key: str, old: str, new: str) -> None:
    value = entry.get(key)
    if value == old:
        entry[key] = new
    elif isinstance(value, list):
        for k, item in enumerate(value):
            if item == old:
                value[k] = new


def _rename_key(entries: Any, old: str, new: str) -> None:
    """Give an entry another name in the same place."""
    held = [(key, entries[key]) for key in list(entries)]
    if isinstance(entries, InlineTable):
        for key, _ in held:
            del entries[key]
        for key, value in held:
            entries[new if key == old else key] = value
        return
    container = entries.value if isinstance(entries, Table) else None
    if container is None:
        raise InputError(f"{old}: its tables stand apart in the file - rename it in the tab File")
    item = entries[old]
    container._replace(old, new, item)
    if isinstance(item, Table):
        item.name, item.display_name = new, None
