"""Further cases at tiny sizes: their independent routes, and that all methods follow them."""

import numpy as np
import pytest

from assurgent.bench import chains, further
from assurgent.bench.drawing import jansen, zoo
from assurgent.bench.newton_cases import length_error, triad_alone
from assurgent.bench.time_derivatives import Jet, lines_meet, meet, point

TIME = np.linspace(0.0, 0.2, 41)


def _differences(values, step):
    """Return the second-order difference quotient at the inner times."""
    return (values[..., 2:] - values[..., :-2]) / (2 * step)


@pytest.mark.parametrize("build", [zoo, jansen])
def test_constructions_have_the_rates_of_their_positions(build):
    time = np.arange(200) * 1e-4
    _, exact = build(2, time, chains.PLANAR_SPEED)
    for order in (0, 1):
        quotient = _differences(exact[order], 1e-4)
        # second order: relative error (ω h)² ≈ 1e-5 times some curvature of the linkage
        assert np.abs(quotient - exact[order + 1, :, 1:-1]).max() < 1e-3 * np.abs(exact[order + 1]).max()


def test_circles_and_lines_meet():
    like = Jet(*np.zeros((3, 1)))
    x, y = meet(point(0.0, 0.0, like), point(6.0, 0.0, like), 5.0, 5.0, 1.0)
    assert (x.x[0], y.x[0]) == pytest.approx((3.0, 4.0))
    u, v = point(1.0, 0.0, like), point(0.0, 1.0, like)
    # to the left of u is up, to the left of v is towards -x
    x, y = lines_meet(point(7.0, 2.0, like), u, 0.5, point(3.0, -9.0, like), v, 0.25)
    assert (x.x[0], y.x[0]) == pytest.approx((2.75, 2.5))


def test_chain_matches_circles():
    exact = chains.planar_exact(2, np.linspace(0, 0.1, 7))
    B, C = exact[0, 0:2], exact[0, 2:4]
    assert np.hypot(*(C - B)) == pytest.approx(np.full(7, 6.0))


def test_jansens_leg_has_its_published_foot():
    _, exact = jansen(1, np.zeros(1), chains.PLANAR_SPEED)
    # foot of the leg at a crank angle of zero, in units of 1 m, as the example in the gallery has it
    assert exact[0, -2:, 0] == pytest.approx([-0.4316, -0.9176], abs=1e-4)


def test_wrong_lengths_and_rates_are_seen():
    t = TIME
    fixed = (Jet(0 * t, 0 * t, 0 * t),) * 2
    end = (Jet(np.cos(t), -np.sin(t), -np.cos(t)), Jet(np.sin(t), np.cos(t), -np.sin(t)))
    assert length_error([(fixed, end, 1.0)]) < 1e-15
    assert length_error([(fixed, end, 1.01)]) > 1e-3
    wrong = (end[0], Jet(np.sin(t), np.cos(t), np.sin(t)))
    assert length_error([(fixed, wrong, 1.0)]) > 1e-3


@pytest.mark.parametrize(("case", "k"), [("zoo", 2), ("jansen", 2), ("triad", 0), ("triad", 2)])
def test_all_methods_follow_the_independent_route(case, k):
    row = further.measure(case, k, 1000, rounds=1)
    assert {"mod_td", "mod_td_serial" if case == "triad" else "mod_3ot", "global", "global_sparse"} <= set(row.error)
    assert max(row.error.values()) < 1e-9  # accelerations near a dead point lose some digits; usual: 1e-12
    a, b = {"zoo": (12, 0), "jansen": (8, 0), "triad": (4, 2 if k else 4)}[case]
    assert row.n_equations == a * k + b


@pytest.mark.long
@pytest.mark.parametrize("case", ["stewart", "spatial8"])
def test_types_made_on_the_way(case):
    row = further.measure(case, further.CASES[case][1][0], 1000, rounds=1)
    assert max(row.error.values()) < 1e-9  # usual: 1e-11
    assert row.iterations["mod_td"] < 4


def test_the_triads_input_is_given_on_a_circle():
    chain, _ = triad_alone()
    _, state = chain.state(30, chains.PLANAR_STEP)
    x, y = (state[:, row] for row in chain.driven)
    speed = np.hypot(x[1], y[1])
    assert speed == pytest.approx(np.full(30, speed[0]))
    assert np.ptp(x[0]) > 0.1
    assert np.ptp(y[0]) > 0.1
