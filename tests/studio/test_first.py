"""The first mechanism is computed while the browser starts, and given to the page that asks for it, once."""

from pathlib import Path

import numpy as np
import pytest

from assurgent.mechanism.reader import loads
from assurgent.motion.kinematics import run
from assurgent.studio import solve as solving
from assurgent.studio.desk import Desk
from assurgent.studio.first import First
from assurgent.studio.folder import Folder
from assurgent.studio.templates import template
from assurgent.studio.wire import unpacked


def begun(folder: Folder, name: str | None = None) -> First:
    first = First(folder, name)
    first.begin()
    first.wait()
    return first


def test_it_is_taken_once_and_only_for_its_own_text(tmp_path: Path) -> None:
    first, text = begun(Folder(tmp_path)), template("Four-bar")
    assert first.take(text + "# changed", "run") is None
    assert first.take(text, "inverse") is None
    shown = first.take(text, "run")
    assert shown is not None
    assert shown.results is not None
    expected = run(loads(text, "four-bar")).results
    assert np.array_equal(shown.results.points["C"].position, expected.points["C"].position)
    assert first.take(text, "run") is None, "a table beside the file may have changed since"


def test_the_page_is_answered_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leg.toml").write_text(template("Klann leg"), "utf-8")
    folder = Folder(tmp_path)
    first = begun(folder, "leg.toml")
    monkeypatch.setattr("assurgent.studio.desk.solve", lambda *_: pytest.fail("computed a second time"))
    request = {"id": 5, "text": folder.read("leg.toml")}
    header, _ = unpacked(Desk(folder, first).solving(request, lambda _: None).whole())
    assert header["id"] == 5
    assert header["problem"] is None
    assert "F.x" in header["series"]


def test_pages_do_not_wait_where_a_type_must_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told of the making, pages go on: theirs is the answer in absolute coordinates meanwhile."""
    made, told = [], []

    def long(read: object, kind: str, progress: solving.Progress) -> None:
        progress("a new group type")
        told.append(first._settled.is_set())
        made.append(kind)

    monkeypatch.setattr(solving, "solve", long)
    first = First(Folder(tmp_path), None)
    first._compute()
    assert told == [True]
    assert made == ["run"]


def test_a_file_that_cannot_be_read_keeps_nobody_waiting(tmp_path: Path) -> None:
    assert begun(Folder(tmp_path), "missing.toml").take("", "run") is None
