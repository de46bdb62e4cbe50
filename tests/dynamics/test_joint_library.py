"""The emitted joints in absolute coordinates against the rows of NumPy, whose rates come by complex steps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.codegen import joint_codes as code
from assurgent.dynamics.inertia import Inertia
from assurgent.dynamics.joint_system import JointSystem
from assurgent.dynamics.posture import width
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.joint_equations import PLANAR, SPATIAL, exponential, turned
from assurgent.mechanism.reader import load, loads

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = (
    "five-bar", "planetary-gear", "quick-return", "rack-and-pinion", "scotch-yoke", "excavator", "gear-linkage",
    "bennett", "universal-joint", "screw-jack", "spatial-slider-crank", "stewart-platform-ups", "oldham-coupling",
)  # fmt: skip


IN_THE_PLANE = """
format = 1
space = "planar"
[points]
A = [0, 0]
B = [2, 0.3]
C = [1, 1.5]
D = [0.9, 0.62]
E = [3, 1]
F = [1.2, 0.1]
G = [0.2, 1.3]
[bodies.frame]
points = ["A"]
[bodies.cam]
points = ["A", "B"]
[bodies.lever]
points = ["B", "C", "F", "G"]
[bodies.rack]
points = ["D", "E"]
[joints]
A = { type = "R", bodies = ["frame", "cam"], at = "A" }
B = { type = "R", bodies = ["cam", "lever"], at = "B" }
P = { type = "P", bodies = ["frame", "rack"], at = "D", axis = [1, 0.2] }
S = { type = "slot", bodies = ["rack", "lever"], at = "C", axis = [0.3, 1] }
M = { type = "gear", bodies = ["cam", "lever"], ratio = -1.7, carrier = "rack" }
L = { type = "rack", bodies = ["lever", "rack"], radius = 0.4, axis = [1, 0.1] }
[joints.K]
type = "cam"
bodies = ["cam", "lever"]
centre = "A"
profile = "1 + 0.1*cos(u)"
follower = { point = "F", radius = 0.1 }
[joints.N]
type = "cam"
bodies = ["cam", "rack"]
centre = "A"
profile = "1 + 0.1*sin(u)"
follower = { point = "D", direction = [1, -1] }
[drivers]
one = { joint = "A", angle = "0.2 + t^2" }
two = { bodies = ["cam", "rack"], angle = "0.3*t^3" }
three = { joint = "S", displacement = "0.1 + t^2" }
four = { between = ["A", "G"], distance = "1 + t^2" }
five = { point = "E", y = "1 + sin(t)" }
"""
IN_SPACE = """
format = 1
space = "spatial"
[points]
A = [0, 0, 0]
B = [1, 0.2, 0]
C = [1, 1, 0.4]
D = [0.3, 1, 1]
E = [1.3, 0.5, 1]
F = [0.4, 1.2, 0.2]
G = [1.1, 0.3, 1.4]
K = [0.2, 0.6, 1.5]
Q = [2, 0.1, 0.3]
V = [0.6, 0.4, 1.2]
W = [2.2, 1, 0.1]
[bodies.frame]
points = ["A", "C", "W"]
[bodies.one]
points = ["A", "B", "D", "Q"]
[bodies.two]
points = ["B", "C", "E", "F", "G", "K", "V"]
[bodies.rod]
points = ["Q", "W"]
kind = "rod"
[joints]
A = { type = "R", bodies = ["frame", "one"], at = "A", axis = [1, 0.2, 0.1] }
B = { type = "S", bodies = ["one", "two"], at = "B" }
C = { type = "U", bodies = ["frame", "two"], at = "C", axes = [[1, 0, 0.2], [0.2, 1, -1]] }
D = { type = "C", bodies = ["frame", "one"], at = "D", axis = [0, 1, 0.3] }
E = { type = "P", bodies = ["one", "two"], at = "E", axis = [0.1, 1, 0] }
F = { type = "H", bodies = ["frame", "two"], at = "F", axis = [0, 0.3, 1], pitch = 0.1 }
G = { type = "planar", bodies = ["frame", "two"], at = "G", normal = [1, 1, 0] }
K = { type = "on-plane", bodies = ["one", "two"], at = "K", normal = [0, 1, 1] }
V = { type = "on-cylinder", bodies = ["one", "two"], at = "V", axis = [1, 0.1, 0.2], through = "A" }
M = { type = "gear", bodies = ["one", "two"], ratio = -1.3, axes = [[1, 0.2, 0.1], [0, 0.3, 1]] }
Q = { type = "S", bodies = ["one", "rod"], at = "Q" }
W = { type = "S", bodies = ["frame", "rod"], at = "W" }
[drivers]
one = { joint = "A", angle = "0.2 + t^2" }
two = { joint = "E", displacement = "0.3*t^3" }
three = { joint = "F", angle = "0.1 + t^2" }
four = { between = ["A", "G"], distance = "1 + t^2" }
five = { point = "K", y = "1 + sin(t)" }
"""
WRITTEN = {"all kinds in the plane": IN_THE_PLANE, "all kinds in space": IN_SPACE}


def model_of(name):
    """Return an example, or one of the mechanisms above: they cannot be assembled, and need not be."""
    return loads(WRITTEN[name], "x") if name in WRITTEN else load(EXAMPLES / f"{name}.toml")


def displaced(model, rng):
    """Return poses beside the first configuration, where no joint is closed, and twists."""
    system = Absolute(model)
    poses, n = system.first(), len(model.bodies)
    angle = poses.angle + 0.1 * rng.standard_normal(n)
    turn = exponential(0.1 * rng.standard_normal((n, 3))) @ poses.rotation
    origin = poses.origin + 0.1 * model.size * rng.standard_normal((n, 3)) * ([1, 1, 0] if system.planar else 1)
    for array, still in ((origin, poses.origin), (angle, poses.angle), (turn, poses.rotation)):
        array[0] = still[0]
    poses = replace(poses, origin=origin, angle=angle, rotation=turned(angle) if system.planar else turn)
    twist = rng.standard_normal((n, width(model))) * (np.arange(n) > 0)[:, None]
    return system, system.remember(poses), twist


def put(joints, poses, twist):
    """Write poses and twists of the bodies' origins as those of their reference points."""
    d, n = (2 if poses.planar else 3), len(twist)
    arm = np.einsum("nij,nj->ni", poses.rotation, joints.reference)[:, :d]
    spin = np.zeros((n, 3))
    spin[:, 3 - (twist.shape[1] - d) :] = twist[:, d:]
    full = np.zeros((n, 3))
    full[:, :d] = arm
    velocity = twist[:, :d] + np.cross(spin, full)[:, :d]
    bodies = joints.bodies
    bodies[:, :d] = poses.origin[:, :d] + arm
    if d == 2:
        bodies[:, 2], bodies[:, 3], bodies[:, 4] = poses.angle, np.cos(poses.angle), np.sin(poses.angle)
        bodies[:, 5:7], bodies[:, 7] = velocity, twist[:, 2]
    else:
        bodies[:, 3:12], bodies[:, 12:15], bodies[:, 15:] = poses.rotation.reshape(n, 9), velocity, twist[:, 3:]
    return arm


