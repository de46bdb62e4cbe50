"""Files that the page offers for download and that it cannot make itself: CSV of a run, and a GIF."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from ..common.errors import InputError
from ..motion.results import Results
from .mechanism_text import Read
from .solve import solve
from .wire import Floats

FORMS = ("csv", "json", "gif", "html")
FRAMES_PER_SECOND = 25.0


def export(read: Read, kind: str, form: str, trace: list[str]) -> tuple[str, bytes]:
    """Return the name and the bytes of a file."""
    if form not in FORMS:
        raise InputError(f"{form[:20]!r}: the page exports {', '.join(FORMS)}")
    shown = solve(read, kind, lambda _: None)
    model, results = read.model, shown.results
    if model is None or not isinstance(results, Results) or len(results) < 2:
        raise InputError("there is no motion yet that could be written")
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in model.name) or "mechanism"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{stem}.{form}"
        if form in ("gif", "html"):
            from ..pictures.animate import animate

            known = [name for name in trace if name in results.points]
            animate(model, results, path, fps=FRAMES_PER_SECOND, trace=known or None)
        else:
            results.save(path)
        return path.name, path.read_bytes()


def packed_file(identifier: object, name: str, data: bytes) -> bytes:
    """Return a message with a file: its length in the header, its bytes filled up to whole floats."""
    floats = Floats()
    floats.put(np.frombuffer(data + b"\0" * (-len(data) % 8), "<f8"))
    return floats.message({"id": identifier, "file": name, "size": len(data)})
