"""Divide and conquer: the assembly tree, its algebra, and the published five-bar and double loop."""

from dataclasses import replace

import numpy as np
import pytest

from assurgent.cli.commands import main
from assurgent.common.errors import InputError
from assurgent.dynamics.assembly_tree import AssemblyTree
from assurgent.dynamics.dca_layout import lay_out
from assurgent.dynamics.forward import simulate
from assurgent.mechanism.model import AugmentedLagrangian
from assurgent.mechanism.reader import load, loads

from .mechanisms import EXAMPLES, HEAD, RELEASED, ROCKING, RSSR, heavy, let_go

CHAIN = [(0,), (0, 1), (1, 2), (2, 3), (3,)]
DOUBLE = [*CHAIN, (2, 4), (4, 5), (5, 6), (6, 7), (7, 2)]
LOADS = """
[forces]
k = { type = "spring", between = ["B", "D"], stiffness = 40, length = 0.5, damping = 1.5 }
t = { type = "torsion-spring", joint = "A", stiffness = 2, angle = 0.3, damping = 0.1 }
f = { body = "rod", point = "C", force = ["3*sin(5*t)", "2 - t"] }
q = { body = "rocker", torque = "0.4*cos(3*t)" }
"""


# ---- the tree -----------------------------------------------------------------------------------------------------
def test_trees_of_the_paper():
    assert AssemblyTree(4, CHAIN, [False] * 4).described("1234") == "((1 2) (3 4))"  # its Fig. 4
    double = AssemblyTree(8, DOUBLE, [False] * 8)  # its Fig. 8: bodies 5 to 8 become one and are condensed onto body 3
    assert double.described("12345678") == "(((1 2) (3 4)) ((5 6) (7 8)))"
    lower = double.nodes[5]
    assert (lower.leaving, lower.kept) == ((5, 6), (4, 7))
    assert set(double.nodes[-1].leaving) == {2, 4, 7}


