"""Draws the pictures of docs/dynamics.md from examples/dynamics, and measures its table of the reaction schemes.

`python docs/dynamics.py` draws, `python docs/dynamics.py measure` prints the table.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from assurgent import AssurgentError, Mechanism, Results
from assurgent.mechanism.model import FRAME, Model
from assurgent.pictures.force_display import Moving

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples" / "dynamics"
PICTURES = DOCS / "images" / "dynamics"
COLOURS = 96  # of the palette of a picture
BLUE, ORANGE, GREEN, VIOLET, GREY = "#2f6db5", "#d9782d", "#2f8f5b", "#8a1fb5", "#6b7280"


# ---- the four-bar of Blajer, Schiehlen and Schirm -----------------------------------------------------------------
def blajer() -> tuple[Array, dict[str, Array]]:
    """Return alpha_1 over one turn and the criterion of O1, O2, O3 (alpha_1, alpha_2, alpha_3) by the program."""
    results = Mechanism.load(EXAMPLES / "blajer-four-bar.toml").simulate()
    angle = results.joints["O1"].angle
    assert angle is not None
    assert results.criterion is not None
    alpha = np.pi / 2 - angle
    turn = alpha <= 2 * np.pi
    return alpha[turn], {joint: values[turn] for joint, values in results.criterion.items()}


def blajer_closed_form(alpha1: Array) -> Array:
    """Return (23a) of alpha_1, alpha_2, alpha_3, n x 3, from (40), (41), the corrected (43) and the tree's masses."""
    given = Mechanism.load(EXAMPLES / "blajer-four-bar.toml").parameters
    l0, l1, l2, l3 = (float(given[name]) for name in ("l0", "l1", "l2", "l3"))
    alpha3 = np.arccos((l0**2 + l1**2 - l2**2 - l3**2 - 2 * l0 * l1 * np.sin(alpha1)) / (2 * l2 * l3))
    both = alpha1 + alpha3
    alpha2 = np.arctan2(
        l0 * l2 * np.cos(alpha1) + l0 * l3 * np.cos(both) + l1 * l3 * np.sin(alpha3),
        l0 * l2 * np.sin(alpha1) + l0 * l3 * np.sin(both) - l1 * l3 * np.cos(alpha3) - l1 * l2,
    )
    found = []
    for a1, a2, a3 in zip(alpha1, alpha2, alpha3, strict=True):
        first = l0 * l1 * np.cos(a1)
        D = np.array([1, -(first + l0 * l2 * np.cos(a1 + a2)) / (l2 * l3 * np.sin(a3)), first / (l2 * l3 * np.sin(a3))])
        M = _tree_masses((l1, l2, l3), np.cumsum([a1, a2, a3]))
        found.append(D**2 / (D @ M @ D) / np.diag(np.linalg.inv(M)))
    return np.array(found)


def _tree_masses(lengths: tuple[float, ...], directions: Array) -> Array:
    """Return the mass matrix of three uniform bars of 1 kg/m in the angles between them, the last joint open."""
    M = np.zeros((3, 3))
    for k, own in enumerate(lengths):
        J = np.zeros((2, 3))
        for i in range(k + 1):
            reach = lengths[i] * (0.5 if i == k else 1.0)
            J[:, : i + 1] += reach * np.array([[np.cos(directions[i])], [-np.sin(directions[i])]])
        spin = (np.arange(3) <= k).astype(float)
        M += own * J.T @ J + own**3 / 12 * np.outer(spin, spin)
    return M


def criterion() -> Figure:
    """Return Blajer's Fig. 3: curves by the program, circles by the closed form."""
    figure, (ax,) = _figure(1, 3.4)
    alpha, found = blajer()
    some = np.linspace(0, 2 * np.pi, 33)
    exact = blajer_closed_form(some)
    for k, (joint, colour) in enumerate(zip(("O1", "O2", "O3"), (BLUE, ORANGE, GREEN), strict=True)):
        ax.plot(alpha, found[joint], color=colour, linewidth=1.8, label=f"$\\alpha_{k + 1}$ (joint {joint})")
        ax.plot(some, exact[:, k], "o", color=colour, markersize=3.6, markerfacecolor="white")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xticks(np.arange(5) * np.pi / 2, ["0", "π/2", "π", "3π/2", "2π"])
    ax.set_xlabel("$\\alpha_1$ / rad")
    ax.set_ylabel("$\\cos^2\\alpha_i$, Eq. (23a)")
    _key(ax)
    return figure


# ---- the slider-crank of Yime, Roldan and Coba --------------------------------------------------------------------
def yime() -> Results:
    return Mechanism.load(EXAMPLES / "yime-slider-crank.toml").inverse()


def yime_closed_form(t: Array) -> tuple[Array, Array, Array, Array]:
    """Return place, velocity and acceleration of the slider, and the force along x on the crank at joint 1.

    The guide has no force along x, so that joint 1 alone moves all three centres of mass along x.
    """
    r, length, w = 0.1, 0.2, 0.6283
    theta = w * t + np.pi / 2
    c, s = np.cos(theta), np.sin(theta)
    root = np.sqrt(length**2 - (r * s) ** 2)
    slope = -(r**2) * s * c / root  # of the root over theta
    bend = -(r**2) * (c**2 - s**2) / root - slope**2 / root
    place, velocity, acceleration = r * c + root, w * (-r * s + slope), w**2 * (-r * c + bend)
    pin = -r * c * w**2
    force = 0.02806 * pin / 2 + 0.02753 * (pin + acceleration) / 2 + 0.33777 * acceleration
    return place, velocity, acceleration, force


