"""[copies]: a copy moves as its original does, mirrored, turned, or at another time; parameters rule it, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent import InputError, Mechanism
from assurgent.mechanism.reader import from_data

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_legs_of_a_walker_are_one_leg_at_other_times_and_mirrored() -> None:
    """A leg on a pin a third of a turn ahead is the first leg that much later; a mirrored one runs backwards."""
    m = Mechanism.load(EXAMPLES / "six-leg-walker.toml")
    n = 30
    time = np.arange(2 * n) / n
    found = m.run(time.tolist())
    foot = found.points["F"].position
    for name, ahead in (("F_two", n // 3), ("F_three", 2 * n // 3)):
        np.testing.assert_allclose(found.points[name].position[:n], foot[ahead : ahead + n], atol=1e-12)
    mirrored = foot * [-1, 1]  # pins at angle phi on the right are pins at pi - phi on the left
    for name, ahead in (("F_right", 0), ("F_right_two_r", n // 3), ("F_right_three_r", 2 * n // 3)):
        k = (n // 2 - ahead - np.arange(n)) % n
        np.testing.assert_allclose(found.points[name].position[:n], mirrored[k], atol=1e-12)
    alone = Mechanism.load(EXAMPLES / "jansen-leg.toml").run(time.tolist())
    np.testing.assert_allclose(foot, alone.points["F"].position, atol=1e-13)
    larger = m.run([0.1, 0.2], unit=0.02)
    np.testing.assert_allclose(larger.points["F_right"].position, 2 * m.run([0.1, 0.2]).points["F_right"].position)


def test_a_copy_in_space_is_turned_about_an_axis(tmp_path: Path) -> None:
    m = Mechanism.load(EXAMPLES / "rssr.toml")
    del m.groups["SSR_1"]
    m.copy("b", ["crank", "rod", "rocker"], rotate="120 deg", axis=[0, 0, 2], about=[0.5, 0, 0], move=[0, 0, 0.1])
    m.driver("again", joint="A_b", angle="omega*t")
    m.save(tmp_path / "two.toml")
    found = Mechanism.load(tmp_path / "two.toml").run([0.0, 0.15, 0.4])
    c, s = np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for point in "ABCD":
        place = (found.points[point].position - [0.5, 0, 0]) @ turn.T + [0.5, 0, 0.1]
        np.testing.assert_allclose(found.points[f"{point}_b"].position, place, atol=1e-12)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"bodies": ["fot"]}, "there is no body 'fot' - did you mean 'foot'"),
        ({"bodies": []}, "lacks bodies"),
        ({"bodies": ["frame"]}, "the frame is there once"),
        ({"bodies": ["foot"], "turn": 3}, "'turn' is not known here"),
        ({"bodies": ["foot"], "mirror": [1, 0], "rotate": 1}, "rotate and mirror"),
        ({"bodies": ["foot"], "mirror": [1, 0, 0]}, "mirror is a list of 2 numbers"),
        ({"bodies": ["foot"], "mirror": [0, 0.0]}, "mirror: the normal has no direction"),
        ({"bodies": ["foot"], "points": {"Q": "P"}}, "'Q' is no point of these bodies"),
        ({"bodies": ["upper_rod"], "move": [1, 0]}, "also a point of crank.*points = { P"),
        ({"bodies": ["foot"], "about": "Q", "move": [1, 0]}, "about: there is no point 'Q'"),
    ],
)
def test_wrong_copies(fields: dict[str, object], says: str) -> None:
    m = Mechanism.load(EXAMPLES / "jansen-leg.toml")
    m.copies["x"] = fields  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"\[copies\.x\]: .*" + says):
        m.model()


def test_a_copy_of_what_is_no_body_or_stands_nowhere_is_refused() -> None:
    """Both ended in Python's own words: the first body of a copy was a list, one of its points a table."""
    m = Mechanism.load(EXAMPLES / "six-leg-walker.toml")
    m.bodies["upper_rod"] = [1]  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"\[copies\.\w+\]: \[bodies\] upper_rod is no table"):
        m.model()
    m = Mechanism.load(EXAMPLES / "six-leg-walker.toml")
    m.points["U"] = {"a": 1}
    with pytest.raises(InputError, match=r"\[points\] U: is a list of 2 numbers"):
        m.model()


