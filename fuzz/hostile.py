"""Hostile input by the thousand: no traceback, no unknown exit code, nothing slow, nothing large, no half result.

    python -m fuzz.hostile -n 10000 [--seed 1] [--only NUMBER] [--keep FOLDER]

The inputs are run in a process of their own that goes from one to the next; where it dies or takes too long, the input
is a fault, and a new process goes on behind it. The same seed and number give the same input.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import hostile_cases as cases
from . import hostile_files

SECONDS = 60.0  # of one input, processor time; a process that only waits has as long by the clock
MEGABYTES = 2000
ROUND = 400  # inputs of one process: what it has learnt (types, compiled code) goes with it
CODES = {0, 2, 3}
WARM = (
    *(("run", f"{name}.toml", "--at", "0,0.1", "-o", "out.csv") for name in ("four-bar", "rssr", "scotch-yoke")),
    ("run", "four-bar.toml", "--at", "0,0.1", "--method", "global", "-o", "out.nc"),
    ("run", "four-bar.toml", "--at", "0,0.1", "--method", "3ot", "-o", "out.parquet"),
    ("inverse", "dynamics/yime-slider-crank.toml", "--at", "0,0.1", "-o", "out.json"),
    ("simulate", "dynamics/sprung-four-bar.toml", "--at", "0,0.1", "-o", "out.npz"),
    ("simulate", "dynamics/sprung-four-bar.toml", "--at", "0,0.1", "--method", "global"),
    ("equilibrium", "dynamics/sprung-four-bar.toml"),
    ("plot", "four-bar.toml", "--at", "0,0.1", "-o", "out.png"),
    ("animate", "rssr.toml", "--at", "0,0.1", "-o", "out.svg"),
)


# ---- one input ------------------------------------------------------------------------------------------------------
def contents(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder: files with their bytes, others by what they are."""
    found = {}
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = path.read_bytes() if plain else f"{path.lstat().st_mode:o}".encode()
    return found


@contextlib.contextmanager
def _room(size: int | None) -> Iterator[None]:
    """Let no file grow beyond a size: what a full disk does to a writer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _peak(reset: bool = False) -> float:
    """Return the most memory of this process since the last reset, in megabytes."""
    if reset:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1000
    return 0.0


def _where(error: BaseException) -> str:
    """Return the exception and the innermost place of ours that it passed."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "site-packages" not in f.filename]
    ours = [f for f in frames if "/runtime/" in f.filename or "/codegen/" in f.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {place}"


def trial(case: cases.Case, folder: Path) -> dict[str, Any]:
    """Run one input in this process in a folder of its own; what came of it, and what is wrong with that."""
    from assurgent.cli.commands import main

    cases.cleared(folder)
    case.lay_out(folder)
    before, home = contents(folder), Path.cwd()
    out, err = io.StringIO(), io.StringIO()
    faults: list[str] = []
    code: Any = None
    held = _peak(reset=True)
    begin = time.process_time()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # of inputs before
        try:
            os.chdir(folder)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _room(case.room):
                code = main(case.arguments)
        except SystemExit as done:
            code = done.code or 0
        except BaseException as error:  # noqa: BLE001 - whatever comes through is what is looked for
            faults.append(_where(error))
            err.write("".join(traceback.format_exception(error)))
        finally:
            os.chdir(home)
    seconds, grown = time.process_time() - begin, _peak() - held
    said = err.getvalue()
    after = contents(folder)
    allowed = CODES | ({1} if case.arguments[:1] == ["verify"] else set())
    if not faults and code not in allowed:
        faults.append(f"exit code {code}")
    if code in (2, 3) and "assurgent:" not in said:
        faults.append(f"exit code {code} without a message")
    if code == 2 and after != before:
        faults.append("something is written at exit code 2")
    faults += [f"warning {w.category.__name__} at {Path(w.filename).name}:{w.lineno}" for w in warned[:1]]
    faults += [f"{name} is left over" for name in after if Path(name).name.startswith(".") and name not in before][:1]
    if code == 0 and "-o" in case.arguments[:-1] and not case.arguments[1].startswith("-"):
        name = case.arguments[case.arguments.index("-o") + 1]
        if name.startswith("old.") and after.get(name) == cases.OLD and "--help" not in case.arguments:
            faults.append("exit code 0 and no new result")
    results = [value for name, value in after.items() if name.startswith("old.")]
    if any(value not in (cases.OLD, b"") and len(value) < 40 for value in results):
        faults.append("an old result is neither old nor new")
    if seconds > SECONDS:
        faults.append("too slow")
    if grown > MEGABYTES:
        faults.append("too large")
    said += out.getvalue()[-2000:]
    return {"code": code, "seconds": seconds, "megabytes": grown, "faults": faults, "said": said}


# ---- many inputs ----------------------------------------------------------------------------------------------------
def _worker(seed: int, numbers: range, folder: Path, pipe: int) -> None:
    """Run inputs one after the other and tell of each, before and after."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = size + 4_000_000_000
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with os.fdopen(pipe, "w") as report:
        for number in numbers:
            print(json.dumps({"number": number}), file=report, flush=True)
            found = trial(cases.case(seed, number), folder)
            print(json.dumps({"number": number, **found}), file=report, flush=True)


def _used(process: int) -> float:
    """Return the processor seconds of a process."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def supervised(seed: int, numbers: range, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what came of every input, whatever becomes of the processes that run them."""
    at = numbers.start
    while at < numbers.stop:
        reading, writing = os.pipe()
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            os.close(reading)
            os.setsid()  # nothing reads the terminal
            try:
                _worker(seed, range(at, min(at + ROUND, numbers.stop)), folder, writing)
            finally:
                os._exit(0)
        os.close(writing)
        stopped, before = "", at
        with os.fdopen(reading, "r") as report:
            clock, used = time.monotonic(), _used(process)
            while True:
                if select.select([report], [], [], 1.0)[0]:
                    line = report.readline()
                    if not line:
                        break
                    told = json.loads(line)
                    clock, used = time.monotonic(), _used(process)
                    at = told["number"] + ("code" in told)
                    if "code" in told:
                        yield told
                    continue
                spent, waited = _used(process) - used, time.monotonic() - clock
                if spent > SECONDS or waited > SECONDS > 10 * spent:
                    stopped = "too slow" if spent > SECONDS else "waits for ever"
                    os.kill(process, signal.SIGKILL)
                    break
        _, status = os.waitpid(process, 0)
        if stopped or status or at == before:  # an input that cannot even be made
            seconds = time.monotonic() - clock
            fault = stopped or f"the process ended with {status}"
            yield {"number": at, "code": None, "seconds": seconds, "megabytes": 0, "faults": [fault], "said": ""}
            at += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1000, help="inputs (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this input alone, with all that it says")
    parser.add_argument(
        "--keep", type=Path, default=Path("out/hostile"), help="folder for the files of --only (default %(default)s)"
    )
    options = parser.parse_args()
    # types that hostile files need are made in a library of their own
    library = Path(tempfile.gettempdir()) / f"assurgent-hostile-{os.getuid()}"
    os.environ["ASSURGENT_CACHE"], os.environ["ASSURGENT_DATA"] = str(library / "cache"), str(library / "data")
    os.environ["MPLBACKEND"] = "agg"
    with tempfile.TemporaryDirectory() as name:
        if options.only is not None:
            case = cases.case(options.seed, options.only)
            print(case.kind, case.arguments, case.room)
            found = trial(case, Path(name))
            print(found.pop("said"), found, sep="\n")
            options.keep.mkdir(parents=True, exist_ok=True)
            for path in Path(name).iterdir():
                if path.is_file() and not path.is_symlink():
                    (options.keep / path.name).write_bytes(path.read_bytes())
            return int(bool(found["faults"]))
        return _campaign(options, Path(name))


