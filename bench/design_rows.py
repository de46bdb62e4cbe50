"""Rows of `bench --case users` for many designs: a sweep beside pylinkage, a population beside NumPy in LInK's way."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..designs.objectives import timed_points
from ..designs.population import Linkage, batch, random_linkages
from ..designs.sweep import sweep
from ..facade import Mechanism
from .data_files import FOLDER

JANSEN = ("a", "b", "c", "d", "ee", "f", "g", "h", "i", "j", "k", "l", "m")
NUMBERS = ["max(P.y)", "range(P.x)", "length(P)", "transmission", "turn"]  # one of every kind


def sweep_of(count: int, instants: int) -> Callable[[int], Any]:
    """Return what `assurgent sweep` does: a four-bar read, its designs run to five numbers each by so many threads."""
    data = tomllib.loads((FOLDER / "coupler-four-bar.toml").read_text("utf-8"))
    sizes = np.random.default_rng(1).uniform(-0.1, 0.1, (3, count)) + np.array([[2.0], [6.0], [5.0]])
    designs, times = dict(zip("abc", sizes, strict=True)), np.linspace(0.0, 1.0, instants)
    sweep(data, "four-bar", None, {name: x[:64] for name, x in designs.items()}, NUMBERS, times)
    return lambda threads: sweep(data, "four-bar", None, designs, NUMBERS, times, threads=threads)


def five_numbers(run: Callable[[], Any]) -> Callable[[], list[float]]:
    """Return pylinkage's turn of one design, reduced to the same five numbers in NumPy."""

    def once() -> list[float]:
        places = np.asarray(run()[0])  # (instant, part, component): A, B, D, C, P
        P = places[:, -1]
        u, v = places[:, 1] - places[:, 3], places[:, 2] - places[:, 3]
        cross = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        sines = cross**2 / ((u[:, 0] ** 2 + u[:, 1] ** 2) * (v[:, 0] ** 2 + v[:, 1] ** 2))
        steps = P[1:] - P[:-1]
        length = np.sqrt(steps[:, 0] ** 2 + steps[:, 1] ** 2).sum()
        found = P[:, 1].max(), P[:, 0].max() - P[:, 0].min(), length, np.sqrt(sines.min()), not np.isnan(P).any()
        return [float(v) for v in found]

    return once


def gradients(path: Path, instants: int) -> dict[str, Callable[[], Any]]:
    """Return the distance of the foot of Jansen's leg from another leg's: its value, and with all gradients."""
    compiled = Mechanism.load(path).compile(np.linspace(0.0, 1.0, instants), ["F"], parameters=JANSEN)
    away = timed_points("F", compiled(a=0.381).points["F"].position)
    return {
        "value": lambda: away(compiled()),
        "forward": lambda: compiled.value_and_gradient(away, method="forward"),
        "adjoint": lambda: compiled.value_and_gradient(away, method="adjoint"),
    }


def population(count: int, joints: int, instants: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a population in one call, and the same in NumPy: all linkages at once, joint by joint."""
    linkages = random_linkages(count, joints, np.random.default_rng(1))
    turn = np.linspace(0.0, 2 * np.pi, instants)
    batch(linkages, turn)
    return lambda: batch(linkages, turn), lambda: numpy_batch(linkages, turn)


def numpy_batch(linkages: list[Linkage], turn: Any) -> Any:
    """LInK's way (Nobari et al., 2024): every joint of all linkages is an array over linkages and times.

    The cosine of the angle at the first joint, the rotation by it, the side on which the joint began.
    """
    tables = np.stack([one.table for one in linkages])
    x = np.stack([one.places for one in linkages])
    count, joints = tables.shape[:2]
    found = np.repeat(x[:, :, None, :], len(turn), axis=2)
    way = x[:, 1] - x[:, 0]
    c, s = np.cos(turn), np.sin(turn)
    found[:, 1, :, 0] = x[:, 0, 0, None] + way[:, 0, None] * c - way[:, 1, None] * s
    found[:, 1, :, 1] = x[:, 0, 1, None] + way[:, 0, None] * s + way[:, 1, None] * c
    rows = np.arange(count)
    with np.errstate(invalid="ignore", divide="ignore"):
        for j in range(2, joints):
            a, b, linked = tables[:, j, 1], tables[:, j, 2], tables[:, j, 0] == 0
            la, lb = (np.linalg.norm(x[rows, j] - x[rows, k], axis=1)[:, None] for k in (a, b))
            u, v = x[rows, b] - x[rows, a], x[rows, j] - x[rows, a]
            side = np.where(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] >= 0, 1.0, -1.0)[:, None]
            pa = found[rows, a]
            w = found[rows, b] - pa
            length = np.sqrt(np.sum(w**2, axis=2))
            cosine = (la**2 + length**2 - lb**2) / (2 * la * length)
            sine = side * np.sqrt(1 - cosine**2)
            e = w / length[..., None]
            place = np.stack([e[..., 0] * cosine - e[..., 1] * sine, e[..., 0] * sine + e[..., 1] * cosine], axis=2)
            found[:, j] = np.where(linked[:, None, None], pa + la[..., None] * place, found[:, j])
    return found
