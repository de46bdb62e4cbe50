"""Assembly from rough sketches: closed, named with its gap, or lost at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.common.errors import AssemblyError
from assurgent.mechanism import assembly
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.assembly import assemble, follow
from tests.mechanism.absolute_samples import FOUR_BAR, ROUNDING, RSSR, circles, model


@pytest.mark.parametrize("seed", range(8))
def test_a_bad_sketch_is_closed(tmp_path: Path, seed: int) -> None:
    m = model(tmp_path, FOUR_BAR)
    random = np.random.default_rng(seed)
    bodies = dict(m.bodies)
    for name in m.movable:
        angle = bodies[name].angle + 0.7 * random.standard_normal()
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        bodies[name] = replace(bodies[name], origin=bodies[name].origin + random.standard_normal(2), rotation=rotation)
    sketch = replace(m, bodies=bodies)
    poses = assemble(sketch, {"theta": 1.4})
    assert np.abs(Absolute(sketch).rows(poses, {"theta": 1.4})).max() < 1e-13 * m.size


def test_a_far_driver_keeps_the_way_of_assembly(tmp_path: Path) -> None:
    m = model(tmp_path, FOUR_BAR)
    system = Absolute(m)
    k = system.index["rocker"]
    for theta in np.linspace(-3, 3, 13):
        poses = assemble(m, {"theta": float(theta)})
        B = np.array([[np.cos(theta), np.sin(theta)]])
        expected = circles(B, 4.0, np.array([[4.0, 0.0]]), 3.0)[0]
        found = poses.origin[k] + poses.rotation[k] @ np.append(m.bodies["rocker"].points["C"], 0.0)
        np.testing.assert_allclose(found[:2], expected, atol=ROUNDING)


def test_what_cannot_be_assembled_is_named_with_its_gap(tmp_path: Path) -> None:
    m = model(tmp_path, FOUR_BAR.replace("length = 4", "length = 9"))
    with pytest.raises(AssemblyError, match=r"theta = 1.4: joint '[ABCD]' stays open by \d"):
        assemble(m, {"theta": 1.4})


def test_a_lost_assembly_tells_the_time(tmp_path: Path) -> None:
    # crank 3, rod 2, rocker 2, ground 4: the crank stops where |B - D| = 4, at cos θ = 9/24
    text = FOUR_BAR.replace("length = 4", "length = 2.001").replace("length = 3", "length = 2")
    text = text.replace("length = 1", "length = 3").replace("B = [0.1, 1.1]", "B = [3, 0.2]")
    text = text.replace("C = [3.8, 3.1]", "C = [3.5, 2]").replace("1.4 + 2*t + 0.3*sin(t)", "0.1 + t")
    with pytest.raises(AssemblyError, match=r"at t = (\d\.\d+)") as caught:
        follow(model(tmp_path, text), np.linspace(0, 2, 9))
    limit = np.arccos((25 - 4.001**2) / 24) - 0.1
    assert abs(float(str(caught.value).split("t = ")[1].split()[0]) - limit) < 1e-3


def test_some_bodies_can_be_unknown_and_the_others_stand(tmp_path: Path) -> None:
    m = model(tmp_path, FOUR_BAR)
    system = Absolute(m, ["rod", "rocker"])
    assert set(system.names) == {"B", "C", "D"}
    assert system.n_columns == 6
    poses = assemble(m, {"theta": 1.4})
    np.testing.assert_allclose(system.rows(poses, {}), 0, atol=ROUNDING)
    np.testing.assert_array_equal(assemble(m, {}, poses, unknown=["rod", "rocker"]).origin[1], poses.origin[1])


def test_sparse_least_squares_close_the_same_poses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (FOUR_BAR, RSSR):
        m = model(tmp_path, text)
        dense = assemble(m, {"theta": 1.2})
        with monkeypatch.context() as patch:
            patch.setattr(assembly, "DENSE", 0)
            sparse = assemble(m, {"theta": 1.2})
        np.testing.assert_allclose(sparse.origin, dense.origin, atol=ROUNDING)
        if text == FOUR_BAR:  # the spin of a rod is of no account
            np.testing.assert_allclose(sparse.angle, dense.angle, atol=ROUNDING)


def test_a_rod_of_no_length_is_told_in_words(tmp_path: Path) -> None:
    """Its axis is out of range, and the matrix of a step has no singular values: that is no reason for a traceback."""
    m = model(tmp_path, RSSR.replace("length = 3.6", "length = 5e-324"))
    with pytest.raises(AssemblyError, match="cannot be assembled"):
        assemble(m, {"theta": 1.2})
