"""Laws that hold for every type of the library, stated once."""

from __future__ import annotations

import platform
import re

import assurgent
import numba
import numpy as np
import pytest
from assurgent.codegen.derive import derive
from assurgent.codegen.sampling import Configuration, Sampler
from assurgent.codegen.specification_reader import read_spec
from assurgent.codegen.verify import verify_module
from assurgent.common.errors import AssemblyError
from assurgent.runtime.group_type import GroupType
from assurgent.runtime.library import manifest, package_folder
from assurgent.runtime.sequencer import CALLED, SIGNATURE

NAMES = [e.name for e in manifest()]
NEWTON = ("triad-6R", "1R3D", "2E1P", "cam-P", "RRR-spatial", "RRRRR-spatial", "wishbone", "mcpherson")
CLOSED = [n for n in NAMES if n not in NEWTON and not n.startswith("platform-")]
LARGE = ("RRR-spatial", "RRRRR-spatial", "wishbone", "mcpherson")  # and platforms: compiling all that they have takes long
CHECKED = [pytest.param(n, marks=pytest.mark.long if n in LARGE or n.startswith("platform-") else ()) for n in NAMES]


def specification(name: str) -> str:
    return next(e.specification for e in manifest() if e.name == name)


def sampler(name: str, seed: int) -> Sampler:
    return Sampler(derive(read_spec(package_folder("codegen") / "groups" / specification(name))), seed)


def branch_of(group: GroupType, c: Configuration) -> np.ndarray:
    """The signs of the branch on which a configuration lies."""
    n = len(group.branches)
    for code in range(2**n):
        signs = np.array([1.0 if code >> i & 1 else -1.0 for i in range(n)])
        if np.allclose(group.position(c.h, c.par, branch=signs, t=c.t), c.phi, atol=1e-9):
            return signs
    raise AssertionError("no branch gives the configuration")


@pytest.mark.parametrize("name", CHECKED)
def test_every_quantity_three_ways(name: str) -> None:
    """Compiled within 1e-12 of 90-digit symbolic values and of differences of the solved motion."""
    derivation = derive(read_spec(package_folder("codegen") / "groups" / specification(name)))
    result = verify_module(derivation, assurgent.load(name), count=25)
    wrong = {q: e for q, e in result.errors.items() if not e.worst <= 1e-12}
    assert not wrong
    needed = {"Phi", "Phi_phi", "Phi_h", "K", "L", "velocity", "acceleration TD", "acceleration 3OT", "TD - 3OT", "jerk"}
    assert needed <= set(result.errors)
    assert ("closed - Newton" in result.errors) == (name in CLOSED)


@pytest.mark.parametrize("name", CLOSED)
def test_both_branches_satisfy_the_constraints(name: str) -> None:
    """Every sign of a closed form is an assembly of the group."""
    group, draw = assurgent.load(name), sampler(name, 5)
    for c in draw.draw(20):
        for code in range(2 ** len(group.branches)):
            signs = np.array([1.0 if code >> i & 1 else -1.0 for i in range(len(group.branches))])
            phi = group.position(c.h, c.par, branch=signs, t=c.t)
            # rounding of squares of numbers up to about 5
            assert np.max(np.abs(group.constraint(phi, c.h, c.par, c.t))) < 1e-13 * (1 + np.max(np.abs(phi)) ** 2) * 30


