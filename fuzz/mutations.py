"""Does the campaign see a fault? Repairs are taken back one by one, in a copy of the package, and N cases are run.

    python -m fuzz.mutations [--count 200] [--only NAME]

Each is a wrong answer that a campaign once found: `make fuzz N=200` must find it again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).parents[1]
out = Console(width=None if Console().is_terminal else 120)


@dataclass(frozen=True)
class Mutation:
    """A repair taken back: what stands in a file of the package, and what stands there instead."""

    name: str
    file: str
    text: str
    instead: str


MUTATIONS = (
    Mutation(
        "whole turns of what is driven, at the start", "mechanism/assembly.py",
        "offset[k] = next_to(poses.angle[k], sign * values[driver.name]) - poses.angle[k]", "pass",
    ),
    Mutation(
        "whole turns between two instants", "common/turns.py",
        "return np.where(coarse, np.minimum", "return np.where(coarse & False, np.minimum",
    ),
    Mutation("turns of a torsion spring", "dynamics/load_kernels.py", "return next_to(angle, ahead)", "return angle"),
    Mutation(
        "inner steps behind a fast wheel", "motion/inner_times.py",
        "return refined(time, counts) if counts.max() > 1 else np.zeros(0)", "return np.zeros(0)",
    ),
    Mutation(
        "losses between two instants", "motion/branches.py",
        "elif not any(_mend(", "elif True or not any(_mend(",
    ),
    Mutation(
        "the own branch behind a change point", "motion/change_points.py",
        "found.sort(key=lambda f: f[0])", "found.sort(key=lambda f: -f[0])",
    ),
    Mutation(
        "digits at a change point at the end of a run", "motion/branches.py",
        "if whole and ends and (mark == JUMP", "if False and whole and ends and (mark == JUMP",
    ),
    Mutation(
        "drivers that turn back at a dead point", "motion/inner_times.py",
        "return time[k] + np.diff(time)[k] * rate[k] / (rate[k] - rate[k + 1])", "return time[:0]",
    ),
    Mutation("a point that leaves for infinity", "runtime/sequencer.py", "ASTRAY = 0.15", "ASTRAY = 1e9"),
    Mutation(
        "false losses: Newton on its way to an end", "motion/branches.py",
        "return np.union1d(path, between) if long.any() else path[:0]", "return path[:0]",
    ),
    Mutation(
        "false losses: steps too long for what hangs on them", "motion/branches.py",
        'if kind == "clear" and failed', 'if False and kind == "clear" and failed',
    ),
    Mutation(
        "branches of a simulation after a change of coordinates", "dynamics/instant_kinematics.py",
        "misses = [m.distance if posture is None else self._miss(place, step, m, posture) for m in modes]",
        "misses = [-m.distance for m in modes]",
    ),
    Mutation("the branch of the global methods", "motion/global_run.py", "NEAR_ENOUGH = 1e-6", "NEAR_ENOUGH = 1e9"),
    Mutation("the rotation of a rod", "runtime/rod_items.py", "area = 0.5 * (one - two)", "area = 0.0"),
)  # fmt: skip


def installed(folder: Path) -> Path:
    """Install a copy of the package there; it goes before the editable one on Python's path."""
    place = folder / "copy"
    command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-build-isolation", "--no-compile"]
    subprocess.run([*command, "--target", str(place), str(ROOT)], check=True)
    return place


def found(place: Path, mutation: Mutation, count: int, folder: Path) -> str:
    """Return what the campaign says of a repair that is taken back: the number of differences by family."""
    file = place / "assurgent" / mutation.file
    text = file.read_text("utf-8")
    if text.count(mutation.text) != 1:
        raise ValueError(f"{mutation.name}: {mutation.file} does not have it once: {mutation.text}")
    file.write_text(text.replace(mutation.text, mutation.instead), "utf-8")
    command = [sys.executable, "-m", "fuzz", "--count", str(count), "--patience", "0", "--out", str(folder / "out")]
    try:
        environment = {**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{ROOT}"}
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    finally:
        file.write_text(text, "utf-8")
    if run.returncode not in (0, 1):
        raise RuntimeError(run.stderr[-2000:])
    families = re.findall(r"^(?:different|broken): (\w+)", run.stdout, re.MULTILINE)
    return ", ".join(f"{family} {families.count(family)}" for family in dict.fromkeys(families))


def main(arguments: list[str] | None = None) -> int:
    """Take the repairs back one after the other; 1 where the campaign sees nothing wrong."""
    parser = argparse.ArgumentParser(prog="fuzz.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=200, metavar="N", help="cases (default %(default)s)")
    parser.add_argument("--only", metavar="NAME", help="only those with this in their name")
    options = parser.parse_args(arguments)
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = installed(folder)
        nothing = Mutation("nothing taken back", "motion/branches.py", "ROUNDS, FEW = 60, 8", "ROUNDS, FEW = 60, 8")
        for mutation in (nothing, *MUTATIONS):
            if options.only and options.only not in mutation.name:
                continue
            seen = found(place, mutation, options.count, folder)
            missed += bool(seen) == (mutation is nothing)
            shutil.rmtree(folder / "out", ignore_errors=True)
            out.print(f"{mutation.name}: {seen or 'no difference'}", markup=False, highlight=False, soft_wrap=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