def slider() -> Figure:
    """Return their Fig. 16: place, velocity and acceleration of the slider."""
    results = yime()
    series = results.points["C"]
    figure, axes = _figure(3, 5.2)
    some = np.linspace(0, 10, 26)
    exact = yime_closed_form(some)
    found = (series.position, series.velocity, series.acceleration)
    for ax, values, dots, label in zip(axes, found, exact, ("x / m", "v / (m/s)", "a / (m/s²)"), strict=False):
        ax.plot(results.time, values[:, 0], color=BLUE, linewidth=1.8, label="assurgent")
        ax.plot(some, dots, "o", color=ORANGE, markersize=3.6, markerfacecolor="white", label="closed form")
        ax.set_ylabel(label)
    axes[-1].set_xlabel("t / s")
    _key(axes[0])
    figure.align_ylabels()
    return figure


def reaction() -> Figure:
    """Return their Fig. 17: the reaction along x at joint 1."""
    results = yime()
    assert results.reactions is not None
    figure, (ax,) = _figure(1, 2.6)
    ax.plot(results.time, 1000 * results.reactions["J1"].force[:, 0], color=VIOLET, linewidth=1.8, label="assurgent")
    some = np.linspace(0, 10, 26)
    ax.plot(some, 1000 * yime_closed_form(some)[3], "o", color=ORANGE, markersize=3.6, markerfacecolor="white",
            label="closed form")  # fmt: skip
    ax.set_xlabel("t / s")
    ax.set_ylabel("force of the frame on\nthe crank, x / mN")
    _key(ax)
    return figure


# ---- a spring -----------------------------------------------------------------------------------------------------
def rest() -> Figure:
    """Return the swing of the sprung four-bar about its equilibrium, with the decay that its mode foretells."""
    mechanism = Mechanism.load(EXAMPLES / "sprung-four-bar.toml")
    results, found = mechanism.simulate(), mechanism.equilibrium()
    figure, (ax,) = _figure(1, 2.8)
    angle = results.joints["A"].angle
    assert angle is not None
    middle, (mode,) = found.coordinates["A"], found.modes
    ax.plot(results.time, angle, color=BLUE, linewidth=1.8, label="simulate")
    ax.axhline(middle, color=GREY, linewidth=1, label="equilibrium")
    late = results.time > 0.9  # where the swing is small; its size there is fitted, its decay is not
    size = np.abs(angle - middle)[late] @ np.exp(-mode.decay * results.time[late])
    size /= (2 / np.pi) * np.sum(np.exp(-2 * mode.decay * results.time[late]))
    for sign in (-1, 1):
        ax.plot(results.time[late], middle + sign * size * np.exp(-mode.decay * results.time[late]), "--",
                color=ORANGE, linewidth=1.2, label="decay of the mode" if sign > 0 else None)  # fmt: skip
    ax.set_xlabel("t / s")
    ax.set_ylabel("angle at A / rad")
    _key(ax)
    return figure


def forces() -> Figure:
    """Return the sprung four-bar a moment after its release, with the arrows of `animate --forces`."""
    from assurgent.pictures.plot import paths

    mechanism = Mechanism.load(EXAMPLES / "sprung-four-bar.toml")
    return paths(mechanism.simulate(), mechanism.model(), step=39, forces=True)


def diagrams() -> Figure:
    """Return what `assurgent plot examples/dynamics/sprung-four-bar.toml --reactions A,D --energy` draws."""
    mechanism = Mechanism.load(EXAMPLES / "sprung-four-bar.toml")
    return mechanism.plot(mechanism.simulate(), reactions=["A", "D"], energy=True)


FIGURES = {
    "criterion": criterion, "slider": slider, "reaction": reaction, "rest": rest, "forces": forces,
    "diagrams": diagrams,
}  # fmt: skip


def _figure(rows: int, tall: float) -> tuple[Figure, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, tall), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(rows, 1, sharex=True)))
    for ax in axes:
        ax.margins(x=0.01)
        ax.grid(color="#e3e6eb", linewidth=0.7)
        ax.set_axisbelow(True)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure, axes


def _key(ax: Any) -> None:
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9, frameon=False)


def picture(figure: Figure) -> bytes:
    """Return a figure as a small PNG file."""
    raw = io.BytesIO()
    figure.savefig(raw, format="png", dpi=110)
    out = io.BytesIO()
    image = Image.open(raw).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


