"""The structural analysis step by step, as Saura, Segado and Dopico teach it (section 3.2): frame, candidates, Eq. 14.

A way to see what the matching finds at once. The search goes through chains from short to long and is exponential in
the largest group; where it would take too long the group that the matching found is taken, and said to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .constraint_network import rows
from .model import FRAME, Model
from .structure import Structure

MOST_CHAINS = 3000  # that are looked at for one group


@dataclass(frozen=True)
class KinematicPair:
    """Edges of the structural graph between bodies: `degree` k, of which `driven` are root edges."""

    name: str
    bodies: tuple[str, ...]
    degree: int
    driven: int

    @property
    def thin(self) -> int:
        return self.degree - self.driven


@dataclass(frozen=True)
class CandidateChain:
    """A kinematic chain under test: Eq. 12, S_c - n_c = B (P - N_m), with L_th = S_c - n_c as Eq. 14 has it."""

    bodies: tuple[str, ...]
    L_th: int
    P: int
    B: int
    n_c: int = 0  # driven freedoms

    @property
    def S_c(self) -> int:
        """The freedoms of its pairs, Eq. 13."""
        return self.L_th + self.n_c

    @property
    def right(self) -> int:
        return self.B * (self.P - len(self.bodies))

    @property
    def is_group(self) -> bool:
        return self.L_th == self.right

    def to_json(self) -> dict[str, Any]:
        return {
            "bodies": list(self.bodies),
            "S_c": self.S_c,
            "n_c": self.n_c,
            "L_th": self.L_th,
            "P": self.P,
            "N_m": len(self.bodies),
            "right": self.right,
            "group": self.is_group,
        }

    def __str__(self) -> str:
        sign, verdict = ("=", "a structural group") if self.is_group else ("≠", "no group")
        return (
            f"{{{', '.join(self.bodies)}}}: N_m = {len(self.bodies)}, P = {self.P}, "
            f"S_c = {self.S_c}, n_c = {self.n_c}, "
            f"L_th = {self.L_th} {sign} {self.B}({self.P} - {len(self.bodies)}) = {self.right}: {verdict}"
        )


@dataclass
class AnalysisStep:
    """One round: directed edges given to bodies, the candidates, the chains tried, and the group that was found."""

    directed: tuple[str, ...]
    candidates: tuple[str, ...]
    tried: list[CandidateChain] = field(default_factory=list)
    group: str = ""  # by the name that the matching gives it; empty where the search found another set
    found: tuple[str, ...] = ()
    skipped: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "directed": list(self.directed),
            "candidates": list(self.candidates),
            "chains": [c.to_json() for c in self.tried],
            "found": list(self.found),
            "matching": self.group,
            "searched": not self.skipped,
        }


def structural_pairs(model: Model, structure: Structure) -> tuple[KinematicPair, ...]:
    """Return the pairs of the structural graph; a driver that stands on no joint is a pair of its own, of degree B.

    Pins of several bodies are taken as the structure ties them, those in no group as written. Redundant rows count as
    freedoms.
    """
    B = 3 if model.space == "planar" else 6
    joints, drivers = dict(model.joints), dict(model.drivers)
    joints |= {p.name: p for g in structure.groups for p in g.pairs}
    drivers |= {d.name: d for g in structure.groups for d in g.inputs}
    dropped = {name: number for g in structure.groups for name, number in g.dropped}
    found = []
    for j in joints.values():
        bodies = (j.first, j.second, *((j.carrier,) if j.kind == "gear" and j.carrier else ()))
        driven = sum(d.joint == j.name for d in drivers.values())
        found.append(KinematicPair(j.name, bodies, B - rows(model, j) + dropped.get(j.name, 0), driven))
    found += [KinematicPair(d.name, tuple(d.bodies), B, 1) for d in drivers.values() if d.joint not in joints]
    return tuple(found)


def analysis(model: Model, structure: Structure) -> list[AnalysisStep]:
    """Return the rounds of the graph-analytical method, until every body that can be found is in a group."""
    search = _Search(model, structural_pairs(model, structure))
    groups = {frozenset(g.bodies): g.name for g in structure.groups}
    steps: list[AnalysisStep] = []
    giving: frozenset[str] = frozenset({FRAME})
    while len(search.solved) <= len(model.movable):
        candidates = search.candidates()
        step = AnalysisStep(search.directed_from(giving), candidates)
        steps.append(step)
        found = search.round(step)
        if found is None and step.skipped:  # too many chains: what the matching found next
            found = next((set(b) for b in groups if not b & search.solved and search.closed(b)), None)
        if found is None:
            break
        step.found, step.group = tuple(sorted(found)), groups.get(frozenset(found), "")
        giving = frozenset(found)
        search.solved |= found
    return steps


class _Search:
    def __init__(self, model: Model, pairs: tuple[KinematicPair, ...]) -> None:
        self.model, self.pairs = model, pairs
        self.B = 3 if model.space == "planar" else 6
        self.solved: set[str] = {FRAME}
        self.order = {b: i for i, b in enumerate(model.movable)}

    def candidates(self) -> tuple[str, ...]:
        """Return the bodies that have received freedoms."""
        met = {b for p in self.pairs if set(p.bodies) & self.solved for b in p.bodies if b not in self.solved}
        return tuple(sorted(met, key=self.order.__getitem__))

    def directed_from(self, giving: frozenset[str]) -> tuple[str, ...]:
        """Return the edges that bodies just solved (or the frame) direct to others, in words."""
        found = []
        for p in self.pairs:
            inside = [b for b in p.bodies if b in giving]
            outside = [b for b in p.bodies if b not in self.solved]
            if inside and outside:
                edges = f"{p.thin} thin" + (f" + {p.driven} root" if p.driven else "")
                found.append(f"{inside[0]} → {', '.join(outside)} ({p.name}: {edges})")
        return tuple(found)

    def counted(self, chain: frozenset[str]) -> list[KinematicPair]:
        """Return the pairs of a chain: internal ones, and external ones with a directed edge."""
        known = chain | self.solved
        return [p for p in self.pairs if set(p.bodies) & chain and set(p.bodies) <= known]

    def closed(self, chain: frozenset[str]) -> bool:
        return self.tested(chain).is_group

    def tested(self, chain: frozenset[str]) -> CandidateChain:
        pairs = self.counted(chain)
        spins = sum(self.model.bodies[b].rod for b in chain)  # a rod's spin is no motion: as if it were driven
        thin = sum(p.thin for p in pairs) - spins
        driven = sum(p.driven for p in pairs) + spins
        return CandidateChain(tuple(sorted(chain, key=self.order.__getitem__)), thin, len(pairs), self.B, driven)

    def round(self, step: AnalysisStep) -> set[str] | None:
        """Try chains from short to long; the first that satisfies Eq. 14 is the group."""
        for number, chain in enumerate(self.chains(step.candidates)):
            if number >= MOST_CHAINS:
                step.skipped = True
                return None
            tested = self.tested(chain)
            step.tried.append(tested)
            if tested.is_group:
                return set(chain)
        return None

    def chains(self, candidates: tuple[str, ...]) -> Iterator[frozenset[str]]:
        """Yield the connected chains that begin at a candidate, by their length."""
        near: dict[str, set[str]] = {}
        for p in self.pairs:
            for b in p.bodies:
                near.setdefault(b, set()).update(p.bodies)
        level = list(dict.fromkeys(frozenset({c}) for c in candidates))
        seen = set(level)
        while level:
            yield from level
            longer: list[frozenset[str]] = []
            for chain in level:
                beside = {b for c in chain for b in near[c]} - chain - self.solved
                for b in sorted(beside, key=self.order.__getitem__):
                    grown = chain | {b}
                    if grown not in seen:
                        seen.add(grown)
                        longer.append(grown)
                if len(seen) > 4 * MOST_CHAINS:
                    break
            level = longer


def described(steps: list[AnalysisStep], structure: Structure) -> list[str]:
    """Return the analysis in words, a line each."""
    lines: list[str] = []
    for number, step in enumerate(steps):
        head = "the frame is isolated" if number == 0 else "freedoms are assigned again"
        lines.append(f"Step {number + 1}: {head}: {'; '.join(step.directed) or 'no further edges'}")
        lines.append(f"  candidates: {', '.join(step.candidates) or 'none'}")
        shown = step.tried if len(step.tried) <= 12 else [*step.tried[:8], *step.tried[-3:]]
        for i, chain in enumerate(shown):
            if len(shown) < len(step.tried) and i == 8:
                lines.append(f"    ... {len(step.tried) - len(shown)} more chains, none a group ...")
            lines.append(f"    {chain}")
        if step.skipped and step.found:
            lines.append(f"    more than {MOST_CHAINS} chains: {{{', '.join(step.found)}}} from the matching")
        if step.found:
            beside = f"the matching says so too: {step.group}" if step.group else "the matching has another set"
            lines.append(f"  {{{', '.join(step.found)}}} is solved; {beside}")
        else:
            lines.append("  no chain satisfies Eq. 14: the rest is not determined by count")
    lines.append(f"Result of the matching: {', '.join(g.name for g in structure.groups)}")
    return lines
