"""Loads and drivers that begin, jump or come in short pulses: no method stops at rest, none passes over them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from assurgent.common.errors import InputError
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.methods import METHODS
from assurgent.dynamics.pace import FEWEST, Pace

WHEEL = """
format = 1
space = "planar"
points = {{ O = [0, 0], A = [1, 0] }}
[bodies]
frame = {{ points = ["O"] }}
a = {{ points = ["O", "A"], mass = 1, inertia = 1, centre = [0, 0] }}
[joints]
O = {{ type = "R", bodies = ["frame", "a"], at = "O" }}
[forces]
s = {{ body = "a", torque = "{torque}" }}
[simulation]
stop = 4
step = 0.5
"""
CART = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = { O = [0, 0], A = [0, -1] }
[parameters]
T = 0.1
[bodies]
frame = { points = [] }
c = { points = ["O"], mass = 1 }
a = { points = ["O", "A"], mass = 1, inertia = 0.05, centre = "A" }
[joints]
G = { type = "P", bodies = ["frame", "c"], at = "O", axis = [1, 0] }
O = { type = "R", bodies = ["c", "a"], at = "O" }
[drivers]
d = { joint = "G", displacement = "if(t<2, 0, if(t<2+T, 0.2*((t-2)/T - sin(2*pi*(t-2)/T)/(2*pi)), 0.2))" }
[simulation]
stop = 4
step = 0.05
"""
SPATIAL = """
format = 1
space = "spatial"
[points]
A = [0, 0, 0]
B = [1, 0, 0]
[bodies]
frame = { points = ["A"] }
a = { points = ["A", "B"], mass = 2, inertia = [1, 2, 3, 0, 0, 0], centre = [0, 0, 0] }
[joints]
A = { type = "C", bodies = ["frame", "a"], at = "A", axis = [0, 0, 1] }
[forces]
s = { body = "a", torque = [0, 0, "if(t < 1, 0, 6)"] }
p = { body = "a", point = [0, 0, 0], force = [0, 0, "max(0, t - 0.5)"] }
[simulation]
stop = 2
step = 0.5
"""
STEP = {"if(t < 2, 0, 1)": 2.0, "if(t < 1, 0, t - 1)": 4.5, "max(0, t - 1)^2": 9.0}
STEP |= {f"exp(-((t - 2)/{w})^2)/({w}*sqrt(pi))": 1.0 for w in (0.03, 0.002)}
PULSES = {"if(t < 2, 0, if(t < 2.01, 100, 0))": 1.0, "1000*exp(-((t - 1.3)/2e-3)^2)/sqrt(pi) + sin(t)": 3 - np.cos(4)}
EXACT = 1e-9  # the tolerance of a run


@pytest.mark.parametrize("torque", STEP)
def test_a_load_that_begins_on_a_wheel_at_rest(read, torque):
    outcome = simulate(read(WHEEL.format(torque=torque)))
    assert outcome.stop is None
    assert outcome.results.joints["O"].rate[-1] == pytest.approx(STEP[torque], rel=EXACT)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("torque", "exact"), [("if(t > 0, 1, 0)", 4.0), ("if(t < 4, 1, -5)", 4.0), ("floor(t)", 6.0)])
def test_jumps_at_both_ends_of_a_run(read, torque, exact, method):
    outcome = simulate(read(WHEEL.format(torque=torque)), method=method)
    assert outcome.stop is None
    assert outcome.results.time[-1] == 4.0
    assert outcome.results.joints["O"].rate[-1] == pytest.approx(exact, rel=EXACT)


@pytest.mark.parametrize("fixed_step", [0.3, 0.1])
def test_fixed_steps_end_where_a_load_begins(read, fixed_step):
    """Behind the jump the torque is constant: a method of order four has no error, and there is none before it."""
    outcome = simulate(read(WHEEL.format(torque="if(t < 2.05, 0, 1)")), fixed_step=fixed_step)
    assert outcome.stop is None
    assert outcome.results.joints["O"].rate[-1] == pytest.approx(1.95, rel=1e-13)
    assert outcome.results.joints["O"].angle[-1] == pytest.approx(1.95**2 / 2, rel=1e-13)


