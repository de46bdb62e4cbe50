"""The commands to start with: new, examples."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ..common.errors import InputError, nearest
from ..common.files import check_target, write_whole
from .console import out


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands to start with."""
    new = add("new", help="begin a mechanism file from one that works, with comments")
    new.add_argument("kind", metavar="KIND", help="four-bar, slider-crank, ... (`assurgent examples` lists them)")
    new.add_argument("file", metavar="FILE", help="the file to write (.toml)")
    examples = add("examples", help="list the mechanisms that come with the program, or copy them")
    examples.add_argument("--copy", metavar="FOLDER", help="write all of them into a folder")


def shipped() -> dict[str, str]:
    """Return the mechanism files that are installed, by name, as text."""
    folder = files("assurgent.examples")
    found = {item.name.removesuffix(".toml"): item for item in folder.iterdir() if item.name.endswith(".toml")}
    return {name: found[name].read_text("utf-8") for name in sorted(found)}


def sentence(text: str) -> str:
    """Return the first sentence of the comment at the head of a file."""
    head = re.match(r"(?:#.*\n)*", text)
    words = " ".join(line.lstrip("# ").strip() for line in (head[0] if head else "").splitlines())
    # the point of an abbreviation in brackets ends no sentence
    first = re.match(r"(?:\([^)]*\)|[^(])*?\.(?= |$)", words)
    return first[0] if first else words


def command_examples(options: argparse.Namespace) -> int:
    known = shipped()
    if options.copy is None:
        table = Table("name", "what it is")
        for name, text in known.items():
            table.add_row(escape(name), escape(sentence(text)))
        out.print(table)
        out.print("assurgent new NAME my.toml writes one of them to a file of yours", highlight=False)
        return 0
    folder = Path(options.copy)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be made: {error.strerror}") from None
    there = [name for name in known if (folder / f"{name}.toml").exists()]
    if there:
        raise InputError(f"{folder}: holds {there[0]}.toml already - give an empty folder, so that nothing is lost")
    for name, text in known.items():
        _write(folder / f"{name}.toml", text)
    out.print(f"wrote {len(known)} files into {escape(str(folder))}", highlight=False, soft_wrap=True)
    return 0


def command_new(options: argparse.Namespace) -> int:
    known, path = shipped(), Path(options.file)
    if options.kind not in known:
        near = nearest(options.kind, known)
        raise InputError(f"'{options.kind}' is no mechanism to start from{near} - there are {', '.join(known)}")
    check_target(path, (".toml",))
    if path.exists():
        raise InputError(f"{path}: is there already - choose another name, so that nothing is lost")
    _write(path, re.sub(r'(?m)^name( *)= ".*"$', f'name\\1= "{path.stem}"', known[options.kind], count=1))
    out.print(
        f"wrote {escape(str(path))} - try: assurgent run {escape(str(path))}, then plot, draw and animate",
        highlight=False,
        soft_wrap=True,
    )
    return 0


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda part: part.write_text(text, "utf-8", newline="\n"))


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"new": command_new, "examples": command_examples}
