"""Everything that a report says about a mechanism, gathered once for both kinds of document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..common.errors import AssurgentError, InputError
from ..dynamics.computed import Computed, pictured
from ..mechanism.analysis_steps import AnalysisStep, analysis, described, structural_pairs
from ..mechanism.grashof import four_bars
from ..mechanism.model import FRAME, Model
from ..mechanism.plans.planning import study
from ..mechanism.structure import Structure
from ..motion.kinematics import prepare
from ..motion.results import Results
from ..pictures.window import window
from ..verification.verify_mechanism import MechanismVerification, verify_mechanism
from .cycle import Cycle, cycle_of
from .group_equations import GroupEquations, group_equations

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MobilityCount:
    """Eq. 11 with the numbers of the mechanism: L_c = B N_m - Σ e_k P_k, less the spins of rods."""

    B: int
    bodies: int
    pairs: tuple[tuple[int, int], ...]  # e_k and P_k
    spins: int
    rank: int  # what the Jacobian says
    redundant: int  # rows that repeat others

    @property
    def count(self) -> int:
        return self.B * self.bodies - sum(e * p for e, p in self.pairs) - self.spins

    @property
    def latex(self) -> str:
        terms = " + ".join(rf"{e} \cdot {p}" for e, p in self.pairs) or "0"
        spins = f" - {self.spins}" if self.spins else ""
        general = r"L_c = B N_m - \sum_k e_k P_k"
        return rf"{general} = {self.B} \cdot {self.bodies} - ({terms}){spins} = {self.count}"


@dataclass(frozen=True)
class Extremes:
    """What a point reaches over the cycle."""

    point: str
    ranges: tuple[tuple[float, float], ...]  # of x, y (and z)
    speed: float
    acceleration: float


@dataclass(frozen=True, eq=False)
class Content:
    """The parts of a report; `motion` may stop early, and a mechanism without drivers has neither groups nor cycle."""

    model: Model
    structure: Structure
    mobility: MobilityCount
    steps: list[AnalysisStep]
    steps_text: list[str]
    motion: Computed
    cycle: Cycle | None = None
    equations: list[GroupEquations] = field(default_factory=list)
    verification: MechanismVerification | None = None
    facts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def shown(self) -> Results:
        """The results that are drawn: the cycle's, which are dense, or those of the run."""
        return self.cycle.results if self.cycle is not None and len(self.cycle.results) else self.motion.results

    @property
    def extremes(self) -> list[Extremes]:
        found = []
        for name, p in self.shown.points.items():
            if not len(p.position) or not np.ptp(p.position, axis=0).max() > 0:
                continue
            ranges = zip(p.position.min(axis=0), p.position.max(axis=0), strict=True)
            speed, acceleration = (float(np.hypot.reduce(v, axis=1).max()) for v in (p.velocity, p.acceleration))
            found.append(Extremes(name, tuple((float(a), float(b)) for a, b in ranges), speed, acceleration))
        return found


def gather(model: Model, verification: bool, progress: Progress) -> Content:
    """Return the content of a report."""
    structure = study(model)
    steps = analysis(model, structure)
    motion = pictured(model, progress=progress)
    if not len(motion.results):
        motion.finished()  # nothing was solved: no page, but the reason
        raise InputError(f"{model.origin or model.name}: [simulation] has no time to report")
    notes = list(motion.notes)
    known = Content(
        model, structure, _mobility(model, structure), steps, described(steps, structure), motion,
        facts=four_bars(model, structure), notes=notes,
    )  # fmt: skip
    if motion.results.method not in ("td", "3ot"):
        notes.append("equations of groups, conditioning and verification need a driver for every motion")
        return known
    _, program = prepare(model, progress)
    progress("the cycle")
    cycle = cycle_of(model, structure, program, *window(motion.results, None, None))
    if motion.error is None and cycle.stop is not None:
        notes.append(f"between the times of the run: {cycle.stop.message}")
    checked = None
    if verification and motion.error is None:
        try:
            checked = verify_mechanism(model, progress=progress)
        except AssurgentError as error:
            notes.append(f"not verified: {error}")
    equations = group_equations(model, program, progress)
    return Content(
        model, structure, known.mobility, steps, known.steps_text, motion, cycle, equations, checked, known.facts, notes
    )


def _mobility(model: Model, structure: Structure) -> MobilityCount:
    B = 3 if model.space == "planar" else 6
    pairs = Counter(B - p.degree for p in structural_pairs(model, structure))
    pairs.pop(0, None)  # drivers that stand on no joint take nothing by themselves
    redundant = sum(number for g in structure.groups for _, number in g.dropped)
    moving = [b for b in model.bodies if b != FRAME]
    spins = sum(model.bodies[b].rod for b in moving)
    return MobilityCount(B, len(moving), tuple(sorted(pairs.items())), spins, structure.mobility, redundant)