@pytest.mark.parametrize("name", NAMES)
def test_sweep_over_lanes_is_the_group_step_by_step(name: str) -> None:
    """A motion solved in one sweep equals the single solutions, by both methods."""
    group = assurgent.load(name)
    draw = sampler(name, 11)
    c = draw.draw(1)[0]
    if len(group.constraints) > len(group.dependent):
        # only these move, so that the redundant rows stay consistent
        motion = np.array([1.0 if n in ("theta", "x_B", "x_A1", "x_A2") else 0.0 for n in group.independent])
        assert motion.any()
    else:
        motion = c.hdot
    time = c.t + np.linspace(0.0, 0.05, 7)
    h = c.h[:, None] + motion[:, None] * (time - c.t)
    rates = np.repeat(motion[:, None], len(time), axis=1)
    options = {"branch": branch_of(group, c)} if group.module.CLOSED_FORM else {"start": c.phi}
    for method in ("td", "3ot"):
        m = group.motion(time, h, rates, np.zeros_like(rates), c.par, method=method, **options)
        for k, t in enumerate(time):
            assert np.max(np.abs(group.constraint(m.phi[:, k], h[:, k], c.par, float(t)))) < 1e-12
            v = group.velocity(m.phi[:, k], h[:, k], c.par, motion, float(t))
            a = group.acceleration(m.phi[:, k], h[:, k], c.par, v, motion, np.zeros_like(motion), float(t))
            assert np.allclose(m.phidot[:, k], v, rtol=1e-11, atol=1e-12)
            assert np.allclose(m.phiddot[:, k], a, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", ["R", "RRR", "RPR", "PRP", "2S1P", "RSSR"])
def test_closed_form_sweep_is_vectorised(name: str) -> None:
    """The lanes of a closed form run in vector registers: packed arithmetic stands in the sweep's machine code."""
    group, c = assurgent.load(name), sampler(name, 3).draw(1)[0]
    # cached code cannot be inspected
    sweep = numba.cfunc(SIGNATURE, **{**CALLED, "cache": False})(group.module.sweep(0))
    r, s = len(group.dependent), len(group.independent)
    state = np.zeros((3, r + s, 16))
    state[0, :s] = c.h[:, None]
    group.over_lanes("sweep", np.zeros(16), state, c.par, branch_of(group, c), 0)
    assert np.isfinite(state).all()
    packed = r"\bv?(mul|add|sub)pd\b" if platform.machine() in ("x86_64", "AMD64") else r"\bf(mul|add|sub)\s+v\d+\.2d"
    assert re.search(packed, sweep._library.get_asm_str())


def test_a_group_that_cannot_be_closed_says_so() -> None:
    rrr = assurgent.load("RRR")
    with pytest.raises(AssemblyError, match="cannot be closed"):
        rrr.position({"A": (0, 0), "B": (20, 0)}, {"L_AC": 5, "L_BC": 5.5})
    with pytest.raises(AssemblyError, match=r"from t = 0\.5"):
        time = np.linspace(0, 1, 11)
        h = {"A": (np.zeros(11), np.zeros(11)), "B": (10.0 + np.where(time > 0.45, 2.0, 0.0), np.zeros(11))}
        rrr.motion(time, h, np.zeros((4, 11)), np.zeros((4, 11)), {"L_AC": 5, "L_BC": 5.5})


def test_a_dead_point_is_reached_exactly_and_its_rates_are_refused() -> None:
    """A stretched dyad is an assembly (rounding may make its root negative); its velocity is not determined."""
    rrr = assurgent.load("RRR")
    for angle in np.linspace(0.1, 6.0, 50):
        end = 10.5 * np.array([np.cos(angle), np.sin(angle)])
        h, par = {"A": (0, 0), "B": end}, {"L_AC": 5, "L_BC": 5.5}
        C = rrr.position(h, par)
        # near a dead point the place is sure to the root of rounding only: sqrt(1e-14) of the length
        assert np.allclose(C, end * 5 / 10.5, atol=2e-6)
        assert rrr.conditioning(C, h, par) < 1e-6
    with pytest.raises(AssemblyError, match="dead point"):
        rrr.velocity([5, 0], {"A": (0, 0), "B": (10.5, 0)}, {"L_AC": 5, "L_BC": 5.5}, [0, 1, 0, 0])
    with pytest.raises(AssemblyError, match="dead point"):
        still = np.zeros((4, 3))
        rrr.motion([0, 1, 2], {"A": (0, 0), "B": (5, 0)}, still, still, {"L_AC": 2, "L_BC": 3})


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_far_from_the_origin_only_rounding_is_lost(shift: float) -> None:
    """The closed form works relative to A: the error grows with the rounding of the coordinates, not with their square."""
    rrr = assurgent.load("RRR")
    par = {"L_AC": 5, "L_BC": 5.5}
    near = rrr.position({"A": (0.5, 1.9), "B": (6.0, 0.25)}, par, branch=-1)
    far = rrr.position({"A": (0.5 + shift, 1.9 - shift), "B": (6.0 + shift, 0.25 - shift)}, par, branch=-1)
    assert np.max(np.abs(far - [shift, -shift] - near)) < 8 * np.spacing(max(shift, 8.0)) * 4


def test_slider_crank_closed_form() -> None:
    """R and RRP in sequence are the slider-crank: x = r cos θ + sqrt(l² - (r sin θ)²)."""
    crank, dyad = assurgent.load("R"), assurgent.load("RRP")
    r, length, omega = 0.3, 1.1, 7.0
    time = np.linspace(0, 2, 101)
    theta = omega * time
    n = len(time)
    zero, one = np.zeros(n), np.ones(n)
    base = {"A": (zero, zero), "u": (one, zero), "theta": theta}
    rates = {"A": (zero, zero), "u": (zero, zero), "theta": omega * one}
    still = {"A": (zero, zero), "u": (zero, zero), "theta": zero}
    B = crank.motion(time, base, rates, still, {"L_AB": r})
    fixed = np.vstack([zero, zero, one, zero])
    h, hdot, hddot = np.vstack([B.phi, fixed]), np.vstack([B.phidot, 0 * fixed]), np.vstack([B.phiddot, 0 * fixed])
    found = [dyad.motion(time, h, hdot, hddot, {"L_AC": length, "e_C": 0.0}, branch=s) for s in (1, -1)]
    m = next(f for f in found if f.phi[0, 0] > 0)
    root = np.sqrt(length**2 - (r * np.sin(theta)) ** 2)
    x = r * np.cos(theta) + root
    v = -r * omega * np.sin(theta) - r**2 * omega * np.sin(theta) * np.cos(theta) / root
    assert np.allclose(m.phi[0], x, rtol=1e-14, atol=1e-14)
    assert np.allclose(m.phi[1], 0.0, atol=1e-15)
    assert np.allclose(m.phidot[0], v, rtol=1e-13, atol=1e-13)
    s, c = np.sin(theta), np.cos(theta)
    a = -r * omega**2 * c - r**2 * omega**2 * ((c**2 - s**2) / root + r**2 * s**2 * c**2 / root**3)
    assert np.allclose(m.phiddot[0], a, rtol=1e-12, atol=1e-12)