def read(text: str, folder: Path) -> Mechanism:
    path = folder / "copies.toml"
    path.write_text("format = 1\n" + text, "utf-8")
    return Mechanism.load(path)


CRANK = """
space = "planar"
points = { O = [0, 0], A = ["0.05*cos(0.3)", "0.05*sin(0.3)"], B = [0.02, 0.2], Q = [0.02, 0] }
[bodies]
frame  = { points = ["O", "Q"] }
crank  = { points = ["O", "A"], length = 0.05 }
rod    = { points = ["A", "B"], length = 0.18 }
piston = { points = ["B"] }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
A = { type = "R", bodies = ["crank", "rod"], at = "A" }
B = { type = "R", bodies = ["rod", "piston"], at = "B" }
G = { type = "P", bodies = ["frame", "piston"], at = "B", through = "Q", axis = [0, 1] }
[drivers]
theta = { joint = "O", angle = "0.3 + 2*pi*t" }
"""


def test_a_guide_runs_through_the_image_of_its_point(tmp_path: Path) -> None:
    """`through` names a point of the frame that no copied body has: the copied line runs through its image."""
    time = np.linspace(0, 1, 9)
    a = 0.05 * np.array([np.cos(0.3 + 2 * np.pi * time), np.sin(0.3 + 2 * np.pi * time)])
    m = read(CRANK + '[copies.right]\nbodies = ["rod", "piston"]\nmirror = [1, 0]\npoints = { A = "A" }', tmp_path)
    place = m.run(time.tolist()).points["B_right"].position
    np.testing.assert_allclose(place[:, 0], -0.02, atol=1e-12)
    np.testing.assert_allclose(place[:, 1], a[1] + np.sqrt(0.18**2 - (a[0] + 0.02) ** 2), atol=1e-12)
    m = read(CRANK + '[copies.low]\nbodies = ["rod", "piston"]\nrotate = "-90 deg"\npoints = { A = "A" }', tmp_path)
    place = m.run(time.tolist()).points["B_low"].position
    np.testing.assert_allclose(place[:, 1], -0.02, atol=1e-12)
    np.testing.assert_allclose(place[:, 0], a[0] + np.sqrt(0.18**2 - (a[1] + 0.02) ** 2), atol=1e-12)
    shared = CRANK.replace('through = "Q"', 'through = "O"')  # the crank has this point, too, and keeps its own alone
    over = '[copies.over]\nbodies = ["rod", "piston"]\nmirror = [1, 0]\nabout = [0.01, 0]\npoints = { A = "A" }'
    place = read(shared + over, tmp_path).run(time.tolist()).points["B_over"].position
    np.testing.assert_allclose(place[:, 0], 0.02, atol=1e-12)
    named = 'points = { A = "A", Q = "O" }'  # another point for the guide
    m = read(CRANK + f'[copies.right]\nbodies = ["rod", "piston"]\nmirror = [1, 0]\n{named}', tmp_path)
    np.testing.assert_allclose(m.run(time.tolist()).points["B_right"].position[:, 0], 0, atol=1e-12)


RACK = """
space = "planar"
points = { O = [1, 0.02], T = [1, 0.04], L = [0.9, 0] }
[bodies]
frame  = { points = ["O"] }
pinion = { points = ["O", "T"] }
rack   = { points = ["L"] }
[joints]
O = { type = "R", bodies = ["frame", "pinion"], at = "O" }
G = { type = "P", bodies = ["frame", "rack"], at = "L", axis = [1, 0] }
M = { type = "rack", bodies = ["pinion", "rack"], radius = 0.02, axis = [1, 0] }
[drivers]
theta = { joint = "O", angle = "pi/2 + t" }
"""


def test_a_mirrored_rack_rolls_on_the_same_side(tmp_path: Path) -> None:
    both = 'again = { joint = "O_m", angle = "pi/2 - t" }\n[copies.m]\nbodies = ["pinion", "rack"]\nmirror = [1, 0]'
    found = read(RACK + both, tmp_path).run([0.0, 1.0])
    np.testing.assert_allclose(found.points["L_m"].position, [[-0.9, 0], [-0.92, 0]], atol=1e-12)
    one = '[copies.m]\nbodies = ["rack"]\nmirror = [1, 0]\nabout = "O"'  # a second rack below the same pinion
    found = read(RACK + one, tmp_path).run([0.0, 1.0])
    np.testing.assert_allclose(found.points["L_m"].position, [[1.1, 0], [1.12, 0]], atol=1e-12)


