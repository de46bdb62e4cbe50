"""All joint coordinates judged: Eq. 23b beside 23a, SVD, closing efforts, cuts and schemes of Blajer et al. (1994)."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.common.errors import InputError
from assurgent.dynamics.coordinates import Gauge
from assurgent.dynamics.cuts import preferred_joints
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.semirecursive import SemiRecursive1
from assurgent.mechanism.model import Mass
from assurgent.mechanism.reader import load, loads
from assurgent.motion.results import Results

from .mechanisms import RELEASED, RSSR, windows

EXAMPLES = Path(__file__).parents[2] / "examples"
BLAJER = EXAMPLES / "dynamics" / "blajer-four-bar.toml"
L0, L1, L2, L3 = 1.0, 0.4, 0.9, 0.8  # of the example
SLIDER = RSSR.replace('D = { type = "R"', 'D = { type = "C"')
MOVING = """
[initial]
A = { joint = "A", angle = 0.2, rate = 3 }
D = { joint = "D", displacement = 0, rate = 0.1 }
"""
ARM = """
[bodies.arm]
points = ["D", "G"]
mass = 1
inertia = 0.1
[drivers]
phi = { joint = "E", angle = "0.3*t" }
[joints]
E = { type = "R", bodies = ["frame", "arm"], at = "D" }
"""


@pytest.fixture(scope="module")
def four_bar():
    """Blajer's four-bar over a turn, and its angles as the paper counts them."""
    found = simulate(load(BLAJER), np.linspace(0, 0.6, 61), candidates=True).results
    angles = np.stack([found.joints[f"O{k}"].angle for k in (1, 2, 3)])
    return found, np.pi / 2 - angles[0], -angles[1], -angles[2]


def test_what_is_taken_and_what_is_left_are_one(four_bar):
    """cos² α + cos² β = 1: tangent and orthogonal subspaces complement each other (Eq. 15), by two routes."""
    found = four_bar[0]
    assert set(found.candidates) == set(found.criterion) == {"O1", "O2", "O3"}
    for name, candidate in found.candidates.items():
        assert candidate.orthogonal == pytest.approx(1 - found.criterion[name], abs=1e-11)


@pytest.mark.parametrize("text", [windows(3), SLIDER + MOVING])
def test_redundant_loops_and_loops_in_space(text):
    found = simulate(loads(text, "x"), np.linspace(0, 0.2, 5), candidates=True).results
    for name, candidate in found.candidates.items():
        assert candidate.orthogonal == pytest.approx(1 - found.criterion[name], abs=1e-9)


def test_share_by_geometry_is_that_of_a_singular_value_decomposition(four_bar):
    """The null space of the closing rows in α1, α2, α3, whose derivatives are those of two summed arms (Eq. 44)."""
    found, one, two, three = four_bar
    for k in range(len(found)):
        sums = np.cumsum([one[k], two[k], three[k]])
        ends = np.stack([np.array([L1, L2, L3]) * np.cos(sums), -np.array([L1, L2, L3]) * np.sin(sums)])
        C = np.cumsum(ends[:, ::-1], axis=1)[:, ::-1]  # an angle turns all that comes after it
        null = np.linalg.svd(C)[2][2]
        for j, name in enumerate(("O1", "O2", "O3")):
            assert found.candidates[name].geometric[k] == pytest.approx(null[j] ** 2, abs=1e-11)


def test_masses_change_the_criterion_and_not_the_share_by_geometry():
    """What the paper says of both: with a rod a hundred times as heavy, they name different coordinates as the best."""
    light = load(BLAJER)
    rod = light.bodies["link2"]
    assert rod.mass is not None
    mass = Mass(100 * rod.mass.mass, rod.mass.centre, 100 * rod.mass.inertia)
    heavy = replace(light, bodies={**light.bodies, rod.name: replace(rod, mass=mass)})
    one, two = (simulate(m, np.array([0.0]), candidates=True).results for m in (light, heavy))
    for name in one.candidates:
        assert one.candidates[name].geometric == pytest.approx(two.candidates[name].geometric, abs=1e-12)
        assert abs(one.criterion[name] - two.criterion[name]) > 1e-3


def test_closing_efforts_are_the_multipliers_of_the_paper(four_bar):
    """Bᵀ f with the reaction at O4 (Eq. 44) is Ĉᵀ λ̂ (Eq. 45), whose first row follows from the two others."""
    found, one, two, three = four_bar
    f = found.reactions["O4"].force  # of the frame on the last bar
    sums = np.cumsum(np.stack([one, two, three]), axis=0)
    lengths = np.array([L1, L2, L3])[:, None]
    along = np.stack([lengths * np.cos(sums), -lengths * np.sin(sums)])  # d(x, y)/dα of each bar alone
    B = np.cumsum(along[:, ::-1], axis=1)[:, ::-1]
    expected = np.einsum("xjt,tx->jt", B, f)
    closing = -np.stack([found.candidates[f"O{k}"].closing for k in (1, 2, 3)])  # α runs against the angles
    scale = np.abs(expected).max()
    assert closing == pytest.approx(expected, abs=1e-9 * scale)
    first = -(L0 * L1 * np.cos(one) + L0 * L2 * np.cos(one + two)) / (L2 * L3 * np.sin(three))  # dα2/dα1, Eq. 43
    second = L0 * L1 * np.cos(one) / (L2 * L3 * np.sin(three))
    assert closing[0] == pytest.approx(-(first * closing[1] + second * closing[2]), abs=1e-9 * scale)
    assert found.independent[0] == ("O1",)


