"""Other programs on the same planar chain, where they are installed: each by the fastest way that it documents.

pylinkage: `Linkage.step_fast_with_kinematics`, its compiled loop with velocities and accelerations.
MuJoCo: `rollout` (no Python in the loop), loops closed by `connect` constraints on a shallow tree, sensors of the
points; its constraints are soft and it integrates motion, so its answer has an error of its own.
Exudyn: implicit integration (generalised α, modified Newton, sparse) of points with distance constraints, which is the
paper's own set of equations; positions are exact, rates have the integrator's error; sensors of the last point only.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanism.plans.plan import Array
from . import chains
from .chains import CRANK, PLANAR_SPEED, PLANAR_STEP, ROD
from .competitors import Modular, Row
from .timing import least

INSTALL = 'pip install ".[bench]"'
CHECKED = 100  # steps over which answers are compared
# largest error of a position, relative to the largest position, with which a peer's answer counts as the same motion
AGREES = 1e-3
STEPS_OF_PEERS = {
    "mujoco": 2400,
    "exudyn": 2400,
}  # they need tenths of a millisecond for one: timed on these, then scaled


@dataclass(frozen=True, eq=False)
class Setup:
    """A peer ready for one chain: what to time, and how to read what it returned.

    `read` gives (order, row, step); its rows are all unknowns, or those of the last point.
    """

    run: Callable[[int], Any]  # steps
    read: Callable[[Any], Array]


@dataclass(frozen=True)
class Peer:
    """One program: its name in the results, its package, and how to set it up for k dyads."""

    name: str
    package: str
    prepare: Callable[[int], Setup]


@dataclass(frozen=True, eq=False)
class Ready:
    """A peer that gave the same motion: its version, its errors by order, and what to time."""

    peer: Peer
    version: str
    errors: tuple[float, float, float]
    run: Callable[[int], Any]


def contest(row: Row, n: int, rounds: int) -> tuple[list[Ready], list[str]]:
    """Time the peers beside MOD_TD on the planar chain of a row, into the row; return them, and who is missing."""
    ready, missing = prepared(row.groups)
    modular = Modular(chains.planar(row.groups), n)
    steps = {r.peer.name: min(n, STEPS_OF_PEERS.get(r.peer.name, n)) for r in ready}
    actions: dict[str, Callable[[], Any]] = {"mod_td": modular.run}
    for r in ready:
        actions[r.peer.name] = lambda r=r: r.run(steps[r.peer.name])  # type: ignore[misc]
    for name, seconds in least(actions, rounds).items():
        row.peers[name] = seconds * n / steps.get(name, n)
        if steps.get(name, n) < n:
            row.timed_steps[name] = steps[name]
    row.error.update({r.peer.name: max(r.errors) for r in ready})
    return ready, missing


def prepared(k: int) -> tuple[list[Ready], list[str]]:
    """Return the peers that are installed and agree, and a line on each that is not."""
    ready, missing = [], []
    for peer in PEERS:
        if importlib.util.find_spec(peer.package) is None:
            missing.append(f"{peer.name} is not installed: {INSTALL} in the folder of the project")
            continue
        setup = peer.prepare(k)
        found = setup.read(setup.run(CHECKED))
        exact = chains.planar_exact(k, PLANAR_STEP * np.arange(CHECKED + 1, dtype=np.float64))[:, -found.shape[1] :, 1:]
        scale = np.abs(exact).max(axis=(1, 2))
        errors = np.abs(found - exact).max(axis=(1, 2)) / scale
        version = importlib.metadata.version(peer.package)
        if errors[0] > AGREES:
            missing.append(f"{peer.name} {version} moves otherwise: its positions are off by {errors[0]:.0e}")
            continue
        ready.append(Ready(peer, version, (float(errors[0]), float(errors[1]), float(errors[2])), setup.run))
    return ready, missing


def _module(name: str) -> Any:
    """Return a module of a peer, which need not be installed where types are checked."""
    return importlib.import_module(name)


# ---- pylinkage ----------------------------------------------------------------------------------------------------
def pylinkage(k: int) -> Setup:
    """Return pylinkage's compiled loop, begun from the same start each time."""
    Crank, Ground = _module("pylinkage.actuators").Crank, _module("pylinkage.components").Ground
    RRRDyad, Linkage = _module("pylinkage.dyads").RRRDyad, _module("pylinkage.simulation").Linkage
    start = chains.planar_exact(k, np.zeros(1))[0, :, 0]
    crank = Crank(Ground(0.0, 0.0), CRANK, angular_velocity=PLANAR_SPEED * PLANAR_STEP, initial_angle=np.pi / 2)
    parts: list[Any] = [crank.anchor, crank]
    before: Any = crank.output
    for i in range(k):
        fixed = Ground(ROD * (i + 1), 0.0)
        pin = RRRDyad(before, fixed, ROD, ROD, x=float(start[2 * i + 2]), y=float(start[2 * i + 3]))
        parts += [fixed, pin]
        before = pin
    linkage = Linkage(parts)
    linkage.compile()
    linkage.set_input_velocity(crank, PLANAR_SPEED)
    places = linkage.get_coords()

    def run(n: int) -> Any:
        linkage.set_coords(places)
        return linkage.step_fast_with_kinematics(n)

    def read(found: Any) -> Array:
        motion = np.stack(found)[:, :, 1::2]  # (order, step, part, xy): every other part moves
        return np.asarray(motion.reshape(*motion.shape[:2], -1).transpose(0, 2, 1))

    return Setup(run, read)


