"""Where a simulation starts: where a set of coordinates is judged, joints without coordinates, turns of springs."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from assurgent.common.errors import AssemblyError, InputError
from assurgent.dynamics.equilibrium import equilibrium
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.dynamics.methods import METHODS

G = 9.81

THREE_LEGS = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
A = [0, 0]
B = [1, 0]
C = [2, 0]
P = [0, 1]
Q = [1, 1]
S = [2, 1]
[bodies.frame]
points = ["A", "B", "C"]
[bodies.one]
points = ["A", "P"]
[bodies.two]
points = ["B", "Q"]
[bodies.three]
points = ["C", "S"]
[bodies.table]
points = ["P", "Q", "S"]
mass = 3
inertia = 1
[joints]
A = { type = "R", bodies = ["frame", "one"], at = "A" }
B = { type = "R", bodies = ["frame", "two"], at = "B" }
C = { type = "R", bodies = ["frame", "three"], at = "C" }
P = { type = "R", bodies = ["one", "table"], at = "P" }
Q = { type = "R", bodies = ["two", "table"], at = "Q" }
S = { type = "R", bodies = ["three", "table"], at = "S" }
[initial]
theta = { joint = "A", angle = 1.2, rate = 0.5 }
"""


def test_table_on_three_equal_legs_swings_as_a_point(read):
    """With the legs flat, at the angle zero, the mechanism has a second free motion; it does not start there."""
    times = np.linspace(0, 0.5, 6)
    found = simulate(read(THREE_LEGS), times).results
    exact = solve_ivp(lambda _, y: [y[1], -G * np.cos(y[0])], (0, 0.5), [1.2, 0.5], "DOP853", times,
                      rtol=1e-12, atol=1e-12)  # fmt: skip
    assert found.method == "partition"
    assert found.joints["A"].angle == pytest.approx(exact.y[0], abs=1e-9)  # the tolerance of the run
    assert found.diagnostics["reactions"]["not_unique"] == ["A", "B", "C", "P", "Q", "S"]


BALL = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
[points]
O = [0, 0, 0]
E = [0.6, 0, -0.8]
[bodies.frame]
points = ["O"]
[bodies.bob]
points = ["O", "E"]
mass = 2
centre = "E"
inertia = [0.1, 0.1, 0.1, 0, 0, 0]
[joints]
O = { type = "S", bodies = ["frame", "bob"], at = "O" }
"""


def test_body_on_a_ball_is_simulated_without_a_method_named(read):
    times = np.linspace(0, 1, 5)
    told: list[str] = []
    found = simulate(read(BALL), times, progress=told.append).results
    start, inertia = np.arctan2(-0.8, 0.6), 2 + 0.1  # it swings in the plane of its first position
    exact = solve_ivp(lambda _, y: [y[1], -2 * G * np.cos(y[0]) / inertia], (0, 1), [start, 0], "DOP853", times,
                      rtol=1e-12, atol=1e-12)  # fmt: skip
    place = np.column_stack([np.cos(exact.y[0]), 0 * times, np.sin(exact.y[0])])
    assert found.points["E"].position == pytest.approx(place, abs=1e-9)  # the tolerance of the run
    assert found.method == "global"
    assert "method global" in told[0]


def test_body_on_a_ball_has_no_joint_coordinates(read):
    with pytest.raises(InputError, match="method global"):
        simulate(read(BALL), np.array([0.0, 1.0]), "partition")
    with pytest.raises(InputError, match="method global"):
        simulate(read(BALL), np.array([0.0, 1.0]), fixed_step=1e-3)
    with pytest.raises(InputError, match="S as three"):
        equilibrium(read(BALL))


def test_too_many_initial_values_that_contradict_each_other_are_counted(read):
    more = THREE_LEGS + "other = { joint = 'P', angle = 2.5, rate = 0 }\n"
    with pytest.raises(InputError, match=r"\[initial\]: gives 2 coordinates; the mechanism has 1"):
        simulate(read(more))


@pytest.mark.parametrize("angle", [1.2, 1.5])  # as the first leg stands, and another
def test_initial_values_that_follow_from_each_other(angle, read):
    apart = THREE_LEGS.replace("[joints]", '[bodies.wheel]\npoints = ["C"]\ninertia = 1\n[joints]')
    apart = apart.replace("[initial]", 'W = { type = "R", bodies = ["frame", "wheel"], at = "C" }\n[initial]')
    with pytest.raises(InputError, match=r"theta, other depend on each other and leave wheel free .* joint W"):
        simulate(read(apart + f"other = {{ joint = 'B', angle = {angle}, rate = 0.5 }}\n"))


def test_cut_that_takes_the_mechanism_apart(read):
    with pytest.raises(InputError, match="nothing holds frame and one together"):
        simulate(read(THREE_LEGS + '[simulation]\ncut = ["A", "P", "B"]\n'))


WHEEL = {
    "planar": """
