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
from tests.mechanism.copied_samples import ARM, CART, PLANAR, SPATIAL

TIMES = [0.0, 0.07, 0.19, 0.4]
ROUNDING = 1e-9  # relative to the largest of its kind; Newton-Raphson ends at 1e-12 of the size

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
        """Return body coordinates in the image of a body: axes that its points fix go with it, others do not."""
        n = len(x)
        goes = len(body["points"]) > 1 if n == 2 else len(body.get("local", ())) > 2
        return [float(v) for v in (np.diag([*[1] * (n - 1), self.sign]) @ x if goes else self.M @ x)]


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


@pytest.mark.parametrize("name", ["knife", "arm"])
def test_a_parameter_rules_the_place_of_a_copy(name: str, tmp_path: Path) -> None:
    """The angle of a copy as a formula: the outline of the cam, masses and axes follow it in another design."""
    found = []
    for angle, settings in (("2*phase", {"phase": 0.55}), (1.1, {})):
        data: dict[str, Any] = {"format": 1, **tomllib.loads((PLANAR | SPATIAL)[name])}
        fields = IMAGES[data["space"]]["rotate"]
        doubled(data, fields, Isometry(fields, 2 if data["space"] == "planar" else 3))
        data["parameters"] = {**data.get("parameters", {}), "phase": 0.5}
        data["copies"]["c"]["rotate"] = angle
        path = tmp_path / "two.toml"
        path.write_text(to_toml(data), "utf-8")
        found.append(Mechanism.load(path).inverse(TIMES, **settings))
    for point, expected in found[1].points.items():
        same(found[0].points[point].acceleration, expected.acceleration, point)
    for joint, reaction in found[1].reactions.items():
        same(found[0].reactions[joint].moment, reaction.moment, joint)
