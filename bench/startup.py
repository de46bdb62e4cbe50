"""What users wait for: imports, start of the program with and without caches, first result, new types.

Every measurement is of a new process; cold ones have cache folders of their own, so that the user's are left alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .claims import Claim
from .data_files import FOLDER
from .printed_tables import machine, show, table

ROUNDS = 3
USUAL_TYPES = ("RRR", "RRP", "triad-6R", "2S1P", "SSR")
NUMBA = "import numba"


@dataclass(frozen=True, order=True)
class Wait:
    """Seconds of wall time and of processor time of a process: far apart where the machine is busy otherwise."""

    wall: float
    processor: float


def seconds(command: Sequence[str], environment: Mapping[str, str], rounds: int) -> Wait:
    """Return the least time of a command over some rounds."""
    found = []
    for _ in range(rounds):
        begin, used = time.perf_counter(), os.times()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        after = os.times()
        children = after.children_user + after.children_system - used.children_user - used.children_system
        found.append(Wait(time.perf_counter() - begin, children))
    return min(found)


def fresh(folder: Path) -> dict[str, str]:
    """Return the environment with empty folders for machine code, types and the signing key."""
    own = {"NUMBA_CACHE_DIR": "numba", "ASSURGENT_CACHE": "cache", "ASSURGENT_DATA": "data"}
    return {**os.environ, **{name: str(folder / part) for name, part in own.items()}}


def usual(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Python keeps the byte code of what it imports, as it does for users."""
    return {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(rounds: int = ROUNDS) -> dict[str, Wait]:
    """Return the times by what is waited for, the least of some rounds."""
    python = sys.executable

    def imports(text: str) -> list[str]:
        return [python, "-c", text]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        four_bar, triad = FOLDER / "four-bar.toml", FOLDER / "triad-with-slider.toml"

        def run(file: Path) -> list[str]:
            return [python, "-m", "assurgent", "run", str(file)]

        warm, cold = usual(os.environ), usual(fresh(folder / "cold"))
        # the shipped types' machine code is there, the new type is not
        new = {**warm, "ASSURGENT_CACHE": str(folder / "new"), "ASSURGENT_DATA": str(folder / "key")}
        seconds(run(four_bar), warm, 1)  # so that the caches are warm
        return {
            "python": seconds(imports("pass"), warm, rounds),
            NUMBA: seconds(imports(NUMBA), warm, rounds),
            "import assurgent": seconds(imports("import assurgent"), warm, rounds),
            "assurgent --help": seconds([python, "-m", "assurgent", "--help"], warm, rounds),
            "run four-bar, warm": seconds(run(four_bar), warm, rounds),
            "run four-bar, caches empty": seconds(run(four_bar), cold, 1),
            "run four-bar, caches filled": seconds(run(four_bar), cold, rounds),
            "run with a new triad type": seconds(run(triad), new, 1),
            "run with that type, second time": seconds(run(triad), new, rounds),
        }


def claims(found: Mapping[str, Wait]) -> list[Claim]:
    """Return what users may expect of the processor; the wall time is longer where others keep the machine busy."""
    warm = found["run four-bar, warm"].processor - found[NUMBA].processor
    second = found["run with that type, second time"].processor - found[NUMBA].processor
    first = found["run with a new triad type"].processor
    return [
        Claim("s of processor time: warm `assurgent run` over `import numba`", warm, 0.5, False),
        Claim("s of processor time: mechanism with a new triad type, first time", first, 5, False),
        Claim("s of processor time: the same over `import numba`, second time", second, 1.5, False),
    ]


def type_stages(name: str) -> dict[str, float]:
    """Return seconds of each stage of making a shipped type anew, in a store of its own."""
    from ..codegen.specification_reader import parse_spec
    from ..runtime.library_build import find_specification, generate_type
    from ..runtime.store import Store

    text = find_specification(name).text
    lines = [line for line in text.splitlines() if not line.startswith("aliases")]
    own = [f'name = "startup-{i}"' if line.startswith("name = ") else line for i, line in enumerate(lines)]
    found: dict[str, float] = {}

    def stage(title: str, took: float, outcome: str) -> None:
        found[title] = found.get(title, 0.0) + took

    with tempfile.TemporaryDirectory() as folder:
        generate_type(parse_spec("\n".join(own) + "\n", f"{name}.toml"), store=Store(Path(folder)), progress=stage)
    return found


def startup_table(found: Mapping[str, Wait]) -> Table:
    """Return the measurements with what they cost over importing Numba, which every run needs."""
    result = table(
        "start-up of new processes: seconds, and wall time beside `import numba`",
        ("what", "wall", "processor", "over numba", "/ numba"),
    )
    for name, wait in found.items():
        over, ratio = wait.wall - found[NUMBA].wall, wait.wall / found[NUMBA].wall
        result.add_row(name, f"{wait.wall:.2f}", f"{wait.processor:.2f}", f"{over:+.2f}", f"{ratio:.1f}")
    return result


def types_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """Return the stages of making types: symbolic work, machine code, verification."""
    result = table(
        "making a type: seconds, without imports",
        ("type", "derive", "closed form", "kernels", "emit", "compile", "verify", "all"),
    )
    for name, stages in found.items():
        parts = [
            stages.get("derive", 0.0) + stages.get("rank", 0.0),
            *(stages.get(key, 0.0) for key in ("positions", "kernels", "emit", "compile", "verify")),
        ]
        result.add_row(name, *(f"{x:.2f}" for x in (*parts, sum(parts))))
    return result


def report(out: Console, every: bool) -> dict[str, Any]:
    """Measure and print; return what the --json file has."""
    from ..runtime.library import manifest

    out.print(machine(), highlight=False)
    found = measure()
    show(out, startup_table(found))
    for claim in claims(found):
        out.print(str(claim), highlight=False)
    names = [e.name for e in manifest()] if every else USUAL_TYPES
    type_stages(USUAL_TYPES[0])  # what a process compiles but once
    types = {name: type_stages(name) for name in names}
    out.print()
    show(out, types_table(types))
    return {"machine": machine(), "seconds": {name: vars(w) for name, w in found.items()}, "types": types}
