"""Figures of dynamics: reactions of joints and efforts over time, energies, and the balance of powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from ..dynamics.computed import not_unique
from ..mechanism.arguments import names as names_in
from ..mechanism.model import Array, Model
from ..motion.quantities import efforts_of
from ..motion.results import Results
from .arrows import force_arrows
from .draw import FONT
from .force_display import imbalance, powers
from .plot import Row, draw_histories, draw_mechanism, name_curves, points_among, rows_of
from .points_of_interest import default_names
from .scene import build
from .unknown_names import listed
from .window import window

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_JOINTS = 6  # whose curves can be told apart in one diagram
ENERGY, POWER = "energy / J", "power / W"
# a quantity has the same colour in every figure, whatever stands beside it; none is a colour of joints and points
COLOURS = {
    ENERGY: {"kinetic": "#e69f00", "potential": "#0072b2", "total": "#20242b"},
    POWER: {
        "change of kinetic energy": "#c9ced6",
        "weights": "#56b4e9",
        "springs": "#009e73",
        "dampers": "#cc79a7",
        "forces": "#d55e00",
        "drivers": "#5b3fd0",
        "actuators": "#8c564b",
    },
}
NOTHING = 1e-9  # of the largest moment: below it a moment is rounding


def dynamics_figure(
    results: Results,
    model: Model,
    reactions: bool | Sequence[str] = True,
    energy: bool = False,
    names: Sequence[str] | None = None,
    start: float | None = None,
    stop: float | None = None,
) -> Figure:
    """Return the mechanism at the instant of its largest force, and beside it what dynamics found over time.

    `reactions` are the joints whose forces are shown (True: all, or the six with the largest forces where there are
    more), `energy` adds the energies and the balance of powers, `names` the motion of points, bodies and joints.
    """
    from matplotlib.figure import Figure

    if results.energy is None:
        raise InputError(
            f"plot: the results of {results.mechanism} ({results.method}) hold no forces and energies - take those of "
            "inverse dynamics or of a simulation"
        )
    chosen = [] if names is None else names_in("plot: names", names)
    rows = rows_of(results, chosen) if chosen else []
    if reactions:
        joints = default_joints(results) if reactions is True else names_in("plot: reactions", reactions)
        rows += reaction_rows(results, joints)
        rows += effort_rows(results, model)
    balance = powers(model, results) if energy else {}
    if energy:
        rows += [_energies(results), (POWER, list(balance.items()))]
    scene, span = build(model, results), window(results, start, stop)
    figure = Figure(figsize=(12.0, max(4.6, 1.6 * len(rows) + 0.9)), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.3))
    left, right = halves
    step = _strained(results, span)
    traced = points_among(results, chosen) if chosen else default_names(results, model)
    draw_mechanism(left, scene, traced, span, step, force_arrows(scene, model, results) if reactions else ())
    draw_histories(right, results, rows, span, COLOURS)
    shared = not_unique(results)
    if reactions and shared:
        told = f"of smallest norm, as not unique: {', '.join(shared[:8])}{' ...' if len(shared) > 8 else ''}"
        pane = next(ax for ax in right.axes if ax.get_ylabel().startswith("|force|"))
        pane.set_title(told, loc="right", fontsize=FONT - 1.5, color="#6b7280")
    if energy:
        told = f"largest imbalance {imbalance(balance):.1e} of the largest power"
        pane = right.axes[-1]
        pane.set_title(told, loc="right", fontsize=FONT - 1.5, color="#6b7280")
        pane.get_lines()[0].set(linewidth=4.5, zorder=1)  # the sum: seen below a curve that equals it
        name_curves(pane)
    return figure


def _strained(results: Results, span: tuple[float, float]) -> int:
    """Return the step of the largest reaction force in the part of the run that is shown."""
    sizes = [np.linalg.norm(r.force, axis=1) for r in (results.reactions or {}).values()]
    shown = (results.time >= span[0]) & (results.time <= span[1])
    return int(np.argmax(np.where(shown, np.max(sizes, axis=0), -1.0))) if sizes else int(np.argmax(shown))


def default_joints(results: Results) -> list[str]:
    """Return the joints with the largest reaction forces or moments, at most six, in the order of the file."""
    held = results.reactions or {}
    sizes = {name: float(np.linalg.norm(r.force, axis=1).max(initial=0.0)) for name, r in held.items()}
    telling = sorted(held, key=lambda name: -sizes[name])[:MOST_JOINTS]
    return [name for name in held if name in telling]


def reaction_rows(results: Results, joints: Sequence[str]) -> list[Row]:
    """Return the diagrams of reactions: sizes and components of the forces, and moments that are not zero."""
    held = results.reactions or {}
    for name in joints:
        if name not in held:
            raise InputError(f"plot: reactions: '{name}' is no joint of {results.mechanism}{listed(name, held)}")
    forces = {name: held[name].force for name in joints}
    rows: list[Row] = [("|force| / N", [(name, np.linalg.norm(f, axis=1)) for name, f in forces.items()])]
    for k, axis in enumerate(results.axes):
        rows.append((f"force {axis} / N", [(name, f[:, k]) for name, f in forces.items()]))
    moments = {name: held[name].moment for name in joints}
    # a moment counts where it is more than the rounding of a force at an arm of the mechanism's size
    largest = max((float(np.abs(m).max(initial=0.0)) for m in moments.values()), default=0.0)
    size = max((float(np.abs(f).max(initial=0.0)) for f in forces.values()), default=0.0) * _size(results)
    turning = [(n, m) for n, m in moments.items() if np.abs(m).max(initial=0.0) > NOTHING * max(largest, size)]
    curves: list[tuple[str, Array]] = []
    for name, moment in turning:
        if moment.ndim == 1:
            curves.append((name, moment))
        else:
            curves += [(f"{name} {axis}", moment[:, k]) for k, axis in enumerate("xyz")]
    return [*rows, ("moment / (N m)", curves)] if curves else rows


def _size(results: Results) -> float:
    places = np.concatenate([p.position for p in results.points.values()])
    return float(np.nanmax(np.ptp(places, axis=0)))


def effort_rows(results: Results, model: Model) -> list[Row]:
    """Return the diagrams of the efforts of drivers, or of actuators where the file has them: torques and forces."""
    efforts = efforts_of(results, model)
    torques, forces = ([(name, effort) for name, unit, effort in efforts if unit == wanted] for wanted in ("N m", "N"))
    what = "actuators" if results.actuators else "drivers"
    found: list[Row] = []
    if torques:
        found.append((f"torque of {what} / (N m)", torques))
    if forces:
        found.append((f"force of {what} / N", forces))
    return found


def _energies(results: Results) -> Row:
    assert results.energy is not None
    found = results.energy
    return ENERGY, [("kinetic", found.kinetic), ("potential", found.potential), ("total", found.total)]
