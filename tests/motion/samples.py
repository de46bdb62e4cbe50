"""Mechanisms built and moved by hand, so that tests of results and pictures need neither the reader nor the solver.

Planar ones by Newton in absolute coordinates with derivatives by complex step; the spatial four-bar by its angle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from assurgent.mechanism.model import Body, Driver, Follower, Joint, Model, Simulation
from assurgent.motion.measure import BodyMotion, measure
from assurgent.motion.results import Results

ZERO2, ZERO3 = np.zeros(2), np.zeros(3)


class Linear:
    """a + b t, with three derivatives."""

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b, self.text = a, b, f"{a} + {b}*t"

    def __call__(self, t: np.ndarray) -> np.ndarray:
        zero = np.zeros_like(t)
        return np.stack([self.a + self.b * t, zero + self.b, zero, zero])


class Egg:
    """A cam's radius over the polar angle: r + e cos u."""

    text = "r + e*cos(u)"

    def __init__(self, r: float, e: float) -> None:
        self.r, self.e = r, e

    def __call__(self, u: np.ndarray) -> np.ndarray:
        e = self.e
        return np.stack([self.r + e * np.cos(u), -e * np.sin(u), -e * np.cos(u), e * np.sin(u)])


def joint(
    name: str,
    kind: str,
    first: str,
    second: str,
    at: str | None,
    a=ZERO2,
    b=ZERO2,
    axis_a=None,
    axis_b=None,
    **more: object,
) -> Joint:
    zero = np.zeros(len(a))
    vectors = {
        "axis_a": zero if axis_a is None else axis_a,
        "axis_b": zero if axis_b is None else axis_b,
        "normal_a": zero,
        "normal_b": zero,
    }
    return Joint(name, kind, first, second, at, np.asarray(a, float), np.asarray(b, float), **{**vectors, **more})


def planar(
    name: str,
    points: Mapping[str, Sequence[float]],
    bodies: Mapping[str, Sequence[str]],
    joints: Sequence[tuple],
    drivers: Mapping[str, tuple[str, str, object]],
    stop: float = 1.0,
    step: float = 0.01,
) -> Model:
    """Return a planar model measured from its points. A joint: (name, kind, first, second, at[, axis, through])."""
    places = {key: np.array(place, float) for key, place in points.items()}
    made = {}
    for body, names in bodies.items():
        origin, angle = np.zeros(2), 0.0
        if body != "frame":
            origin = places[names[0]]
            if len(names) > 1:
                angle = float(np.arctan2(*(places[names[1]] - origin)[::-1]))
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        made[body] = Body(body, {p: rotation.T @ (places[p] - origin) for p in names}, origin, rotation)
    tied = {}
    for key, kind, first, second, at, *rest in joints:
        one, two = made[first], made[second]
        more = dict(rest[0]) if rest else {}
        axis = np.array(more.pop("axis", (0, 0)), float)
        start = more.pop("through", at)
        where = ZERO2 if start is None else one.inside(places[start])
        tied[key] = joint(
            key,
            kind,
            first,
            second,
            at,
            where,
            ZERO2 if at is None else two.inside(places[at]),
            one.rotation.T @ axis,
            two.rotation.T @ axis,
            angle=two.angle - one.angle,
            **more,
        )
    driving = {
        key: Driver(key, kind, motion, joint=which, bodies=(tied[which].first, tied[which].second))
        for key, (which, kind, motion) in drivers.items()
    }
    return Model(name, "planar", places, made, tied, driving, simulation=Simulation(0.0, stop, step))


