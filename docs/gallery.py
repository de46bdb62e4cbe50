"""Writes docs/gallery.md and its pictures from the mechanism files in examples/: `python docs/gallery.py [NAME ...]`.

With names only those pictures are drawn anew; the page is always written whole.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from assurgent.mechanism.model import Model
from assurgent.mechanism.plans.planning import study
from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run
from assurgent.motion.results import Results
from assurgent.motion.run import raise_failure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
PICTURES = DOCS / "images" / "gallery"
WIDTH, HEIGHT = 480, 400  # pixels at most
MARGIN = 24  # pixels, before the picture is made smaller
SHRINK = 0.75  # of the figure but not of its letters, which would be hard to read
COLOURS = 128  # of the palette: a third of the bytes, and no difference to be seen


@dataclass(frozen=True)
class View:
    """What a picture shows: the points whose paths are drawn, and the instant as a share of the run."""

    trace: tuple[str, ...]
    instant: float = 0.0


VIEWS: dict[str, View] = {
    "bennett": View(("B", "C")),
    "cam-follower": View(("T",), 0.43),
    "excavator": View(("T",), 0.2),
    "five-bar": View(("C",)),
    "four-bar": View(("P",), 0.15),
    "gear-linkage": View(("C",), 0.15),
    "jansen-leg": View(("F", "W"), 0.1),
    "klann-leg": View(("F", "K"), 0.1),
    "oldham-coupling": View(("C",), 0.1),
    "pantograph": View(("D", "P")),
    "planetary-gear": View((), 0.1),
    "quick-return": View(("A", "T", "R"), 0.1),
    "rack-and-pinion": View(("C", "D"), 0.15),
    "rssr": View(("B", "C"), 0.1),
    "scalable-four-bar": View(("C1", "C3")),
    "scissor-lift": View(("D", "F"), 0.3),
    "scotch-yoke": View(("A", "R"), 0.05),
    "screw-jack": View(("K", "T"), 0.05),
    "slider-crank": View(("A", "B"), 0.1),
    "spatial-slider-crank": View(("B", "C"), 0.1),
    "stephenson-six-bar": View(("C", "D"), 0.1),
    "stewart-platform": View(("P", "B1")),
    "stewart-platform-ups": View(("P", "B1")),
    "universal-joint": View(("I", "J"), 0.06),
    "watt-six-bar": View(("G",), 0.1),
}


def examples() -> list[Path]:
    """Return the mechanism files, planar ones first."""
    return sorted(EXAMPLES.glob("*.toml"), key=lambda path: (load(path).space != "planar", path.stem))


def sentence(path: Path) -> str:
    """Return the first sentence of the comment at the head of a file."""
    lines = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").strip())
    head, stop, _ = " ".join(lines).partition(". ")
    return head + "." if stop else head


def entry(path: Path) -> str:
    """Return the part of the page about one mechanism."""
    model = load(path)
    structure = study(model)
    groups = " → ".join(f"`{group.name}`" for group in structure.groups)
    view = VIEWS.get(path.stem, View(()))
    trace = f" --trace {','.join(view.trace)}" if view.trace else ""
    freedom = f"mobility {structure.mobility}"
    if structure.count != structure.mobility:
        freedom += f" (by count {structure.count})"
    return (
        f"## [{model.name}](../examples/{path.name})\n\n"
        f"![{model.name}](images/gallery/{path.stem}.png)\n\n"
        f"{sentence(path)}\n\n"
        f"Groups {groups}; {freedom}.\n\n"
        f"    assurgent animate examples/{path.name}{trace} -o {path.stem}.html\n"
    )


def page() -> str:
    """Return the text of the gallery."""
    head = (
        "# Gallery\n\n"
        "<!-- Written by `python docs/gallery.py`. Do not edit. -->\n\n"
        "Every mechanism of `examples/`, with its structural groups in the order of solution. What the names of types\n"
        "mean is in [structure.md](structure.md). `assurgent run` gives the numbers.\n\n"
    )
    return head + "\n".join(entry(path) for path in examples())


def telescopes(model: Model) -> list[tuple[str, str]]:
    """Return the ends of the driven distances, and in space of the driven slides between two points."""
    found = [driver.points for driver in model.drivers.values() if driver.points is not None]
    driven = {driver.joint for driver in model.drivers.values()}
    for joint in model.joints.values() if model.space == "spatial" else ():
        if joint.kind == "P" and joint.name in driven and joint.at is not None:
            points = model.bodies[joint.first].points
            found += [(name, joint.at) for name, place in points.items() if np.allclose(place, joint.a)]
    return found


def cylinders(figure: Figure, model: Model, results: Results, step: int) -> None:
    """Add what the telescopes, which are no bodies with a length, look like, and make room for them."""
    (ax,) = figure.axes
    ends = telescopes(model)
    for pair in ends:
        foot, head = (results.points[name].position[step] for name in pair)
        for part, width in ((0.55, 5.0), (1.0, 1.8)):
            ax.plot(*np.transpose([foot, foot + part * (head - foot)]), color="#6b7280", linewidth=width, zorder=1.8)
        ax.plot(*foot[:, None], "o", color="#374151", markersize=4, zorder=1.9)
    if not ends:
        return
    places = np.concatenate([results.points[name].position for pair in ends for name in pair])
    limits = []
    for axis, values in zip("xyz", places.T, strict=False):
        low, high = getattr(ax, f"get_{axis}lim")()
        limits.append((min(low, values.min()), max(high, values.max())))
        getattr(ax, f"set_{axis}lim")(*limits[-1])
    if len(limits) == 3:
        ax.set_box_aspect(np.diff(limits)[:, 0])


def draw(model: Model, results: Results, name: str) -> bytes:
    """Return the picture of one mechanism as a PNG file, without a margin."""
    from assurgent.pictures.plot import paths

    view = VIEWS.get(name, View(()))
    step = round(view.instant * (len(results.time) - 1))
    figure = paths(results, model, list(view.trace), step)
    figure.axes[0].set_title("")
    cylinders(figure, model, results, step)
    figure.set_size_inches(SHRINK * figure.get_size_inches())
    raw = io.BytesIO()
    figure.savefig(raw, format="png", dpi=300, bbox_inches="tight")
    image = Image.open(raw).convert("RGB")
    image = ImageOps.expand(image.crop(ImageOps.invert(image).getbbox()), MARGIN, "white")
    image.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def main(names: list[str]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for path in examples():
        if names and path.stem not in names:
            continue
        outcome = run(load(path), progress=print)
        if outcome.failure is not None:
            raise_failure(outcome.failure)
        picture = draw(outcome.model, outcome.results, path.stem)
        (PICTURES / f"{path.stem}.png").write_bytes(picture)
        print(f"{path.stem}: {len(picture) / 1000:.0f} kB")
    (DOCS / "gallery.md").write_text(page(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