# ---- MuJoCo -------------------------------------------------------------------------------------------------------
def mujoco(k: int) -> Setup:
    """Return MuJoCo's rollout by Runge-Kutta steps of the asked length; of all ways at that step the most exact."""
    library, rollout = _module("mujoco"), _module("mujoco.rollout")
    places = chains.planar_exact(k, np.zeros(1))[:2, :, 0].reshape(2, -1, 2)
    model = library.MjModel.from_xml_string(_mjcf(k, places[0]))
    data = library.MjData(model)
    data.qvel[:] = _joint_rates(k, *places)
    library.mj_forward(model, data)
    whole = library.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(library.mj_stateSize(model, whole))
    library.mj_getState(model, data, start, whole)

    def run(n: int) -> Any:
        # sensors are those of a step's beginning, so the state after n steps needs one more
        with rollout.Rollout(nthread=0) as rolling:
            return rolling.rollout(model, data, start, nstep=n + 1)[1]

    def read(sensors: Any) -> Array:
        found = np.asarray(sensors)[0, 1:].reshape(-1, 3, k + 1, 3)[..., :2]
        return np.asarray(found.reshape(len(found), 3, -1).transpose(1, 2, 0))

    return Setup(run, read)


def _angle(a: Array, b: Array) -> float:
    return float(np.arctan2(*(b - a)[::-1]))


def _fixed(i: int) -> Array:
    return np.array([ROD * (i + 1), 0.0])


def _mjcf(k: int, places: Array) -> str:
    """Return the chain as a shallow tree: each rocker carries the rod of the next dyad; `connect` closes the loops."""

    def body(name: str, at: tuple[float, float], turn: float, length: float, joint: str, inside: str) -> str:
        return (
            f'<body name="{name}" pos="{at[0]!r} {at[1]!r} 0" euler="0 0 {turn!r}">'
            f'<inertial pos="{length / 2} 0 0" mass="1" diaginertia="1 1 1"/>'
            f'<joint type="hinge" axis="0 0 1" {joint}/><site name="{name}" pos="{length} 0 0"/>{inside}</body>'
        )

    def rod(i: int, carrier: float, base: float) -> str:
        if i >= k:
            return ""
        return body(f"rod{i}", (carrier, 0.0), _angle(places[i], places[i + 1]) - base, ROD, "", "")

    turn = _angle(np.zeros(2), places[0])
    # an inertia that no load can slow down: the crank turns evenly
    bodies = [body("crank", (0.0, 0.0), turn, CRANK, 'armature="1e9"', rod(0, CRANK, turn))]
    for i in range(k):
        turn = _angle(_fixed(i), places[i + 1])
        bodies.append(body(f"rocker{i}", (ROD * (i + 1), 0.0), turn, ROD, "", rod(i + 1, ROD, turn)))
    loops = "".join(f'<connect site1="rod{i}" site2="rocker{i}"/>' for i in range(k))
    names = ["crank", *(f"rocker{i}" for i in range(k))]
    kinds = ("framepos", "framelinvel", "framelinacc")
    sensors = "".join(f'<{kind} objtype="site" objname="{name}"/>' for kind in kinds for name in names)
    return f"""<mujoco><compiler angle="radian"/>
    <option timestep="{PLANAR_STEP}" gravity="0 0 0" integrator="RK4" jacobian="sparse" tolerance="1e-12">
    <flag contact="disable"/></option>
    <default><equality solref="{2 * PLANAR_STEP} 1" solimp="0.9999 0.9999 0.001"/></default>
    <worldbody>{"".join(bodies)}</worldbody><equality>{loops}</equality><sensor>{sensors}</sensor></mujoco>"""