def _residual(model: Model) -> Callable[[np.ndarray, complex], np.ndarray]:
    movable = model.movable
    ratios = {key: 3 * k for k, key in enumerate(movable)}

    def pose(q: np.ndarray, body: str) -> tuple[np.ndarray, complex]:
        if body == "frame":
            return np.zeros(2, complex), 0j
        k = ratios[body]
        return q[k : k + 2], q[k + 2]

    def place(q: np.ndarray, body: str, local: np.ndarray) -> np.ndarray:
        origin, angle = pose(q, body)
        c, s = np.cos(angle), np.sin(angle)
        return origin + np.array([c * local[0] - s * local[1], s * local[0] + c * local[1]])

    def residual(q: np.ndarray, t: complex) -> np.ndarray:
        rows: list[complex] = []
        for j in model.joints.values():
            turn = pose(q, j.second)[1] - pose(q, j.first)[1]
            if j.kind == "gear":
                held, start = pose(q, j.carrier or "frame")[1], model.bodies
                zero = start[j.carrier or "frame"].angle
                one, two = (pose(q, b)[1] - held - start[b].angle + zero for b in j.bodies[:2])
                rows.append(two - j.ratio * one)
                continue
            gap = place(q, j.second, j.b) - place(q, j.first, j.a)
            if j.kind == "cam":
                phase = np.arctan2(gap[1].real, gap[0].real) - pose(q, j.first)[1]
                r = np.sqrt(np.sum(gap**2))
                rows.append(r - (j.profile.r + j.profile.e * np.cos(phase)) - j.follower.radius)
                continue
            axis = place(q, j.first, j.axis_a) - pose(q, j.first)[0]
            if j.kind == "R":
                rows += list(gap)
            else:
                rows.append(axis[0] * gap[1] - axis[1] * gap[0])
                if j.kind == "P":
                    rows.append(turn - j.angle)
        for d in model.drivers.values():
            j = model.joints[d.joint]
            wanted = d.motion.a + d.motion.b * t
            if d.kind == "angle":
                rows.append(pose(q, j.second)[1] - pose(q, j.first)[1] - wanted)
            else:
                gap = place(q, j.second, j.b) - place(q, j.first, j.a)
                rows.append(np.sum((place(q, j.first, j.axis_a) - pose(q, j.first)[0]) * gap) - wanted)
        return np.array(rows, complex)

    return residual


def motions_of(model: Model, times: np.ndarray) -> dict[str, BodyMotion]:
    """Return the motion of a planar model: Newton step by step; its rates by complex step are good to about 1e-8."""
    residual = _residual(model)
    q = np.concatenate([[*b.origin, b.angle] for b in model.bodies.values() if b.name != "frame"])
    tiny, small = 1e-30, 1e-6

    def jacobian(q: np.ndarray, t: float) -> np.ndarray:
        return np.stack([residual(q + 1j * tiny * e, t).imag / tiny for e in np.eye(len(q))], axis=1)

    states = []
    for t in times:
        for _ in range(40):
            dq = np.linalg.solve(jacobian(q, t), -residual(q.astype(complex), t).real)
            q = q + dq
            if np.max(np.abs(dq)) < 1e-13 * max(1.0, np.max(np.abs(q))):
                break
        else:
            raise AssertionError(f"no assembly at t = {t}")
        J = jacobian(q, t)
        v = np.linalg.solve(J, -residual(q.astype(complex), t + 1j * tiny).imag / tiny)
        along = [residual(q + (s + 1j * tiny) * v, t + s + 1j * tiny).imag / tiny for s in (small, -small)]
        states.append((q, v, np.linalg.solve(J, -(along[0] - along[1]) / (2 * small))))
    array = np.array(states).transpose(1, 2, 0)
    rows = {body: 3 * k for k, body in enumerate(model.movable)}
    return {body: BodyMotion(array[:, k : k + 2], angle=array[:, k + 2]) for body, k in rows.items()}


def results_of(model: Model, motions: Mapping[str, BodyMotion], times: np.ndarray) -> Results:
    values = {key: d.motion(times) for key, d in model.drivers.items()}
    points, bodies, joints, drivers = measure(model, motions, times, values)
    return Results(model.name, "td", model.space, times, points, bodies, joints, drivers, {"max_residual": 1e-14})


def run(model: Model) -> Results:
    times = model.simulation.times()
    return results_of(model, motions_of(model, times), times)


# ---- the mechanisms -------------------------------------------------------------------------------------------------
def four_bar() -> Model:
    C = np.array([5.0, 5.0])
    for _ in range(30):  # the place where both links have length 6
        J = 2 * np.array([C - [0, 2], C - [6, 0]])
        C = C - np.linalg.solve(J, [np.sum((C - [0, 2]) ** 2) - 36, np.sum((C - [6, 0]) ** 2) - 36])
    u = (C - [0, 2]) / 6
    P = np.array([0, 2]) + 3 * u + np.array([-u[1], u[0]])
    return planar(
        "four-bar",
        {"A": (0, 0), "B": (0, 2), "C": C, "D": (6, 0), "P": P},
        {"frame": "AD", "crank": "AB", "rod": "BCP", "rocker": "CD"},
        [
            ("A", "R", "frame", "crank", "A"),
            ("B", "R", "crank", "rod", "B"),
            ("C", "R", "rod", "rocker", "C"),
            ("D", "R", "frame", "rocker", "D"),
        ],
        {"theta": ("A", "angle", Linear(np.pi / 2, 34.96))},
        stop=0.18,
        step=0.0015,
    )


