"""Hostile inputs as cases: what lies in the folder, and the command that a user gives there."""

# ruff: noqa: E501 - lists of nonsense are as wide as they come
from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import hostile_files as files
from .hostile_words import NONSENSE, OPTIONS, SETTINGS, SOURCES, TARGETS

FILE = "m.toml"
OLD = b"an old result\n"


@dataclass
class Case:
    """One input: files (bytes, or what makes them), the command's arguments, and the largest file that can be written."""

    kind: str
    arguments: list[str]
    files: dict[str, bytes | Callable[[Path], object]] = field(default_factory=dict)
    room: int | None = None  # bytes; None: as much as the disk has

    def lay_out(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                content(path)


def _plain(rng: random.Random) -> bytes:
    names = ("four-bar", "slider-crank", "rssr", "quick-return", "scissor-lift", "dynamics/sprung-four-bar")
    return (files.ROOT / "examples" / f"{rng.choice(names)}.toml").read_bytes()


# Commands by how often they are tried; pictures and simulations take longer than the others.
COMMANDS = ("run",) * 8 + ("structure",) * 5 + ("inverse",) * 5 + ("simulate",) * 3 + ("equilibrium",) * 2
PICTURES = ("plot", "animate")
ENDINGS = {"plot": (".png", ".svg", ".pdf"), "animate": (".svg", ".html")}
RESULTS = (".csv", ".json", ".parquet", ".nc", ".npz")


def command(rng: random.Random, name: str = FILE) -> list[str]:
    """Return the arguments of a command on a mechanism file."""
    chosen = rng.choice(PICTURES) if rng.random() < 0.06 else rng.choice(COMMANDS)
    found = [chosen, name]
    if chosen == "structure":
        return found + rng.choice(([], ["--json"], ["--svg", "out.svg"]))
    if chosen == "equilibrium":
        return found + rng.choice(([], ["--json"]))
    if chosen in ENDINGS:
        found += ["-o", "out" + rng.choice(ENDINGS[chosen]), "--at", "0,0.05,0.1"]
        return found + (["--fps", "5"] if chosen == "animate" else [])
    if rng.random() < 0.5:
        found += ["-o", "out" + rng.choice(RESULTS)]
    if chosen == "simulate" or rng.random() < 0.6:
        found += ["--at", rng.choice(("0,0.1", "0", "0,0.01,0.02"))]
    if chosen == "run":
        found += rng.choice(([], [], ["--method", rng.choice(("3ot", "global", "global-sparse"))], ["--jerk"]))
    if chosen == "simulate" and rng.random() < 0.3:
        found += ["--method", "global"]
    if chosen == "inverse" and rng.random() < 0.3:
        found += ["--method", rng.choice(("tangent", "inverse"))]
    return found


def mechanism(rng: random.Random) -> Case:
    """A mechanism file that is spoilt."""
    return Case("mechanism", command(rng), {FILE: files.spoilt_mechanism(rng)})


def odd(rng: random.Random) -> Case:
    """A mechanism file that is extreme as a whole."""
    return Case("odd file", command(rng), {FILE: files.odd_mechanism(rng)})


def formula(rng: random.Random) -> Case:
    """A formula that is wrong, too long, too deep or out of its domain, wherever one may stand."""
    text = json.dumps(files.spoilt_formula(rng))
    where = rng.choice(("angle", "parameter", "length", "point", "step", "force", "profile", "mass"))
    if where == "profile":
        plain = (files.ROOT / "examples" / "cam-follower.toml").read_text("utf-8")
        plain = re.sub(r'profile\s*=\s*"[^"]*"', lambda _: f"profile = {text}", plain)
        return Case("formula", command(rng), {FILE: plain.encode()})
    values = {"angle": "1 + t", "parameter": "2", "length": "p", "point": "0", "step": "0.1", "force": "1", "mass": "1"}
    values = {key: text if key == where else f'"{value}"' for key, value in values.items()}
    plain = f"""format = 1
space = "planar"
gravity = [0, -9.81]
[parameters]
p = {values["parameter"]}
[points]
A = [{values["point"]}, 0]
B = [0, 2]
C = [5, 5]
D = [6, 0]
[bodies]
frame = {{ points = ["A", "D"] }}
crank = {{ points = ["A", "B"], length = {values["length"]}, mass = {values["mass"]}, inertia = 1 }}
rod = {{ points = ["B", "C"], length = 6, mass = 1 }}
rocker = {{ points = ["D", "C"], length = 6 }}
[joints]
A = {{ type = "R", bodies = ["frame", "crank"], at = "A" }}
B = {{ type = "R", bodies = ["crank", "rod"], at = "B" }}
C = {{ type = "R", bodies = ["rod", "rocker"], at = "C" }}
D = {{ type = "R", bodies = ["frame", "rocker"], at = "D" }}
[drivers]
theta = {{ joint = "A", angle = {values["angle"]} }}
[forces]
push = {{ body = "rod", point = "C", force = [{values["force"]}, 0] }}
[simulation]
stop = 0.2
step = {values["step"]}
"""
    arguments = command(rng)
    if arguments[0] in ("simulate", "equilibrium") and where != "angle":
        plain = plain.replace("[drivers]\ntheta", "[initial]\ntheta").replace('angle = "1 + t"', "angle = 1")
    return Case("formula", arguments, {FILE: plain.encode()})


def table(rng: random.Random) -> Case:
    """A table of a driver or a cam that is spoilt, or whose name is."""
    name = (
        "x.csv"
        if rng.random() < 0.8
        else rng.choice((".", "..", "", "/dev/zero", "/etc/passwd", "no.csv", "a\\u0000", "x/" * 200))
    )
    if rng.random() < 0.3:
        plain = (files.ROOT / "examples" / "cam-follower.toml").read_text("utf-8")
        text = re.sub(r'profile\s*=\s*"[^"]*"', lambda _: f'profile = {{ table = "{name}" }}', plain)
    else:
        plain = (files.ROOT / "examples" / "four-bar.toml").read_text("utf-8")
        text = re.sub(r'angle\s*=\s*"[^"]*"', lambda _: f'table = "{name}"', plain)
    return Case("table", command(rng), {FILE: text.encode(), "x.csv": files.spoilt_table(rng)})


def specification(rng: random.Random) -> Case:
    """A specification of a type that is spoilt."""
    return Case("specification", ["generate", "s.toml"], {"s.toml": files.spoilt_specification(rng)})


def furnished(rng: random.Random) -> dict[str, bytes | Callable[[Path], object]]:
    """Return a folder with all that paths can be, and old results."""
    found: dict[str, bytes | Callable[[Path], object]] = {
        FILE: _plain(rng),
        "folder": Path.mkdir,
        "folder.csv": Path.mkdir,
        "fifo.csv": os.mkfifo,
        "dangling.csv": lambda path: path.symlink_to("nowhere/at-all.csv"),
        "loop.csv": lambda path: path.symlink_to("loop.csv"),
        "full.csv": lambda path: path.symlink_to("/dev/full"),
    }
    for ending in (*RESULTS, ".png", ".svg", ".html"):
        found[f"old{ending}"] = OLD
    return found


def options(rng: random.Random) -> Case:
    """A whole mechanism, and options that make no sense."""
    arguments = command(rng)
    for _ in range(rng.randrange(1, 3)):
        option = rng.choice(OPTIONS)
        pool = SETTINGS if option == "--set" else TARGETS if option in ("-o", "--svg") else NONSENSE
        extra = [option] if rng.random() < 0.15 else [option, rng.choice(pool)]
        if rng.random() < 0.2:
            extra = ["=".join(extra)]
        at = rng.choice((1, len(arguments)))
        arguments[at:at] = extra
    return Case("options", arguments, furnished(rng))


def paths(rng: random.Random) -> Case:
    """A file to read or to write that is no usual file."""
    arguments = command(rng)
    if rng.random() < 0.5:
        arguments[1] = rng.choice(SOURCES)
        if rng.random() < 0.2:
            arguments = ["generate", rng.choice(SOURCES)]
    else:
        arguments = [*arguments[:2], "--at", "0,0.1"]
        if arguments[0] in ("structure", "equilibrium"):
            arguments = ["structure", FILE, "--svg", rng.choice(TARGETS)]
        else:
            arguments += ["-o", rng.choice(TARGETS)]
    return Case("paths", arguments, furnished(rng))


def full_disk(rng: random.Random) -> Case:
    """A result that finds no room; the old one stays."""
    chosen = rng.choice(("run", "run", "inverse", "structure", "plot", "animate"))
    endings = {"structure": (".svg",), **ENDINGS}.get(chosen, RESULTS)
    option = ["--svg"] if chosen == "structure" else ["--at", "0,0.05,0.1", "-o"]
    return Case(
        "full disk",
        [chosen, FILE, *option, "old" + rng.choice(endings)],
        furnished(rng),
        rng.choice((0, 10, 500, 2000)),
    )


def lists(rng: random.Random) -> Case:
    """The commands on types, and the bare command."""
    names = (
        "",
        "RRR",
        "rrr",
        "RRRR",
        "R",
        "../R",
        "\x00",
        "3R",
        "nonsense",
        "--",
        "-",
        "m.toml",
        "RR[P]R",
        "a" * 300,
        "{0}",
    )
    choices: tuple[list[str], ...] = (
        ["types", *rng.choice(([], ["--json"], ["x"], ["--x"]))],
        ["show", rng.choice(names), *rng.choice(([], ["--latex"], ["--source"]))],
        ["show"],
        ["verify", *(["R", "-n", "1"] if rng.random() < 0.1 else ["nonsense"])],
        ["verify", rng.choice(names), "-n", rng.choice(NONSENSE)],
        ["verify", "RRQ", "--bound", rng.choice(NONSENSE), "-n", "1"],
        [],
        [
            rng.choice(
                ("", "rn", "-h", "--version", "run", "\x00", "run run", "Ω", "simulat", "bench --help", "--", "-")
            )
        ],
    )
    return Case("lists", list(rng.choice(choices)), furnished(rng))


KINDS: tuple[tuple[Callable[[random.Random], Case], int], ...] = (
    (mechanism, 52), (odd, 4), (formula, 14), (table, 4), (specification, 6), (options, 9), (paths, 7), (full_disk, 2), (lists, 2)
)  # fmt: skip


def case(seed: int, number: int) -> Case:
    """Return one input, the same for the same numbers."""
    rng = random.Random(f"{seed}:{number}")
    make = rng.choices([kind for kind, _ in KINDS], [share for _, share in KINDS])[0]
    return make(rng)


def cleared(folder: Path) -> None:
    """Empty a folder."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