def _joint_rates(k: int, places: Array, speeds: Array) -> list[float]:
    """Return the rates of the tree's joints at the start, in its order: the crank or rocker, then its rod."""

    def rate(a: Array, b: Array, va: Array, vb: Array) -> float:
        r, v = b - a, vb - va
        return float((r[0] * v[1] - r[1] * v[0]) / (r @ r))

    found = []
    for i in range(k + 1):
        still = np.zeros(2)
        turn = PLANAR_SPEED if i == 0 else rate(_fixed(i - 1), places[i], still, speeds[i])
        found.append(turn)
        if i < k:
            found.append(rate(places[i], places[i + 1], speeds[i], speeds[i + 1]) - turn)
    return found


# ---- Exudyn -------------------------------------------------------------------------------------------------------
def exudyn(k: int) -> Setup:
    """Return Exudyn's implicit solver on points with distance constraints, driven by a velocity constraint."""
    library, items = _module("exudyn"), _module("exudyn.itemInterface")
    exact = chains.planar_exact(k, np.zeros(1))[:, :, 0]
    container = library.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    spin = system.AddNode(
        items.NodeRigidBody2D(referenceCoordinates=[0, 0, np.pi / 2], initialVelocities=[0, 0, PLANAR_SPEED])
    )
    crank = system.AddObject(items.RigidBody2D(mass=1, inertia=1, nodeNumber=spin))
    still = system.AddNode(items.NodePointGround())
    zero = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=still, coordinate=0))
    for i in range(3):
        own = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=spin, coordinate=i))
        drive = {"offset": PLANAR_SPEED, "velocityLevel": True} if i == 2 else {}
        system.AddObject(items.CoordinateConstraint(markerNumbers=[zero, own], **drive))
    before = system.AddMarker(items.MarkerBodyPosition(bodyNumber=crank, localPosition=[CRANK, 0, 0]))
    node = spin
    for i in range(k):
        x, v = (list(exact[order, 2 * i + 2 : 2 * i + 4]) for order in range(2))
        node = system.AddNode(items.NodePoint2D(referenceCoordinates=x, initialVelocities=v))
        mass = system.AddObject(items.MassPoint2D(mass=1, nodeNumber=node))
        pin = system.AddMarker(items.MarkerBodyPosition(bodyNumber=mass))
        fixed = system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground, localPosition=[*_fixed(i), 0]))
        for other in (before, fixed):
            system.AddObject(items.DistanceConstraint(markerNumbers=[other, pin], distance=ROD))
        before = pin
    kind = library.OutputVariableType
    sensors = [
        system.AddSensor(items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=quantity))
        for quantity in (kind.Position, kind.Velocity, kind.Acceleration)
    ]
    system.Assemble()
    settings = library.SimulationSettings()
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
    settings.linearSolver.solverType = library.LinearSolverType.EigenSparse
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = PLANAR_STEP

    def run(n: int) -> Any:
        settings.timeIntegration.numberOfSteps = n
        settings.timeIntegration.endTime = n * PLANAR_STEP
        system.SolveDynamic(settings, solverType=library.DynamicSolverType.GeneralizedAlpha)
        return container  # without which the system ends

    def read(_: Any) -> Array:
        return np.stack([np.asarray(system.GetSensorStoredData(s))[1:, 1:3].T for s in sensors])

    return Setup(run, read)


PEERS = (
    Peer("pylinkage", "pylinkage", pylinkage),
    Peer("mujoco", "mujoco", mujoco),
    Peer("exudyn", "exudyn", exudyn),
)
