"""All methods of simulate give the same motion: positions and reactions after five seconds, at tight tolerances."""

from dataclasses import replace

import numpy as np
import pytest

from assurgent.dynamics.forward import simulate
from assurgent.dynamics.methods import METHODS
from assurgent.mechanism.reader import load

from .mechanisms import EXAMPLES, let_go

# Mechanisms that are let go in a slanting gravity, all bodies of 1 kg; regular ones with one free motion agree to 1e-9.
PLANAR = (
    "four-bar", "slider-crank", "quick-return", "scotch-yoke", "cam-follower", "gear-linkage", "planetary-gear",
    "rack-and-pinion", "watt-six-bar", "five-bar", "dynamics/yu-quick-return",
)  # fmt: skip
SPATIAL = ("rssr", "spatial-slider-crank", "universal-joint", "screw-jack", "bennett", "dynamics/double-wishbones")
CHEAP = ("slider-crank", "planetary-gear", "rssr")
# Two free motions turn over: differences grow by a factor of 1,000 in the second half of five seconds, so that all
# methods need a tolerance near rounding errors (they agree to 4e-8 then, at 1e-11 to 1.6e-6).
CHAOTIC = ("five-bar",)
# dca takes the tolerance as its integrator's, the others a thousandth of it: the quick return, whose forces are large
# at the ends of its strokes, needs 1e-12 for them to be within 1e-8 of the largest (2.2e-8 at 1e-11).
TOLERANCES = {"five-bar": 1e-13, "dynamics/yu-quick-return": 1e-12}
LOOSER = (*CHAOTIC, "bennett", "screw-jack", "dynamics/double-wishbones")  # joints in excess; twelve bodies
WITHOUT_COORDINATES = ("dynamics/double-wishbones",)  # joint coordinates do not tell where the uprights are


def start_of(name):
    """Return a mechanism to be let go, at a tolerance that leaves no room for differences."""
    model = replace(load(EXAMPLES / f"{name}.toml"), drivers={}) if "/" in name else let_go(name)
    return replace(model, simulation=replace(model.simulation, tolerance=TOLERANCES.get(name, 1e-11)))


def check(name):
    """Compare all methods with the first that can do the mechanism."""
    model, times = start_of(name), np.array([0.0, 2.5, 5.0])
    methods = METHODS[1:] if name in WITHOUT_COORDINATES else METHODS
    known, *others = (simulate(model, times, method) for method in methods)
    assert known.stop is None
    close = 1e-6 if name in LOOSER else 1e-9
    reactions = known.results.reactions
    assert set(reactions) == set(model.joints)
    forces = max(np.abs(r.force).max() for r in reactions.values())
    moments = max(forces * model.size, max(np.abs(r.moment).max() for r in reactions.values()))
    moved = max(np.abs(p.position[-1] - p.position[0]).max() for p in known.results.points.values())
    assert moved > 1e-3 * model.size
    for method, outcome in zip(methods[1:], others, strict=True):
        assert outcome.stop is None, method
        found = outcome.results
        assert found.method == method
        for point, series in known.results.points.items():
            assert found.points[point].position == pytest.approx(series.position, abs=close * model.size), method
        assert set(found.reactions) == set(model.joints)
        for joint, series in reactions.items():
            reaction = found.reactions[joint]
            assert reaction.force == pytest.approx(series.force, abs=max(close, 1e-8) * forces), method
            assert reaction.moment == pytest.approx(series.moment, abs=max(close, 1e-8) * moments), method


@pytest.mark.parametrize("name", CHEAP)
def test_methods_agree_after_five_seconds(name):
    check(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in (*PLANAR, *SPATIAL) if n not in CHEAP])
def test_methods_agree_on_ten_planar_and_five_spatial_mechanisms(name):
    check(name)
