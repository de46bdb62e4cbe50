"""Rows of `bench --case users` for inverse dynamics: beside KinePy, with more dyads, and on busy processors."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from ..facade import Mechanism
from . import busy, chains
from .called import Called, missing
from .claims import Claim
from .data_files import FOLDER
from .peers import _module
from .timing import least


def beside_kinepy(instants: int, rounds: int) -> Called:
    """Inverse dynamics with efforts and reactions, beside KinePy (which takes accelerations from differences)."""
    what = f"KinePy / inverse with efforts and reactions, slider-crank, {instants} instants"
    lacking = missing("kinepy")
    if lacking:
        return Called(what, why=lacking)
    m = Mechanism.load(FOLDER / "slider-crank.toml")
    moving = [m.bodies[name] for name in ("crank", "rod", "slider")]
    radius, length = 1e3 * moving[0]["length"], 1e3 * moving[1]["length"]  # in mm
    times: Any = np.linspace(0.0, 1.0, instants)
    with contextlib.redirect_stdout(io.StringIO()):  # it tells what it compiles
        peer = _module("kinepy").System()
        for body, centre in zip(moving, (radius / 2, length / 2, 0.0), strict=True):
            peer.add_solid(m=body["mass"], j=body["inertia"], g=(centre, 0.0))
        crank = peer.add_revolute(0, 1)
        peer.add_revolute(1, 2, (radius, 0.0))
        peer.add_revolute(2, 3, (length, 0.0))
        peer.add_prismatic(0, 3)
        peer.pilot(crank)
        peer.compile()
    angle = 2 * np.pi * times
    peer.solve_dynamics(angle, 1.0)
    ours = np.asarray(m.inverse(times=times[::100]).drivers["theta"].effort)
    theirs = np.asarray(crank.torque)[::100]
    seen = slice(2, -2)  # differences need neighbours
    gap = float(np.abs(np.abs(ours[seen]) - np.abs(theirs[seen])).max() / np.abs(ours).max())
    if not gap < 0.02:
        return Called(what, why=f"KinePy finds other efforts (off by {gap:.0e})")
    s = least({"ours": lambda: m.inverse(times=times), "kinepy": lambda: peer.solve_dynamics(angle, 1.0)}, rounds)
    return Called(what, Claim(what, s["kinepy"] / s["ours"], 10, True))


def on_busy_processors(rounds: int) -> Called:
    """Inverse dynamics of six legs while every processor is busy: as it is, over one BLAS thread set from outside."""
    ours, one = busy.inverse_beside(rounds)
    what = "inverse of six legs, 201 instants, all processors busy / the same with one BLAS thread from outside"
    what += f" ({1e3 * ours:.0f} / {1e3 * one:.0f} ms)"
    return Called(what, Claim(what, ours / one, 1.3, False))


def of_many_dyads(instants: int, rounds: int) -> Called:
    """Efforts and reactions of a hundred dyads beside those of one: a step of each dyad costs no more than alone."""
    heavy = {}
    for k in (1, 100):
        heavy[k] = m = chains.four_bars(k)
        for name, body in m.bodies.items():
            if name != "frame":
                body |= {"mass": 1.0, "inertia": 0.1}
    times: Any = chains.PLANAR_STEP * np.arange(instants)
    for m in heavy.values():
        m.inverse(times=times)
    s = least({str(k): lambda m=m: m.inverse(times=times) for k, m in heavy.items()}, rounds)  # type: ignore[misc]
    what = f"inverse with efforts and reactions, {instants} instants: 100 dyads / one dyad"
    return Called(what, Claim(what, s["100"] / s["1"], 100, False))
