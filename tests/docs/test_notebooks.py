"""The notebooks on designs run from a clean kernel and print what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.mark.parametrize(
    ("name", "printed", "pictures"),
    [
        ("sweep", ["as Grashof says: True", "agree with the sensitivities: True"], 1),
        ("synthesis", ["best below 0.05: True", "found [2.05, 6.1, 5.0]\nfound [2.05, 6.1, 5.0]"], 0),
    ],
)
def test_notebooks_on_designs_run(name: str, printed: list[str], pictures: int, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "store the notebook without outputs"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in outputs)
    for line in printed:
        assert line in text
    assert sum("image/png" in output.get("data", {}) for output in outputs) == pictures
