"""In a notebook a mechanism, its structure and its films show themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assurgent import four_bar

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_mechanism_shows_itself() -> None:
    m = four_bar(0.4, 0.1, 0.3, 0.25)
    m.name = "<b>mine</b>"
    page = m._repr_html_()
    assert "data:image/png;base64," in page
    assert "<td>RRR_1</td>" in page
    assert "&lt;b&gt;mine" in page
    assert "<b>mine" not in page
    assert "mobility 1" in m.structure()._repr_html_()
    m.drivers.clear()
    assert "driver" in m._repr_html_()  # no drawing, but why
    m.joints["A"]["at"] = "Q"
    assert m._repr_html_().startswith("<pre>")


def test_a_film_without_a_file(tmp_path: Path) -> None:
    m = four_bar(0.4, 0.1, 0.3, 0.25)
    r = m.run(np.linspace(0, 1, 12).tolist())
    film = m.animate(r, fps=5, seconds=2)
    assert not isinstance(film, Path)
    shown = film._repr_html_()
    assert shown.startswith("<iframe sandbox=")
    assert "&lt;canvas" in shown
    written = m.animate(r, tmp_path / "x.html", fps=5, seconds=2)
    assert isinstance(written, Path)
    assert written.read_text("utf-8") == film.page
