"""The peers of the benchmark of dynamics: Exudyn, MuJoCo and Pinocchio, each given the same planar mechanism.

Every peer is prepared for a mechanism at rest: from a resolution (a step, or a tolerance) it gives the processor
time of the integration alone and the places of all joints at the end. Models are built outside the time that is taken.
Mechanisms have revolute joints, constant torques, springs and gravity.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..mechanism.model import FRAME, Array, Spring
from .dynamics_cases import Case, joint_places
from .dynamics_common import DynamicsPeer, Prepared, Run, clocked, gravity_of, halved, torques, tree_of, turned


# ---- Exudyn -------------------------------------------------------------------------------------------------------
def exudyn(case: Case) -> Prepared:
    """Redundant planar coordinates, Lagrange multipliers, generalised-α in its compiled solver (trapezoidal rule)."""
    exu: Any = importlib.import_module("exudyn")
    items: Any = importlib.import_module("exudyn.itemInterface")

    model = case.model()
    tree = tree_of(model)
    container = exu.SystemContainer()
    system = container.AddSystem()
    gravity, inertia = gravity_of(model), tree.inertia
    bodies: dict[str, int] = {FRAME: system.AddObject(items.ObjectGround())}
    nodes: dict[str, int] = {}
    for k, name in enumerate(model.bodies):
        if name == FRAME:
            continue
        place = tree.origin[k] + tree.rotation[k] @ inertia.centre[k]
        nodes[name] = system.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[*place.tolist(), float(tree.angle[k])])
        )
        bodies[name] = system.AddObject(
            items.ObjectRigidBody2D(
                mass=float(inertia.mass[k]), inertia=float(inertia.about_centre[k]), nodeNumber=nodes[name]
            )
        )
        if any(gravity):
            marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[name]))
            system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=gravity))

    def marker_at(body: str, local: Array) -> int:
        at = local - inertia.centre[tree.index(body)] if body != FRAME else local
        return int(system.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[body], localPosition=[*at.tolist(), 0])))

    for joint in model.joints.values():
        ends = [marker_at(joint.first, joint.a), marker_at(joint.second, joint.b)]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))
    for load in model.loads:
        if isinstance(load, Spring):
            ends = [marker_at(b, p) for b, p in zip(load.bodies, load.ends, strict=True)]
            system.AddObject(
                items.ObjectConnectorSpringDamper(
                    markerNumbers=ends, referenceLength=load.length, stiffness=load.stiffness, damping=load.damping
                )
            )
    for body, torque in torques(model).items():
        rigid = system.AddMarker(items.MarkerBodyRigid(bodyNumber=bodies[body]))
        system.AddLoad(items.LoadTorqueVector(markerNumber=rigid, loadVector=[0, 0, torque]))
    system.Assemble()
    exu.config.printToConsole = False
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.generalizedAlpha.spectralRadius = 1.0  # no numerical damping: most accurate for smooth motions
    integration.adaptiveStep = False
    integration.newton.useModifiedNewton = True
    settings.solution.file.write, settings.solution.sensors.active = False, False
    settings.linearSolver.solverType = (
        exu.LinearSolverType.EigenSparse if len(model.bodies) > 10 else exu.LinearSolverType.EXUdense
    )
    settings.parallel.numberOfThreads = 1

    def integrate(end: float, steps: int) -> float:
        integration.endTime, integration.numberOfSteps = end, steps
        return clocked(
            lambda: system.SolveDynamic(settings, storeSolver=False, showHints=False, showCausingItems=False)
        )

    def run(step: float) -> Run:
        steps = round(case.end / step)
        try:
            seconds = integrate(case.end, steps)
        except exu.SolverError:  # the step is too long for its Newton iterations
            return Run(0.0, np.full((len(model.joints), 2), np.inf), steps)
        origin, angle = tree.origin.copy(), tree.angle.copy()
        for name, node in nodes.items():
            k = tree.index(name)
            x, y, turn = system.GetNodeOutput(node, exu.OutputVariableType.Coordinates)
            reference = tree.origin[k] + tree.rotation[k] @ inertia.centre[k]
            angle[k] += turn
            origin[k] = reference + np.array([x, y]) - turned(angle[k : k + 1])[0] @ inertia.centre[k]
        return Run(seconds, joint_places(model, origin, turned(angle)), steps)

    sensors: list[int] = []

    def record(step: float, states: int) -> tuple[float, int]:
        """Coordinates and velocities of all nodes by its own sensors, kept in memory."""
        if not sensors:
            kinds = (exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t)
            sensors.extend(
                system.AddSensor(items.SensorNode(
                    nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=kind
                ))
                for node in nodes.values() for kind in kinds
            )  # fmt: skip
            system.Assemble()
        every = case.end / (states - 1)
        settings.solution.sensors.active, settings.solution.sensors.writePeriod = True, every
        seconds = integrate(case.end, (states - 1) * int(np.ceil(every / step * (1.0 - 1e-9))))
        settings.solution.sensors.active = False
        return seconds, sum(system.GetSensorStoredData(s).size for s in sensors)

    steps = 1000
    return Prepared(run, lambda: integrate(1e-2 * case.end, steps), f"{steps} steps", halved(case), record)


# ---- MuJoCo -------------------------------------------------------------------------------------------------------
def mujoco(case: Case) -> Prepared:
    """A tree with hinges, loops closed by `connect`, Runge-Kutta of order 4 in its compiled loop, Newton solver."""
    mj: Any = importlib.import_module("mujoco")
    mj.set_mju_user_warning(lambda _: None)  # coarse steps may be unstable: that is seen here, no file is needed

    def numbers(*values: float) -> str:
        return " ".join(repr(float(v)) for v in values)

    model = case.model()
    tree = tree_of(model)
    bodies = list(model.bodies)
    children: dict[str, list[str]] = {}
    for body, (parent, _) in tree.parents.items():
        children.setdefault(parent, []).append(body)
    sites: dict[str, list[str]] = {b: [] for b in bodies}
    tendons = []
    for load in model.loads:
        if isinstance(load, Spring):
            names = [f"{load.name}_{i}" for i in range(2)]
            for name, body, point in zip(names, load.bodies, load.ends, strict=True):
                sites[body].append(f'<site name="{name}" pos="{numbers(*point, 0)}"/>')
            ends = "".join(f'<site site="{n}"/>' for n in names)
            tendons.append(
                f'<spatial stiffness="{load.stiffness}" damping="{load.damping}" springlength="{load.length}">'
                f"{ends}</spatial>"
            )

    def body_text(body: str) -> str:
        parent, joint = tree.parents[body]
        k, p = tree.index(body), tree.index(parent)
        at = tree.rotation[p].T @ (tree.origin[k] - tree.origin[p])
        half = 0.5 * float(tree.angle[k] - tree.angle[p])
        pin, centre = tree.local(joint, body), tree.inertia.centre[k]
        turning = float(tree.inertia.about_centre[k])
        inner = "".join(body_text(child) for child in children.get(body, []))
        return (
            f'<body name="{body}" pos="{numbers(*at, 0)}" quat="{numbers(np.cos(half), 0, 0, np.sin(half))}">'
            f'<inertial pos="{numbers(*centre, 0)}" mass="{float(tree.inertia.mass[k])!r}" '
            f'diaginertia="{numbers(turning, turning, turning)}"/>'
            f'<joint type="hinge" axis="0 0 1" pos="{numbers(*pin, 0)}"/>{"".join(sites[body])}{inner}</body>'
        )

    loops = []
    for joint in tree.closing:
        one, two = (joint.first, joint.second) if joint.first != FRAME else (joint.second, joint.first)
        other = "" if two == FRAME else f'body2="{two}" '
        loops.append(f'<connect body1="{one}" {other}anchor="{numbers(*tree.local(joint, one), 0)}"/>')
    world = "".join(sites[FRAME]) + "".join(body_text(b) for b in children[FRAME])
    text = (
        '<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
        f'<option gravity="{numbers(*gravity_of(model))}" '
        'integrator="RK4" solver="Newton" tolerance="1e-12" iterations="50" ls_iterations="50">'
        '<flag contact="disable" warmstart="enable"/></option>'
        f"<worldbody>{world}</worldbody><tendon>{''.join(tendons)}</tendon><equality>{''.join(loops)}</equality></mujoco>"
    )
    system = mj.MjModel.from_xml_string(text)
    data = mj.MjData(system)
    ids = [mj.mj_name2id(system, mj.mjtObj.mjOBJ_BODY, b) if b != FRAME else 0 for b in bodies]

    def begin_at_rest(step: float) -> None:
        mj.mj_resetData(system, data)
        system.opt.timestep = step
        system.eq_solref[:] = [2.0 * step, 1.0]  # as stiff as its documentation allows with this step
        system.eq_solimp[:, :3] = [0.9999, 0.9999, 1e-6]
        for body, torque in torques(model).items():
            data.xfrc_applied[ids[bodies.index(body)], 5] = torque

    def run(step: float) -> Run:
        steps = round(case.end / step)
        begin_at_rest(case.end / steps)
        seconds = clocked(lambda: mj.mj_step(system, data, steps))
        mj.mj_kinematics(system, data)
        origin = np.array([data.xpos[i, :2] for i in ids])
        rotation = np.array([data.xmat[i].reshape(3, 3)[:2, :2] for i in ids])
        return Run(seconds, joint_places(model, origin, rotation), 4 * steps)

    def forwards() -> None:
        for _ in range(1000):
            mj.mj_forward(system, data)

    def record(step: float, states: int) -> tuple[float, int]:
        """Coordinates and velocities, read where they are asked for."""
        each = int(np.ceil(case.end / (states - 1) / step * (1.0 - 1e-9)))
        begin_at_rest(case.end / (states - 1) / each)
        kept = np.empty((states, system.nq + system.nv))

        def integrate() -> None:
            kept[0, : system.nq], kept[0, system.nq :] = data.qpos, data.qvel
            for k in range(1, states):
                mj.mj_step(system, data, each)
                kept[k, : system.nq], kept[k, system.nq :] = data.qpos, data.qvel

        return clocked(integrate), kept.size

    begin_at_rest(case.end / 1000)
    return Prepared(run, forwards, "1000 mj_forward", halved(case), record)


# ---- Pinocchio ----------------------------------------------------------------------------------------------------
def pinocchio(case: Case) -> Prepared:
    """A tree with hinges, loops closed by constraintDynamics (proximal), integrated by SciPy's DOP853."""
    from scipy.integrate import solve_ivp

    pin: Any = importlib.import_module("pinocchio")

    model = case.model()
    tree = tree_of(model)
    system = pin.Model()
    system.gravity = pin.Motion(np.array(gravity_of(model)), np.zeros(3))
    ids: dict[str, int] = {FRAME: 0}
    inside: dict[str, Any] = {FRAME: pin.SE3.Identity()}  # the body's axes seen from its hinge

    def placed(angle: float, at: Array) -> Any:
        rotation = np.eye(3)
        rotation[:2, :2] = turned(np.array([angle]))[0]
        return pin.SE3(rotation, np.array([at[0], at[1], 0.0]))

    for body, (parent, joint) in tree.parents.items():
        k, p = tree.index(body), tree.index(parent)
        relative = placed(float(tree.angle[k] - tree.angle[p]), tree.local(joint, parent))
        ids[body] = system.addJoint(ids[parent], pin.JointModelRZ(), inside[parent] * relative, body)
        inside[body] = placed(0.0, -tree.local(joint, body))
        turning = float(tree.inertia.about_centre[k]) * np.eye(3)
        centre = np.array([*tree.inertia.centre[k], 0.0])
        system.appendBodyToJoint(ids[body], pin.Inertia(float(tree.inertia.mass[k]), centre, turning), inside[body])
    data = system.createData()
    constraints, constraint_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint in tree.closing:
        ends = [inside[b] * placed(0.0, tree.local(joint, b)) for b in (joint.first, joint.second)]
        made = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, system, ids[joint.first], ends[0], ids[joint.second], ends[1],
            pin.ReferenceFrame.LOCAL,
        )  # fmt: skip
        constraints.append(made)
        constraint_data.append(made.createData())
    pin.initConstraintDynamics(system, data, constraints, constraint_data)
    settings = pin.ProximalSettings(1e-12, 1e-10, 20)
    springs = [load for load in model.loads if isinstance(load, Spring)]
    fixed = np.zeros(system.nv)
    for body, torque in torques(model).items():
        fixed[system.joints[ids[body]].idx_v] += torque
        assert tree.parents[body][0] == FRAME, "a torque on a body whose hinge is on the ground"

    def efforts(q: Array) -> Array:
        if not springs:
            return fixed
        tau = fixed.copy()
        pin.computeJointJacobians(system, data, q)
        for spring in springs:
            ends = []
            for body, point in zip(spring.bodies, spring.ends, strict=True):
                local = inside[body] * np.array([*point, 0.0])
                ends.append((ids[body], data.oMi[ids[body]] * local if body != FRAME else local))
            way = ends[1][1] - ends[0][1]
            length = float(np.sqrt(way @ way))
            pull = spring.stiffness * (length - spring.length) / length * way
            for (joint, place), sign in zip(ends, (1.0, -1.0), strict=True):
                if joint:
                    J = pin.getJointJacobian(system, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
                    arm = place - data.oMi[joint].translation
                    tau += sign * (J[:3].T @ pull + J[3:].T @ np.cross(arm, pull))
        return tau

    n = system.nq
    q0 = pin.neutral(system)

    def accelerations(q: Array, v: Array, tau: Array) -> Any:
        if not tree.closing:
            return pin.aba(system, data, q, v, tau)
        return pin.constraintDynamics(system, data, q, v, tau, constraints, constraint_data, settings)

    def rates(_: float, y: Array) -> Array:
        return np.concatenate([y[n:], accelerations(y[:n], y[n:], efforts(y[:n]))])

    def run(tolerance: float) -> Run:
        found: list[Any] = []
        start = np.concatenate([q0, np.zeros(n)])
        seconds = clocked(
            lambda: found.append(solve_ivp(rates, (0.0, case.end), start, "DOP853", rtol=tolerance, atol=tolerance))
        )
        y = found[0].y[:, -1]
        pin.forwardKinematics(system, data, y[:n])
        poses = [data.oMi[ids[b]] * inside[b] for b in model.bodies]
        origin, rotation = np.array([p.translation[:2] for p in poses]), np.array([p.rotation[:2, :2] for p in poses])
        return Run(seconds, joint_places(model, origin, rotation), int(found[0].nfev))

    def calls() -> None:
        v, tau = np.zeros(n), efforts(q0)
        for _ in range(1000):
            accelerations(q0, v, tau)

    return Prepared(run, calls, "1000 accelerations", tuple(10.0**-k for k in range(3, 14)))


PEERS = (
    DynamicsPeer("Exudyn", "exudyn", "redundant coordinates, generalised-α, one step", exudyn),
    DynamicsPeer("MuJoCo", "mujoco", "tree and connect, RK4 compiled, one mj_forward", mujoco),
    DynamicsPeer("Pinocchio", "pin", "tree, aba or constraintDynamics, SciPy's DOP853", pinocchio),
)
