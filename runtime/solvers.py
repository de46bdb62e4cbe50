"""Bind the plan of a group to a compiled type: shipped, made before, or derived, emitted and verified now."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..codegen.signature import Signature, signature
from ..common.errors import GenerationError
from ..common.type_files import module_name
from ..mechanism.model import Function
from ..mechanism.numbers.arithmetic import array
from ..mechanism.plans.plan import Array, GroupPlan
from .group_type import GroupType
from .library import key_of, load, manifest
from .store import Store

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Solver:
    """A compiled type seen from a plan: `names` maps the plan's symbols to the type's."""

    group: GroupType
    names: dict[str, str]
    points: dict[str, str]  # the same for points of interest
    par: Array
    start: Array
    profiles: tuple[Function, ...] = ()  # in the order of the type

    @property
    def closed_form(self) -> bool:
        return bool(self.group.module.CLOSED_FORM)

    def symbols(self, name: str) -> tuple[str, ...]:
        """Return the scalar symbols of a coordinate of the plan, as the type names them."""
        return tuple(self.group.module.COORDINATES[self.names[name]])


def bind(plan: GroupPlan, progress: Progress) -> Solver:
    """Return the solver of a plan; `progress` hears of each stage where a type must be made."""
    data = _parsed(plan.specification)
    if plan.named:
        group = load(plan.named, progress)
        return _solver(plan, data, group, {n: n for n in group.module.COORDINATES})
    equations = _signature(plan.specification)
    known = _shipped().get(equations.digest) or _users(equations.digest)
    if known is not None:
        name, order = known
        group, names = load(name, progress), dict(zip(equations.order, order, strict=True))
    else:
        group = _own(plan, equations, progress)
        names = {n: n for n in group.module.COORDINATES}
    return _solver(plan, data, group, names)


def _solver(plan: GroupPlan, data: dict[str, dict[str, str]], group: GroupType, names: dict[str, str]) -> Solver:
    """Return a type seen from a plan."""
    coordinates = group.module.COORDINATES
    par, start = (
        _ordered(data.get(table, {}), values, {n: coordinates[names[n]] for n in data.get(table, {})}, wanted)
        for table, values, wanted in (
            ("parameters", plan.parameters, group.parameters),
            ("dependent", plan.start, group.dependent),
        )
    )
    points = dict(zip(data.get("points", {}), group.points_of_interest, strict=True))
    own = {names[name]: function for name, function in plan.profiles.items()}
    return Solver(group, names, points, par, start, tuple(own[name] for name in group.module.PROFILES))


def _ordered(
    declared: dict[str, str], values: Array, symbols: dict[str, tuple[str, ...]], wanted: tuple[str, ...]
) -> Array:
    """Return values given in the plan's order of declaration in the order of the type."""
    flat = [s for name in declared for s in symbols[name]]
    found = dict(zip(flat, values, strict=True))
    return array([found[s] for s in wanted])


@cache
def _parsed(text: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(text)


@cache
def _signature(text: str) -> Signature:
    return signature(_parsed(text))


@cache
def _shipped() -> dict[str, tuple[str, tuple[str, ...]]]:
    return {e.signature: (e.name, e.order) for e in manifest()}


def _users(digest: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the user's own type that has these equations: its name, and its symbols in the order of the signature."""
    store = Store()
    module = store.noted(digest)
    found = None if module is None else store.specification(module)
    if found is None:
        return None
    equations = signature(tomllib.loads(found[1]))  # the note may be old, or somebody else's
    return (found[0], equations.order) if equations.digest == digest else None


@cache
def _loaded(text: str) -> GroupType | None:
    """Return a derived type that was made before."""
    name = tomllib.loads(text)["name"]
    found = Store().find(module_name(name), key_of(text))
    return None if found is None else GroupType(found.load())


def derived_name(kind: str, equations: Signature) -> str:
    """Return the name of a derived type: that of its topology, and a piece of its signature."""
    head = re.sub(r"[^-A-Za-z0-9_\[\]()+]", "_", kind)[:45]
    return f"{head if head[:1].isalnum() else 'g' + head}-{equations.digest[:8]}"


def derived_text(plan: GroupPlan, equations: Signature) -> str:
    """Return the whole specification of a derived type."""
    title = f"{plan.type}: {len(plan.bodies)} bodies, derived from the topology of the group"
    return f'format = 1\nname = "{derived_name(plan.type, equations)}"\ntitle = "{title}"\n{plan.specification}'


def _own(plan: GroupPlan, equations: Signature, progress: Progress) -> GroupType:
    text = derived_text(plan, equations)
    found = _loaded(text)
    if found is not None:
        return found
    from ..codegen.specification_reader import parse_spec
    from .library_build import generate_type

    name = derived_name(plan.type, equations)
    progress(f"{name}: a new group type ({', '.join(plan.bodies)}); deriving its solver, once")

    def stage(title: str, seconds: float, outcome: str) -> None:
        progress(f"  {title:<10s} {seconds:5.1f} s  {outcome}")

    generate_type(parse_spec(text, f"{name}.toml"), progress=stage, derived=True)
    _loaded.cache_clear()
    made = _loaded(text)
    if made is None:
        raise GenerationError(f"{name}: the program itself was changed while it made this type - run the command again")
    return made