def test_the_mirror_image_of_a_right_handed_screw_is_left_handed(tmp_path: Path) -> None:
    text = """
    space = "spatial"
    points = { A = [1, 0, 0.1], B = [1.1, 0, 0.25] }
    bodies.frame = { points = ["A"] }
    bodies.screw = { points = ["A", "B"] }
    joints.H = { type = "H", bodies = ["frame", "screw"], at = "A", axis = [0, 0, 1], pitch = 0.01 }
    copies.m = { bodies = ["screw"], mirror = [1, 0, 0] }
    drivers.one = { joint = "H", angle = "t" }
    drivers.two = { joint = "H_m", angle = "-t" }
    """
    found = read(text, tmp_path).run([0.0, 1.0])
    place = [-1 - 0.1 * np.cos(1), 0.1 * np.sin(1), 0.26]
    np.testing.assert_allclose(found.points["B_m"].position[1], place, atol=1e-12)


def test_a_crown_wheel_drives_the_pinion_of_its_other_face_the_other_way(tmp_path: Path) -> None:
    """Only the pinion is copied; the axis of the crown wheel, which is its bearing's, is mirrored in the gear."""
    text = """
    space = "spatial"
    points = { O = [0, 0, 0], P = [0.06, 0, 0.04], C = [0, 0.05, 0] }
    bodies.frame = { points = ["O", "P"] }
    bodies.crown = { points = ["O", "C"] }
    bodies.pinion = { points = ["P"] }
    joints.O = { type = "R", bodies = ["frame", "crown"], at = "O", axis = [0, 0, 1] }
    joints.P = { type = "R", bodies = ["frame", "pinion"], at = "P", axis = [1, 0, 0] }
    joints.M = { type = "gear", bodies = ["crown", "pinion"], radii = [0.06, 0.04] }
    copies.low = { bodies = ["pinion"], mirror = [0, 0, 1] }
    drivers.one = { joint = "O", angle = "t" }
    """
    found = read(text, tmp_path).run([0.0, 1.0])
    np.testing.assert_allclose(found.bodies["pinion"].angular_velocity[1], [-1.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.bodies["pinion_low"].angular_velocity[1], [1.5, 0, 0], atol=1e-12)


CAM = """
space = "planar"
points = { O = [0, 0], X = [0.03, 0], F = [0, 0.06] }
[bodies]
frame = { points = ["O"] }
cam   = { points = ["O", "X"] }
valve = { points = ["F"] }
[joints]
O = { type = "R", bodies = ["frame", "cam"], at = "O" }
G = { type = "P", bodies = ["frame", "valve"], at = "F", through = "O", axis = [0, 1] }
[joints.K]
type     = "cam"
bodies   = ["cam", "valve"]
centre   = "O"
follower = { point = "F" }
OUTLINE
[drivers]
theta = { joint = "O", angle = "t" }
"""
OUTLINE = "profile = '0.04 + 0.003*sin(u) + 0.002*cos(2*u)'"


def outline(u: float) -> float:
    return float(0.04 + 0.003 * np.sin(u) + 0.002 * np.cos(2 * u))


def test_two_valves_on_one_cam(tmp_path: Path) -> None:
    """The cam is not copied, and keeps its outline: the valve on its other side meets what stands there."""
    text = CAM.replace("OUTLINE", OUTLINE) + "[copies.low]\nbodies = ['valve']\nmirror = [0, 1]"
    found = read(text, tmp_path).run([0.0, 0.7])
    np.testing.assert_allclose(found.points["F"].position[1], [0, outline(np.pi / 2 - 0.7)], atol=1e-12)
    np.testing.assert_allclose(found.points["F_low"].position[1], [0, -outline(-np.pi / 2 - 0.7)], atol=1e-12)


def test_the_outline_of_a_table_is_turned_and_not_mirrored(tmp_path: Path) -> None:
    u = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    (tmp_path / "o.csv").write_text("".join(f"{x!r},{outline(x)!r}\n" for x in u.tolist()), "utf-8")
    text = CAM.replace("OUTLINE", "table = 'o.csv'") + "again = { joint = 'O_c', angle = 't + 1' }\n"
    text += "[copies.c]\nbodies = ['cam', 'valve']\n"
    found = read(text + "rotate = 1", tmp_path).run([0.0, 0.7])
    turn = np.array([[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]])
    np.testing.assert_allclose(found.points["F_c"].position, found.points["F"].position @ turn.T, atol=1e-12)
    with pytest.raises(InputError, match=r"\[copies\.c\]: mirrors the cam of 'K', whose outline is a table"):
        read(text + "mirror = [1, 0]", tmp_path)
    with pytest.raises(InputError, match=r"turns the cam of 'K', .* or give it a second point"):
        read(text.replace('["O", "X"]', '["O"]').replace(" X = [0.03, 0],", "") + "rotate = 1", tmp_path)


def test_a_block_that_copies_share_keeps_its_axes(tmp_path: Path) -> None:
    """The axes of a body of one point are parallel to the global ones, whatever points copies give it."""
    text = """
    space = "planar"
    gravity = [0, -9.81]
    points = { B = [0, 0], E = [0.1, -0.3] }
    bodies.frame = { points = [] }
    bodies.cart = { points = ["B"], mass = 1, centre = [0.02, 0.05] }
    bodies.arm = { points = ["B", "E"], mass = 1, inertia = 0.1, centre = "E" }
    joints.G = { type = "P", bodies = ["frame", "cart"], at = "B", axis = [1, 0] }
    joints.B = { type = "R", bodies = ["cart", "arm"], at = "B" }
    copies.c = { bodies = ["arm"], move = [0.3, 0.4] }
    copies.d = { bodies = ["arm"], mirror = [1, 0], about = [0.2, 0] }
    simulation.centres = true
    """
    found = read(text, tmp_path).simulate(times=[0, 0.1])
    np.testing.assert_allclose(found.bodies["cart"].angle, 0, atol=1e-12)
    way = found.points["cart.centre"].position - found.points["B"].position
    np.testing.assert_allclose(way, [[0.02, 0.05]] * 2, atol=1e-12)
    np.testing.assert_allclose(found.points["B_c"].position - found.points["B"].position, [[0.3, 0.4]] * 2, atol=1e-9)


@pytest.mark.parametrize("shape", ["", "length = 0.5"])
def test_a_body_in_space_keeps_its_shape_where_it_is_pinned_elsewhere(shape: str, tmp_path: Path) -> None:
    text = f"""
    space = "spatial"
    points = {{ A = [0, 0, 0], B = [0.3, 0.4, 0], P = [1, 0, 0.2] }}
    bodies.frame = {{ points = ["A", "P"] }}
    [bodies.arm]
    points = ["A", "B"]
    mass   = 1
    centre = [0.1, 0.1, 0.3]
    {shape}
    [joints]
    A = {{ type = "R", bodies = ["frame", "arm"], at = "A", axis = [0, 0, 1] }}
    [copies.c]
    bodies = ["arm"]
    mirror = [1, 0, 0]
    points = {{ A = "P" }}
    [simulation]
    centres = true
    """
    found = read(text, tmp_path).simulate(times=[0])
    places = [found.points[p].position[0] for p in ("A", "B", "arm.centre", "P", "B_c", "arm_c.centre")]
    sizes = [[np.linalg.norm(places[k + i] - places[k + j]) for i, j in ((0, 1), (0, 2), (1, 2))] for k in (0, 3)]
    np.testing.assert_allclose(sizes[1], sizes[0], atol=1e-12)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("points", "A"), [[1], 2], r"\[points\] A: is a number"),
        (("points", "A"), [10**400, 0], r"\[points\] A: .*not a finite number"),
        (("parameters",), [1], "parameters: is a table"),
        (("bodies", "rod", "local"), 1, r"\[bodies.rod\] length: and `local` exclude each other"),
        (("joints", "B", "bodies"), [], r"\[joints\] B.bodies: is a list of 2 names"),
        (("copies", "c", "move"), [float("nan"), 1], "move is a list of 2 numbers"),
        (("copies", "c", "rotate"), [1], "rotate is a number"),
    ],
)
def test_what_is_no_number_in_what_is_copied_is_told_in_words(
    path: tuple[str, ...], value: object, says: str, tmp_path: Path
) -> None:
    m = read(CRANK + '[copies.c]\nbodies = ["rod", "piston"]\nrotate = 1\npoints = { A = "A" }', tmp_path)
    data = m.data()
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError, match=says):
        from_data(data, "copies.toml")
