"""Bundle the page's libraries into studio/static/vendor: the same bytes every time, with licences and hashes beside.

Run by `make vendor` after `npm ci --ignore-scripts`; needs fontTools and brotli. Nobody else needs Node.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
PLACE = HERE.parent / "studio" / "static" / "vendor"
TARGET = HERE / "node_modules" / ".made"  # moved to its place when everything is there
BUNDLES = {"uplot.js": "uplot/dist/uPlot.esm.js", "three.js": None}
LICENCES = {"uplot": "uplot/LICENSE", "three": "three/LICENSE", "stix-two-math": "@fontsource/stix-two-math/LICENSE"}
FONT = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2"
# Letters and digits, Greek, combining dots, arrows, operators and brackets, and the mathematical alphabets in italic.
CHARACTERS = (
    "20-7E,A0-FF,131,237,302-30A,370-3FF,2010-2044,2070-209F,20D0-20DC,2102-2135,2190-21FF,2200-22FF,"
    "2308-230B,239B-23AE,27E6-27EB,2A00-2A0C,2A2F,1D434-1D467,1D6A4-1D6E1"
)


def bundle(name: str, entry: Path) -> None:
    """Write one minified ES module."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "win32"}[sys.platform]
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine().lower()]
    tool = MODULES / "@esbuild" / f"{system}-{machine}" / "bin" / "esbuild"
    options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none"]
    subprocess.run([tool, entry, *options, "--log-level=warning", f"--outfile={TARGET / name}"], cwd=HERE, check=True)


def font() -> None:
    """Write the part of STIX Two Math that our formulas use, with its MATH table."""
    from fontTools import subset

    options = [
        "--flavor=woff2",
        "--layout-features=*",
        "--no-hinting",
        f"--unicodes={CHARACTERS}",
        f"--output-file={TARGET / 'stix-two-math.woff2'}",
        "--no-recalc-timestamp",
    ]
    subset.main([str(MODULES / FONT), *options])


def main() -> None:
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    for name, source in BUNDLES.items():
        bundle(name, MODULES / source if source else HERE / "three-entry.js")
    shutil.copy(MODULES / "uplot/dist/uPlot.min.css", TARGET / "uplot.css")
    font()
    for name, source in LICENCES.items():
        shutil.copy(MODULES / source, TARGET / f"{name}.LICENSE.txt")
    files = sorted(f for f in TARGET.iterdir() if f.is_file())
    lines = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in files]
    (TARGET / "SHA256SUMS.txt").write_text("".join(lines), "utf-8", newline="\n")
    print("".join(f"{f.stat().st_size:>9,}  {f.name}\n" for f in files), end="")
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.move(TARGET, PLACE)


if __name__ == "__main__":
    main()
