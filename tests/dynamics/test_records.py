"""What a simulation reports, found over lanes after the integration: against single postures, and its cost."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from assurgent.dynamics.coordinates import shown_name
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.partition import Partition
from assurgent.dynamics.partition_records import Noted

SPRUNG = """
[forces]
coil = { type = "torsion-spring", joint = "A", stiffness = 0.004, angle = 0.3, damping = 0.0001 }
"""


@pytest.mark.parametrize("name", ["RELEASED", "ROCKING", "RSSR", "windows"])
def test_the_criterion_over_lanes_is_that_of_each_posture(mechanisms, read, name) -> None:
    model = read(mechanisms.windows(3) if name == "windows" else getattr(mechanisms, name))
    run = Partition(model, begin(model), lambda _: None)
    wanted: list[np.ndarray] = []
    times = np.linspace(0, 0.6, 13)
    for t in times:  # from output to output, so that each state is at hand
        noted = Noted(model, run.gauge, run.inertia, run.applied, False, np.array([t]))
        assert run.integrate(noted.times, noted) is None
        wanted.append(run._weighed(run._moved(run.t, run.z, run.zdot)).cosines[list(run.gauge.listed)])
    through = Partition(model, begin(model), lambda _: None)
    found, stop = through.run(times)
    assert stop is None
    names = [shown_name(model, run.gauge.all[i]) for i in run.gauge.listed]
    assert list(found.criterion) == names
    values = np.array(list(found.criterion.values()))
    assert values == pytest.approx(np.array(wanted).T, rel=1e-9, abs=1e-12)
    history = through.counts.history
    assert list(found.independent) == [[names for since, names in history if since < max(t, 1e-9)][-1] for t in times]


@pytest.mark.parametrize("name", ["RELEASED", "RSSR"])
def test_outputs_far_apart_count_the_turns_of_springs(mechanisms, read, name) -> None:
    """A few outputs or many: the same turns, energies and reactions, although a turn may lie between two outputs."""
    text = getattr(mechanisms, name).split("[initial]")[0] + SPRUNG
    model = read(text + '[initial]\nq = { joint = "A", angle = 0.2, rate = 40 }\n')
    many, few = np.linspace(0, 0.8, 161), np.linspace(0, 0.8, 3)
    fine, coarse = simulate(model, many).results, simulate(model, few).results
    assert fine.energy is not None
    assert coarse.energy is not None
    turn = fine.joints["A"].angle
    assert turn is not None
    assert turn[-1] - turn[0] > 4 * np.pi
    assert coarse.energy.potential == pytest.approx(fine.energy.potential[::80], rel=1e-9)
    for joint, reaction in coarse.reactions.items():
        size = np.abs(fine.reactions[joint].force).max()
        assert reaction.force == pytest.approx(fine.reactions[joint].force[::80], abs=1e-8 * size)


def test_reactions_of_a_free_motion_keep_every_body_in_balance(mechanisms, read) -> None:
    found = simulate(read(mechanisms.RELEASED), np.linspace(0, 1, 201)).results
    force = {j: s.force for j, s in found.reactions.items()}
    gravity = np.array([0, -9.81])
    masses = {"crank": (0.5, "A", "B"), "rod": (1.2, "B", "C"), "rocker": (0.9, "D", "C")}
    ends = {"crank": force["A"] - force["B"], "rod": force["B"] - force["C"], "rocker": force["C"] + force["D"]}
    for body, (m, one, two) in masses.items():
        centre = 0.5 * (found.points[one].acceleration + found.points[two].acceleration)
        assert ends[body] == pytest.approx(m * (centre - gravity), abs=1e-10)


def test_a_start_that_is_all_that_is_asked(mechanisms, read) -> None:
    found = simulate(read(mechanisms.RELEASED), np.array([0.0])).results
    assert len(found.time) == 1
    assert found.energy is not None
    assert found.energy.kinetic[0] == 0.0


def test_recording_costs_little_beside_the_integration(mechanisms, read) -> None:
    """A thousand outputs with forces, energies and criterion, beside two: of one call less than twice the time."""
    model = read(mechanisms.RELEASED)
    simulate(model, np.array([0.0, 1.0]))
    seconds = []
    for times in (np.array([0.0, 1.0]), np.linspace(0, 1, 1001)):
        best = np.inf
        for _ in range(5):
            start = time.process_time()
            simulate(model, times)
            best = min(best, time.process_time() - start)
        seconds.append(best)
    assert seconds[1] < 2 * seconds[0]


SPINNING = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
[points]
A = [0, 0, 0]
B = [0, 0.5, 0]
[bodies]
frame = { points = ["A"] }
wheel = { points = ["A", "B"], mass = 2, inertia = [0.1, 0.1, 0.1, 0, 0, 0], centre = "B" }
[joints]
A = { type = "R", bodies = ["frame", "wheel"], at = "A", axis = [1, 0, 0] }
[initial]
a = { joint = "A", angle = 0.5, rate = 9 }
"""


@pytest.mark.parametrize("given", [{}, {"fixed_step": 1e-3}, {"method": "global"}])
def test_turns_of_a_spatial_joint_between_far_records(read, given):
    """A wheel with its mass beside the axis goes round many times between two records, faster below than above."""
    model, times = read(SPINNING), np.array([0.0, 2.7, 9.0])
    arm, inertia = 0.5, 0.1 + 2 * 0.5**2
    begin = simulate(model, times[:1], **given).results.points["B"].position[0]
    above = np.arctan2(begin[2], begin[1]) - 0.5  # of B at the angle zero, from the horizontal
    exact = solve_ivp(lambda _, y: [y[1], -2 * 9.81 * arm * np.cos(y[0] + above) / inertia], (0, 9), [0.5, 9.0],
                      "DOP853", times, rtol=1e-12, atol=1e-12)  # fmt: skip
    found = simulate(model, times, **given).results
    assert exact.y[0][-1] > 6 * np.pi
    assert list(found.time) == list(times)
    assert found.joints["A"].angle == pytest.approx(exact.y[0], abs=1e-6)  # a whole turn is 6.28
