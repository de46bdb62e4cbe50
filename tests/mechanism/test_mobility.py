"""Ranks of mechanisms whose mobility is known, counted rightly or wrongly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism import mobility
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.assembly import assemble
from assurgent.mechanism.joint_equations import Poses
from assurgent.mechanism.mobility import Excess, Mobility, compare, examine, nearby
from assurgent.mechanism.model import Model
from assurgent.mechanism.plans.planning import studied, study
from assurgent.mechanism.reader import load, loads
from assurgent.mechanism.sparse_elimination import Echelon


def chain(space: str, points: dict[str, tuple[object, ...]], links: dict[str, str], joints: str, drivers: str) -> str:
    """Return a mechanism whose bodies are measured from its points."""
    lines = ["format = 1", 'name = "test"', f'space = "{space}"', "[points]"]
    lines += [f"{name} = {list(map(float, place))}" for name, place in points.items()]  # type: ignore[arg-type]
    for name, ends in links.items():
        lines += [f"[bodies.{name}]", f"points = {ends.split()}"]
    return "\n".join([*lines, "[joints]", joints, "[drivers]", drivers, ""])


def model(folder: Path, text: str) -> Model:
    path = folder / "m.toml"
    path.write_text(text)
    return load(path)


def revolute(name: str, first: str, second: str, axis: object = None) -> str:
    tail = "" if axis is None else f", axis = {list(map(float, axis))}"  # type: ignore[call-overload]
    return f'{name} = {{ type = "R", bodies = ["{first}", "{second}"], at = "{name}"{tail} }}'


def assembled(m: Model) -> Poses:
    """Return the first configuration closed, with the drivers where the sketch has them."""
    system = Absolute(m)
    return assemble(m, system.measured(system.first()))


def report(m: Model) -> Mobility:
    poses = assembled(m)
    return compare(m, poses, nearby(m, poses))


# ---- in space -----------------------------------------------------------------------------------------------------
LINKS = {"frame": "A D", "crank": "A B", "rod": "B C", "rocker": "C D"}
ENDS = {"A": ("frame", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("frame", "rocker")}
DRIVER = 'theta = { joint = "A", angle = "t" }'


def closed_loop(points: dict[str, tuple[object, ...]], axes: dict[str, tuple[float, ...]]) -> str:
    return chain("spatial", points, LINKS, "\n".join(revolute(n, *ENDS[n], axes[n]) for n in ENDS), DRIVER)


FLAT = {"A": (0, 0, 0), "B": (0.3, 1, 0), "C": (3.5, 2.5, 0), "D": (4, 0, 0)}


def test_four_bar_drawn_in_space_has_three_rows_in_excess_and_moves(tmp_path: Path) -> None:
    m = model(tmp_path, closed_loop(FLAT, dict.fromkeys("ABCD", (0.0, 0.0, 1.0))))
    found = report(m)
    assert (found.rank, found.n_rows) == (18, 21)
    assert (found.mobility, found.count) == (1, -2)
    assert sum(e.n_rows for e in found.redundant) == 3
    assert {e.name for e in found.redundant} <= {"B", "C"}  # where the loop closes, seen from the ground
    assert not found.locked
    assert not found.free


def test_tilted_axes_lock_the_same_four_bar_though_the_rank_is_the_same(tmp_path: Path) -> None:
    axes = {n: (0.1 * k, -0.05 * k * k, 1.0) for k, n in enumerate("ABCD")}
    found = report(model(tmp_path, closed_loop(FLAT, axes)))
    assert found.rank == 18
    assert found.mobility == 0
    assert found.blocked == ("theta",)
    assert found.conflict > 0.01  # of the driver's rate, against 1e-15 when it moves
    assert found.locked


def bennett(height: float = 0.5) -> dict[str, tuple[object, ...]]:
    """Return a skew isogram: opposite sides are equal, by a half turn about z."""
    p, q, angle = 1.0, 1.7, 1.1
    x, y = q * np.cos(angle), q * np.sin(angle)
    return {"A": (p, 0, height), "B": (x, y, -height), "C": (-p, 0, height), "D": (-x, -y, -height)}


def normals(points: dict[str, tuple[object, ...]]) -> dict[str, tuple[float, ...]]:
    """Return at each corner the normal of its two sides."""
    places = np.array([points[n] for n in "ABCD"], dtype=float)
    sides = np.roll(places, -1, axis=0) - places
    return {n: tuple(np.cross(sides[k - 1], sides[k])) for k, n in enumerate("ABCD")}


def test_bennett_linkage_moves_though_its_count_is_minus_two(tmp_path: Path) -> None:
    points = bennett()
    found = report(model(tmp_path, closed_loop(points, normals(points))))
    assert (found.mobility, found.count) == (1, -2)
    assert not found.locked
    assert sum(e.n_rows for e in found.redundant) == 3
    # any other axes at the same corners are a structure
    other = normals(points) | {"C": (0.3, 1.0, 0.2)}
    assert report(model(tmp_path, closed_loop(points, other))).mobility == 0


def rssr() -> str:
    joints = [
        revolute("A", "frame", "crank", (0, 0, 1)),
        'B = { type = "S", bodies = ["crank", "rod"], at = "B" }',
        'C = { type = "S", bodies = ["rod", "rocker"], at = "C" }',
        revolute("D", "frame", "rocker", (6, 2, -3)),
    ]
    points: dict[str, tuple[object, ...]] = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (2.5, 3, 2), "D": (3, 1, 0.5)}
    return chain("spatial", points, LINKS, "\n".join(joints), DRIVER)


def test_rod_on_two_spherical_joints_has_no_spin_to_count(tmp_path: Path) -> None:
    m = model(tmp_path, rssr())
    assert m.bodies["rod"].rod
    found = report(m)
    assert (found.mobility, found.count, found.rank, found.n_rows) == (1, 1, 18, 18)  # with the row of the rod's spin
    assert found.determined


def test_spin_of_a_body_that_is_no_rod_is_found_as_its_own_free_motion(tmp_path: Path) -> None:
    m = model(tmp_path, rssr())
    m = replace(m, bodies={**m.bodies, "rod": replace(m.bodies["rod"], rod=False)})
    found = report(m)
    assert (found.mobility, found.rank, found.n_rows) == (2, 17, 17)
    assert [f.bodies for f in found.free] == [("rod",)]


def test_body_on_two_spherical_joints_of_the_frame_hides_a_hinge(tmp_path: Path) -> None:
    text = chain(
        "spatial",
        {"A": (0, 0, 0), "B": (1, 0, 0), "P": (2, 0, 0)},
        {"frame": "A B", "door": "A B P"},
        "\n".join(f'{n} = {{ type = "S", bodies = ["frame", "door"], at = "{n}" }}' for n in "AB"),
        "",
    )
    m = model(tmp_path, text)
    m = replace(m, bodies={**m.bodies, "door": replace(m.bodies["door"], rod=False)})
    found = report(m)
    assert (found.mobility, found.count, found.rank, found.n_rows) == (1, 0, 5, 6)


# ---- in the plane -------------------------------------------------------------------------------------------------
def cranks(third: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a parallelogram with a third crank from `third` on the ground to `end` on the coupler."""
    points: dict[str, tuple[object, ...]] = {"A": (0, 0), "B": (1, 2), "D": (4, 0), "C": (5, 2), "E": third, "F": end}
    links = {"frame": "A D E", "a": "A B", "k": "B C F", "c": "C D", "e": "E F"}
    ends = {"A": ("frame", "a"), "B": ("a", "k"), "C": ("k", "c"), "D": ("frame", "c"), "E": ("frame", "e")}
    joints = [revolute(n, *pair) for n, pair in (ends | {"F": ("k", "e")}).items()]
    return chain("planar", points, links, "\n".join(joints), DRIVER)