@pytest.mark.parametrize("n", [1, 2, 3, 17, 500])
def test_every_body_leaves_once_and_every_tie_closes_once(n):
    random = np.random.default_rng(n)
    ties = [(k, int(random.integers(max(0, k - 5), k))) for k in range(1, n)]  # a tree, then loops and ground
    ties += [tuple({int(a), int(b)}) for a, b in random.integers(0, n, (n // 4, 2))] + [(0,)]
    tree = AssemblyTree(n, ties, (random.random(n) < 0.2).tolist())
    assert sorted(b for node in tree.nodes for b in node.leaving) == list(range(n))
    assert sorted(k for node in tree.nodes for k in node.ties) == list(range(len(ties)))
    seen = set()
    for k, node in enumerate(tree.nodes):
        assert not seen & set(node.leaving)
        for part in node.parts:
            assert part < n + k
            assert part < n or tree.nodes[part - n].level < node.level
        seen |= set(node.leaving)


def test_chains_and_ladders_keep_few_bodies_and_are_two_equal_shares():
    chain = AssemblyTree(1000, [(k, k + 1) for k in range(999)], [False] * 1000)
    assert max(len(node.kept) for node in chain.nodes) == 1  # from both ends, as long as there is another way
    rungs = [t for k in range(0, 999, 3) for t in ((k, k + 2), (k + 1, k + 2))]
    rails = [t for k in range(0, 996, 3) for t in ((k, k + 3), (k + 1, k + 4))]
    ladder = AssemblyTree(999, rungs + rails, [False] * 999)
    assert max(len(node.kept) for node in ladder.nodes) <= 2
    for tree in (chain, ladder):
        shares, top = tree.shares(2)
        assert min(len(share) for share in shares) >= 490
        assert len(top) <= 2


def test_a_ring_is_balanced_and_shares_are_whole_subtrees():
    n = 256
    ring = AssemblyTree(n, [(k, (k + 1) % n) for k in range(n)], [False] * n)
    assert len(ring.levels) == 8
    for most in (1, 2, 4, 8):
        shares, top = ring.shares(most)
        assert sorted(k for share in (*shares, top) for k in share) == list(range(len(ring.nodes)))
        assert len(shares) == most
        assert max(len(share) for share in shares) <= 1.05 * len(ring.nodes) / most
        for share in shares:
            assert all(p - n in share for k in share for p in ring.nodes[k].parts if p >= n)


# ---- its algebra --------------------------------------------------------------------------------------------------
TOPOLOGIES = {
    "chain": (4, CHAIN, []),
    "double loop": (8, DOUBLE, []),
    "light bodies": (8, DOUBLE, [1, 3, 5]),
    "three bodies in one": (6, [(0,), (0, 1, 2), (1, 3), (3, 4), (4, 5, 2)], []),
    "apart": (3, [(0,), (1,), (1, 2)], []),
    "floating": (3, [(0, 1), (1, 2)], []),
}


@pytest.mark.parametrize(("width", "rows"), [(3, 2), (6, 5)])
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_tree_solves_the_augmented_equations(name, width, rows):
    """(M + α ΦᵀΦ) x = Q - α Φᵀ c with λ = α (Φ x + c), against a dense solution of all of it."""
    from assurgent.dynamics.dca_kernels import down, factor, up

    n, ties, light = TOPOLOGIES[name]
    random, softness, total = np.random.default_rng(1), 1e-3, rows * len(ties)
    tree = AssemblyTree(n, ties, [k in light for k in range(n)])
    roles = [(*tie, *[-1] * (3 - len(tie))) for tie in ties]
    layout = lay_out(tree, width, [(rows * k, rows) for k in range(len(ties))], roles)
    J, leaf = random.standard_normal((total, 3, width)), np.zeros((n, width, width))
    for b in set(range(n)) - set(light):
        half = random.standard_normal((width, width))
        leaf[b] = half @ half.T + np.eye(width)
    load, gap = random.standard_normal((n, width)), random.standard_normal(total)
    count, tables, x, v = len(layout.nodes), layout[:4], layout.matrices, layout.vectors
    assert factor(*tables, x, leaf, J, softness, 0, count) == count
    found, forces = np.zeros((n, width)), np.zeros(total)
    up(*tables, x, v, load, gap, 0, count)
    down(layout.nodes, layout.ties, layout.gone, x, v, found, forces, 0, count)
    phi, mass = np.zeros((total, n, width)), np.zeros((n, width, n, width))
    for k, tie in enumerate(ties):
        for role, b in enumerate(tie):
            phi[rows * k : rows * (k + 1), b] += J[rows * k : rows * (k + 1), role]
    mass[np.arange(n), :, np.arange(n)] = leaf
    phi, mass = phi.reshape(total, -1), mass.reshape(n * width, -1)
    whole = np.block([[mass, phi.T], [phi, -softness * np.eye(total)]])
    exact = np.linalg.solve(whole, np.concatenate([load.ravel(), -gap]))
    scale = np.abs(exact).max()
    assert found.ravel() == pytest.approx(exact[: n * width], abs=1e-9 * scale)  # of a condition of up to 1e6
    assert forces == pytest.approx(exact[n * width :], abs=1e-9 * scale)


# ---- the published mechanisms -------------------------------------------------------------------------------------
# largest norms of Φ, Φ̇, Φ̈ of an independent run of the paper's equations at its settings, over all steps
PUBLISHED = {"malczyk-five-bar": (2.6e-6, 5.9e-6, 1.2e-5), "malczyk-double-loop": (1.3e-5, 8.7e-6, 2.4e-5)}
TREES = {
    "malczyk-five-bar": "((bar1 bar2) (bar3 bar4))",
    "malczyk-double-loop": "(((bar1 bar2) (bar3 bar4)) ((bar5 bar6) (bar7 bar8)))",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_constraint_errors_of_the_paper(name):
    model = load(EXAMPLES / "dynamics" / f"{name}.toml")
    assert model.simulation.tolerance == 1e-6
    notes = simulate(model, method="dca").results.diagnostics
    for found, known in zip(notes["constraints"].values(), PUBLISHED[name], strict=True):
        assert known / 3 < found < 3 * known
    assert notes["energy_drift"] < 1e-4
    assert notes["unconverged"] == 0
    assert notes["assembly"]["tree"] == TREES[name]
    assert notes["reactions"]["not_unique"]  # redundant constraints are kept


@pytest.mark.parametrize("name", PUBLISHED)
def test_projected_constraints_hold_to_rounding(name):
    model = load(EXAMPLES / "dynamics" / f"{name}.toml")
    notes = simulate(model, method="dca-projected").results.diagnostics
    position, velocity, acceleration = notes["constraints"].values()
    assert position < 1e-13
    assert velocity < 1e-12
    assert acceleration < 1e-11
    assert notes["energy_drift"] < 1e-4
    assert notes["unconverged"] == 0


@pytest.mark.parametrize("method", ["dca", "dca-projected"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_energy_at_a_fine_tolerance(name, method):
    model = load(EXAMPLES / "dynamics" / f"{name}.toml")
    model = replace(model, simulation=replace(model.simulation, tolerance=1e-9))
    assert simulate(model, method=method).results.diagnostics["energy_drift"] < 1e-6


# ---- the same motion as by other methods --------------------------------------------------------------------------
def tight(model, times, methods):
    """Return the results of methods at a tolerance of 1e-11, all of which must come to the end."""
    model = replace(model, simulation=replace(model.simulation, tolerance=1e-11))
    found = [simulate(model, times, method) for method in methods]
    assert all(outcome.stop is None for outcome in found)
    return [outcome.results for outcome in found]


def compare(model, times, reference="partition", places=1e-9, forces=1e-8):
    """Compare both methods with a reference: places relative to the size, forces to the largest."""
    known, *others = tight(model, times, (reference, "dca", "dca-projected"))
    largest = max(np.abs(r.force).max() for r in known.reactions.values())
    for found in others:
        for point in known.points:
            expected = known.points[point].position
            assert found.points[point].position == pytest.approx(expected, abs=places * model.size)
        for joint in known.reactions:
            expected = known.reactions[joint].force
            assert found.reactions[joint].force == pytest.approx(expected, abs=forces * largest)
        for driver in known.drivers:
            expected = known.drivers[driver].effort
            assert found.drivers[driver].effort == pytest.approx(expected, rel=1e-7, abs=1e-7)
        assert found.energy.total == pytest.approx(known.energy.total, abs=1e-8 * np.abs(known.energy.total).max())


def test_loads_of_all_kinds():
    compare(loads(RELEASED + LOADS, "x.toml"), np.linspace(0, 1, 6))


def test_a_fast_double_rocker():
    compare(loads(ROCKING, "x.toml"), np.linspace(0, 1, 6))


def test_a_massless_rod():
    compare(loads(RELEASED.replace('mass = 1.2\ninertia = "1.2*0.8**2/12"', ""), "x.toml"), np.linspace(0, 1, 6))


def test_loads_and_rods_in_space():
    text = (
        RSSR
        + """
[initial]
A = { joint = "A", angle = 0.2, rate = 3 }
[forces]
t = { type = "torsion-spring", joint = "A", stiffness = 2, angle = 0.3, damping = 0.1 }
f = { body = "rod", point = "C", force = ["1", "2*t", "3"] }
k = { type = "spring", between = ["B", "D"], stiffness = 30, length = 0.1, damping = 0.2 }
q = { body = "rocker", torque = ["0.1", "0.02*t", "0"] }
"""
    )
    compare(loads(text, "x.toml"), np.linspace(0, 0.5, 6))


def test_a_driver_stays_a_prescribed_motion():
    model = heavy("five-bar")
    one = next(iter(model.drivers))
    kept = replace(model, drivers={one: model.drivers[one]}, simulation=replace(model.simulation, start=0.0))
    compare(kept, np.linspace(0, 0.5, 6))


KINDS = ("cam-follower", "gear-linkage", "oldham-coupling", "planetary-gear", "quick-return", "rack-and-pinion")
KINDS_IN_SPACE = ("bennett", "screw-jack", "spatial-slider-crank", "stewart-platform-ups", "universal-joint")


@pytest.mark.parametrize("name", [*KINDS, *KINDS_IN_SPACE])
def test_joints_of_all_kinds(name):
    model = let_go(name)
    compare(model, np.array([0.0, 0.1, 0.3]) * np.sqrt(model.size), "global")


# ---- singular poses -----------------------------------------------------------------------------------------------
def parallelogram(turns: float) -> str:
    """Return a parallelogram of four bars in space, redundant, whose cranks turn through its flat positions."""
    speed = 2 * np.pi * 4
    bar = "mass = 1\ninertia = [0.01, 0.01, 0.01, 0, 0, 0]"
    return (
        HEAD.format(name="parallelogram").replace("planar", "spatial").replace("-9.81]", "-9.81, 0]")
        + f"""
[points]
A = [0, 0, 0]
B = [0, 0.1, 0]
C = [0.3, 0.1, 0]
D = [0.3, 0, 0]
[bodies.frame]
points = ["A", "D"]
[bodies.left]
points = ["A", "B"]
{bar}
[bodies.rod]
points = ["B", "C"]
{bar}
[bodies.right]
points = ["D", "C"]
{bar}
[joints]
A = {{ type = "R", bodies = ["frame", "left"], at = "A", axis = [0, 0, 1] }}
B = {{ type = "R", bodies = ["left", "rod"], at = "B", axis = [0, 0, 1] }}
C = {{ type = "R", bodies = ["rod", "right"], at = "C", axis = [0, 0, 1] }}
D = {{ type = "R", bodies = ["frame", "right"], at = "D", axis = [0, 0, 1] }}
[initial]
A = {{ joint = "A", angle = 0, rate = {speed} }}
[simulation]
stop = {turns / 4}
step = 0.01
"""
    )


def passes(results):
    """Return how often the four bars lay in one line: as often as the left crank pointed along the frame."""
    turn = results.joints["A"].angle + np.pi / 2
    return int(np.sum(np.abs(np.diff(np.floor(turn / np.pi)))))


# dca brings constraints back with the frequency Ω: it must be quicker than the motion, here of 25 rad/s
@pytest.mark.parametrize(
    ("method", "given", "closed"), [("dca-projected", "", 1e-12), ("dca", "", 1e-9), ("dca", "frequency = 100", 1e-9)]
)
def test_a_hundred_singular_poses(method, given, closed):
    outcome = simulate(loads(f"{parallelogram(55)}[simulation.dca]\n{given}\n", "x.toml"), method=method)
    assert outcome.stop is None
    results = outcome.results
    assert passes(results) > 100
    left, right = (results.bodies[b].angular_velocity for b in ("left", "right"))
    # they stay parallel, no other branch is taken; next to a flat position the joints hardly hold the difference
    assert left == pytest.approx(right, abs=1e-3 * np.abs(left).max())
    assert results.diagnostics["energy_drift"] < 1e-6
    assert results.diagnostics["constraints"]["position"] < closed
    assert "loose" not in results.diagnostics


def test_a_slow_stabilisation_that_is_asked_for_stops_where_it_loses_its_way():
    """With the paper's Ω of 1 rad/s drift has grown where the joints lose their rank."""
    text = f"{parallelogram(20)}[simulation.dca]\nfrequency = 1\n"
    outcome = simulate(loads(text, "x.toml"), method="dca")
    assert outcome.stop is not None
    assert 0.2 < outcome.stop.time < 0.4  # the third or fourth flat position
    assert "a frequency of 1 rad/s brings them back more slowly" in outcome.stop.message


def test_linkages_that_are_locked_off_their_motion():
    """Off its motion Bennett's linkage is locked: drift that is not brought back takes the place of the motion."""
    model = let_go("bennett")
    model = replace(model, simulation=replace(model.simulation, tolerance=1e-11))
    slow = replace(model, simulation=replace(model.simulation, dca=AugmentedLagrangian(frequency=1.0)))
    times = np.linspace(0, 5, 51)
    known, raised = (simulate(model, times, method, reactions=False) for method in ("dca-projected", "dca"))
    early = simulate(slow, times, "dca", reactions=False)
    assert known.stop is None
    assert raised.stop is None
    assert raised.results.diagnostics["frequency"] > 10
    assert early.stop is not None
    assert 1.5 < early.stop.time < 2.5
    n = len(early.results.time)
    for point, series in known.results.points.items():
        assert raised.results.points[point].position == pytest.approx(series.position, abs=1e-6 * model.size)
        assert early.results.points[point].position == pytest.approx(series.position[:n], abs=1e-5 * model.size)


# ---- input --------------------------------------------------------------------------------------------------------
def test_settings_of_the_file():
    text = RELEASED + "[simulation.dca]\npenalty = 1e8\niterations = 20\nfrequency = 5\n"
    assert loads(text, "x.toml").simulation.dca == AugmentedLagrangian(penalty=1e8, iterations=20, frequency=5.0)
    assert loads(RELEASED, "x.toml").simulation.dca == AugmentedLagrangian()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("penalti = 1", "penalty"),
        ("penalty = 0", "penalty"),
        ("iterations = 0", "whole number from 1"),
        ("iterations = 2.5", "whole number from 1"),
        ("damping = -1", "zero or more"),
    ],
)
def test_wrong_settings(line, message):
    with pytest.raises(InputError, match=message):
        loads(f"{RELEASED}[simulation.dca]\n{line}\n", "x.toml")


def test_a_method_that_is_not_there():
    with pytest.raises(InputError, match="dca-projected"):
        simulate(loads(RELEASED, "x.toml"), method="dka")


CRANKS = """
format = 1
name = "parallelogram with three cranks"
space = "planar"
gravity = [1, -9.81]
points = { A = [0, 0], B = [2, 0], C = [3, 0], P = [0, 1], Q = [2, 1], R = [3, 1] }
[bodies]
frame = { points = ["A", "B", "C"] }
a = { points = ["A", "P"], mass = 1, inertia = 0.1 }
b = { points = ["B", "Q"], mass = 1, inertia = 0.1 }
c = { points = ["C", "R"], mass = 1, inertia = 0.1 }
k = { points = ["P", "Q", "R"], mass = 3, inertia = 0.1, centre = [0.5, 0.2] }
[joints]
A = { type = "R", bodies = ["frame", "a"], at = "A" }
B = { type = "R", bodies = ["frame", "b"], at = "B" }
C = { type = "R", bodies = ["frame", "c"], at = "C" }
P = { type = "R", bodies = ["a", "k"], at = "P" }
Q = { type = "R", bodies = ["b", "k"], at = "Q" }
R = { type = "R", bodies = ["c", "k"], at = "R" }
[initial]
a = { joint = "A", angle = 1.2, rate = 9 }
"""


@pytest.mark.parametrize("method", ["dca", "dca-projected"])
def test_accelerations_next_to_a_singular_position(method, read):
    """At t = 0.212 all links are in line but for 3e-4 rad; the cranks turn as one body, I θ'' = weights' moment."""
    found = simulate(read(CRANKS), np.array([0.0, 0.212, 0.3]), method).results
    angle = found.joints["A"].angle[1]
    inertia = 3 * (0.1 + 0.25) + 3  # three cranks with centres at their middles, the coupler that is carried along
    arm = (3 * 0.5 + 3) * np.array([np.cos(angle), np.sin(angle)])
    exact = (arm[0] * -9.81 - arm[1] * 1.0) / inertia
    # dca leaves 1e-9 of the velocities open, over 3e-4 rad times twice the speed of 9 rad/s: a few thousandths
    assert found.joints["A"].acceleration[1] == pytest.approx(exact, rel=1e-3)
    assert "unconverged_at" not in found.diagnostics


def test_accelerations_that_have_not_converged_are_said_to_be_so(read, tmp_path, capsys):
    path = tmp_path / "cranks.toml"
    path.write_text(CRANKS + "[simulation]\nstop = 0.22\nstep = 0.11\n[simulation.dca]\niterations = 1\n")
    found = simulate(load(path), method="dca-projected").results
    assert found.diagnostics["unconverged_at"] == pytest.approx([0.0, 0.11, 0.22])
    main(["simulate", str(path), "--method", "dca-projected"])
    assert "not converged at 3 of the times, first at t = 0 s" in " ".join(capsys.readouterr().out.split())
