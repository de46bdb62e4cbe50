"""Types of [groups] and designs: a parameter that a type does not follow is held at its nominal value.

A length that stands in `where` as a number is right at the nominal design alone. Designs in which the mechanism's own
length differs are read and planned anew, on their own, and refused there with words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..common.errors import InputError
from ..mechanism.model import Model
from ..mechanism.numbers.traced import Traced
from ..mechanism.numbers.tracing import TracedModel
from ..mechanism.plans.planning import studied
from ..runtime.named_plan import plan_all

BESIDE = 1e-3  # relative; what does not follow leaves as much, a million times what is allowed


def hold_misfitting(traced: TracedModel, at: Callable[[Mapping[str, float]], Model]) -> tuple[str, ...]:
    """Return the parameters with which the types of [groups] do not go along, each with a guard on the tape."""
    changes = {
        name: value * (1 + BESIDE * (1 + 0.3 * (k % 7))) if value else BESIDE
        for k, (name, value) in enumerate(zip(traced.names, traced.nominal.tolist(), strict=True))
    }

    def fits(design: Mapping[str, float]) -> bool:
        try:
            model = at(design)
            plan_all(model, studied(model))
        except InputError:
            return False
        return True

    if not changes or fits(changes):
        return ()
    held = tuple(name for name, value in changes.items() if not fits({name: value}))
    for name in held:
        parameter: object = traced.model.parameters[name]  # a number to its readers, traced here
        if isinstance(parameter, Traced):
            parameter.held()
    return held
