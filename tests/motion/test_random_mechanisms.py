"""Random mechanisms against the same motion in absolute coordinates: no wrong answer, no false alarm, no crash."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assurgent.mechanism.model import Model
from assurgent.mechanism.naming import type_key
from assurgent.mechanism.plans.planning import plan_group, studied


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"motion_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


random_mechanisms, compared = _module("random_mechanisms"), _module("compared")
DYADS, TRIAD = random_mechanisms.DYADS, random_mechanisms.TRIAD
PLANAR, SPATIAL = random_mechanisms.PLANAR_GROUPS, random_mechanisms.SPATIAL_GROUPS
NOISE = (0.0, 0.01, 0.03)  # of the sketch; the first one is exact
METHODS = ("td", "td", "3ot")
TIMES = np.linspace(0, 1, 9)


@dataclass
class Tally:
    """What a row of samples gave."""

    wrong: list[str] = field(default_factory=list)
    solved: int = 0
    stopped: int = 0
    worst: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def add(self, seed: int, kind: str, topologies: list[str], space: str, whole_turns: bool = False) -> None:
        noise, method = NOISE[seed % 3], METHODS[seed // 3 % 3]
        sample = random_mechanisms.draw(seed, kind, topologies, space, noise, whole_turns)
        found = compared.compare(sample.model, TIMES, method)
        complaint = _complaint(sample, found)
        if complaint:
            self.wrong.append(f"{kind}, seed {seed}, {method}: {complaint}\n{sample.mechanism.text()}")
        self.stopped += found.outcome.stop is not None
        self.solved += found.outcome.stop is None
        self.worst = [max(pair) for pair in zip(self.worst, found.errors, strict=True)]

    def check(self, share: float) -> None:
        """Most must have gone all the way, or nothing was compared."""
        print(f"{self.solved} solved, {self.stopped} stopped with the oracle, worst errors {self.worst}")
        assert not self.wrong, "\n\n".join(self.wrong)
        assert self.solved >= share * (self.solved + self.stopped)


def _complaint(sample: object, found: object) -> str:
    """Return what is wrong with a run, '' if nothing."""
    if found.excess() > 1:
        return f"errors {found.errors} at a least singular value {found.least:.1e}; {found.reason}"
    results = found.outcome.results
    if sample.perturbed or len(results.time) == 0:
        return ""
    size = sample.model.size
    off = {p: float(np.max(np.abs(results.points[p].position[0] - x))) / size for p, x in sample.exact.items()}
    point = max(off, key=off.__getitem__)
    # lengths measured in the sketch are rounded once, 1e-16
    return f"an exact sketch moved: {point} by {off[point]:.1e}" if off[point] * found.least > 1e-13 else ""


def trees(seeds: Iterable[int]) -> Tally:
    """Return the tally of random trees of one to five dyads on driven cranks and sliders, 3 to 12 bodies."""
    tally, names = Tally(), list(DYADS)
    for seed in seeds:
        rng = np.random.default_rng([20, seed])
        kinds = [names[k] for k in rng.integers(0, len(names), int(rng.integers(1, 6)))]
        tally.add(seed, "+".join(kinds), [DYADS[k] for k in kinds], "planar")
    return tally


@pytest.mark.parametrize("part", range(4))
def test_trees_of_dyads(part: int) -> None:
    trees(range(9 * part, 9 * part + 9)).check(share=0.5)


def test_triads() -> None:
    tally = Tally()
    for seed in range(4):
        tally.add(seed, "6R", [TRIAD["6R"]], "planar")
    tally.check(share=0.5)


TURNING = random_mechanisms.TURNING_GROUPS


@pytest.mark.parametrize("kind", ["pinion on a known rack", "rack on a moving guide", "wheel on a wheel"])
def test_whole_turns(kind: str) -> None:
    tally = Tally()
    for seed in range(500, 512):
        tally.add(seed, kind, [DYADS["RRR"], TURNING[kind]], "planar", whole_turns=True)
    tally.check(share=0.5)


def test_a_pinion_that_stands_still_is_no_stray() -> None:
    """Its angle is zero but for rounding, which is no reason for smaller and smaller inner steps."""
    kinds = ["rack on a moving guide", "pinion on a known rack"]
    sample = random_mechanisms.draw(1026, kinds[-1], [TURNING[k] for k in kinds], "planar", 0.0, True)
    found = compared.compare(sample.model, TIMES)
    assert found.excess() <= 1
    assert found.outcome.results.diagnostics["inner_steps"] == len(TIMES)


@pytest.mark.long
@pytest.mark.parametrize("kind", TURNING)
def test_whole_turns_of_many(kind: str) -> None:
    tally, simple = Tally(), [TURNING[k] for k in ("rack on a moving guide", "wheel on a wheel", "planet")]
    for seed in range(600, 630):
        before = [[], [DYADS["RRR"]], simple[seed % 9 // 3 :][:1]][seed % 3]
        tally.add(seed, kind, [*before, TURNING[kind]], "planar", whole_turns=True)
    tally.check(share=0.4)


def test_spatial_four_bars() -> None:
    tally = Tally()
    for seed in range(3):
        tally.add(seed, "RSSR", [SPATIAL["RSSR"]], "spatial")
    tally.check(share=0.5)


@pytest.mark.parametrize(
    ("space", "kind", "topology"),
    [("planar", *item) for item in (*DYADS.items(), *TRIAD.items(), *PLANAR.items())]
    + [("spatial", *item) for item in SPATIAL.items()],
    ids=lambda value: value if value not in ("planar", "spatial") and "0" not in value else "",
)
def test_numbers_and_outside_bodies_are_no_part_of_a_type(space: str, kind: str, topology: str) -> None:
    """However a group lies and whatever it hangs on, its equations are the same text: one type, one solver."""
    texts: dict[tuple[object, ...], set[str]] = {}
    for seed in range(5 if space == "planar" else 3):
        model = random_mechanisms.draw(400 + seed, kind, [topology], space).model
        for group in studied(model).groups:
            for k, plan in enumerate(plan_group(model, group)):
                key = (type_key(model, group), slots_at_pins(model, group.bodies), k)
                texts.setdefault(key, set()).add(plan.specification)
    assert max(map(len, texts.values())) == 1


def slots_at_pins(model: Model, bodies: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the bodies at the pins that slots hold: such a point needs no place of its own on the second body."""
    held = [j for j in model.joints.values() if j.kind == "slot" and j.second in bodies]
    pins = {j.at: j.bodies for j in model.joints.values() if j.kind == "R"}
    return tuple(sorted(tuple(sorted(b for b in pins.get(j.at, ()) if b in bodies)) for j in held))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_many_trees_of_dyads(part: int) -> None:
    trees(range(1000 + 25 * part, 1025 + 25 * part)).check(share=0.5)


@pytest.mark.long
@pytest.mark.parametrize("kind", [*TRIAD, *PLANAR])
def test_planar_groups(kind: str) -> None:
    tally = Tally()
    topology = {**TRIAD, **PLANAR}[kind]
    for seed in range(7):
        tally.add(100 + seed, kind, [topology], "planar")
    for seed in range(2):  # a dyad that hangs on the group
        tally.add(200 + seed, f"{kind} and a dyad", [topology, DYADS["RRR"]], "planar")
    tally.check(share=0.4)


@pytest.mark.long
@pytest.mark.parametrize("kind", SPATIAL)
def test_spatial_groups(kind: str) -> None:
    tally = Tally()
    for seed in range(8):
        tally.add(300 + seed, kind, [SPATIAL[kind]], "spatial")
    tally.check(share=0.4)