def along_normals(system, J):
    """Return what makes of the two rows of each round cam one along its normal, and one along its path."""
    Q = np.eye(len(J))
    for batch in system.batches:
        for k in range(len(batch.names) if batch.kind == "cam" else 0):
            rows = slice(batch.start + 2 * k, batch.start + 2 * k + 2)
            x, y = J[rows, system.contact_column[batch.memory[k]]]
            Q[rows, rows] = np.array([[-y, x], [x, y]]) / np.hypot(x, y)
    return Q


def touched(system, poses, values):
    """Return the poses with contacts found, and the followers of round cams put on them: γ is that of closed ones."""
    found, touching = np.flatnonzero(_contacts(system)), system.contact_column[system.contact_column >= 0]
    if not len(touching):
        return poses
    poses = system.touching(poses)
    for _ in range(20):  # Newton from the nearest of a grid
        J = system.jacobian(poses)
        Q = along_normals(system, J)
        step = np.zeros(system.n_columns)
        gap = (Q @ system.rows(poses, values))[found]
        step[touching] = -np.linalg.solve((Q @ J)[np.ix_(found, touching)], gap)
        poses = poses.moved(*system.spread(step))
    origin = poses.origin.copy()
    for batch in system.batches:
        if batch.kind == "cam":
            gaps = system.rows(poses, values)[batch.start : batch.start + 2 * len(batch.names)].reshape(-1, 2)
            origin[batch.second, :2] -= gaps
    return replace(poses, origin=origin)


