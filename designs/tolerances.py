"""Tolerances: standard deviations and worst cases of points from those of parameters, by the exact sensitivities.

With independent parameters of standard deviations s_k a coordinate has sqrt(sum (dx/dp_k s_k)^2), to first order; its
worst case, for parameters within +-s_k, is sum |dx/dp_k| s_k. Random designs in lanes say how good first order is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError, nearest
from ..common.expressions import FormulaError
from ..mechanism.functions import evaluate
from ..mechanism.model import Array
from .compiled_mechanism import CompiledMechanism


@dataclass(frozen=True, eq=False)
class Spread:
    """Of one point, instant x component: deviation and worst case by sensitivities, deviation of random designs."""

    deviation: Array
    worst: Array
    sampled: Array


@dataclass(frozen=True, eq=False)
class Tolerances:
    """How far points spread with the parameters."""

    time: Array
    spread: Mapping[str, float]
    points: Mapping[str, Spread]
    samples: int

    def to_json(self) -> dict[str, Any]:
        """Return times and arrays as plain values."""
        points = {
            name: {"deviation": s.deviation.tolist(), "worst": s.worst.tolist(), "sampled": s.sampled.tolist()}
            for name, s in self.points.items()
        }
        return {"spread": dict(self.spread), "samples": self.samples, "time": self.time.tolist(), "points": points}


def read_spread(text: str) -> dict[str, float]:
    """Return the standard deviations of `a=0.01,b=0.02`."""
    found = {}
    for part in text.split(","):
        name, equals, value = (x.strip() for x in part.partition("="))
        try:
            number = evaluate(value, {}) if equals else -1.0
        except FormulaError:
            number = -1.0
        if not name or not number > 0:
            raise InputError(f"spread {text}: is written a=0.01,b=0.02 with standard deviations above 0")
        found[name] = float(number)
    return found


def _point(origin: str, name: str) -> str:
    """Return the name of a point, which may be written point.P; points alone have tolerances."""
    head, dot, tail = name.partition(".")
    if (dot and head in ("body", "joint", "driver", "actuator")) or "(" in name:
        raise InputError(f"{origin}: want {name}: tolerances are those of points - name points, P or point.P")
    return tail if dot and head == "point" else name


def tolerances(
    data: Mapping[str, Any], origin: str, folder: Path | None, spread: Mapping[str, float],
    points: Sequence[str] | None = None, times: Array | None = None, samples: int = 2000, seed: int = 1,
) -> Tolerances:  # fmt: skip
    """Return the spread of points, at the design of the file."""
    known = list(data.get("parameters", {}))
    for name in spread:
        if name not in known:
            raise InputError(f"{origin}: spread {name}: there is no such parameter{nearest(name, known)}")
    if samples < 2:
        raise InputError(f"samples {samples}: at least two random designs are needed")
    names = list(spread)
    given = None if points is None else [_point(origin, name) for name in points]
    compiled = CompiledMechanism(data, origin, folder, times, given, [], [], names) if given is not None else None
    if compiled is None:
        probe = CompiledMechanism(data, origin, folder, times, None, None, None, names)
        moving = [name for table, name in probe.wanted if table == "points"]
        compiled = CompiledMechanism(data, origin, folder, times, moving, [], [], names)
    exact = compiled.sensitivities(orders=1)
    size = np.array([spread[name] for name in exact.names])
    rng = np.random.default_rng(seed)
    random = compiled.nominal[:, None] + size[:, None] * rng.standard_normal((len(size), samples))
    batch = compiled.batch(dict(zip(exact.names, random, strict=True)))
    whole = batch.status == 0
    found = {}
    for name, change in exact.points.items():
        steps = np.abs(change.position) * size[:, None, None]
        sampled = batch.points[name].position[whole].std(axis=0, ddof=1)
        found[name] = Spread(np.sqrt(np.sum(steps**2, axis=0)), steps.sum(axis=0), sampled)
    return Tolerances(compiled.time, dict(spread), found, int(whole.sum()))
