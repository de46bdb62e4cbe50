"""Writes docs/gallery.md and its pictures from the mechanism files in examples/: `python docs/gallery.py [NAME ...]`.

With names only those pictures are drawn anew; the page is always written whole.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from assurgent.mechanism.model import Model
from assurgent.mechanism.plans.planning import study
from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run
from assurgent.motion.outcome import raise_stop
from assurgent.motion.results import Results
from assurgent.pictures.still import still

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
PICTURES = DOCS / "images" / "gallery"


@dataclass(frozen=True)
class View:
    """What a picture shows: the points whose paths are drawn, and the instant as a share of the run."""

    trace: tuple[str, ...]
    instant: float = 0.0

    def time(self, model: Model) -> float:
        """Return the instant, with the digits that the page shows."""
        run = model.simulation
        return float(f"{run.start + self.instant * (run.stop - run.start):g}")


VIEWS: dict[str, View] = {
    "bennett": View(("B", "C")),
    "bricard": View(("C", "D"), 0.2),
    "cam-follower": View(("T",), 0.43),
    "car-differential": View(("A", "B"), 0.1),
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
    "schatz": View(("C", "M"), 0.1),
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
    instant = f" --instant {view.time(model):g}" if view.instant else ""
    freedom = f"mobility {structure.mobility}"
    if structure.count != structure.mobility:
        freedom += f" (by count {structure.count})"
    return (
        f"## [{model.name}](../examples/{path.name})\n\n"
        f"![{model.name}](images/gallery/{path.stem}.png)\n\n"
        f"{sentence(path)}\n\n"
        f"Groups {groups}; {freedom}.\n\n"
        f"    assurgent draw examples/{path.name}{trace}{instant} -o {path.stem}.png\n"
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


def draw(model: Model, results: Results, name: str) -> bytes:
    """Return the picture of one mechanism as a PNG file: that of the command on the page."""
    view = VIEWS.get(name, View(()))
    return still(results, model, view.trace or None, view.time(model))


def main(names: list[str]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for path in examples():
        if names and path.stem not in names:
            continue
        outcome = run(load(path), progress=print)
        if outcome.stop is not None:
            raise_stop(outcome.stop)
        picture = draw(outcome.model, outcome.results, path.stem)
        (PICTURES / f"{path.stem}.png").write_bytes(picture)
        print(f"{path.stem}: {len(picture) / 1000:.0f} kB")
    (DOCS / "gallery.md").write_text(page(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
