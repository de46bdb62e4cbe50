"""The demo ends with a table, a small residual and a picture."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "dyad.py"
RESIDUAL = 1e-12  # m²: lengths of 0.2 m squared, in rounding; the script prints some 1e-16
MIN_WIDTH = 800


def test_the_demo(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    picture = tmp_path / "out" / "dyad.png"
    assert f"picture: {Path('out', 'dyad.png')}" in done.stdout
    header = picture.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    width, _ = struct.unpack(">II", header[16:24])
    assert width >= MIN_WIDTH
    residual, apart = (float(v) for v in re.findall(r": (\S+e[+-]\d+) (?:m²|relative)", done.stdout))
    assert residual < RESIDUAL
    assert apart < RESIDUAL
