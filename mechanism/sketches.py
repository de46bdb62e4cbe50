"""Sketches that follow: points of rigid bodies led without a jump to where some of them are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

STEPS = 60  # of the way; each is closed by Newton-Raphson
ITERATIONS = 4
LEAST = 1e-300  # length, in place of zero
BESIDE = 1e-6  # of the singular values: points on one line leave less, rounded as they may be


def values(table: Mapping[str, Any]) -> dict[str, float]:
    """Return the parameters of a file that have a value."""
    from .functions import evaluate

    found: dict[str, float] = {}
    for name, value in table.items():
        try:
            found[name] = evaluate(value, found) if isinstance(value, str) else value
        except (TypeError, ValueError):
            continue
    return found


def numbers(place: Any, parameters: Mapping[str, float]) -> list[float] | None:
    """Return the coordinates of a place as numbers; None where a formula has no value."""
    from .functions import evaluate

    try:
        # a traced number is guarded where it becomes a plain one: another design is read on its own
        return [float(evaluate(x, parameters)) if isinstance(x, str) else float(x) for x in place]
    except (TypeError, ValueError, OverflowError):
        return None


def distances(
    body: Mapping[str, Any], sketch: Mapping[str, Any], parameters: Mapping[str, float]
) -> list[tuple[str, str, float]]:
    """Return the distances between the points of a body: by its length or local, else by the sketch."""
    names = [p for p in body.get("points", ()) if p in sketch]
    length = numbers([body["length"]], parameters) if "length" in body else None
    local = given if isinstance(given := body.get("local"), Mapping) else {}
    places = {p: numbers(local[p], parameters) if p in local else sketch[p] for p in names}
    found = []
    for p, q in combinations(names, 2):
        a, b = places[p], places[q]
        if length is not None:
            found.append((p, q, length[0]))
        elif a is not None and b is not None:
            found.append((p, q, float(np.hypot(*np.subtract(a, b)))))
    return found


def fixes_axes(local: Any, sketch: Mapping[str, Any], parameters: Mapping[str, float]) -> bool:
    """Return whether the sketched points of a body in space fix its axes: by `local`, and not all on one line."""
    pairs = [(local[p], sketch[p]) for p in local if p in sketch] if isinstance(local, Mapping) else []
    places = [(numbers(x, parameters), numbers(y, parameters)) for x, y in pairs]
    whole = [(x, y) for x, y in places if x and y and len(x) == len(y) == 3 and np.isfinite([x, y]).all()]
    if len(whole) < 3:
        return False
    # shares of the largest number: what is out of range is told later, and no square of it is needed here
    inside, outside = (np.array(each) / max(np.abs(each).max(), LEAST) for each in zip(*whole, strict=True))
    inside, outside = (each - each.mean(axis=0) for each in (inside, outside))
    sizes = np.linalg.svd(outside.T @ inside, compute_uv=False)
    return bool(sizes[1] > BESIDE * sizes[0])


def followed(
    first: Mapping[str, Sequence[float]],
    ends: Mapping[str, Sequence[float]],
    lengths: Sequence[tuple[str, str, float]],
) -> dict[str, list[float]]:
    """Return where points come when those of `ends` are led there and the distances are kept."""
    names = [n for n in first if n not in ends]
    at = {n: k for k, n in enumerate(names)}
    x = np.array([first[n] for n in names], dtype=np.float64).reshape(-1, 2)
    for share in np.linspace(0, 1, STEPS + 1):
        held = {n: (1 - share) * np.asarray(first[n]) + share * np.asarray(ends[n]) for n in ends}
        for _ in range(ITERATIONS):
            miss, slopes = np.zeros(len(lengths)), np.zeros((len(lengths), x.size))
            for row, (p, q, length) in enumerate(lengths):
                way = (x[at[p]] if p in at else held[p]) - (x[at[q]] if q in at else held[q])
                size = max(float(np.hypot(*way)), 1e-12)
                miss[row] = size - length
                for name, sign in ((p, 1.0), (q, -1.0)):
                    if name in at:
                        slopes[row, 2 * at[name] : 2 * at[name] + 2] += sign * way / size
            x = x - np.linalg.lstsq(slopes, miss, rcond=1e-9)[0].reshape(-1, 2)
    return {n: x[k].tolist() for n, k in at.items()}
