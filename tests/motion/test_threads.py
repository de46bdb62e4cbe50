"""Threads change nothing: the same digits, the same stops, with every kind of step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism import reader
from assurgent.motion import kinematics
from assurgent.motion.course import ChangePoint, Course
from assurgent.motion.run import begin
from assurgent.motion.sweeps import segments
from assurgent.runtime.parallel import each, thread_count, threads

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["jansen-leg", "gear-linkage", "rssr", "cam-follower", "stephenson-six-bar"]

BREAKS = """
format = 1
name = "breaks"
space = "planar"
[points]
A = [0, 0]
B = [2, 0]
C = [4, 2]
D = [5, 0]
[bodies]
frame = { points = ["A", "D"] }
crank = { points = ["A", "B"] }
rod = { points = ["B", "C"] }
rocker = { points = ["C", "D"] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "t" }
[simulation]
start = 0
stop = 6
step = 0.05
"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["td", "3ot"])
def test_the_same_digits(name: str, method: str) -> None:
    model = reader.load(EXAMPLES / f"{name}.toml")
    alone = kinematics.run(model, method=method).results
    three = kinematics.run(model, method=method, threads=3).results
    for point, series in alone.points.items():
        assert np.array_equal(series.position, three.points[point].position)
        assert np.array_equal(series.acceleration, three.points[point].acceleration)
    assert alone.diagnostics["iterations"] == three.diagnostics["iterations"]
    assert alone.diagnostics["max_residual"] == three.diagnostics["max_residual"]


def test_the_same_stop() -> None:
    model = reader.loads(BREAKS, "breaks.toml")
    alone, three = kinematics.run(model), kinematics.run(model, threads=3)
    assert alone.stop is not None
    assert alone.stop == three.stop
    assert len(alone.results.time) == len(three.results.time) > 3


def test_closed_forms_run_together() -> None:
    model = reader.load(EXAMPLES / "jansen-leg.toml")
    _, program = kinematics.prepare(model)
    solution = begin(program, model.simulation.times())
    items = program.sequence.items
    (all_of_them,) = segments(solution)
    groups = [items[i].group_step for i in all_of_them if items[i].group_step is not None]
    assert len(groups) > 1
    # what builds on a bridge waits for its group
    group = next(g for g in groups if g is not None and g.solver.group.branches)
    solution.course = Course(extra=[0.5])
    assert segments(solution) == [all_of_them]
    solution.course = Course(change_points={group.plan.name: [ChangePoint(0.5, 0.01, (-1, 1))]})
    first, second = segments(solution)
    assert items[first[-1]].group_step is group
    assert first + second == all_of_them


def test_order_is_kept_and_threads_do_not_nest() -> None:
    with threads(4):
        assert each(lambda i: (i, thread_count()), range(20)) == [(i, 1) for i in range(20)]
    assert thread_count() == 1


def test_no_threads_are_wrong_input() -> None:
    with pytest.raises(InputError, match="threads 0"):
        kinematics.run(reader.loads(BREAKS, "breaks.toml"), threads=0)
