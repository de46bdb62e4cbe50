"""What a notebook shows of a mechanism: its drawing with its groups, and films without a file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assurgent.common.errors import AssurgentError

if TYPE_CHECKING:
    from assurgent.mechanism.model import Model
    from assurgent.motion.results import Results

    from .facade import Mechanism

HEIGHT = 640  # pixels of a film's frame


@dataclass(frozen=True)
class NotebookFilm:
    """A film that a notebook shows; `page` is its HTML."""

    page: str

    def _repr_html_(self) -> str:
        # in a frame of its own, which runs nothing but the page's script and reaches nothing outside
        frame = 'sandbox="allow-scripts" style="width:100%;border:0"'
        return f'<iframe {frame} height="{HEIGHT}" srcdoc="{escape(self.page)}"></iframe>'


def film(model: Model, results: Results, **options: Any) -> NotebookFilm:
    """Return the film of results, made as the page of `animate`."""
    from assurgent.pictures.animate import animate

    with tempfile.TemporaryDirectory() as folder:
        path = animate(model, results, Path(folder) / "film.html", **options)
        return NotebookFilm(path.read_text("utf-8"))


def shown(mechanism: Mechanism) -> str:
    """Return the drawing of a mechanism at its start, and its groups; or why there is none."""
    from assurgent.mechanism.plans.planning import study
    from assurgent.motion.kinematics import run

    try:
        model = mechanism.model()
        structure = study(model)
    except AssurgentError as error:
        return f"<pre>{escape(str(error))}</pre>"
    table = structure._repr_html_()
    try:
        drawing = _drawing(model, run(model).results)
    except AssurgentError as error:  # without drivers, or without an assembly
        drawing = f"<pre>{escape(str(error))}</pre>"
    return f"<b>{escape(model.name or 'mechanism')}</b><br>{drawing}{table}"


def _drawing(model: Model, results: Results) -> str:
    from base64 import b64encode

    from assurgent.pictures.still import still

    if not len(results):
        return ""
    picture = b64encode(still(results, model)).decode()
    return f'<img alt="{escape(model.name)}" src="data:image/png;base64,{picture}">'
