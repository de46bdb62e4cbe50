"""A type of its own and a library in a folder of its own, for the tests of generation."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LADDER = """\
format = 1
name = "ladder-1"
title = "a ladder: its foot at d on the floor, its top at s on the wall"
space = "planar"

[dependent]
s = "length"

[independent]
d = "length"

[parameters]
L = "length"

[constraints]
ladder = "s^2 + d^2 = L^2"
"""
STATE = {"d": 1.3, "d_dot": 0.7, "d_ddot": -0.2, "L": 2.9}

SOLVE = """
import json, sys
import assurgent
d, d_dot, d_ddot, L = json.loads(sys.argv[1]).values()
report = []
ladder = assurgent.load("ladder-1", report.append)
s = ladder.position({"d": d}, {"L": L}, branch=+1)
s_dot = ladder.velocity(s, [d], [L], [d_dot])
s_ddot = ladder.acceleration(s, [d], [L], s_dot, [d_dot], [d_ddot])
loaded = sorted({"sympy", "jinja2"} & set(sys.modules))
print(json.dumps({"values": [*s, *s_dot, *s_ddot], "report": report, "loaded": loaded}))
"""


def expected_ladder() -> list[float]:
    """Position, velocity and acceleration of the ladder's top, from s = sqrt(L^2 - d^2) by hand."""
    d, d_dot, d_ddot, L = STATE.values()
    s = math.sqrt(L**2 - d**2)
    s_dot = -d * d_dot / s
    return [s, s_dot, -(d_dot**2 + d * d_ddot + s_dot**2) / s]


@dataclass(frozen=True)
class Library:
    """A user's library in a folder of its own, used from fresh processes as the user does."""

    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        return {"ASSURGENT_CACHE": str(self.folder / "cache"), "ASSURGENT_DATA": str(self.folder / "data")}

    def specification(self, text: str = LADDER) -> Path:
        """Write a specification as the user would, outside the library."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "ladder.toml"
        path.write_text(text, "utf-8")
        return path

    def start(self, path: Path) -> subprocess.Popen[str]:
        """Start `assurgent generate` in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "assurgent", "generate", str(path)],
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def generate(self, path: Path) -> tuple[str, str]:
        """Run `assurgent generate` and return what it wrote: result and progress."""
        return finish(self.start(path))

    def solve(self) -> dict[str, Any]:
        """Load the ladder in a fresh process; return values, reported lines and generator modules."""
        command = [sys.executable, "-c", SOLVE, json.dumps(STATE)]
        environment = {**os.environ, **self.variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def leftovers(self) -> list[Path]:
        """Return everything below the library that a finished write does not leave, lock files apart."""
        return list((self.folder / "cache").rglob(".staging-*"))

    def assert_works(self) -> None:
        """The library is whole, and its ladder gives the right numbers without the generator."""
        found = self.solve()
        assert found["values"] == pytest.approx(expected_ladder(), rel=1e-13)
        assert found["report"] == []
        assert found["loaded"] == []
        assert self.leftovers() == []


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process that has to succeed; return its two outputs."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err


def change_one_byte(path: Path) -> None:
    """Change one bit of the byte in the middle of a file; its length stays."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
