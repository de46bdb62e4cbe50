"""The emitted joints in absolute coordinates against the rows of NumPy, whose rates come by complex steps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.codegen import jointcodes as code
from assurgent.dynamics.inertia import Inertia
from assurgent.dynamics.jointsystem import JointSystem
from assurgent.dynamics.posture import width
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.joint_equations import exponential, turned
from assurgent.mechanism.reader import load

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = (
    "five-bar", "planetary-gear", "quick-return", "rack-and-pinion", "scotch-yoke", "excavator", "gear-linkage",
    "bennett", "universal-joint", "screw-jack", "spatial-slider-crank", "stewart-platform-ups", "oldham-coupling",
)  # fmt: skip


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


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_absolute_coordinates(name):
    model = load(EXAMPLES / f"{name}.toml")
    system, poses, twist = displaced(model, np.random.default_rng(7))
    joints = JointSystem(model, Inertia(model).centre + 0.1)
    arm = put(joints, poses, twist)
    for e in joints.turning:  # of screws: what was remembered
        joints.memory[e] = 0.0
    t, w, n = 0.3, width(model), len(model.bodies)
    joints.evaluate(t)
    values = {d: float(x.motion(np.array([t]))[0, 0]) for d, x in model.drivers.items()}
    bends = {d: float(x.motion(np.array([t]))[2, 0]) for d, x in model.drivers.items()}
    size = max(1.0, model.size)
    assert joints.phi == pytest.approx(system.rows(poses, values), abs=1e-13 * size)
    gamma = system.gamma(poses, twist[1:].ravel()) - system.per_driver(bends)
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
    assert J[:, 1:].reshape(len(J), -1) == pytest.approx(system.jacobian(poses), abs=1e-12 * size)
    rates = {d: float(x.motion(np.array([t]))[1, 0]) for d, x in model.drivers.items()}
    assert joints.rate == pytest.approx(system.times(poses, twist[1:].ravel()) - system.per_driver(rates), abs=1e-11)