def slider_crank() -> Model:
    c = np.array([2 + np.sqrt(35.0), 1.0])
    u = (c - [2, 0]) / 6
    g = np.array([2, 0]) + 2.5 * u + 0.8 * np.array([-u[1], u[0]])
    return planar(
        "slider-crank",
        {"A": (0, 0), "B": (2, 0), "C": c, "G": g, "E": (0, 1)},
        {"frame": "AE", "crank": "AB", "rod": "BCG", "slider": "C"},
        [
            ("A", "R", "frame", "crank", "A"),
            ("B", "R", "crank", "rod", "B"),
            ("C", "R", "rod", "slider", "C"),
            ("guide", "P", "frame", "slider", "C", {"axis": (1, 0), "through": "E"}),
        ],
        {"theta": ("A", "angle", Linear(0, 34.9))},
        stop=0.18,
        step=0.0015,
    )


LEVER = {"O2": (0, 0.45), "O4": (0, 0), "P": (0.15, 0.45), "T": np.array([1, 3]) * 0.9 / 10**0.5}


def quick_return() -> Model:
    """A crank pin in the slot of a lever."""
    return planar(
        "quick return",
        LEVER,
        {"frame": ["O2", "O4"], "crank": ["O2", "P"], "lever": ["O4", "T"]},
        [
            ("O2", "R", "frame", "crank", "O2"),
            ("O4", "R", "frame", "lever", "O4"),
            ("slide", "slot", "lever", "crank", "P", {"axis": np.array([1, 3]) / 10**0.5, "through": "O4"}),
        ],
        {"theta": ("O2", "angle", Linear(0, 12))},
        stop=0.52,
        step=0.005,
    )


def block_lever() -> Model:
    """As the quick return, with a block that slides along the lever."""
    return planar(
        "block on lever",
        LEVER,
        {"frame": ["O2", "O4"], "crank": ["O2", "P"], "lever": ["O4", "T"], "block": ["P"]},
        [
            ("O2", "R", "frame", "crank", "O2"),
            ("O4", "R", "frame", "lever", "O4"),
            ("P", "R", "crank", "block", "P"),
            ("slide", "P", "lever", "block", "P", {"axis": np.array([1, 3]) / 10**0.5, "through": "O4"}),
        ],
        {"theta": ("O2", "angle", Linear(0, 12))},
        stop=0.52,
        step=0.005,
    )


def gear_train() -> Model:
    """A pinion, a wheel and a planet that rolls inside on a carrier of its own."""
    return planar(
        "gear train",
        {"A": (0, 0), "B": (3, 0), "M": (0.7, 0), "N": (3, 1.4)},
        {"frame": "AB", "pinion": "AM", "wheel": "BN"},
        [
            ("A", "R", "frame", "pinion", "A"),
            ("B", "R", "frame", "wheel", "B"),
            ("mesh", "gear", "pinion", "wheel", None, {"ratio": -0.5, "carrier": "frame"}),
        ],
        {"theta": ("A", "angle", Linear(0, 4))},
        stop=3.2,
        step=0.02,
    )


def cam_follower() -> Model:
    """An eccentric cam that lifts a roller on a straight guide."""
    r, e, roller = 1.0, 0.35, 0.25
    lift = r + e * np.cos(np.pi / 2) + roller
    return planar(
        "cam",
        {"O": (0, 0), "F": (0, lift), "H": (0, lift + 1.2), "G": (0, 2)},
        {"frame": "OG", "cam": "O", "follower": "FH"},
        [
            ("O", "R", "frame", "cam", "O"),
            ("guide", "P", "frame", "follower", "H", {"axis": (0, 1), "through": "G"}),
            (
                "contact",
                "cam",
                "cam",
                "follower",
                "F",
                {"through": "O", "profile": Egg(r, e), "follower": Follower(roller)},
            ),
        ],
        {"theta": ("O", "angle", Linear(0, 4))},
        stop=1.57,
        step=0.02,
    )