def test_parallelogram_with_a_third_crank_is_redundant_but_moves(tmp_path: Path) -> None:
    found = report(model(tmp_path, cranks((2, 0), (3, 2))))
    assert (found.mobility, found.count) == (1, 0)
    assert sum(e.n_rows for e in found.redundant) == 1
    assert not found.locked
    assert not found.singular


def test_third_crank_that_is_not_parallel_locks(tmp_path: Path) -> None:
    found = report(model(tmp_path, cranks((2, 0), (3.3, 2))))
    assert found.mobility == 0
    assert found.blocked == ("theta",)


def five_bar(drivers: str) -> str:
    points: dict[str, tuple[object, ...]] = {"A": (0, 0), "B": (-0.5, 1), "C": (1.5, 2.5), "D": (3.4, 1.2), "E": (3, 0)}
    links = {"frame": "A E", "a": "A B", "b": "B C", "c": "C D", "d": "D E"}
    ends = {"A": ("frame", "a"), "B": ("a", "b"), "C": ("b", "c"), "D": ("c", "d"), "E": ("frame", "d")}
    return chain("planar", points, links, "\n".join(revolute(n, *pair) for n, pair in ends.items()), drivers)


def test_five_bar_with_both_drivers_on_one_crank_is_free_and_redundant(tmp_path: Path) -> None:
    m = model(tmp_path, five_bar('one = { joint = "A", angle = "t" }'))
    m = replace(m, drivers={**m.drivers, "two": replace(m.drivers["one"], name="two")})
    found = report(m)
    assert (found.mobility, found.count) == (2, 2)
    assert found.redundant == (Excess("two", True, 1),)
    assert [f.bodies for f in found.free] == [("b", "c", "d")]
    assert set(found.free[0].joints) == {"B", "C", "D", "E"}  # any of them could be driven
    assert not found.locked  # the two say the same
    poses = assembled(m)
    assert examine(m, poses, rates={"one": 1.0, "two": 2.0}).conflict > 0.1


