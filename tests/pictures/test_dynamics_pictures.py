"""Pictures of dynamics: powers that balance, arrows to scale at the right places, diagrams, and files with arrows."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from assurgent import InputError, Mechanism, Results
from assurgent.dynamics.computed import pictured
from assurgent.mechanism.model import Model
from assurgent.pictures.animate import animate, plan
from assurgent.pictures.arrows import LONGEST, force_arrows
from assurgent.pictures.dynamics_plot import default_joints, dynamics_figure, effort_rows, reaction_rows
from assurgent.pictures.force_display import applied_forces, imbalance, powers, reaction_forces
from assurgent.pictures.plot import paths
from assurgent.pictures.scene import build

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@cache
def sprung() -> tuple[Model, Results]:
    m = Mechanism.load(EXAMPLES / "dynamics" / "sprung-four-bar.toml")
    return m.model(), m.simulate(times=np.linspace(0, 0.6, 61).tolist())


@cache
def crank() -> tuple[Model, Results]:
    m = Mechanism.load(EXAMPLES / "dynamics" / "yime-slider-crank.toml")
    return m.model(), m.inverse(times=np.linspace(0, 10, 41).tolist())


@cache
def loaded() -> tuple[Model, Results]:
    """A slider-crank with every kind of load, driven at its slider."""
    m = Mechanism.load(EXAMPLES / "dynamics" / "yime-slider-crank.toml")
    m.point("S", [0.1, 0.3])
    m.bodies["frame"]["points"] = ["A", "S"]
    m.drivers = {"x": {"joint": "J4", "displacement": "0.19 + 0.04*sin(2*t)"}}
    m.force("push", body="rod", point="B", force=["sin(t)", 2])
    m.force("turn", body="crank", torque="0.3*cos(t)")
    m.force("twist", body="slider", torque=0.5)
    m.force("spring", type="spring", between=["S", "B"], stiffness=40, length=0.1, damping=3)
    m.force("hinge", type="torsion-spring", joint="J2", stiffness=2, angle=0.4, damping=0.2)
    return m.model(), m.inverse(times=np.linspace(0, 3, 31).tolist())


@cache
def spatial() -> tuple[Model, Results]:
    m = Mechanism.load(EXAMPLES / "rssr.toml")
    m.gravity = [0, 0, -9.81]
    for name, body in m.bodies.items():
        if name != "frame":
            body |= {"mass": 1.3, "inertia": [0.02, 0.03, 0.01, 0.002, 0.001, 0.003]}
    m.force("push", body="rocker", torque=[1, "sin(t)", 2])
    return m.model(), m.inverse(times=np.linspace(0, 1, 21).tolist())


# ---- forces and powers --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", [sprung, crank, loaded, spatial])
def test_powers_balance(case) -> None:
    model, results = case()
    found = powers(model, results)
    # the change of kinetic energy is computed from accelerations alone; rounding of a sum of a dozen terms
    assert imbalance(found) < 1e-12
    assert max(np.abs(p).max() for p in found.values()) > 1e-3  # there is something to balance


def test_powers_are_named_by_what_they_come_from() -> None:
    names = {case: set(powers(*case())) - {"change of kinetic energy"} for case in (sprung, crank, loaded)}
    assert names[sprung] == {"weights", "springs", "dampers"}
    assert names[crank] == {"weights", "drivers"}
    assert names[loaded] == {"weights", "springs", "dampers", "forces", "drivers"}


def test_an_effort_that_is_left_out_is_missed() -> None:
    model, results = crank()
    found = powers(model, results)
    del found["drivers"]
    assert imbalance(found) > 0.1


def test_power_is_the_rate_of_the_energies() -> None:
    model, results = sprung()
    found, energy = powers(model, results), results.energy
    assert energy is not None
    t = results.time
    swing = found["change of kinetic energy"]
    # Euler-Maclaurin without its correction: the trapezoidal rule is good to (dt ω)² / 12, ω about 15 to 30 rad/s
    work = np.concatenate([[0], np.cumsum(np.diff(t) * (swing[1:] + swing[:-1]) / 2)])
    np.testing.assert_allclose(work, energy.kinetic - energy.kinetic[0], atol=0.02 * energy.kinetic.max())
    lost = np.concatenate([[0], np.cumsum(np.diff(t) * (found["dampers"][1:] + found["dampers"][:-1]) / 2)])
    np.testing.assert_allclose(lost, energy.total - energy.total[0], atol=0.02 * np.ptp(energy.total))


def test_applied_forces_stand_where_they_act() -> None:
    model, results = sprung()
    acting = {}
    for force in applied_forces(model, results):
        acting.setdefault(force.name, []).append(force)
    B, C = results.points["B"].position, results.points["C"].position
    (weight,) = acting["weight of coupler"]
    np.testing.assert_allclose(weight.place, (B + C) / 2, atol=1e-14)
    np.testing.assert_allclose(weight.force, np.broadcast_to([0, -2 * 9.81], B.shape))
    foot, head = acting["spring"]
    np.testing.assert_allclose(head.place, B, atol=1e-14)
    np.testing.assert_allclose(foot.force, -head.force)
    way = foot.place - head.place
    length = np.linalg.norm(way, axis=1)
    # at the start nothing moves: the spring alone, pulling where it is longer than at rest
    np.testing.assert_allclose(head.force[0], 250 * (length[0] - 0.5) * way[0] / length[0], rtol=1e-12)


def test_reactions_stand_at_their_joints() -> None:
    model, results = crank()
    found = {r.name: r for r in reaction_forces(model, results)}
    for joint, point in {"J1": "A", "J2": "B", "J3": "C", "J4": "C"}.items():
        np.testing.assert_allclose(found[joint].place, results.points[point].position, atol=1e-14)


def test_a_driver_that_pushes_along_a_line_is_an_applied_force() -> None:
    model, results = loaded()
    (push,) = [a for a in applied_forces(model, results) if a.name == "x"]
    np.testing.assert_allclose(push.force[:, 0], results.drivers["x"].effort)
    np.testing.assert_allclose(push.force[:, 1], 0, atol=1e-15)


# ---- arrows -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", [sprung, spatial])
def test_force_arrows_share_one_scale_that_the_legend_shows(case) -> None:
    model, results = case()
    scene = build(model, results)
    reactions, applied = force_arrows(scene, model, results)
    assert reactions.kind == "reaction"
    assert applied.kind == "applied force"
    assert reactions.length / reactions.reference == applied.length / applied.reference
    scale = reactions.length / reactions.reference
    forces = np.array([r.force for r in reaction_forces(model, results)]).transpose(1, 0, 2)
    small = np.linalg.norm(forces, axis=2) * scale < LONGEST * scene.span  # longer ones are cut at 1.3 times that
    np.testing.assert_allclose(reactions.vectors[small], scale * forces[small], rtol=1e-12)
    assert small.mean() > 0.9
    longest = max(np.linalg.norm(a.vectors, axis=2).max() for a in (reactions, applied))
    assert 0.8 * LONGEST < longest / scene.span <= 1.3 * LONGEST + 1e-12
    assert reactions.legend == f"reaction, {reactions.reference:g} N"


def test_forces_of_kinematic_results_are_refused() -> None:
    model, _ = crank()
    bare = Mechanism.load(EXAMPLES / "dynamics" / "yime-slider-crank.toml").run(times=[0, 1])
    with pytest.raises(InputError, match="hold no forces"):
        plan(model, bare, forces=True)
    with pytest.raises(InputError, match="hold no forces and energies"):
        dynamics_figure(bare, model)


def test_page_holds_arrows_and_springs(tmp_path: Path) -> None:
    model, results = sprung()
    text = animate(model, results, tmp_path / "x.html", fps=5, seconds=2, forces=True).read_text("utf-8")
    data = json.loads(re.search(r'application/json">(.*?)</script>', text, re.DOTALL)[1])
    assert [a["kind"] for a in data["arrows"]] == ["reaction", "applied force"]
    film = plan(model, results, fps=5, seconds=2, forces=True)
    for told, drawn in zip(data["arrows"], film.vectors, strict=True):
        assert np.shape(told["vectors"]) == (10, drawn.vectors.shape[1], 2)
        np.testing.assert_allclose(told["vectors"], drawn.vectors[list(film.steps)], atol=1e-5)
    (tie,) = data["ties"]
    np.testing.assert_allclose(np.array(tie)[:, 1], results.points["B"].position[list(film.steps)], atol=1e-5)


def test_svg_has_an_arrow_for_every_force_and_a_legend(tmp_path: Path) -> None:
    model, results = sprung()
    tree = ET.fromstring(animate(model, results, tmp_path / "x.svg", fps=5, seconds=2, forces=True).read_text("utf-8"))
    space = "{http://www.w3.org/2000/svg}"
    heads = {m.get("id") for m in tree.iter(f"{space}marker")}
    assert heads == {"reaction", "applied-force"}
    lines = [e.get("marker-end") for e in tree.iter(f"{space}line")]
    assert lines.count("url(#reaction)") == 4 + 1  # one per joint, one in the legend
    assert lines.count("url(#applied-force)") == 3 + 2 + 1  # weights, two ends of the spring, legend
    assert lines.count(None) == 1  # the spring itself
    words = "".join(tree.itertext())
    assert re.search(r"reaction, \d+ N", words)
    assert re.search(r"applied force, \d+ N", words)


def test_gif_shows_the_colours_of_the_arrows(tmp_path: Path) -> None:
    model, results = sprung()
    with Image.open(animate(model, results, tmp_path / "x.gif", fps=3, seconds=1, forces=True)) as image:
        assert image.n_frames == 3
        pixels = np.asarray(image.convert("RGB"), dtype=int).reshape(-1, 3)
    for colour in ((0x8A, 0x1F, 0xB5), (0xD0, 0x6A, 0x00)):
        assert np.count_nonzero(np.abs(pixels - colour).max(axis=1) < 12) > 100


def test_still_pictures_have_arrows_in_space_too() -> None:
    figure = paths(spatial()[1], spatial()[0], step=5, forces=True)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert any(text.startswith("→ reaction") for text in texts)


# ---- diagrams -----------------------------------------------------------------------------------------------------
def test_reactions_are_shown_by_size_and_component() -> None:
    _, results = loaded()
    rows = dict(reaction_rows(results, ["J1", "J4"]))
    assert list(rows) == ["|force| / N", "force x / N", "force y / N", "moment / (N m)"]
    held = results.reactions
    assert held is not None
    np.testing.assert_array_equal(dict(rows["force x / N"])["J1"], held["J1"].force[:, 0])
    np.testing.assert_allclose(dict(rows["|force| / N"])["J4"], np.hypot(*held["J4"].force.T))
    ((name, moment),) = rows["moment / (N m)"]  # a pin has none
    assert name == "J4"
    np.testing.assert_allclose(moment, -0.5, atol=1e-12)  # the guide holds what twists the slider
    assert "moment / (N m)" not in dict(reaction_rows(crank()[1], ["J1", "J4"]))


def test_efforts_are_torques_or_forces() -> None:
    assert [title for title, _ in effort_rows(crank()[1], crank()[0])] == ["torque of drivers / (N m)"]
    assert [title for title, _ in effort_rows(loaded()[1], loaded()[0])] == ["force of drivers / N"]
    assert effort_rows(sprung()[1], sprung()[0]) == []


def test_unknown_joints_are_told_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'J5' is no joint of yime-slider-crank.*there are J1, J2, J3, J4"):
        dynamics_figure(crank()[1], crank()[0], ["J5"])


def test_the_figure_has_the_diagrams_asked_for_and_their_units() -> None:
    model, results = crank()
    figure = dynamics_figure(results, model, ["J1"], energy=True, names=["C"])
    _, *panes = figure.axes if figure.axes else [a for s in figure.subfigs for a in s.axes]
    labels = [pane.get_ylabel() for pane in panes]
    assert labels[:3] == ["position\nm", "velocity\nm/s", "acceleration\nm/s²"]
    assert labels[3:] == ["|force|\nN", "force x\nN", "force y\nN", "torque of drivers\nN m", "energy\nJ", "power\nW"]
    assert "imbalance" in panes[-1].get_title(loc="right")
    assert panes[-1].get_xlabel() == "t / s"


def test_a_quantity_has_one_colour_in_all_figures() -> None:
    """Whatever stands beside them, energies and powers look the same, and no two in a diagram are alike."""

    def colours(model: Model, results: Results, reactions: bool) -> dict[str, str]:
        panes = dynamics_figure(results, model, reactions=reactions, energy=True).subfigs[1].axes[-2:]
        found = [{line.get_label(): line.get_color() for line in pane.get_lines()} for pane in panes]
        assert all(len(set(shown.values())) == len(shown) for shown in found)
        return found[0] | found[1]

    seen: dict[str, set[str]] = {}
    for case in (sprung, crank, loaded):
        for reactions in (True, False):
            for name, colour in colours(*case(), reactions).items():
                seen.setdefault(name, set()).add(colour)
    assert {"kinetic", "total", "weights", "springs", "dampers", "drivers", "forces"} <= seen.keys()
    assert all(len(shown) == 1 for shown in seen.values()), seen


def test_arrows_shorter_than_their_heads_are_left_out_everywhere(tmp_path: Path) -> None:
    """At an instant when a force is below the length of a head, neither the film nor the SVG draws it."""
    from matplotlib.figure import Figure

    from assurgent.pictures.draw import SHAFT, TIP, Drawing

    model, results = loaded()
    scene = build(model, results)
    drawn = force_arrows(scene, model, results)
    figure = Figure(figsize=(5, 5))
    ax = figure.add_axes((0, 0, 1, 1))
    drawing = Drawing(ax, scene, vectors=drawn)
    left_out = 0
    for k in range(len(results)):
        drawing.update(k)
        for quiver, arrows in zip((c for c in ax.collections if hasattr(c, "U")), drawn, strict=True):
            short = np.linalg.norm(arrows.vectors[k], axis=1) < TIP * SHAFT / 72 * drawing._per_inch()
            assert np.array_equal(np.broadcast_to(quiver.Umask, short.shape), short)
            left_out += np.count_nonzero(short)
    assert left_out > 0
    root = ET.parse(animate(model, results, tmp_path / "x.svg", fps=5, seconds=2, forces=True)).getroot()
    hidden = 0
    for line in root.iter("{http://www.w3.org/2000/svg}line"):
        moved = {a.get("attributeName"): a.get("values", "").split(";") for a in line}
        if line.get("marker-end") and "x1" in moved:
            x1, y1, x2, y2 = (np.array(moved[key], dtype=float) for key in ("x1", "y1", "x2", "y2"))
            shown = np.array(moved.get("opacity", ["1"] * len(x1))) == "1"
            length = np.hypot(x2 - x1, y2 - y1)
            assert np.all(length[shown] >= 5 * 2.4 - 0.03)  # places are rounded to hundredths
            assert np.all(length[~shown] < 5 * 2.4 + 0.03)
            hidden += np.count_nonzero(~shown)
    assert hidden > 0


def test_at_most_six_joints_by_default() -> None:
    m = Mechanism.load(EXAMPLES / "jansen-leg.toml")
    m.gravity = [0, -9.81]
    for name, body in m.bodies.items():
        if name != "frame":
            body["mass"] = 1
    results = m.inverse(times=[0, 0.1])
    chosen = default_joints(results)
    held = results.reactions
    assert held is not None
    assert len(chosen) == 6 < len(held)
    sizes = {name: np.linalg.norm(r.force, axis=1).max() for name, r in held.items()}
    assert min(sizes[name] for name in chosen) >= max(size for name, size in sizes.items() if name not in chosen)


# ---- which motion is shown ----------------------------------------------------------------------------------------
def test_missing_drivers_mean_a_simulation() -> None:
    found = pictured(sprung()[0], np.array([0.0, 0.1]))
    assert found.results.method == "partition"
    assert "one free motion has no driver" in found.notes[0]
    assert pictured(sprung()[0], np.array([0.0, 0.1]), "global").results.method == "global"
    assert pictured(crank()[0], np.array([0.0, 0.1])).results.reactions is None
    assert pictured(crank()[0], np.array([0.0, 0.1]), forces=True).results.reactions is not None