def rssr() -> tuple[Model, dict[str, BodyMotion], np.ndarray]:
    """Return a spatial four-bar R-S-S-R, its motion over one turn, and the times."""
    D, arm, w = np.array([3, 1, 0.5]), 2.2, 2.0
    u, v = np.array([2, 3, 6]) / 7, np.array([3, -6, 2]) / 7
    axis = np.cross(u, v)
    rod = np.linalg.norm(D + arm * (np.cos(-0.9) * u + np.sin(-0.9) * v) - [1, 0, 0])
    times = np.linspace(0, np.pi, 181)
    phi, angles, places = -0.9, [], []
    for t in times:
        q = w * t
        e, e1, e2 = (np.array([np.cos(q + k * np.pi / 2), np.sin(q + k * np.pi / 2), 0]) for k in range(3))
        for _ in range(50):
            f, f1, f2 = (arm * (np.cos(phi + k * np.pi / 2) * u + np.sin(phi + k * np.pi / 2) * v) for k in range(3))
            d = D + f - e
            step = (d @ d - rod**2) / (2 * d @ f1)
            phi -= step
        rate = w * (d @ e1) / (d @ f1)  # d·ḋ = 0
        d_dot = rate * f1 - w * e1
        second = (d @ (w**2 * e2 - rate**2 * f2) - d_dot @ d_dot) / (d @ f1)  # d·d̈ + ḋ·ḋ = 0
        angles.append((phi, rate, second))
        places.append((e, w * e1, w**2 * e2, d, d_dot, second * f1 + rate**2 * f2 - w**2 * e2))
    n, phi_t, places_t = len(times), np.array(angles).T, np.array(places).transpose(1, 2, 0)
    spin, still = np.array([0, 0, 1.0]), np.zeros((3, 3, n))
    still_D = still.copy()
    still_D[0] = D[:, None]
    crank = BodyMotion(
        still,
        rotation=np.stack([turn(spin, w * t) for t in times]),
        omega=np.outer(spin, np.full(n, w)),
        alpha=np.zeros((3, n)),
    )
    rocker = BodyMotion(
        still_D,
        rotation=np.stack([turn(axis, p + 0.9) for p in phi_t[0]]),
        omega=np.outer(axis, phi_t[1]),
        alpha=np.outer(axis, phi_t[2]),
    )
    d, d_dot, d_ddot = places_t[3:]
    cross = np.cross(d, d_dot, axis=0) / rod**2  # no spin about the rod's own line
    x = d / rod
    side = np.cross(x, [[0.3], [0.9], [-0.2]], axis=0)
    side /= np.linalg.norm(side, axis=0)
    bar = BodyMotion(
        places_t[:3],
        rotation=np.stack([x.T, side.T, np.cross(x, side, axis=0).T], axis=2),
        omega=cross,
        alpha=np.cross(d, d_ddot, axis=0) / rod**2,
    )
    C = D + arm * (np.cos(-0.9) * u + np.sin(-0.9) * v)
    eye, R0 = np.eye(3), bar.rotation[0]
    bodies = {
        "frame": Body("frame", {"A": ZERO3, "D": D}, ZERO3, eye),
        "crank": Body("crank", {"A": ZERO3, "B": np.array([1.0, 0, 0])}, ZERO3, eye),
        "rod": Body("rod", {"B": ZERO3, "C": np.array([rod, 0, 0])}, np.array([1.0, 0, 0]), R0, rod=True),
        "rocker": Body("rocker", {"D": ZERO3, "C": C - D}, D, eye),
    }
    along = np.cross(axis, [0, 0, 1.0])
    along /= np.linalg.norm(along)
    joints = {
        "A": joint("A", "R", "frame", "crank", "A", ZERO3, ZERO3, spin, spin, normal_a=eye[0], normal_b=eye[0]),
        "B": joint("B", "S", "crank", "rod", "B", np.array([1.0, 0, 0]), ZERO3),
        "C": joint("C", "S", "rod", "rocker", "C", np.array([rod, 0, 0]), C - D),
        "D": joint("D", "R", "frame", "rocker", "D", D, ZERO3, axis, axis, normal_a=along, normal_b=along),
    }
    drivers = {"theta": Driver("theta", "angle", Linear(0, w), joint="A", bodies=("frame", "crank"))}
    places0 = {"A": ZERO3, "B": np.array([1.0, 0, 0]), "C": C, "D": D}
    span = Simulation(0, float(times[-1]), 0.0175)
    model = Model("RSSR", "spatial", places0, bodies, joints, drivers, simulation=span)
    return model, {"crank": crank, "rod": bar, "rocker": rocker}, times


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation by an angle about a unit axis (Rodrigues)."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
