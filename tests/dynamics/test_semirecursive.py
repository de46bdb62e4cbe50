"""Semi-recursive I and II: their matrices, the figures of the quick return, other methods on the same mechanisms."""

import time
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

from assurgent.bench.pendulum import pendulum
from assurgent.dynamics import integrator
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.semirecursive import SemiRecursive1, SemiRecursive2
from assurgent.mechanism.reader import load, loads

from .mechanisms import EXAMPLES, let_go

QUICK_RETURN = EXAMPLES / "dynamics" / "yu-quick-return.toml"
BOTH = (SemiRecursive1, SemiRecursive2)
MATRICES = (
    "jansen-leg", "scissor-lift", "spatial-slider-crank", "screw-jack", "stewart-platform-ups", "universal-joint",
)  # fmt: skip
MOTIONS = ("five-bar", "scotch-yoke", "rack-and-pinion", "cam-follower", "rssr", "screw-jack", "universal-joint")
REVERSED_SLOT = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
P = [1, 0.2]
Q = [1.5, -0.5]
[bodies.frame]
points = ["O"]
[bodies.arm]
points = ["O", "P"]
mass = 1
inertia = 0.1
[bodies.rail]
points = ["P", "Q"]
mass = 2
inertia = 0.3
[joints]
A = { type = "R", bodies = ["frame", "arm"], at = "O" }
S = { type = "slot", bodies = ["rail", "arm"], at = "P", axis = [1, 0.3], through = "Q" }
[simulation]
stop = 0.4
step = 0.1
"""


def moving(model):
    """Return both methods at a state away from the start, with all relative rates."""
    found = []
    for kind in BOTH:
        method = kind(model, begin(model).posture)
        rng = np.random.default_rng(3)
        q = method.q.copy()
        ball = np.zeros(len(q), dtype=bool)
        ball[[k for k in range(len(q)) if len(q) != method.nv]] = True
        q[~ball] += 0.3 * rng.standard_normal(int(np.sum(~ball)))
        method.evaluate(q, rng.standard_normal(method.nv), 0.1)
        found.append(method)
    return found


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    one, two = moving(let_go(name))
    V, W = one.transformation(), two.projection()
    scale = np.abs(V).max()
    D = two.reference_change()
    assert np.einsum("nij,njv->niv", D, W).reshape(V.shape) == pytest.approx(V, abs=1e-14 * scale)  # V = D T R_d
    for method in (one, two):  # null space of the rows of the tree (Eq. 12)
        joints = method.system.joints
        joints.evaluate(0.1)
        tree = np.setdiff1d(np.arange(len(joints.phi)), method.closing_rows)
        C = joints.dense()[tree]
        assert np.abs(C @ method.transformation()).max() < 1e-13 * max(1.0, scale) * np.abs(C).max()
        assert np.linalg.matrix_rank(method.transformation()) == method.nv
    size = np.abs(one.masses()).max()
    assert one.masses() == pytest.approx(two.masses(), abs=1e-12 * size)
    M = np.zeros((len(V), len(V)))
    width = one.system.w
    for k, body in enumerate(one._body_masses()[1:]):
        M[width * k : width * (k + 1), width * k : width * (k + 1)] = body
    assert one.masses() == pytest.approx(V.T @ M @ V, abs=1e-12 * size)  # Eq. 44
    bends = [method.system.acceleration.copy() for method in (one, two)]
    assert bends[0] == pytest.approx(bends[1], abs=1e-9 * np.abs(bends[0]).max())


def test_quick_return_moves_as_its_velocities_say():
    model = load(QUICK_RETURN)
    for kind in BOTH:
        method = kind(model, begin(model).posture)
        method.advance(np.array([0.0, 0.7]), None)
        v = method.y[method.nq : method.nq + method.nv]
        bodies = method.system.bodies[1:]
        assert method.transformation() @ v == pytest.approx(bodies[:, 5:8].ravel(), abs=1e-13)


@pytest.mark.parametrize("method", ["semirecursive-1", "semirecursive-2"])
def test_quick_return(method):
    found = simulate(load(QUICK_RETURN), np.array([0.5, 1.0, 2.0]), method).results
    expected = [-0.519382036885, -0.544788961287, -0.579161205465]  # an independent run, see the file
    assert found.points["F"].position[:, 0] == pytest.approx(expected, abs=1e-8)
    assert found.diagnostics["cut"] == ["Dj", "E"]
    assert set(found.reactions) == set(load(QUICK_RETURN).joints)


@pytest.mark.parametrize("loops", ["projection", "baumgarte", "partitioning"])
def test_ways_to_close_loops(loops):
    model = load(QUICK_RETURN)
    model = replace(model, simulation=replace(model.simulation, loops=loops, baumgarte=(20.0, 20.0)))
    times = np.array([0.3, 0.6])
    one, two = (simulate(model, times, name).results for name in ("partition", "semirecursive-2"))
    for point in one.points:
        assert two.points[point].position == pytest.approx(one.points[point].position, abs=1e-9)
        assert two.points[point].acceleration == pytest.approx(one.points[point].acceleration, abs=1e-6)
    assert two.diagnostics["loops"] == loops


@pytest.mark.parametrize("name", MOTIONS)
def test_same_motion_as_global(name):
    model = let_go(name)
    times = np.array([0.0, 0.15]) * np.sqrt(model.size)
    one, *others = (simulate(model, times, m).results for m in ("global", "semirecursive-1", "semirecursive-2"))
    for two in others:
        for point in one.points:
            assert one.points[point].position == pytest.approx(two.points[point].position, abs=1e-11 * model.size)
            assert one.points[point].acceleration == pytest.approx(two.points[point].acceleration, abs=1e-9)
        for joint in one.reactions:
            assert one.reactions[joint].force == pytest.approx(two.reactions[joint].force, abs=1e-8)


def test_slot_whose_line_hangs_on_its_pin():
    model = loads(REVERSED_SLOT, "slot")
    times = model.simulation.times()
    one, *others = (simulate(model, times, m).results for m in ("global", "semirecursive-1", "semirecursive-2"))
    for two in others:
        assert two.diagnostics["cut"] == []
        assert two.points["Q"].position == pytest.approx(one.points["Q"].position, abs=1e-10)


def test_a_driver_closes_a_row_of_the_tree():
    drivers = load(EXAMPLES / "five-bar.toml").drivers
    model = replace(let_go("five-bar"), drivers=dict(list(drivers.items())[:1]))  # the other motion is free
    one, *others = (
        simulate(model, np.array([0.05, 0.1]), m).results for m in ("partition", "semirecursive-1", "semirecursive-2")
    )
    (name,) = model.drivers
    for two in others:
        assert two.points["C"].position == pytest.approx(one.points["C"].position, abs=1e-10)
        assert two.drivers[name].effort == pytest.approx(one.drivers[name].effort, rel=1e-8)


def test_cost_of_a_chain_is_linear():
    """Counted in operations it must be: twice the bodies, twice the time, within what a busy machine allows."""

    @njit
    def many(ints, x, y, K, count):
        for _ in range(count):
            integrator.rates(ints, x, 0.0, y, K, 0)

    seconds = []
    for n in (20, 400):
        method = SemiRecursive2(*pendulum(n))
        K = np.zeros((1, len(method.y)))
        many(method.ints, method.x, method.y, K, 1)
        best = np.inf
        for _ in range(5):
            begin_ = time.process_time()
            many(method.ints, method.x, method.y, K, 20000 // n)
            best = min(best, (time.process_time() - begin_) / (20000 // n))
        seconds.append(best)
    assert np.log(seconds[1] / seconds[0]) / np.log(20) < 1.3  # 2 would be a quadratic cost


# ---- cams ([Y] B.4 to B.7) ----------------------------------------------------------------------------------------
CAM = """
format = 1
name = "cam"
space = "planar"
gravity = [2, -9.81]
[points]
O = [0, 0]
N = [0.03, 0]
F = [0, {place}]
T = [0, 0.12]
[bodies.frame]
points = ["O"]
[bodies.cam]
points = ["O", "N"]
mass = 1
inertia = 0.001
[bodies.tappet]
points = ["F", "T"]
mass = 0.3
inertia = 0.0001
[joints.O]
type = "R"
bodies = ["frame", "cam"]
at = "O"
{guide}
[joints.C]
type = "cam"
bodies = ["cam", "tappet"]
centre = "O"
profile = "0.03 + 0.004*cos(u)"
follower = {follower}
[simulation]
tolerance = 1e-11
"""
PUSHED = '[initial]\nO = { joint = "O", angle = "-pi/2", rate = 20 }\n'
GUIDE = '[joints.G]\ntype = "P"\nbodies = ["frame", "tappet"]\nat = "F"\nthrough = "O"\naxis = [0, 1]'
ROLLER, FLAT = '{ point = "F", radius = 0.008 }', '{ point = "F", direction = [1, 0] }'
CAMS = {"roller": (0.038, GUIDE, ROLLER, 1.0), "flat": (0.03, GUIDE, FLAT, 1.0), "unguided": (0.038, "", ROLLER, 0.1)}


@pytest.mark.parametrize("kind", CAMS)
@pytest.mark.parametrize("method", ["semirecursive-1", "semirecursive-2"])
def test_cams_close_loops(kind, method):
    """A cam is a closing row on the contact; a follower without a guide is the paper's Fig. B.10, of three freedoms."""
    place, guide, follower, end = CAMS[kind]
    text = CAM.format(place=place, guide=guide, follower=follower) + (PUSHED if guide else "")
    model, times = loads(text, "x.toml"), np.linspace(0, end, 6)
    known, found = (simulate(model, times, m).results for m in ("global" if not guide else "partition", method))
    assert found.diagnostics["cut"] == ["C"]
    force = max(np.abs(r.force).max() for r in known.reactions.values())
    for point, series in known.points.items():
        assert found.points[point].position == pytest.approx(series.position, abs=1e-10 * model.size)
    for joint, reaction in known.reactions.items():
        assert found.reactions[joint].force == pytest.approx(reaction.force, abs=1e-9 * force)