# ---- three schemes of reactions -----------------------------------------------------------------------------------
def unbalanced(model: Model, results: Results) -> float:
    """Return how far reactions, weights and torques of drivers miss the inertia of any body, of the largest force.

    Planar, with R and P joints, weights, and drivers of angles. Moments are divided by the size of the mechanism.
    """
    moving, n = Moving(model, results), len(results)
    forces = {b: np.zeros((n, 2)) for b in model.bodies}
    moments = {b: np.zeros(n) for b in model.bodies}
    centres = {b: moving.place(b, moving.inertia.centre[k]) for k, b in enumerate(model.bodies)}

    def act(body: str, place: Array, force: Array, moment: Array) -> None:
        arm = place - centres[body]
        forces[body] += force
        moments[body] += moment + arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]

    for body, centre, weight in moving.weights():
        act(body, moving.place(body, centre), np.broadcast_to(weight, (n, 2)), np.zeros(n))
    largest = 0.0
    for name, series in (results.reactions or {}).items():
        joint = model.joints[name]
        place = moving.place(joint.second, joint.b)
        act(joint.second, place, series.force, series.moment)
        act(joint.first, place, -series.force, -series.moment)
        largest = max(largest, float(np.linalg.norm(series.force, axis=1).max()))
    for name, driver in model.drivers.items():
        effort = results.drivers[name].effort
        assert effort is not None
        for body, sign in zip(driver.bodies, (-1.0, 1.0), strict=True):
            moments[body] += sign * effort
    worst = 0.0
    for k, body in enumerate(model.bodies):
        if body == FRAME:
            continue
        acceleration = moving.rates(body, moving.inertia.centre[k])[1]
        miss = forces[body] - moving.inertia.mass[k] * acceleration
        turn = moments[body] - moving.inertia.about_centre[k] * moving.turning(body)[1]
        worst = max(worst, float(np.abs(miss).max()), float(np.abs(turn).max()) / model.size)
    return worst / largest


def cases() -> dict[str, Mechanism]:
    """Return the mechanisms of the table."""
    driven = Mechanism.load(EXAMPLES / "blajer-four-bar.toml")
    driven.initial = {}
    driven.drivers = {"theta": {"joint": "O1", "angle": "pi/2 - 12*t"}}
    driven.simulation = {"stop": 0.5, "step": 0.001}
    light = _copy(driven)
    light.bodies["link2"] |= {"mass": 1e-9, "inertia": 1e-10}
    bare = _copy(driven)
    bare.bodies["link2"] |= {"mass": 0, "inertia": 0}
    chain = Mechanism.load(DOCS.parent / "examples" / "scalable-four-bar.toml")
    chain.gravity = [0, -9.81]
    for name, body in chain.bodies.items():
        if name != FRAME:
            body |= {"mass": 1.0, "inertia": 0.1}
    return {
        "four-bar of Blajer, driven": driven,
        "slider-crank of Yime et al.": Mechanism.load(EXAMPLES / "yime-slider-crank.toml"),
        "scalable four-bar, 3 dyads": chain,
        "four-bar, coupler of 1e-9 kg": light,
        "four-bar, coupler without mass": bare,
        "four-bar with a second, equal rocker": _doubled(driven),
    }


def _copy(mechanism: Mechanism) -> Mechanism:
    found = Mechanism(mechanism.name, mechanism.space)
    found.gravity = mechanism.gravity
    for table in ("parameters", "points", "joints", "drivers", "simulation"):
        setattr(found, table, dict(getattr(mechanism, table)))
    found.bodies = {name: dict(body) for name, body in mechanism.bodies.items()}
    return found


def _doubled(mechanism: Mechanism) -> Mechanism:
    found = _copy(mechanism)
    found.bodies["link4"] = dict(found.bodies["link3"])
    found.joints["P3"] = {"type": "R", "bodies": ["link2", "link4"], "at": "O3"}
    found.joints["P4"] = {"type": "R", "bodies": ["frame", "link4"], "at": "O4"}
    found.joints["W"] = {"type": "R", "bodies": ["link3", "link4"], "at": "O3"}
    return found


SCHEMES = ("direct", "tangent", "inverse")
ROUNDS = 9  # of the timing; the schemes take turns, so that a busy machine slows all of them


def measure() -> None:
    """Print, for each scheme, how far the bodies are from balance and the time of a whole run over that of direct."""
    print(f"{'':38s}" + "".join(f"{scheme:>20s}" for scheme in SCHEMES))
    for name, mechanism in cases().items():
        model, errors = mechanism.model(), {}
        seconds: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
        for _ in range(ROUNDS):
            for scheme in SCHEMES:
                begin = time.process_time()
                try:
                    results = mechanism.inverse(method=scheme)
                except AssurgentError:
                    continue
                seconds[scheme].append(time.process_time() - begin)
                errors[scheme] = unbalanced(model, results)
        cells = [
            f"{errors[scheme]:.0e}  {min(seconds[scheme]) / min(seconds['direct']):.2f}"
            if scheme in errors
            else "singular"
            for scheme in SCHEMES
        ]
        print(f"{name:38s}" + "".join(f"{cell:>20s}" for cell in cells))


def main(arguments: list[str]) -> None:
    if arguments == ["measure"]:
        measure()
        return
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in arguments or FIGURES:
        data = picture(FIGURES[name]())
        (PICTURES / f"{name}.png").write_bytes(data)
        print(f"{name}: {len(data) / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
