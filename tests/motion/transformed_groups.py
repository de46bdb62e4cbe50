"""[groups] of a mechanism that is written in another way: `where` says the same of the changed file.

`transformed` changes a file and leaves [groups] as it is; `regrouped` then finds each group by its bodies, since groups
are numbered in the order in which they are found, and changes what stands in `where` by the kind of the type's name.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assurgent.mechanism.model import Array
from assurgent.mechanism.plans.planning import studied
from assurgent.mechanism.reader import from_data
from assurgent.runtime.library import specification_of

Data = dict[str, Any]
Rule = Callable[[str, Any, Data], Any]  # kind in the type, what stands there, the new values -> what stands there now
VECTORS = ("vector", "unit vector")


def same(_: str, value: Any, __: Data) -> Any:
    return value


def regrouped(data: Data, change: Any, rule: Rule = same) -> Any:
    """Return a change of a file with its [groups] changed accordingly."""
    if "groups" not in data:
        return change
    out = copy.deepcopy(change.data)
    out.pop("groups")
    before, after = ({name: set(g.bodies) for name, g in _groups(x)} for x in ({**data, "groups": {}}, out))
    entries = {}
    for name, entry in data["groups"].items():
        bodies = {change.name("bodies", b) for b in before[name]}
        (now,) = [n for n, b in after.items() if b == bodies]
        kinds = _kinds(entry["type"])
        where = {key: rule(kinds[key], value, out) for key, value in _whole(data, entry, kinds).items()}
        entries[now] = {"type": entry["type"], "where": where}
    out["groups"] = entries
    return replace(change, data=out)


def _groups(data: Data) -> list[tuple[str, Any]]:
    return [(g.name, g) for g in studied(from_data(data, "")).groups]


def _kinds(name: str) -> dict[str, str]:
    """Return the kinds of a type's names."""
    spec = tomllib.loads(specification_of(name))
    tables = [spec.get(table, {}) for table in ("parameters", "independent", "dependent")]
    found = {key: kind.removeprefix("driven ") for table in tables for key, kind in table.items()}
    return {**dict.fromkeys(spec.get("points", {}), "point"), **found}


def _whole(data: Data, entry: Data, kinds: Mapping[str, str]) -> Data:
    """Return `where` with the names that may be left out, since they are the same in type and mechanism."""
    where = dict(entry.get("where", {}))
    points = {p for body in data["bodies"].values() for p in body["points"]}
    for key, kind in kinds.items():
        if key in where:
            continue
        if kind == "point" and key in points:
            where[key] = key
        elif kind not in ("point", *VECTORS) and key in data["drivers"]:
            where[key] = f"driver {key}"
        elif kind not in ("point", *VECTORS) and key in data.get("parameters", {}):
            where[key] = key
    return where


# ---- rules --------------------------------------------------------------------------------------------------------
def new_names(name: Callable[[str, str], str]) -> Rule:
    """Return the rule of other names, by (table, old name)."""

    def formula(text: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda m: name("parameters", m[0]), text)

    def rule(kind: str, value: Any, _: Data) -> Any:
        if isinstance(value, list):
            return [rule("number", v, {}) for v in value]
        if not isinstance(value, str):
            return value
        if kind == "point":
            return name("points", value)
        for word, table in (("joint", "joints"), ("driver", "drivers"), ("body", "bodies")):
            if value.startswith(f"{word} "):
                return f"{word} {name(table, value.removeprefix(word).strip())}"
        if kind not in VECTORS:
            return formula(value)
        if "->" in value:
            return " -> ".join(name("points", end.strip()) for end in value.split("->"))
        body, axis = value.rsplit(".", 1)
        return f"{name('bodies', body)}.{axis}"

    return rule


def turned(rotation: Array, shift: Array) -> Rule:
    """Return the rule of a mechanism that stands elsewhere: what lies along global axes lies across them now."""
    d = len(shift)

    def rule(kind: str, value: Any, out: Data) -> Any:
        if isinstance(value, list):
            moved = rotation @ np.array(value, dtype=float)
            return (moved + shift if kind == "point" else moved).tolist()
        if kind not in VECTORS or not isinstance(value, str) or value[-2:] not in (".x", ".y", ".z"):
            return value
        body = value[:-2]
        if body != "frame" and (d == 2 or "local" in out["bodies"][body]):
            return value  # its axes turn with it
        along = rotation[:, "xyz".index(value[-1])].tolist()
        if body == "frame":
            return along
        name = f"{body}_{value[-1]}"
        out.setdefault("vectors", {})[name] = {"body": body, "direction": along}
        return name

    return rule


def longer(factor: float) -> Rule:
    """Return the rule of all lengths by a factor."""

    def rule(kind: str, value: Any, _: Data) -> Any:
        if isinstance(value, list) and kind == "point":
            return [f"({v})*{factor!r}" for v in value]
        linked = isinstance(value, str) and value.startswith(("joint ", "driver "))
        return f"({value})*{factor!r}" if kind in ("length", "offset") and not linked else value

    return rule


def explicit_in_time(data: Data) -> bool:
    """Tell whether a group is solved by a type with explicit time: at another date it is another one."""
    entries = data.get("groups", {}).values()
    texts = [str(tomllib.loads(specification_of(e["type"]))["constraints"]) for e in entries]
    return any(re.search(r"\bt\b", text) for text in texts)