format = 1
space = "planar"
[points]
O = [0, 0]
E = [1, 0]
[bodies.frame]
points = ["O"]
[bodies.wheel]
points = ["O", "E"]
inertia = 0.5
[joints]
O = { type = "R", bodies = ["frame", "wheel"], at = "O" }
[forces]
coil = { type = "torsion-spring", joint = "O", stiffness = 0.5, angle = 20, damping = 0 }
""",
    "spatial": """
format = 1
space = "spatial"
[points]
O = [0, 0, 0]
E = [1, 0, 0]
[bodies.frame]
points = ["O"]
[bodies.wheel]
points = ["O", "E"]
inertia = [0.1, 0.1, 0.5, 0, 0, 0]
[joints]
O = { type = "R", bodies = ["frame", "wheel"], at = "O", axis = [0, 0, 1] }
[forces]
coil = { type = "torsion-spring", joint = "O", stiffness = 0.5, angle = 20, damping = 0 }
""",
}


@pytest.mark.parametrize("space", WHEEL)
def test_coil_counts_the_turns_of_its_driver(space, read):
    """The driver begins beyond a turn, and turns further than half a turn between two asked times."""
    model = read(WHEEL[space] + '[drivers]\na = { joint = "O", angle = "9 + t" }\n')
    effort = inverse(model, np.array([0.0, 1.0, 5.0, 9.0])).results.drivers["a"].effort
    assert effort == pytest.approx(0.5 * (np.array([9, 10, 14, 18]) - 20), abs=1e-12)


@pytest.mark.parametrize("method", ["partition", "global"])
@pytest.mark.parametrize("space", WHEEL)
def test_coil_is_wound_as_far_as_initial_says(space, method, read):
    model = read(WHEEL[space] + '[initial]\na = { joint = "O", angle = 9, rate = 0 }\n')
    times = np.linspace(0, 8, 9)
    found = simulate(model, times, method).results
    assert found.joints["O"].rate == pytest.approx(11 * np.sin(times), abs=1e-8)  # frequency 1 rad/s
    assert found.energy.total == pytest.approx(np.full(9, 0.25 * 11**2), rel=1e-9)


def test_rest_of_a_joint_that_names_a_welded_part(read):
    text = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
E = [1, 0]
F = [0.2, 1]
[bodies.frame]
points = ["O"]
[bodies.named]
points = ["O", "F"]
[bodies.alone]
points = ["O", "E"]
mass = 2
centre = "E"
[joints]
O = { type = "R", bodies = ["frame", "named"], at = "O" }
W = { type = "weld", bodies = ["named", "alone"] }
"""
    between = np.arctan2(1, 0.2)  # the mass hangs below O, the part that the joint names is turned from it by this
    assert equilibrium(read(text)).coordinates["O"] == pytest.approx(between - np.pi / 2, abs=1e-10)


def test_a_sketch_that_is_far_too_large_is_refused(read):
    """Lengths of metres in a sketch of 4e8 m: rows are scaled by its size, and free motions are lost in rounding."""
    model = read(
        """
        format = 1
        space = "planar"
        [points]
        A = [0, 0]
        B = [-0.09, 1.5]
        C = [0.6, -4e8]
        D = [2.04, 0]
        [bodies]
        frame = { points = ["A", "D"] }
        crank = { points = ["A", "B"], length = 1.5, mass = 1 }
        rod = { points = ["B", "C"], length = 2.04, mass = 1 }
        rocker = { points = ["D", "C"], length = 1.5, mass = 1 }
        [joints]
        A = { type = "R", bodies = ["frame", "crank"], at = "A" }
        B = { type = "R", bodies = ["crank", "rod"], at = "B" }
        C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
        D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
        [drivers]
        th = { joint = "A", angle = "1.63 + t" }
        """
    )
    for command in (simulate, equilibrium):
        with pytest.raises(InputError, match=r"sketch \(about 2e\+08 m\)"):
            command(model)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("space", WHEEL)
def test_a_joint_begins_at_the_angle_that_initial_gives(space, method, read):
    """What is reported, and what its spring feels, are one angle: seven half turns, of which the spring is free."""
    model = read(WHEEL[space].replace("20", '"7*pi"') + '[initial]\na = { joint = "O", angle = "7*pi", rate = 2 }\n')
    times = np.linspace(0, 3, 7)
    found = simulate(model, times, method).results
    assert found.joints["O"].angle == pytest.approx(7 * np.pi + 2 * np.sin(times), abs=1e-7)
    spring = 0.25 * (found.joints["O"].angle - 7 * np.pi) ** 2
    assert found.energy.potential == pytest.approx(spring, abs=1e-9)


SCREW = """
format = 1
space = "spatial"
gravity = [0, 0, -3]
points = { O = [0, 0, 0.1], A = [1, 0, 0.3] }
[bodies]
frame = { points = ["O"] }
a = { points = ["O", "A"], mass = 1, inertia = [0.2, 0.1, 0.3, 0.01, 0.02, -0.03], centre = [0, 0, 0] }
[joints]
O = { type = "H", bodies = ["frame", "a"], at = "O", axis = [0, 0, 1], pitch = 0.1 }
[forces]
coil = { type = "torsion-spring", joint = "O", stiffness = 0.5, angle = 19, damping = 0 }
[initial]
a = { joint = "O", angle = 20, rate = 1 }
"""


