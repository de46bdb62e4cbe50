"""The command: draw, solve twice, compare, shrink what differs, and say how often each verdict fell."""

from __future__ import annotations

import argparse
import multiprocessing
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .case import Case, to_toml
from .compare import VERDICTS, judged
from .families import NAMES, SHARES, drawn
from .shrink import family_of, shrunk

out = Console(width=None if Console().is_terminal else 120)


@dataclass
class Done:
    """The outcome of one case; `file` is the shrunk one of a difference."""

    family: str
    seed: int
    kind: str
    why: str
    seconds: float
    file: str = ""


@dataclass(frozen=True)
class Work:
    """What a process is given."""

    family: str
    seed: int
    folder: Path | None
    patience: float


def work(given: Work) -> Done:
    """Judge one case; keep it in the folder if it is different."""
    begin = time.perf_counter()
    try:
        case = drawn(given.family, given.seed)
        verdict = judged(case)
    except Exception:  # noqa: BLE001 - a bug of the campaign is a result as well
        return Done(given.family, given.seed, "broken", traceback.format_exc(limit=-4), time.perf_counter() - begin)
    file = ""
    if verdict.kind == "different" and given.folder is not None:
        file = kept(case, verdict.why, given)
    return Done(given.family, given.seed, verdict.kind, verdict.why, time.perf_counter() - begin, file)


def kept(case: Case, why: str, given: Work) -> str:
    """Shrink a difference and write it, with both answers in comments."""
    assert given.folder is not None
    small, verdict = shrunk(case, why, given.patience)
    asked = f"assurgent {small.task}" + (f" --method {small.method}" if small.method else "")
    if small.at is not None:
        asked += " --at=" + ",".join(repr(t) for t in small.at)
    lines = [f"# {asked}", f"# {verdict.why}", f"# drawn as --family {given.family} --seed {given.seed}: {why}"]
    given.folder.mkdir(parents=True, exist_ok=True)
    path = given.folder / f"{given.family}-{given.seed}.toml"
    path.write_text("\n".join(" ".join(line.split()) for line in lines) + "\n" + to_toml(small.data))
    for name, text in small.tables.items():
        (given.folder / name).write_text(text)
    return str(path)


def plan(count: int, families: list[str], first: int) -> list[tuple[str, int]]:
    """Return about `count` pairs of family and seed in the families' shares, at least one of each."""
    total = sum(SHARES[f] for f in families)
    counts = {f: max(1, round(count * SHARES[f] / total)) for f in families}
    return [(f, first + k) for k in range(max(counts.values())) for f in families if k < counts[f]]


def outcomes(jobs: list[Work], processes: int) -> Iterator[Done]:
    if processes == 1:
        yield from map(work, jobs)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(work, jobs, chunksize=1)


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; 1 when something is different."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=200, metavar="N", help="cases (default %(default)s)")
    parser.add_argument("--family", action="append", choices=NAMES, help="only this family; may be given again")
    parser.add_argument("--seed", type=int, default=0, help="first seed of every family (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="folder for differences (%(default)s)")
    parser.add_argument("--patience", type=float, default=60.0, metavar="S", help="seconds to shrink one (%(default)s)")
    options = parser.parse_args(arguments)
    families = options.family or list(NAMES)
    pairs = plan(options.count, families, options.seed)
    jobs = [Work(family, seed, options.out, options.patience) for family, seed in pairs]
    out.print(f"{len(jobs)} cases of {len(families)} families, seeds from {options.seed}")
    counts: dict[str, Counter[str]] = {family: Counter() for family in families}
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    reasons: Counter[str] = Counter()
    with Progress(*bar, console=out) as progress:
        task = progress.add_task("", total=len(jobs))
        for done in outcomes(jobs, options.jobs):
            counts[done.family][done.kind] += 1
            if done.kind == "different":
                reasons[family_of(done.why)] += 1
            if done.kind in ("different", "broken", "unclear"):
                where = f" -> {done.file}" if done.file else ""
                why = " ".join(done.why.split()) if done.kind != "broken" else done.why
                line = f"{done.kind}: {done.family} {done.seed}: {why}{where}"
                progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
            progress.update(task, advance=1, description=done.family)
    out.print(summary(counts))
    for reason, n in reasons.most_common():
        out.print(f"{n:6} different: {reason}", markup=False, highlight=False)
    wrong = sum(c["different"] + c["broken"] for c in counts.values())
    return 1 if wrong else 0


def summary(counts: dict[str, Counter[str]]) -> Table:
    """Return the table family x verdict."""
    shown = [*VERDICTS, *(["broken"] if any(c["broken"] for c in counts.values()) else [])]
    table = Table("family", *shown, "all", width=110)
    for family, c in counts.items():
        table.add_row(family, *(str(c[k] or "") for k in shown), str(sum(c.values())))
    total = sum(counts.values(), Counter[str]())
    table.add_section()
    table.add_row("all", *(str(total[k] or "") for k in shown), str(sum(total.values())))
    return table