def _campaign(options: argparse.Namespace, folder: Path) -> int:
    for command in WARM:  # what every process would have to load
        example = hostile_files.ROOT / "examples" / command[1]
        trial(cases.Case("warm", [command[0], cases.FILE, *command[2:]], {cases.FILE: example.read_bytes()}), folder)
    count: collections.Counter[tuple[str, str]] = collections.Counter()
    faults: collections.defaultdict[str, list[int]] = collections.defaultdict(list)
    slowest: list[tuple[float, int]] = []
    begin = time.monotonic()
    for told in supervised(options.seed, range(options.first, options.first + options.n), folder):
        number = told["number"]
        kind = cases.case(options.seed, number).kind
        count[kind, "fault" if told["faults"] else str(told["code"])] += 1
        if sum(count.values()) % 500 == 0:
            print(f"... {sum(count.values())} inputs, {time.monotonic() - begin:.0f} s", flush=True)
        slowest = sorted([*slowest, (told["seconds"], number)])[-5:]
        for fault in told["faults"]:
            faults[fault].append(number)
            if len(faults[fault]) == 1:
                print(f"{number}: {fault}", flush=True)
    codes = sorted({code for _, code in count})
    print(f"\n{'input':<16s}" + "".join(f"{code:>8s}" for code in codes) + f"{'all':>8s}")
    for kind in sorted({kind for kind, _ in count}):
        row = [count[kind, code] for code in codes]
        print(f"{kind:<16s}" + "".join(f"{n:8d}" for n in row) + f"{sum(row):8d}")
    every = [sum(count[kind, code] for kind, _ in {(k, 0) for k, _ in count}) for code in codes]
    print(f"{'all':<16s}" + "".join(f"{n:8d}" for n in every) + f"{sum(every):8d}")
    print(f"{time.monotonic() - begin:.0f} s; slowest: " + ", ".join(f"{n} ({s:.1f} s)" for s, n in reversed(slowest)))
    for fault, numbers in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(numbers):5d}  {fault}: {', '.join(map(str, numbers[:8]))}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
