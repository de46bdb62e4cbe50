"""The vendored libraries are those whose hashes are kept, with their licences; our own modules stay small."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

STATIC = Path(__file__).parents[2] / "studio" / "static"
VENDOR = STATIC / "vendor"


def test_vendored_files_are_those_of_the_hash_file() -> None:
    kept = dict(line.split("  ")[::-1] for line in (VENDOR / "SHA256SUMS.txt").read_text("utf-8").splitlines())
    found = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in VENDOR.iterdir() if f.name != "SHA256SUMS.txt"}
    assert found == kept
    for name in ("uplot", "three", "stix-two-math"):
        assert "Copyright" in (VENDOR / f"{name}.LICENSE.txt").read_text("utf-8")


def test_modules_are_small_and_import_only_what_is_there() -> None:
    for module in (STATIC / "js").glob("*.js"):
        text = module.read_text("utf-8")
        assert text.count("\n") <= 400, module.name
        for name in re.findall(r"""(?:from|import\()\s*["']([^"']+)["']""", text):
            assert name.startswith("."), f"{module.name} imports {name}"
            assert (module.parent / name).resolve().is_file(), f"{module.name} imports {name}"


def test_nothing_else_loads_the_studio() -> None:
    code = (
        "import sys, assurgent, assurgent.cli.commands; assurgent.Mechanism; "
        "print([m for m in sys.modules if 'studio.' in m or m.split('.')[0] in ('tornado', 'tomlkit')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