def test_loads_that_begin_on_a_body_at_rest_in_space(read):
    outcome = simulate(read(SPATIAL))
    assert outcome.stop is None
    joint = outcome.results.joints["A"]
    assert joint.rate[-1] == pytest.approx(2.0, rel=EXACT)  # 6 N m on 3 kg m2 for 1 s
    assert joint.displacement[-1] == pytest.approx(1.5**3 / 6 / 2, rel=EXACT)


def _swung(T: float) -> np.ndarray:
    """Return angle and rate of the pendulum on the cart at 4 s, begun anew where the driver's acceleration bends."""

    def moved(t: float, y: np.ndarray, on: float) -> list[float]:
        pulled = on * 0.2 * 2 * np.pi / T**2 * np.sin(2 * np.pi * (t - 2) / T)
        return [y[1], -(9.81 * np.sin(y[0]) + pulled * np.cos(y[0])) / 1.05]

    y = np.zeros(2)
    for begin, end, on in ((2, 2 + T, 1.0), (2 + T, 4, 0.0)):
        y = solve_ivp(moved, (begin, end), y, "DOP853", rtol=1e-12, atol=1e-13, args=(on,)).y[:, -1]
    return y


@pytest.mark.parametrize("method", METHODS)
def test_no_method_passes_over_a_pulse(read, method):
    for torque, exact in PULSES.items():
        found = simulate(read(WHEEL.format(torque=torque)), method=method)
        assert found.stop is None
        assert found.results.joints["O"].rate[-1] == pytest.approx(exact, rel=EXACT)
    for T in (1.0, 0.03):
        moved = simulate(read(CART.replace("T = 0.1", f"T = {T}")), method=method)
        assert moved.stop is None
        angle, rate = _swung(T)
        # dca holds the joint to the cart by a frequency, and the tolerance counts once for every step of it
        assert moved.results.joints["O"].angle[-1] + np.pi / 2 == pytest.approx(angle, abs=10 * EXACT)
        assert moved.results.joints["O"].rate[-1] == pytest.approx(rate, abs=50 * EXACT)


STEPPED = '"if(t<2, 0, if(t<2+T, 0.2*((t-2)/T - sin(2*pi*(t-2)/T)/(2*pi)), 0.2))"'


@pytest.mark.parametrize("driver", ["if(t<2, 0, t-2)", "max(0, t-2)", "abs(t-2)/2 + t/2"])
def test_a_driver_whose_rate_jumps_gives_an_impulse(read, driver):
    """The cart starts at once with 1 m/s: the arm keeps its angular momentum about the pin, (J + m) ω + m v = 0."""
    outcome = simulate(read(CART.replace(STEPPED, f'"{driver}"')), times=[0.0, 2.0, 2.0 + 1e-9])
    assert outcome.stop is None
    assert outcome.results.method == "global"
    assert outcome.results.joints["O"].rate == pytest.approx([0, 0, -1 / 1.05], abs=1e-7)  # 9.81 1/s² for 1e-9 s


