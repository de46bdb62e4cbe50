"""The moving mechanism in a page that stands alone and in a notebook's widget: the studio's own modules, bundled."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.studio.viewer import module
from assurgent.studio.wire import unpacked

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_page_stands_alone_and_moves(browser: Any, tmp_path: Path) -> None:
    mechanism = Mechanism.load(EXAMPLES / "four-bar.toml")
    text = mechanism.to_html()
    assert not re.search(r"(src|href)=.https?:|@import|url\(", text)
    (tmp_path / "page.html").write_text(text, "utf-8")
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    body = page.locator("#viewer .scene g[data-body=crank]").first
    before = body.get_attribute("transform")
    page.wait_for_function(
        "b => document.querySelector('#viewer g[data-body=crank]').getAttribute('transform') !== b", arg=before
    )
    assert wrong == []
    page.close()


def test_names_in_a_lone_page_are_never_markup() -> None:
    mechanism = Mechanism.load(EXAMPLES / "four-bar.toml")
    mechanism.name = "</title></script><script>alert(1)</script>"
    assert "<script>alert(1)" not in mechanism.to_html()


def test_two_views_do_not_share_a_state() -> None:
    text = module()
    assert text.startswith("function mount(")
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def test_the_widget_holds_the_motion() -> None:
    mechanism = Mechanism.load(EXAMPLES / "four-bar.toml")
    results = mechanism.run()
    widget = mechanism.widget(results, height=300)
    header, floats = unpacked(widget.data)
    start, rows, _ = header["series"]["P.x"]["f"]
    assert np.array_equal(floats[start : start + rows], results.points["P"].position[:, 0])
    assert widget.height == 300
    assert "export default" in str(widget._esm)


@pytest.mark.parametrize("name", ["rssr"])
def test_spatial_mechanisms_have_a_page(name: str) -> None:
    mechanism = Mechanism.load(EXAMPLES / f"{name}.toml")
    assert "<svg" in mechanism.to_html() or "<canvas" in mechanism.to_html()
    assert mechanism.widget().page