@pytest.mark.parametrize("method", METHODS)
def test_the_slide_of_a_screw_is_its_pitch_times_its_turn(method, read):
    found = simulate(read(SCREW), np.linspace(0, 1, 5), method).results
    screw = found.joints["O"]
    assert screw.angle[0] == pytest.approx(20, abs=1e-12)
    assert screw.displacement == pytest.approx(0.1 * screw.angle, abs=1e-9)
    weight = 3 * (screw.displacement + 0.1)
    assert found.energy.potential == pytest.approx(weight + 0.25 * (screw.angle - 19) ** 2, abs=1e-9)


STROKE = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = { O = [0, 0], A = [0.3, 0.4], B = [1.166, 0] }
[bodies]
frame = { points = ["O"] }
a = { points = ["O", "A"], length = 0.5, mass = 1, inertia = 0.1 }
b = { points = ["A", "B"], length = 1, mass = 1, inertia = 0.1 }
k = { points = ["B"], mass = 3, inertia = 0.1 }
[joints]
O = { type = "R", bodies = ["frame", "a"], at = "O" }
A = { type = "R", bodies = ["a", "b"], at = "A" }
B = { type = "R", bodies = ["b", "k"], at = "B" }
G = { type = "P", bodies = ["frame", "k"], at = "B", through = "O", axis = [1, 0] }
[initial]
"""
AT_END = STROKE + 'a = { joint = "G", displacement = 1.5, rate = %s }'  # crank and rod in line
TOLD = STROKE + 'a = { joint = "O", angle = 0, rate = 0 }'  # the same position by the crank


@pytest.mark.parametrize("method", METHODS)
def test_a_start_at_the_end_of_a_stroke(read, method):
    """The slider says where the mechanism is, not how it moves on: at rest it starts in the coordinate of the crank."""
    times = np.linspace(0, 1, 11)
    exact = simulate(read(TOLD), times, method="partition").results
    outcome = simulate(read(AT_END % 0), times, method=method)
    assert outcome.stop is None
    # rounding of the slider's place leaves the crank 1e-6 rad open, and the fall multiplies it
    assert outcome.results.points["B"].position == pytest.approx(exact.points["B"].position, abs=1e-4)
    assert equilibrium(read(AT_END % 0)).coordinates["O"] == pytest.approx(np.pi / 2, abs=1e-7)
    with pytest.raises(AssemblyError, match=r"rates contradict the joints at the start \(at 'G'\).*another joint"):
        simulate(read(AT_END % 1), times, method=method)


def test_a_quick_gear_is_no_dead_point(read):
    """A pinion turns 1e6 times as fast as the wheel, but in every position: the rate of the wheel tells it."""
    text = """
format = 1
space = "planar"
points = { O = [0, 0], A = [1, 0] }
[bodies]
frame = { points = ["O", "A"] }
wheel = { points = ["O"], mass = 1, inertia = 1 }
pinion = { points = ["A"], mass = 1, inertia = 1 }
[joints]
O = { type = "R", bodies = ["frame", "wheel"], at = "O" }
A = { type = "R", bodies = ["frame", "pinion"], at = "A" }
G = { type = "gear", bodies = ["wheel", "pinion"], ratio = 1e6 }
[initial]
a = { joint = "O", angle = 0, rate = 1e-3 }
"""
    found = simulate(read(text), np.linspace(0, 1e-3, 3)).results
    assert found.joints["A"].rate == pytest.approx(np.full(3, 1e3), rel=1e-9)
    assert found.independent[0] == ("O",)


PARALLELOGRAM = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = {{ A = [0, 0], B = [2, 0], C = [7, 0], D = [5, 0] }}
[bodies]
frame = {{ points = ["A", "D"] }}
crank = {{ points = ["A", "B"], mass = 1, inertia = 0.1 }}
rod = {{ points = ["B", "C"], mass = 1, inertia = 0.1 }}
rocker = {{ points = ["D", "C"], mass = 1, inertia = 0.1 }}
[joints]
A = {{ type = "R", bodies = ["frame", "crank"], at = "A" }}
B = {{ type = "R", bodies = ["crank", "rod"], at = "B" }}
C = {{ type = "R", bodies = ["rod", "rocker"], at = "C" }}
D = {{ type = "R", bodies = ["frame", "rocker"], at = "D" }}
[initial]
a = {{ joint = "A", angle = 0, rate = {rate} }}
[simulation]
stop = 0.2
step = 0.1
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_rate_where_branches_meet_is_that_of_none(read, method):
    """The least of the rates left open is on neither branch: energies went off by a fifth, without a word."""
    with pytest.raises(AssemblyError, match=r"at the start branches of the mechanism meet: .*start elsewhere"):
        simulate(read(PARALLELOGRAM.format(rate=2)), method=method)


def test_rest_where_branches_meet_is_told_in_words(read):
    with pytest.raises(AssemblyError, match="no set of joint coordinates carries the motion on"):
        simulate(read(PARALLELOGRAM.format(rate=0)), method="partition")
