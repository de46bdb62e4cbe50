"""[copies]: a copy is the image of its original, in its motion, its reactions and efforts, driven and free."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.mechanism.model import Array
from assurgent.mechanism.toml_text import to_toml

TIMES = [0.0, 0.07, 0.19, 0.4]
ROUNDING = 1e-9  # relative to the largest of its kind; Newton-Raphson ends at 1e-12 of the size

CHAIN = """
space = "planar"
points = { O = [0.1, 0], A = [0.15, 0.02], B = [0.02, 0.2], Q = [0.02, 0], S = [0.06, 0.1], T = [0.15, 0.12] }
[bodies]
frame  = { points = ["O", "Q", "T"] }
crank  = { points = ["O", "A"], length = 0.05 }
rod    = { points = ["A", "B", "M"], local = { A = [0.01, 0], B = [0.2, 0], M = [0.09, 0.02] } }
piston = { points = ["B"] }
lever  = { points = ["T", "S"] }
stone  = { points = ["S"] }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
A = { type = "R", bodies = ["crank", "rod"], at = "A" }
B = { type = "R", bodies = ["rod", "piston"], at = "B" }
G = { type = "P", bodies = ["frame", "piston"], at = "B", through = "Q", axis = [0.1, 1] }
T = { type = "R", bodies = ["frame", "lever"], at = "T" }
H = { type = "R", bodies = ["lever", "stone"], at = "S" }
E = { type = "slot", bodies = ["rod", "lever"], at = "S", through = "M", axis = [0.3, -1] }
[drivers]
theta = { joint = "O", angle = "0.4 + 2*t" }
phi = { joint = "H", angle = "0.3 - t" }
"""
GUIDE = """
space = "planar"
points = { F = [0.1, 0.05], K = [0, 0], L = [0.3, 0.1] }
[bodies]
frame = { points = ["F"] }
plate = { points = ["K", "L"] }
[joints]
G = { type = "P", bodies = ["plate", "frame"], at = "F", through = "L", axis = [2, 1] }
[drivers]
x = { joint = "G", displacement = "0.1 + 0.2*t" }
"""
WHEELS = """
space = "planar"
points = { O = [0.1, 0.02], T = [0.1, 0.04], L = [0, 0], C = [0.16, 0.02], D = [0.2, 0.1] }
[bodies]
frame  = { points = ["O"] }
pinion = { points = ["O", "T"] }
rack   = { points = ["L"] }
arm    = { points = ["O", "C"] }
planet = { points = ["C", "D"] }
[joints]
O = { type = "R", bodies = ["frame", "pinion"], at = "O" }
G = { type = "P", bodies = ["frame", "rack"], at = "L", axis = [1, 0.2] }
M = { type = "rack", bodies = ["pinion", "rack"], radius = 0.02, axis = [1, 0.2] }
A = { type = "R", bodies = ["frame", "arm"], at = "O" }
C = { type = "R", bodies = ["arm", "planet"], at = "C" }
N = { type = "gear", bodies = ["pinion", "planet"], radii = [0.04, 0.02], carrier = "arm" }
[drivers]
theta = { joint = "O", angle = "pi/2 + t" }
arm = { bodies = ["frame", "arm"], angle = "0.2*t" }
"""
CAM = """
space = "planar"
parameters = { mu = 0.003 }
points = { O = [0.1, 0.02], F = [0.1, 0.08], X = [0.13, 0.03] }
[bodies]
frame = { points = ["O"] }
cam   = { points = ["O"] }
valve = { points = ["F"] }
[joints]
O = { type = "R", bodies = ["frame", "cam"], at = "O" }
G = { type = "P", bodies = ["frame", "valve"], at = "F", axis = [0, 1] }
K = { type = "cam", bodies = ["cam", "valve"], centre = "O", profile = "0.04 + mu*sin(u) + 0.002*cos(2*u + 0.3)" }
[drivers]
theta = { joint = "O", angle = "1 + t" }
"""
ARM = """
space = "spatial"
points = { O = [0.1, 0, 0], A = [0.5, 0.2, 0.3], B = [0.9, -0.3, 0.2], C = [0.7, 0.1, 0.6], D = [0.3, 0.4, 0.5] }
[bodies]
frame = { points = ["O"] }
a = { points = ["O", "A"] }
b = { points = ["A", "B"], local = { A = [0.1, 0, 0], B = [0.1, 0.6, 0.2] } }
c = { points = ["B", "C"] }
d = { points = ["C", "D"], length = 0.5 }
e = { points = ["D"] }
[joints]
O = { type = "R", bodies = ["frame", "a"], at = "O", axis = [0.2, 1, 0.3] }
A = { type = "C", bodies = ["a", "b"], at = "A", axis = [1, 0, 0.3] }
B = { type = "H", bodies = ["b", "c"], at = "B", axis = [0, 1, 0.3], pitch = 0.02 }
C = { type = "P", bodies = ["c", "d"], at = "C", through = "B", axis = [-0.2, 0.4, 0.4] }
D = { type = "R", bodies = ["d", "e"], at = "D", axis = [1, 2, 3] }
[drivers]
o = { joint = "O", angle = "2*t" }
a = { joint = "A", angle = "sin(t)" }
s = { joint = "A", displacement = "0.1*t" }
b = { joint = "B", angle = "1 - t" }
c = { joint = "C", displacement = "0.5 + 0.2*t**2" }
d = { joint = "D", angle = "t**2" }
"""
RSSP = """
space = "spatial"
points = { A = [0, 0.1, 0.12], B = [0, 0.1, 0.2], C = [0.25, 0, 0], G = [0.01, 0, 0] }
[bodies]
frame  = { points = ["A", "G"] }
crank  = { points = ["A", "B"], length = 0.08 }
rod    = { points = ["B", "C"], length = 0.3, kind = "rod" }
slider = { points = ["C"] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A", axis = [1, 0, 0] }
B = { type = "S", bodies = ["crank", "rod"], at = "B" }
C = { type = "S", bodies = ["rod", "slider"], at = "C" }
G = { type = "P", bodies = ["frame", "slider"], at = "C", through = "G", axis = [1, 0, 0] }
[drivers]
theta = { joint = "A", angle = "2*t" }
"""
PLATE = """
space = "spatial"
points = { A = [-1, 0, 0], B = [0.4, -1, 0], C = [0, 1, 0], P = [0, 0, 0], Q = [0.4, 0, 0], S = [0, 0.2, 0] }
[bodies]
frame = { points = ["A", "B", "C"] }
plate = { points = ["P", "Q", "S"] }
[joints]
E = { type = "planar", bodies = ["frame", "plate"], at = "P", normal = [0, 0, 1] }
[drivers]
a = { between = ["A", "P"], distance = "1 + 0.1*sin(t)" }
b = { between = ["B", "Q"], distance = 1 }
c = { between = ["C", "S"], distance = 0.8 }
"""
SWASH = """
space = "spatial"
points = { O = [0, 0, 0], A = [0.04, 0, -0.01], D = [0, 0.1, 0.5], F = [0.1, 0.1, 0.52] }
[bodies]
frame   = { points = ["O", "D"] }
shaft   = { points = ["O"] }
plunger = { points = ["A"] }
finger  = { points = ["D", "F"] }
[joints]
S = { type = "R", bodies = ["frame", "shaft"], at = "O", axis = [0, 0, 1] }
G = { type = "P", bodies = ["frame", "plunger"], at = "A", axis = [0, 0, 1] }
K = { type = "on-plane", bodies = ["shaft", "plunger"], at = "A", through = "O", normal = [0.25, 0, 1] }
D = { type = "R", bodies = ["frame", "finger"], at = "D", axis = [0, 1, 0] }
L = { type = "on-cylinder", bodies = ["shaft", "finger"], at = "F", axis = [0.2, 0.1, 1], through = "O" }
[drivers]
theta = { joint = "S", angle = "2*t" }
"""
BEVEL = """
space = "spatial"
points = { O = [0, 0, 0], P = [0.06, 0, 0], L = [0, 0.5, 0] }
[bodies]
frame  = { points = ["O"] }
cage   = { points = ["O", "P"] }
planet = { points = ["P"] }
left   = { points = ["O", "L"] }
[joints]
C  = { type = "R", bodies = ["frame", "cage"], at = "O", axis = [0, 1, 0] }
P  = { type = "R", bodies = ["cage", "planet"], at = "P", axis = [1, 0, 0] }
L  = { type = "R", bodies = ["frame", "left"], at = "O", axis = [0, 1, 0] }
[joints.ML]
type    = "gear"
bodies  = ["planet", "left"]
radii   = [0.04, 0.06]
carrier = "cage"
axes    = [[1, 0, 0], [0, 1, 0]]
[drivers]
cage = { joint = "C", angle = "2*t" }
left = { joint = "L", angle = "1.8*t" }
"""
CARDAN = """
space = "spatial"
points = { A = [0, 0, 0], B = [1, 0, 0], C = [2, 0.4, 0] }
[bodies]
frame  = { points = ["A", "C"] }
input  = { points = ["A", "B"] }
output = { points = ["B", "C"] }
[joints]
A = { type = "R", bodies = ["frame", "input"], at = "A", axis = [1, 0, 0] }
B = { type = "U", bodies = ["input", "output"], at = "B", axes = [[0, 0, 1], [-0.4, 1, 0]] }
C = { type = "C", bodies = ["frame", "output"], at = "C", axis = [1, 0.4, 0] }
[drivers]
theta = { joint = "A", angle = "2*t" }
"""


def cam(follower: str, points: str = '["O"]') -> str:
    text = CAM.replace("\n[drivers]", f"\n[joints.K.follower]\npoint = 'F'\n{follower}\n[drivers]")
    text = text.replace("K = {", "[joints.K]\n").replace(
        ', bodies = ["cam", "valve"], ', '\nbodies = ["cam", "valve"]\n'
    )
    text = text.replace('centre = "O", profile', 'centre = "O"\nprofile').replace('0.3)" }', '0.3)"')
    text = text.replace('cam   = { points = ["O"]', f"cam   = {{ points = {points}")
    return text if "X" in points else text.replace(", X = [0.13, 0.03]", "")


PLANAR = {
    "chain": CHAIN,
    "guide": GUIDE,
    "wheels": WHEELS,
    "knife": cam(""),
    "roller": cam("radius = 0.01", '["O", "X"]'),
    "flat": cam("direction = [1, 0.2]", '["O", "X"]'),
}
SPATIAL = {"arm": ARM, "RSSP": RSSP, "plate": PLATE, "swash": SWASH, "bevel": BEVEL, "cardan": CARDAN}
IMAGES: dict[str, dict[str, dict[str, Any]]] = {
    "planar": {
        "mirror": {"mirror": [1, 0.4], "about": [0.3, -0.1], "move": [0.2, 0.7]},
        "rotate": {"rotate": 1.1, "about": [0.3, -0.1]},
        "move": {"move": [0.7, 0.3]},
    },
    "spatial": {
        "mirror": {"mirror": [1, 0.4, -0.3], "about": [0.3, -0.1, 0.2], "move": [0.2, 0, 0.7]},
        "rotate": {"rotate": 1.1, "axis": [1, 2, 0.5], "about": [0.3, -0.1, 0.2]},
        "move": {"move": [0.7, 0.3, -0.4]},
    },
}
CASES = [(name, image) for name in (*PLANAR, *SPATIAL) for image in IMAGES["planar"]]


class Isometry:
    """The image by numbers: of places, directions, turns; written independently of the formulas."""

    def __init__(self, fields: Mapping[str, Any], dimension: int) -> None:
        self.M = np.eye(dimension)
        if "mirror" in fields:
            n = np.array(fields["mirror"]) / np.linalg.norm(fields["mirror"])
            self.M = np.eye(dimension) - 2 * np.outer(n, n)
        elif "rotate" in fields:
            k = np.array(fields.get("axis", [0, 0, 1])) / np.linalg.norm(fields.get("axis", [0, 0, 1]))
            skew = np.cross(np.eye(3), k)
            whole = np.eye(3) + np.sin(fields["rotate"]) * skew + (1 - np.cos(fields["rotate"])) * skew @ skew
            self.M = whole[:dimension, :dimension]
        about = np.array(fields.get("about", np.zeros(dimension)))
        self.shift = about - self.M @ about + fields.get("move", np.zeros(dimension))
        self.sign = round(np.linalg.det(self.M))
        self.turn = float(np.arctan2(self.M[1, 0], self.M[0, 0]))  # of the x axis in the plane

    def place(self, x: Array) -> Array:
        return x @ self.M.T + self.shift

    def direction(self, x: Array) -> Array:
        return x @ self.M.T

    def moment(self, x: Array) -> Array:
        """Return the image of a moment or an angular velocity, which a mirror reverses."""
        return np.asarray(self.sign * (x if x.ndim == 1 else x @ self.M.T))

    def inside(self, body: Mapping[str, Any], x: Array) -> list[float]:
        """Return body coordinates in the image of a body: planar axes go with two points, others stay parallel."""
        goes = len(x) == 2 and len(body["points"]) > 1
        return [float(v) for v in (np.diag([1, self.sign]) @ x if goes else self.M @ x)]


def doubled(data: dict[str, Any], fields: Mapping[str, Any], image: Isometry) -> None:
    """Give all bodies masses and a force, and copy them; forces and drivers of the copy are the images."""
    random = np.random.default_rng(1)
    n = image.M.shape[0]
    bodies = data["bodies"]
    moving = [name for name in bodies if name != "frame"]
    data["forces"] = {}
    for name in moving:
        if bodies[name].get("kind") == "rod":
            continue
        spread = np.array(random.normal(size=(3, 3)))
        tensor = 0.01 * (spread @ spread.T + np.eye(3))
        entries = [tensor[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        inertia = float(tensor[0, 0]) if n == 2 else [float(x) for x in entries]
        centre, point, force = random.normal(scale=0.1, size=(3, n))
        bodies[name] |= {"mass": 1 + random.random(), "inertia": inertia, "centre": centre.tolist()}
        data["forces"][name] = {"body": name, "point": point.tolist(), "force": force.tolist()}
        data["forces"][f"{name}_c"] = {
            "body": f"{name}_c",
            "point": image.inside(bodies[name], point),
            "force": image.direction(force).tolist(),
        }
    data["copies"] = {"c": {"bodies": moving, **fields}}
    data["simulation"] = {"centres": True}
    for name, driver in list(data.get("drivers", {}).items()):
        data["drivers"][f"{name}_c"] = driven(data, driver, image)


def driven(data: Mapping[str, Any], driver: Mapping[str, Any], image: Isometry) -> dict[str, Any]:
    found = dict(driver)
    if "between" in driver:
        found["between"] = [f"{point}_c" for point in driver["between"]]
        data["bodies"]["frame"]["points"].append(found["between"][0])
        data["points"][found["between"][0]] = image.place(np.array(data["points"][driver["between"][0]])).tolist()
        return found
    bodies = driver.get("bodies") or data["joints"][driver["joint"]]["bodies"]
    if "bodies" in driver:
        found["bodies"] = [b if b == "frame" else f"{b}_c" for b in bodies]
    else:
        found["joint"] = f"{driver['joint']}_c"
    if "angle" in driver:
        goes = [data["space"] == "planar" and b != "frame" and len(data["bodies"][b]["points"]) > 1 for b in bodies]
        found["angle"] = f"{image.sign}*({driver['angle']}) + {image.turn * (goes[1] - goes[0])!r}"
    return found


def same(found: Array, expected: Array, what: str, tolerance: float = ROUNDING) -> None:
    size = max(float(np.max(np.abs(expected))), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size, err_msg=what)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_driven_copy_is_the_image_of_its_original(name: str, kind: str, tmp_path: Path) -> None:
    data: dict[str, Any] = {"format": 1, **tomllib.loads((PLANAR | SPATIAL)[name])}
    fields = IMAGES[data["space"]][kind]
    image = Isometry(fields, 2 if data["space"] == "planar" else 3)
    doubled(data, fields, image)
    path = tmp_path / "two.toml"
    path.write_text(to_toml(data), "utf-8")
    found = Mechanism.load(path).inverse(TIMES)
    frame = data["bodies"]["frame"]["points"]
    copied = [p for p in found.points if f"{p}_c" in found.points and p not in frame]
    copied += [f"{b}.centre" for b in data["bodies"] if b != "frame"]
    for point in copied:
        one, other = found.points[point], found.points[point.replace(".", "_c.") if "." in point else f"{point}_c"]
        same(other.position, image.place(one.position), point)
        same(other.velocity, image.direction(one.velocity), f"velocity of {point}")
        same(other.acceleration, image.direction(one.acceleration), f"acceleration of {point}")
    for body in (b for b in data["bodies"] if b != "frame" and data["bodies"][b].get("kind") != "rod"):
        one, other = found.bodies[body], found.bodies[f"{body}_c"]
        same(other.angular_velocity, image.moment(one.angular_velocity), body)
    shared = found.diagnostics.get("reactions", {}).get("not_unique", [])
    for joint in (j for j in data["joints"] if j not in shared):
        one, other = found.reactions[joint], found.reactions[f"{joint}_c"]
        same(other.force, image.direction(one.force), f"force of {joint}")
        same(other.moment, image.moment(one.moment), f"moment of {joint}")
    for driver, entry in data["drivers"].items():
        if not driver.endswith("_c"):
            sign = image.sign if "angle" in entry else 1
            same(found.drivers[f"{driver}_c"].effort, sign * found.drivers[driver].effort, f"effort of {driver}")


CART = """
space = "planar"
points = { B = [0.1, 0], Q = [0, 0.1], E = [0.35, 0.1], T = [0.5, 0.6] }
[bodies]
frame = { points = ["Q", "T"] }
cart  = { points = ["B"] }
arm   = { points = ["B", "E"] }
[joints]
G = { type = "P", bodies = ["frame", "cart"], at = "B", through = "Q", axis = [1, -0.9] }
B = { type = "R", bodies = ["cart", "arm"], at = "B" }
"""
SPRINGS = {
    "planar": {
        "spring": {"type": "spring", "between": ["T", "E"], "stiffness": 20, "length": 0.2, "damping": 0.1},
        "hinge": {"type": "torsion-spring", "joint": "B", "stiffness": 2, "angle": 0.1, "damping": 0.1},
    },
    "spatial": {"hinge": {"type": "torsion-spring", "joint": "A", "stiffness": 2, "angle": 0.3, "damping": 0.1}},
}


@pytest.mark.parametrize("kind", ["mirror", "rotate"])
@pytest.mark.parametrize("text", [CART, ARM], ids=["planar", "spatial"])
def test_a_free_copy_is_the_image_of_its_original(text: str, kind: str, tmp_path: Path) -> None:
    """Masses, forces and springs rule the motion; what it asks of sketch and axes, the copy has as an image."""
    data: dict[str, Any] = {"format": 1, **tomllib.loads(text)}
    data.pop("drivers", None)
    fields = IMAGES[data["space"]][kind]
    image = Isometry(fields, 2 if data["space"] == "planar" else 3)
    doubled(data, fields, image)
    for name, spring in SPRINGS[data["space"]].items():
        data["forces"] |= {name: spring, f"{name}_c": driven(data, spring, image)}
    path = tmp_path / "two.toml"
    path.write_text(to_toml(data), "utf-8")
    found = Mechanism.load(path).simulate(times=[0, 0.2, 0.5])
    for body in (b for b in data["bodies"] if b != "frame"):
        one, other = found.points[f"{body}.centre"], found.points[f"{body}_c.centre"]
        assert np.max(np.abs(one.position - one.position[0])) > 1e-3  # it moves
        same(other.position, image.place(one.position), body, 1e-7)  # the integrator's 1e-9, grown over the time
        same(other.velocity, image.direction(one.velocity), body, 1e-6)