def without_contacts(system, poses, twist, values, bends):
    """Return rows, Jacobian, rates and γ of absolute coordinates, of cams one row: where they touch is eliminated."""
    touching = system.contact_column[system.contact_column >= 0]
    found, kept = np.flatnonzero(_contacts(system)), np.flatnonzero(~_contacts(system))
    Q = along_normals(system, system.jacobian(poses))
    J, n = Q @ system.jacobian(poses), system.n_columns - len(touching)
    own = np.linalg.solve(J[np.ix_(found, touching)], J[found, :n])
    rates = np.concatenate([twist, -own @ twist])
    gamma = Q @ (system.gamma(poses, rates) - system.per_driver(bends))
    along = J[np.ix_(kept, touching)]
    bent = np.linalg.solve(J[np.ix_(found, touching)], gamma[found])
    rows = (Q @ system.rows(poses, values))[kept]
    return rows, J[kept, :n] - along @ own, J[kept] @ rates, gamma[kept] - along @ bent


def kinds_of(model):
    """Return the kinds of joints and drivers that a model has, as both sources call them."""
    return {(model.space, batch.kind) for batch in Absolute(model).batches}


def test_no_kind_is_left_out():
    """Every kind of absolute coordinates has emitted rows, and is compared with them below."""
    for space, emitted, rows in (("planar", code.PLANAR, PLANAR), ("spatial", code.SPATIAL, SPATIAL)):
        assert set(rows) == set(emitted) - {"weld"}, space  # welded bodies are one body there
    compared = set().union(*(kinds_of(model_of(name)) for name in (*NAMES, *WRITTEN)))
    assert compared == {("planar", k) for k in PLANAR} | {("spatial", k) for k in SPATIAL}


@pytest.mark.parametrize("name", [*NAMES, *WRITTEN])
def test_rows_are_those_of_absolute_coordinates(name):
    model = model_of(name)
    system, poses, twist = displaced(model, np.random.default_rng(7))
    joints = JointSystem(model, Inertia(model).centre + 0.1)
    t, w, n = 0.3, width(model), len(model.bodies)
    values = {d: float(x.motion(np.array([t]))[0, 0]) for d, x in model.drivers.items()}
    poses = touched(system, poses, values)
    arm = put(joints, poses, twist)
    for e in joints.turning:  # of screws: what was remembered
        joints.memory[e] = 0.0
    joints.evaluate(t)
    bends = {d: float(x.motion(np.array([t]))[2, 0]) for d, x in model.drivers.items()}
    size = max(1.0, model.size)
    rows, jacobian, first, gamma = without_contacts(system, poses, twist[1:].ravel(), values, bends)
    rows, jacobian, first, gamma = (
        x * sides(system).reshape(-1, *[1] * (x.ndim - 1)) for x in (rows, jacobian, first, gamma)
    )
    assert joints.phi == pytest.approx(rows, abs=1e-13 * size)
    # γ on reference points lacks what their centripetal acceleration adds on origins
    J = np.zeros((len(joints.phi), n, w))
    for item in joints.items:
        for row in range(item[code.ROW], item[code.ROW] + item[code.ROWS]):
            for role in range(3):
                J[row, item[code.FIRST + role]] += joints.J[row, role]
    d = model.dimension
    if d == 2:
        bend = -(twist[:, 2:] ** 2) * arm
        J[:, :, 2] += arm[:, 0] * J[:, :, 1] - arm[:, 1] * J[:, :, 0]
    else:
        bend = np.cross(twist[:, 3:], np.cross(twist[:, 3:], arm))
        J[:, :, 3:] += np.cross(arm, J[:, :, :3])
    mine = joints.gamma + np.einsum("rnc,nc->r", J[:, :, :d], bend)
    assert mine == pytest.approx(gamma, abs=1e-11 * size)
    assert J[:, 1:].reshape(len(J), -1) == pytest.approx(jacobian, abs=1e-12 * size)
    rates = {d: float(x.motion(np.array([t]))[1, 0]) for d, x in model.drivers.items()}
    driven = system.per_driver(rates)[[not c for c in _contacts(system)]]
    assert joints.rate == pytest.approx(first - driven, abs=1e-11)


def sides(system):
    """Return 1, or -1 for the emitted row of a round cam: its gap is counted outward, the normal above inward."""
    found = np.ones(len(system.names))
    for b in system.batches:
        found[b.start : b.start + 2 * len(b.names)] = -1.0 if b.kind == "cam" else 1.0
    return found[~_contacts(system)]


def _contacts(system):
    """Return which rows only find where a cam touches."""
    found = np.zeros(len(system.names), dtype=bool)
    for b in system.batches:
        if b.kind.startswith("cam"):
            found[b.start + 1 + 2 * np.arange(len(b.names))] = True
    return found