def test_five_bar_with_a_driver_on_each_crank_is_determined(tmp_path: Path) -> None:
    drivers = 'one = { joint = "A", angle = "t" }\ntwo = { joint = "E", angle = "t" }'
    found = report(model(tmp_path, five_bar(drivers)))
    assert found.determined
    assert (found.mobility, found.rank, found.n_rows) == (2, 12, 12)


def test_dead_centre_is_a_singular_pose_and_no_lock(tmp_path: Path) -> None:
    text = chain(
        "planar",
        {"A": (0, 0), "B": (1, 0), "C": (4, 0)},
        {"frame": "A", "crank": "A B", "rod": "B C", "slider": "C"},
        "\n".join(
            [
                revolute("A", "frame", "crank"),
                revolute("B", "crank", "rod"),
                revolute("C", "rod", "slider"),
                'G = { type = "P", bodies = ["frame", "slider"], at = "C", axis = [1, 0] }',
            ]
        ),
        's = { joint = "G", displacement = "t" }',
    )
    m = model(tmp_path, text)
    poses = Absolute(m).first()
    here = examine(m, poses)
    assert here.blocked == ("s",)
    found = compare(m, poses, nearby(m, poses))
    assert found.singular
    assert not found.blocked
    assert not found.redundant
    assert found.mobility == 1


def test_a_structure_has_no_pose_nearby(tmp_path: Path) -> None:
    m = model(tmp_path, cranks((2, 0), (3.3, 2)))
    assert nearby(m, assembled(m)) is None


def test_part_of_a_mechanism_with_the_rest_fixed(tmp_path: Path) -> None:
    m = model(tmp_path, cranks((2, 0), (3, 2)))
    poses = assembled(m)
    dyad = examine(m, poses, ["k", "c"])
    assert (dyad.mobility, dyad.rank, dyad.n_rows) == (0, 6, 8)  # F is held by two bodies now
    alone = examine(m, poses, ["e"])
    assert (alone.rank, alone.n_rows, alone.mobility) == (3, 4, 0)


def test_order_of_names_does_not_change_the_report(tmp_path: Path) -> None:
    m = model(tmp_path, cranks((2, 0), (3, 2)))
    turned = replace(
        m,
        bodies={k: m.bodies[k] for k in ["frame", *reversed(m.movable)]},
        joints=dict(reversed(m.joints.items())),
    )
    one, other = report(m), report(turned)
    assert replace(one, conflict=0.0) == replace(other, conflict=0.0)


