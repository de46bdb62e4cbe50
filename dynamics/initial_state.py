"""Where a simulation begins: free motions counted, coordinates of [initial] set, the mechanism assembled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.errors import AssemblyError, InputError
from ..mechanism.absolute import Absolute
from ..mechanism.assembly import LinearizedRows, assemble
from ..mechanism.joint_equations import Poses
from ..mechanism.mobility import compare, examine, nearby
from ..mechanism.model import Array, Model
from .coordinates import JointCoordinate, driven_by
from .orientation import assembled
from .orientation import rates as with_spins
from .posture import Posture, posture_of

CONSISTENT = 1e-8  # of the rates given, how far the rows may miss them
DEAD = 1e5  # times its own rate that a coordinate makes bodies move at a dead point, where an assembly comes to 1e-6
ELSEWHERE = 1e-2  # of that, at most, in other positions: a gear is as quick there, a dead point is not there


@dataclass(frozen=True, eq=False)
class Start:
    """The first posture, the poses that it stands for, the free motions, and the coordinates of [initial].

    There are no coordinates where those of [initial] are at a dead point: they say where the mechanism is, not how it
    moves on.
    """

    posture: Posture
    poses: Poses
    free: int
    chosen: tuple[JointCoordinate, ...]


def begin(model: Model) -> Start:
    """Return the start of a forward simulation; wrong input where [initial] does not fit the free motions."""
    t = model.simulation.start
    chosen = tuple(JointCoordinate(i.joint, i.coordinate) for i in model.initial)
    held = driven_by(model, chosen)
    at = np.array([t])
    jets = {name: d.motion(at)[:3, 0] for name, d in model.drivers.items()}
    values = {name: float(x[0]) for name, x in jets.items()}
    values |= {c.driver: i.value for c, i in zip(chosen, model.initial, strict=True)}
    system = Absolute(held)
    try:
        turned = assembled(model, held, values) if model.orientations else assemble(held, values)
        poses = system.remember(turned)
    except AssemblyError:
        _check_undisturbed(model, held, {name: values[name] for name in model.drivers})
        raise
    other = nearby(model, poses)
    found = compare(model, poses, other)
    free = found.mobility - len(model.drivers)
    _check_counts(model, free)
    if not model.orientations:
        _check_independent(model, held, poses)
    rates = {name: float(x[1]) for name, x in jets.items()}
    rates |= {c.driver: i.rate for c, i in zip(chosen, model.initial, strict=True)}
    if model.orientations:
        return Start(posture_of(poses, with_spins(model, system, poses, rates), t), poses, free, ())
    dead = _dead(system, poses, other, chosen)
    twist = _rates(model, system, poses, rates, dead)
    if found.singular and any(rates.values()):
        _check_branch(model, held, poses)
    return Start(posture_of(poses, twist, t), poses, free, () if dead else tuple(sorted(chosen)))


def _check_undisturbed(model: Model, held: Model, values: dict[str, float]) -> None:
    """Where [initial] cannot be assembled, because there is too much of it: say that instead."""
    try:
        poses = assemble(model, values)
    except AssemblyError:
        return
    _check_counts(model, compare(model, poses, nearby(model, poses)).mobility - len(model.drivers))
    _check_independent(model, held, poses)


def _check_independent(model: Model, held: Model, poses: Poses) -> None:
    """Refuse coordinates of [initial] that follow from each other, not only here but in other positions as well."""
    if len(model.initial) < 2:
        return
    found = compare(held, poses, nearby(held, poses))
    if found.free:
        names = ", ".join(sorted({b for motion in found.free for b in motion.bodies}))
        joints = ", ".join(sorted({j for motion in found.free for j in motion.joints}))
        raise InputError(
            f"{model.origin or model.name}: [initial]: {', '.join(i.name for i in model.initial)} depend on each other "
            f"and leave {names} free - instead of one of them give a coordinate of joint {joints}"
        )


def _check_branch(model: Model, held: Model, poses: Poses) -> None:
    """Refuse rates where branches meet: those of the joints given are the rates of more than one motion there."""
    open_there = examine(held, poses).free
    if open_there:
        names = ", ".join(sorted({b for motion in open_there for b in motion.bodies}))
        raise AssemblyError(
            f"{model.origin or model.name}: at the start branches of the mechanism meet: with the rates given, {names} "
            "can move on in more than one way - start elsewhere"
        )


def _check_counts(model: Model, free: int) -> None:
    where = str(model.origin or model.name)
    if free < 0:
        raise InputError(
            f"{where}: [drivers]: there are {len(model.drivers)} drivers for {len(model.drivers) + free} free motions "
            "- remove a driver"
        )
    if model.initial and not model.orientations and len(model.initial) != free:
        raise InputError(
            f"{where}: [initial]: gives {len(model.initial)} coordinates; the mechanism has {free} free motions "
            f"beside its {len(model.drivers)} drivers - give position and rate of {free} joint coordinates, or of none"
        )


def _dead(system: Absolute, poses: Poses, other: Poses | None, chosen: tuple[JointCoordinate, ...]) -> tuple[str, ...]:
    """Return the joints of the coordinates that are at a dead point, but are not in another position."""
    names = [system.names[row] for row in np.flatnonzero(system.of_driver)]

    def quickness(at: Poses) -> Array:
        """How fast anything moves for the unit rate of each coordinate; without end where there is no such motion."""
        linear, found = LinearizedRows(system, at), []
        for c in chosen:
            wanted = system.per_driver({name: float(name == c.driver) for name in names})
            unknowns = linear.solve(wanted)
            miss = np.abs((system.times(at, unknowns) - wanted) / system.row_scale).max()
            unit = np.abs(wanted / system.row_scale).max()
            found.append(np.abs(unknowns / system.column_scale).max() / unit if miss <= CONSISTENT * unit else np.inf)
        return np.array(found)

    here = quickness(poses)
    if other is None or not (here > DEAD).any():
        return ()
    there = quickness(other)
    return tuple(c.joint for c, x, y in zip(chosen, here, there, strict=True) if x > DEAD and y < ELSEWHERE * x)


def _rates(model: Model, system: Absolute, poses: Poses, rates: dict[str, float], dead: tuple[str, ...]) -> Array:
    """Return the twists (n x 6) with these rates; of those that the rates leave open, the smallest.

    Rates of which those of joints at a dead point are not zero have none.
    """
    wanted = system.per_driver(rates)
    linear = LinearizedRows(system, poses)
    unknowns = linear.solve(wanted)
    miss = np.abs((system.times(poses, unknowns) - wanted) / system.row_scale)
    largest = float(np.abs(wanted / system.row_scale).max(initial=0.0))
    boundless = len(dead) > 0 and float(np.abs(unknowns / system.column_scale).max()) > DEAD * largest
    if boundless or miss.max(initial=0.0) > CONSISTENT * largest:
        name = ", ".join(dead) or system.names[int(np.argmax(miss))]
        raise AssemblyError(
            f"{model.origin or model.name}: [initial]: the rates contradict the joints at the start (at '{name}'): "
            "the mechanism is at a dead point of a coordinate given there - give the rate of another joint, or "
            "another start"
        )
    return np.asarray(system.spread(unknowns)[0])
