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


Edit = tuple[str, str, str]  # a file of the package, what stands there, and what stands there instead


@dataclass(frozen=True)
class Mutation:
    """A repair taken back."""

    name: str
    edits: tuple[Edit, ...]


BRANCHES, CHANGES, SEQUENCER = "motion/branches.py", "motion/change_points.py", "runtime/sequencer.py"
MUTATIONS = tuple(
    Mutation(name, tuple(edits))
    for name, *edits in (
        ("whole turns of racks at the start", (
            "mechanism/plans/planar.py", "- j.radius * (turn_of_pinion - turn_of_rack)",
            "- j.radius * (pinion.angle - rack.angle)",
        )),
        ("whole turns behind a fast wheel", (
            "motion/inner_times.py", "return refined(time, counts) if counts.max() > 1 else np.zeros(0)",
            "return np.zeros(0)",
        ), ("common/turns.py", "return np.where(coarse, np.minimum", "return np.where(coarse & False, np.minimum")),
        ("whole turns of joints and their torsion springs", (
            "runtime/output_items.py", "return begun(value) - value", "return 0.0",
        ), ("motion/measure.py", "first = begun(angle[0]) if stated", "first = angle[0] if stated")),
        ("losses between two instants", (BRANCHES, "elif not any(_mend(", "elif True or not any(_mend(")),
        ("the own branch behind a change point", (CHANGES, "sort(key=lambda f: f[0])", "sort(key=lambda f: -f[0])")),
        ("digits beside a change point", (
            "motion/course.py", "self.centre - 0.99 * self.spacing, self.centre + 0.99 * self.spacing",
            "self.centre, self.centre",
        )),
        ("drivers that rest at a change point", (CHANGES, "RESTING = 1e-4", "RESTING = -1.0")),
        ("points that leave for infinity", (SEQUENCER, "ASTRAY = 0.15", "ASTRAY = 1e9")),
        ("false losses of Newton", (
            BRANCHES, 'if kind == "clear" and failed and', 'if kind in ("clear", "through") and failed and',
        ), (
            BRANCHES, 'kind, times = "through", np.linspace(low, high, SAMPLES)', 'kind, times = "open", times[-1:]',
        )),
        ("branches that come near to each other", (
            SEQUENCER, "report[SUSPECTS] += orientation[k] != orientation[k + 1]", "pass",
        ), (SEQUENCER, "if not closed and orientation[k] != orientation[k + 1]:", "if False:"),
            (SEQUENCER, "FAR_OFF = 0.08", "FAR_OFF = 1e9"),
        ),
        ("branches of a simulation after a change of coordinates", (
            "dynamics/instant_kinematics.py",
            "misses = [m.distance if posture is None else self._miss(place, step, m, posture) for m in modes]",
            "misses = [-m.distance for m in modes]",
        )),
        ("the branch of the global methods", ("motion/global_run.py", "NEAR_ENOUGH = 1e-6", "NEAR_ENOUGH = 1e9")),
        ("starts half a turn away in space", (
            "templates/lane_assembly.py.jinja", '{{ "turned_at" if module.turns else "newton_at" }}', "newton_at",
        )),
        ("the rotation of rods", ("runtime/rod_items.py", "area = 0.5 * (one - two)", "area = 0.0")),
    )
)  # fmt: skip


def installed(folder: Path) -> Path:
    """Install a copy of the package there; it goes before the editable one on Python's path."""
    place = folder / "copy"
    command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-build-isolation", "--no-compile"]
    subprocess.run([*command, "--target", str(place), str(ROOT)], check=True)
    return place


def found(place: Path, mutation: Mutation, count: int, folder: Path) -> str:
    """Return what the campaign says of a repair that is taken back: the number of differences by family."""
    kept: dict[Path, str] = {}
    for name, text, instead in mutation.edits:
        file = place / "assurgent" / name
        here = file.read_text("utf-8")
        if here.count(text) != 1:
            raise ValueError(f"{mutation.name}: {name} does not have it once: {text}")
        kept.setdefault(file, here)
        file.write_text(here.replace(text, instead), "utf-8")
    command = [sys.executable, "-m", "fuzz", "--count", str(count), "--patience", "0", "--out", str(folder / "out")]
    try:
        environment = {**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{ROOT}"}
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    finally:
        for file, here in kept.items():
            file.write_text(here, "utf-8")
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
        nothing = Mutation("nothing taken back", ())
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
