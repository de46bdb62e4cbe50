"""Write the report of a mechanism: .html, one page that needs nothing else, or .tex with its figures beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.files import check_target, write_whole
from ..mechanism.analysis_steps import structural_pairs
from ..mechanism.model import FRAME, Model
from ..pictures.diagram import structural_diagram
from ..pictures.plot import histories, paths
from ..pictures.points_of_interest import default_names
from .content import Content, Progress, gather
from .cycle import TRANSMITTING
from .latex import escaped, safe
from .mathml import mathml
from .report_figures import diagram_figure, own_ids, pdf, quality_figure, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".html", ".tex")


def write_report(
    model: Model, path: Path | str, verification: bool = True, progress: Progress = lambda _: None
) -> Content:
    """Write the report and return what it says; the content's `motion` tells whether the mechanism came to its end."""
    path = Path(path)
    ending = check_target(path, ENDINGS)
    content = gather(model, verification, progress)
    progress("pictures")
    figures, diagrams = _figures(content), _diagrams(content)
    if ending == ".html":
        drawn = {name: svg(figure, name) for name, figure in figures.items()}
        drawn |= {name: own_ids(text[text.index("<svg") :], name) for name, text in diagrams.items()}
        text = _rendered("report.html.jinja", content, drawn, autoescape=True)
    else:
        folder = path.with_name(f"{path.stem}-figures")
        folder.mkdir(exist_ok=True)
        places = {}
        for name, figure in (*figures.items(), *((n, diagram_figure(t)) for n, t in diagrams.items())):
            write_whole(folder / f"{name}.pdf", partial(pdf, figure))
            places[name] = f"{folder.name}/{name}.pdf"
        text = safe(_rendered("report.tex.jinja", content, places, autoescape=False))
    write_whole(path, lambda part: part.write_text(text, "utf-8", newline="\n"))
    return content


def _figures(content: Content) -> dict[str, Figure]:
    """Return the figures by name: the drawing, the motion over time, conditioning and transmission."""
    results, model = content.shown, content.model
    names = default_names(results, model)
    found = {"drawing": paths(results, model, names)}
    if names and len(results) > 1:
        found["motion"] = histories(results, names)
    if content.cycle is not None and content.cycle.groups:
        found["conditioning"] = quality_figure(content.cycle.groups)
    return found


def _diagrams(content: Content) -> dict[str, str]:
    """Return the kinematic graph with the structural diagram, and the structural graph, as SVG."""
    model, structure = content.model, content.structure
    return {
        "kinematic": structural_diagram(model, structure),
        "structural": structural_diagram(model, structure, structural_pairs(model, structure)),
    }


# ---- templates ----------------------------------------------------------------------------------------------------
def _rendered(template: str, content: Content, figures: dict[str, str], autoescape: bool) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    marks: dict[str, Any] = {}
    if not autoescape:  # braces are LaTeX's own
        marks = {"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<<",
                 "variable_end_string": ">>", "comment_start_string": "<#", "comment_end_string": "#>"}  # fmt: skip
    environment = Environment(
        loader=FunctionLoader(lambda name: files(__package__).joinpath(name).read_text("utf-8")),
        autoescape=autoescape, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **marks,
    )  # fmt: skip
    environment.filters |= FILTERS
    return environment.get_template(template).render(
        c=content, m=content.model, figures=figures, transmitting=TRANSMITTING, frame=FRAME, np=np
    )


def _number(value: float, digits: int = 5) -> str:
    return "0" if abs(value) < 1e-12 else f"{value:.{digits}g}"


def _error(value: float | None) -> str:
    return "–" if value is None else f"{value:.1e}"


FILTERS: dict[str, Callable[..., str]] = {
    "number": _number,
    "error": _error,
    "mathml": mathml,
    "degrees": lambda x: f"{np.degrees(x):.4g}",
    "tex": escaped,
    "listed": lambda names: ", ".join(names),
}
