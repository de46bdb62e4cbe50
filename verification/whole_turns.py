"""Whole turns in a reported motion, for the rows of joints that count them: gears, racks and screws."""

from __future__ import annotations

from collections import deque

import numpy as np

from ..common.turns import TURN, next_to
from ..mechanism.absolute import Absolute
from ..mechanism.model import FRAME, Array, Joint, Model
from ..motion.results import Results

HINGES = ("R", "C", "H")
PARALLEL = 1e-6  # sine of the angle between axes that are one
FARTHEST = 64  # turns from the first configuration in which the wheels of a gear are looked for at the first instant


def counted_turns(model: Model, results: Results) -> dict[str, Array]:
    """Return the continuous turns of spatial joints over time: of hinges, and of the first wheels of gears."""
    if model.dimension == 2:
        return {}  # angles of bodies are continuous themselves
    found: dict[str, Array] = {}
    for name, joint in model.joints.items():
        angle = results.joints[name].angle if joint.kind in HINGES else None
        turn = _of_wheel(model, results, joint) if joint.kind == "gear" else angle
        if turn is not None:
            found[name] = turn
    return found


def _of_wheel(model: Model, results: Results, gear: Joint) -> Array | None:
    """Return the turn of a gear's first wheel on its carrier; None where no hinges about its axis lead there.

    The axis is fixed in all bodies on such a way, so that their turns add up.
    """
    start = gear.carrier if gear.carrier is not None else FRAME
    axis = model.bodies[start].rotation @ gear.axis_a
    turns, ahead = {start: np.zeros(len(results.time))}, deque([start])
    while ahead and gear.first not in turns:
        here = ahead.popleft()
        for name, joint in model.joints.items():
            other = joint.second if joint.first == here else joint.first
            if joint.kind not in (*HINGES, "P") or here not in (joint.first, joint.second) or other in turns:
                continue
            own = model.bodies[joint.first].rotation @ joint.axis_a
            angle = results.joints[name].angle
            if angle is not None and np.linalg.norm(np.cross(own, axis)) > PARALLEL:
                continue
            sign = np.sign(own @ axis) * (1.0 if joint.first == here else -1.0)
            turns[other] = turns[here] + (0.0 if angle is None else sign * angle)  # a P turns nothing
            ahead.append(other)
    return turns.get(gear.first)


def turns_at_first(system: Absolute, rows: Array) -> Array:
    """Return what whole turns at the first instant make of the rows that count them; `rows` are those of that instant.

    Reported angles begin in (-π, π] unless they are driven: with which turns the motion began, they do not say.
    """
    found = np.zeros(len(rows))
    for batch in system.batches:
        if batch.kind not in ("gear", "rack", "H"):
            continue
        width = 5 if batch.kind == "H" else 1
        for k, number in enumerate(batch.number.tolist()):
            row = batch.start + width * (k + 1) - 1
            if batch.kind != "gear":
                found[row] = TURN * number * np.round(rows[row] / (TURN * number))
                continue
            turns = np.array(sorted(range(-FARTHEST, FARTHEST + 1), key=abs))
            left = next_to(rows[row] - TURN * number * turns, 0.0)
            found[row] = rows[row] - left[int(np.argmin(np.round(np.abs(left), 9)))]
    return found


def without_turns(system: Absolute, rows: Array, first: Array) -> Array:
    """Return rows without the whole turns of the first instant."""
    rows = rows - first
    for batch in system.batches:
        if batch.kind == "gear" and not system.planar:  # its second turn is nearest to the first
            mine = slice(batch.start, batch.start + len(batch.names))
            rows[mine] = next_to(rows[mine], 0.0)
    return rows