def test_an_impulse_in_space_is_the_limit_of_short_pushes(read):
    """A wheel on a skew hinge of a driven arm, whose driver stops at once or within 1e-6 s."""
    text = """
format = 1
space = "spatial"
points = { A = [0, 0, 0], B = [1, 0, 0], C = [1.3, 0.5, 0.4] }
[bodies]
frame = { points = ["A"] }
arm = { points = ["A", "B"], mass = 1, inertia = [0.1, 0.2, 0.3, 0, 0, 0] }
wheel = { points = ["B", "C"], mass = 2, inertia = [0.1, 0.2, 0.25, 0.01, 0.02, -0.03], centre = "C" }
[joints]
R = { type = "R", bodies = ["frame", "arm"], at = "A", axis = [0, 0, 1] }
S = { type = "R", bodies = ["arm", "wheel"], at = "B", axis = ["0.6", 0, "0.8"] }
[drivers]
d = { joint = "R", angle = "DRIVER" }
"""
    times, slowly = [0.0, 1.0, 1.0 + 1e-6, 1.0 + 2e-6], "if(t < 1, t, if(t < 1 + 1e-6, t - (t-1)^2/2e-6, 1 + 0.5e-6))"
    at_once = simulate(read(text.replace("DRIVER", "min(t, 1)")), times=times).results.joints["S"]
    short = simulate(read(text.replace("DRIVER", slowly)), times=times, method="partition").results.joints["S"]
    assert at_once.rate == pytest.approx(short.rate, abs=1e-5)  # in 1e-6 s other forces act, too
    assert abs(at_once.rate[-1] - at_once.rate[1]) > 2
    # an acceleration of 1e6 1/s² at the asked instant is not that of the second before: it gave eight turns
    assert at_once.angle == pytest.approx(short.angle, abs=1e-5)


def test_what_no_force_does_is_refused(read):
    with pytest.raises(InputError, match="d: it jumps at t = 2 s"):
        simulate(read(CART.replace(STEPPED, '"if(t<2, 0, 0.3)"')))
    for options in ({"method": "partition"}, {"method": "dca"}, {"method": "semirecursive-1"}, {"fixed_step": 0.01}):
        with pytest.raises(InputError, match="its rate jumps at t = 2 s: of the methods of simulate only global"):
            simulate(read(CART.replace(STEPPED, '"max(0, t-2)"')), **options)


def test_breaks_are_found_to_the_last_digit(read):
    times = np.linspace(0, 4, 9)
    pace = Pace(read(WHEEL.format(torque="if(t < 2, 0, if(t < 2.01, 100, 0)) + abs(t - 3)")), 0.0, times)
    found = [e for e, b in zip(pace.ends, pace.breaks, strict=True) if b]
    assert found == [pytest.approx(x, abs=1e-15 * x) for x in (2.0, 2.01, 3.0)]
    assert pace.ends[-1] == 4.0
    width = 2 * 4 / FEWEST  # of a pulse that is seen in any case
    for at in (0.3, 1.7, 3.99):
        pulse = Pace(read(WHEEL.format(torque=f"if(t < {at}, 0, if(t < {at + width}, 1, 0))")), 0.0, times)
        assert [e for e, b in zip(pulse.ends, pulse.breaks, strict=True) if b] == [
            pytest.approx(x, abs=1e-14) for x in (at, at + width)
        ]


@pytest.mark.parametrize("torque", ["1.5", "1.1 + 0*t", "1.1*(sin(t)^2 + cos(t)^2)", "3*t + 1", "sin(t)", "t^2"])
def test_what_changes_slowly_leaves_the_steps_alone(read, torque):
    pace = Pace(read(WHEEL.format(torque=torque)), 0.0, np.linspace(0, 4, 9))
    assert pace.ends == [4.0]
    assert pace.longest[0] >= 1.0


def test_every_function_is_looked_at_where_it_jumps_alone(read, monkeypatch):
    """Halving went over all functions at the jumps of all: the square of their number."""
    from assurgent.dynamics import pace

    looked = []

    def counted(functions, forces, x):
        looked.append(len(functions) * len(x))
        return signals(functions, forces, x)

    signals = pace._signals
    monkeypatch.setattr(pace, "_signals", counted)
    counts = []
    for n in (4, 16):
        looked.clear()
        forces = "".join(f'f{i} = {{ body = "a", torque = "if(t < 1 + {i}/50, 0, 1)" }}\n' for i in range(n))
        found = Pace(
            read(WHEEL.format(torque="1").replace("[simulation]", forces + "[simulation]")), 0.0, np.array([4.0])
        )
        assert sum(found.breaks) == n
        counts.append(sum(looked))
    assert counts[1] < 5 * counts[0]
