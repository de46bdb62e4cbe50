"""The vendored libraries are those whose hashes are kept, with their licences; our own modules stay small."""

import hashlib
import re
import subprocess
import sys
import zipfile
from io import BytesIO
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


def test_the_page_asks_for_all_its_modules_at_once() -> None:
    """One round trip instead of one for each level of imports; what only some pages need is not among them."""
    page = (STATIC / "index.html").read_text("utf-8")
    wanted = re.findall(r'modulepreload" href="/static/([^"]+)"', page)
    reached, open_ = set(), ["js/main.js"]
    while open_:
        name = open_.pop()
        if name not in reached:
            reached.add(name)
            text = (STATIC / name).read_text("utf-8")
            found = re.findall(r"""^(?:import|export) .*?from ["']([^"']+)["']""", text, re.MULTILINE)
            open_ += [str((STATIC / name).parent.joinpath(f).resolve().relative_to(STATIC.resolve())) for f in found]
    assert sorted(wanted) == sorted(reached)
    assert not {"js/spatial.js", "vendor/three.js"} & reached


def test_the_studio_adds_little_to_the_wheel() -> None:
    """At most 1.5 MB, compressed as in a wheel."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in (*STATIC.rglob("*.*"), *STATIC.parent.glob("*.py")):
            if file.is_file():
                wheel.write(file, file.name)
    assert data.tell() < 1_500_000
    print(f"\nthe studio in the wheel: {data.tell() / 1e6:.2f} MB")


def test_nothing_else_loads_the_studio() -> None:
    code = (
        "import sys, assurgent, assurgent.cli.commands; assurgent.Mechanism; "
        "print([m for m in sys.modules if 'studio.' in m or m.split('.')[0] in ('tornado', 'tomlkit')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
