"""Shrinking a difference: parts that are not needed go, the run becomes shorter, numbers rounder."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .case import Case
from .compare import Verdict, judged

Keeps = Callable[[Case], Verdict | None]


def shrunk(case: Case, why: str, seconds: float = 60.0) -> tuple[Case, Verdict]:
    """Return a smaller case that is still different in the same way, as far as the time goes."""
    best, verdict = case, Verdict("different", why)
    until = time.monotonic() + seconds
    kind = family_of(why)
    progress = True
    while progress and time.monotonic() < until:
        progress = False
        for smaller in candidates(best):
            if time.monotonic() > until:
                break
            try:
                found = judged(smaller)
            except Exception:  # noqa: BLE001 - a candidate that breaks the oracle is none
                continue
            if found.kind == "different" and family_of(found.why) == kind:
                best, verdict, progress = smaller, found, True
                break
    return best, verdict


def family_of(why: str) -> str:
    """Return the first words of a reason: what is wrong, without names and numbers."""
    for end in (" of ", " after ", " at t = ", " by ", ":"):
        why = why.split(end)[0]
    return why


def candidates(case: Case) -> Iterator[Case]:
    """Yield smaller cases, the boldest first."""
    bodies = [b for b in case.data["bodies"] if b != "frame"]
    for n, body in enumerate(bodies):  # dyads go by two
        for other_body in reversed(bodies[:n]):
            yield _without(_without(case, body), other_body)
    for body in bodies:
        yield _without(case, body)
    for table in ("forces", "drivers", "joints"):
        for name in case.data.get(table, {}):
            other = copy.deepcopy(case)
            del other.data[table][name]
            yield _pruned(other)
    for point in _marks(case):
        other = copy.deepcopy(case)
        for body in other.data["bodies"].values():
            if point in body["points"] and len(body["points"]) > 1:
                body["points"].remove(point)
                body.get("local", {}).pop(point, None)
        yield _pruned(other)
    yield from _shorter(case)
    for digits in (1, 2, 3, 5, 8):
        for table in ("points", "bodies", "joints", "forces"):
            other = copy.deepcopy(case)
            other.data[table] = _rounded(other.data.get(table, {}), digits)
            if not _same(other.data[table], case.data.get(table, {})):
                yield other


def _without(case: Case, body: str) -> Case:
    other = copy.deepcopy(case)
    data = other.data
    del data["bodies"][body]
    gone = [j for j, f in data["joints"].items() if body in f["bodies"] or f.get("carrier") == body]
    for joint in gone:
        del data["joints"][joint]
    for table in ("drivers", "forces", "initial"):
        for name, f in list(data.get(table, {}).items()):
            if f.get("joint") in gone or body in f.get("bodies", ()) or f.get("body") == body:
                del data[table][name]
    return _pruned(other)


def _pruned(case: Case) -> Case:
    """Drop the points that no body lists any more, and tables that are empty."""
    data = case.data
    listed = {p for b in data["bodies"].values() for p in b["points"]}
    data["points"] = {p: x for p, x in data["points"].items() if p in listed}
    for table in ("forces", "initial"):
        if not data.get(table, True):
            del data[table]
    return case


def _marks(case: Case) -> list[str]:
    """Return points that no joint or driver needs."""
    used = {str(v) for t in ("joints", "drivers", "forces") for f in case.data.get(t, {}).values() for v in _texts(f)}
    return [p for p in case.data["points"] if p not in used]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for x in value.values():
            yield from _texts(x)
    elif isinstance(value, list | tuple):
        for x in value:
            yield from _texts(x)


def _shorter(case: Case) -> Iterator[Case]:
    if case.at is not None:
        for k in range(len(case.at)):
            if len(case.at) > 1:
                other = copy.deepcopy(case)
                del other.at[k]  # type: ignore[union-attr]
                yield other
        return
    table = case.data["simulation"]
    start, stop, step = table["start"], table["stop"], table["step"]
    if stop - start > 1.5 * step:
        for part in (0.25, 0.5, 0.8):
            other = copy.deepcopy(case)
            n = math.ceil((stop - start) * part / step)
            other.data["simulation"]["stop"] = start + n * step
            if other.data["simulation"]["stop"] < stop:
                yield other
    for digits in (1, 2, 3):
        other = copy.deepcopy(case)
        other.data["simulation"] |= {"stop": round(stop, digits), "step": round(step, digits) or step}
        if other.data["simulation"] != table:
            yield other


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, dict):
        return {k: _rounded(v, digits) for k, v in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_rounded(x, digits) for x in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{digits}g}") if value and math.isfinite(value) else float(value)
    return value


def _same(a: Any, b: Any) -> bool:
    return bool(repr(_rounded(a, 17)) == repr(_rounded(b, 17)))