def test_closing_efforts_in_space_are_the_reaction_of_the_cut_joint():
    """Each is the power of that reaction while one coordinate moves with the rate 1, all others held (Eq. 32)."""
    found = simulate(loads(SLIDER + MOVING, "x"), np.linspace(0, 0.2, 5), candidates=True).results
    assert found.candidates.keys() == {"A", "D", "D.displacement"}
    (cut,) = found.diagnostics["cut"]  # B or C: the crank's side is the first body of both
    place, force = found.points[cut].position, -found.reactions[cut].force
    rocker = found.points["C"].position
    expected = {
        "A": np.cross(place, force)[:, 2],
        "D": np.cross(place - [0.1, 0.22, 0], -force)[:, 0],
        "D.displacement": -force[:, 0],
    }
    for name, values in expected.items():
        assert found.candidates[name].closing == pytest.approx(values, abs=1e-9 * np.abs(force).max())
    assert np.abs(rocker[0] - rocker[-1]).max() > 1e-3


def test_results_keep_the_candidates(tmp_path, four_bar):
    found = four_bar[0]
    for ending in ("json", "npz", "nc"):
        again = Results.load(found.save(tmp_path / f"out.{ending}"))
        for name, candidate in found.candidates.items():
            assert again.candidates[name].closing.tolist() == candidate.closing.tolist()
    assert "candidate.O2.orthogonal" in found.columns()


def test_candidates_belong_to_partition():
    with pytest.raises(InputError, match="use the method partition"):
        simulate(load(BLAJER), np.array([0.0, 0.1]), "global", candidates=True)


# ---- cuts ---------------------------------------------------------------------------------------------------------
def test_cut_is_the_joint_that_the_criterion_likes_least():
    """Over all joints in the space of the free bodies; the figures are those of an independent derivation."""
    model = loads(RELEASED, "x")
    posture = begin(model).posture
    known = {"A": 0.0398854605695309, "B": 0.0559027280398278, "C": 0.0562899444233213, "D": 0.0275710055574544}
    assert preferred_joints(Gauge(model), posture) == sorted(known, key=known.get, reverse=True)
    assert SemiRecursive1(model, posture).tree.cut == ("D",)
    assert SemiRecursive1(replace(model, simulation=replace(model.simulation, cut=("B",))), posture).tree.cut == ("B",)


def test_a_massless_rod_in_relative_coordinates():
    model = loads(RELEASED.replace('mass = 1.2\ninertia = "1.2*0.8**2/12"', ""), "x.toml")
    times = np.linspace(0, 1, 6)
    one, *others = (simulate(model, times, m).results for m in ("partition", "semirecursive-1", "semirecursive-2"))
    for two in others:
        assert two.points["C"].position == pytest.approx(one.points["C"].position, abs=1e-9)


# ---- reactions by other schemes -----------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["partition", "global", "semirecursive-2"])
@pytest.mark.parametrize("scheme", ["tangent", "inverse"])
def test_schemes_of_reactions(method, scheme):
    model, times = load(BLAJER), np.linspace(0, 0.3, 4)
    one, two = (simulate(model, times, method, scheme=s).results for s in ("direct", scheme))
    largest = max(np.abs(r.force).max() for r in one.reactions.values())
    for joint in one.reactions:
        assert two.reactions[joint].force == pytest.approx(one.reactions[joint].force, abs=1e-10 * largest)
        assert two.reactions[joint].force.tolist() != one.reactions[joint].force.tolist()  # by another way


@pytest.mark.parametrize("method", ["partition", "global"])
def test_schemes_with_a_driver_that_stays(method):
    """The effort of the driver is no reaction: joints alone have rows in B."""
    text = RELEASED.replace("[points]", "[points]\nG = [1.4, 0.2]").replace("[joints]", ARM)
    model, times = loads(text, "x"), np.linspace(0, 0.3, 4)
    one, *others = (simulate(model, times, method, scheme=s).results for s in ("direct", "tangent", "inverse"))
    for two in others:
        for joint in one.reactions:
            assert two.reactions[joint].force == pytest.approx(one.reactions[joint].force, abs=1e-9)


def test_schemes_that_are_singular_or_unknown_say_so():
    m = Mechanism.load(EXAMPLES / "dynamics" / "malczyk-five-bar.toml")
    with pytest.raises(InputError, match="use the default, the scheme direct"):
        m.simulate(times=[0, 0.1], method="global", scheme="tangent")
    with pytest.raises(InputError, match="schemes of reactions are direct, tangent, inverse"):
        m.simulate(times=[0, 0.1], scheme="tangential")
