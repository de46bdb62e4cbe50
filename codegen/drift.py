"""The checked-in library: write `generated/` from `codegen/groups/`, or show where it has drifted from them.

python -m assurgent.codegen.drift            compare, under three hash seeds; exit 1 on any difference
python -m assurgent.codegen.drift --write    write the library anew
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path

from ..common.errors import AssurgentError
from .generate import compile_spec
from .joint_module import joint_module
from .signature import signature
from .specification_reader import read_spec


def package_folder(name: str) -> Path:
    """Return the folder of a sub-package."""
    return Path(str(files(f"assurgent.{name}")))


HASH_SEEDS = ("0", "1", "4711")
TOOLS = ("sympy", "numba", "numpy", "jinja2")
# Order of the library: driven bodies, dyads, larger groups, then space.
ORDER = (
    "R",
    "P",
    "1R",
    "RRR",
    "RRP",
    "RPR",
    "PRP",
    "RPP",
    "RR[P]R",
    "RRR-t",
    "triad-6R",
    "R3D",
    "1R3D",
    "2S1P",
    "2E1P",
    "RSSR",
    "R-spatial",
    "P-spatial",
    "SSR",
    "SSP",
    "leg-U[P]S",
    "RRR-spatial",
    "RRRRR-spatial",
    "wishbone",
    "mcpherson",
    "platform-rods",
    "platform-distances",
    "platform-U[P]S",
)


def build(target: Path) -> None:
    """Write every type's module, the package file and the manifest into a folder; files whose text is the same stay."""
    target.mkdir(parents=True, exist_ok=True)
    specs = [read_spec(p) for p in sorted((package_folder("codegen") / "groups").glob("*.toml"))]
    specs.sort(key=lambda s: (ORDER.index(s.name) if s.name in ORDER else len(ORDER), s.name))
    entries, texts = (
        [],
        {"__init__.py": '"""The emitted library: one module per group type, listed in manifest.json."""\n'},
    )
    for spec in specs:
        name = Path(spec.origin).name
        module = compile_spec(spec, f"codegen/groups/{name}").module
        texts[f"{module.module}.py"] = module.text
        equations = signature(tomllib.loads(spec.text))
        entries.append(
            {
                "name": spec.name,
                "aliases": list(spec.aliases),
                "module": module.module,
                "title": spec.title,
                "space": spec.space,
                "specification": name,
                "specification_sha256": hashlib.sha256(spec.text.encode()).hexdigest(),
                "sha256": hashlib.sha256(module.text.encode()).hexdigest(),
                "signature": equations.digest,
                "order": list(equations.order),
            }
        )
    texts["joints/__init__.py"] = '"""The emitted joints in absolute coordinates: one module per space."""\n'
    texts |= {f"joints/{space}.py": joint_module(space).text for space in ("planar", "spatial")}
    tools = {tool: importlib.metadata.version(tool) for tool in TOOLS}
    texts["manifest.json"] = (
        json.dumps({"format": 1, "tools": tools, "types": entries}, indent=1, ensure_ascii=False) + "\n"
    )
    for name, text in texts.items():
        path = target / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_bytes() != text.encode():
            path.write_text(text, "utf-8", newline="\n")
    for stale in emitted(target).keys() - texts.keys():
        (target / stale).unlink()


def emitted(folder: Path) -> dict[str, Path]:
    """Return all files of a library by their names in it."""
    return {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.suffix in (".py", ".json")}


def differences(ours: Path, fresh: Path) -> list[str]:
    """Return what differs: files missing or left over, and unified diffs. The manifest's tool versions do not count."""

    def files(folder: Path) -> dict[str, str]:
        found = {name: path.read_text("utf-8") for name, path in emitted(folder).items()}
        if "manifest.json" in found:
            manifest = json.loads(found["manifest.json"])
            manifest.pop("tools", None)
            found["manifest.json"] = json.dumps(manifest, indent=1, ensure_ascii=False)
        return found

    left, right = files(ours), files(fresh)
    lines = [f"generated/{n}: not made by any specification" for n in sorted(left.keys() - right.keys())]
    lines += [f"generated/{n}: missing" for n in sorted(right.keys() - left.keys())]
    for name in sorted(left.keys() & right.keys()):
        if left[name] != right[name]:
            diff = difflib.unified_diff(
                left[name].splitlines(),
                right[name].splitlines(),
                f"generated/{name}",
                f"{name} made anew",
                lineterm="",
                n=1,
            )
            lines += list(diff)[:40]
    return lines


def check() -> int:
    """Compare the library with what three fresh processes make of the specifications, each with another hash seed."""
    ours = package_folder("generated")
    status = 0
    with tempfile.TemporaryDirectory(prefix="assurgent-drift-") as folder:
        jobs = []
        for seed in HASH_SEEDS:
            command = [sys.executable, "-m", "assurgent.codegen.drift", "--into", str(Path(folder) / seed)]
            jobs.append((seed, subprocess.Popen(command, env={**os.environ, "PYTHONHASHSEED": seed})))
        for seed, job in jobs:
            if job.wait() != 0:
                return 1
            found = differences(ours, Path(folder) / seed)
            if found:
                print(f"hash seed {seed}: the library has drifted from its specifications:", *found, sep="\n")
                status = 1
    if status:
        print("\nto update it: python -m assurgent.codegen.drift --write")
    else:
        print(f"generated/ is what the specifications give, byte for byte, under hash seeds {', '.join(HASH_SEEDS)}")
    return status


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m assurgent.codegen.drift",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="write the library anew")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        if options.into:
            build(options.into)
            return 0
        if options.write:
            build(package_folder("generated"))
            return 0
        return check()
    except AssurgentError as error:
        print(f"drift: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