# ---- large ones ---------------------------------------------------------------------------------------------------
def ladder(n: int, drivers: str, extra: bool = False) -> str:
    """Return n dyads one after the other, each from the last one's pin to the ground; `extra`: one more bar."""
    random = np.random.default_rng(3)
    points: dict[str, tuple[object, ...]] = {"A0": (0, 0), "B0": (0.2, 1)}
    ground, links, joints = ["A0"], {"c0": "A0 B0"}, [revolute("A0", "frame", "c0")]
    for k in range(1, n + 1):
        points[f"A{k}"] = (k, 0.1 * random.standard_normal())
        points[f"B{k}"] = (k + 0.2 * random.standard_normal(), 1 + 0.3 * random.random())
        ground.append(f"A{k}")
        links[f"r{k}"], links[f"c{k}"] = f"B{k - 1} B{k}", f"A{k} B{k}"
        joints.append(revolute(f"A{k}", "frame", f"c{k}"))
        if k > 1:  # three bodies at a pin: pairs with the crank
            joints.append(f'P{k} = {{ type = "R", bodies = ["c{k - 1}", "r{k}"], at = "B{k - 1}" }}')
        else:
            joints.append(revolute("B0", "c0", "r1"))
        joints.append(f'Q{k} = {{ type = "R", bodies = ["r{k}", "c{k}"], at = "B{k}" }}')
    if extra:
        links["x"] = "A1 B3"
        joints.append('X = { type = "R", bodies = ["frame", "x"], at = "A1" }')
        joints.append('Y = { type = "R", bodies = ["c3", "x"], at = "B3" }')
    return chain("planar", points, {"frame": " ".join(ground), **links}, "\n".join(joints), drivers)


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("drivers", ["", 'd = { joint = "A0", angle = "t" }'])
def test_sparse_and_dense_ways_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drivers: str, extra: bool
) -> None:
    m = model(tmp_path, ladder(8, drivers, extra))
    poses = Absolute(m).first()
    dense = examine(m, poses)
    monkeypatch.setattr(mobility, "DENSE", 0)
    sparse = examine(m, poses)
    assert replace(dense, conflict=0.0) == replace(sparse, conflict=0.0)
    assert (dense.conflict > 1e-6) == (sparse.conflict > 1e-6) == bool(drivers and extra)
    assert dense.mobility == (0 if extra else 1)
    assert bool(dense.free) == (not drivers and not extra)


def test_large_mechanism_without_a_dense_decomposition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("dense decomposition of a large mechanism")

    m = model(tmp_path, ladder(500, 'd = { joint = "A0", angle = "t" }'))
    monkeypatch.setattr(np.linalg, "svd", refuse)
    poses = Absolute(m).first()
    found = examine(m, poses)
    assert (found.mobility, found.count, found.rank) == (1, 1, 3 * 1001)
    assert found.determined


def test_echelon_agrees_with_singular_values() -> None:
    random = np.random.default_rng(4)
    for _ in range(50):
        rank = int(random.integers(1, 7))
        J = random.standard_normal((9, rank)) @ random.standard_normal((rank, 8))
        echelon = Echelon(8, 1e-9)
        kept = [echelon.add(dict(enumerate(row)), float(row.sum())) for row in J]
        assert sum(kept) == rank
        assert echelon.conflict < 1e-9  # x = (1, ..., 1) solves it
        null = np.array(echelon.null())
        assert null.shape == (8 - rank, 8)
        np.testing.assert_allclose(J @ null.T, 0, atol=1e-9 * np.abs(null).max())  # rounding times growth


def test_a_plate_on_three_parallel_cranks_is_no_structure() -> None:
    """The count is satisfied, and special lengths leave a motion all the same: no driver is too few."""
    text = """
format = 1
space = "planar"
[points]
A = [0, 0]
B = [2, 0]
C = [3, 0]
P = [0, 1]
Q = [2, 1]
R = [3, 1]
[bodies]
frame = { points = ["A", "B", "C"] }
a = { points = ["A", "P"] }
b = { points = ["B", "Q"] }
c = { points = ["C", "R"] }
plate = { points = ["P", "Q", "R"] }
[joints]
A = { type = "R", bodies = ["frame", "a"], at = "A" }
B = { type = "R", bodies = ["frame", "b"], at = "B" }
C = { type = "R", bodies = ["frame", "c"], at = "C" }
P = { type = "R", bodies = ["a", "plate"], at = "P" }
Q = { type = "R", bodies = ["b", "plate"], at = "Q" }
R = { type = "R", bodies = ["c", "plate"], at = "R" }
"""
    structure = study(loads(text, "plate"))
    assert structure.mobility == 1
    assert structure.free
    with pytest.raises(InputError, match="1 free motion and 0 drivers"):
        studied(loads(text, "plate"))
