"""What comes of following a motion: results as far as it came, and why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ..common.errors import AssemblyError
from ..common.status import MESSAGES, OK

if TYPE_CHECKING:
    from ..mechanism.model import Model
    from ..mechanism.plans.plan import GroupPlan
    from ..mechanism.structure import Structure
    from .results import Results


@dataclass(frozen=True)
class Stop:
    """Why a motion ended early: when, and in words; where a group has no solution, its name, joints and status."""

    time: float
    message: str
    group: str = ""
    joints: tuple[str, ...] = ()
    status: int = OK


@dataclass(frozen=True, eq=False)
class Outcome:
    """Results as far as a motion came, and why it stopped (None where it did not).

    The structure is that of the groups which the drivers move; a simulation has none.
    """

    model: Model
    results: Results
    stop: Stop | None
    structure: Structure | None = None


def no_solution(plan: GroupPlan, time: float, status: int, reason: str = "") -> Stop:
    """Return why a motion stops whose group has no solution since a time; `reason` where it is more than the status."""
    parts = f"bodies {', '.join(sorted(plan.bodies))}; joints {', '.join(sorted(plan.joints))}"
    message = f"group {plan.name} ({parts}) at t = {time:.9g} s: {reason or MESSAGES[status]}"
    return Stop(time, message, plan.name, plan.joints, status)


def raise_stop(stop: Stop, results: object = None) -> NoReturn:
    """Raise the error of a motion that had to stop; `results` travel with it."""
    raise AssemblyError(stop.message, results)
