"""The tables of a measurement, beside the paper's figures; all fit into 80 columns."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .allocation import Taken
from .competitors import Row
from .paper import TABLE_3, TABLE_4, TABLE_4_SECONDS, TABLE_5
from .peers import Ready

# in the order of the columns: name in the results, head
PLANAR = {
    "fill": "fill",
    "mod_td": "TD",
    "mod_3ot": "3OT",
    "global_sparse": "SP",
    "global_sparse_default": "SP def",
    "global": "GLOB",
}
CASE = {
    "fill": "fill",
    "mod_td": "TD",
    "mod_3ot": "3OT",
    "mod_td_serial": "TD, lane by lane",
    "global_sparse": "SP",
    "global": "GLOB (generic LU)",
}
SPATIAL = {
    "mod_td": "TD",
    "mod_3ot": "3OT",
    "global_sparse": "SP",
    "global_sparse_default": "SP def",
    "global_sparse_same": "SP same",
    "mod_newton_paper": "p TD",
    "mod_3ot_paper": "p 3OT",
}
LEGEND = (
    "TD, 3OT: MOD_TD, MOD_3OT by the sequence that `run` calls;\n"
    "SP: GLOB_SP, KLU tuned (def: its defaults); GLOB: dense LU. Errors: the largest of\n"
    "position, velocity and acceleration, relative. ~: timed on fewer steps, scaled"
)
STAGES = ("position", "velocity", "acceleration", "other")


def machine() -> str:
    """Return what the figures were measured on."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [x for x in info.read_text("utf-8").splitlines() if x.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else name
    return f"{name}, {platform.system()}, Python {platform.python_version()}"


def table(title: str, heads: Sequence[str], left: int = 1, caption: str | None = None) -> Table:
    """Return an empty table without vertical lines, which would not fit; its first columns are text."""
    found = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0),
                  title_justify="left", caption_justify="left")  # fmt: skip
    for i, head in enumerate(heads):
        found.add_column(head, justify="left" if i < left else "right", no_wrap=True)
    return found


def show(out: Console, found: Table) -> None:
    """Print a table with its title and caption over the console's whole width instead of the table's."""
    title, caption = found.title, found.caption
    found.title = found.caption = None
    out.print(title, style="bold", highlight=False)
    out.print(found)
    if caption:
        out.print(caption, style="italic", highlight=False)
        out.print()


def _figure(ms: float) -> str:
    return f"{ms:.2f}" if ms < 10 else f"{ms:.1f}" if ms < 100 else f"{ms:.0f}"


def _ms(row: Row, name: str) -> str:
    if name not in row.seconds:
        return "-"
    return ("~" if name in row.timed_steps else "") + _figure(1e3 * row.seconds[name])


def _error(row: Row, name: str) -> str:
    return f"{row.error[name]:.0e}" if name in row.error else "-"


def _beside(ours: float, theirs: float | None) -> str:
    shown = f"{ours:.2f}" if ours < 10 else f"{ours:.0f}"
    return shown if theirs is None else f"{shown} ({theirs:.2g})" if theirs < 10 else f"{shown} ({theirs:.0f})"


def planar_tables(rows: Sequence[Row], steps: int) -> list[Table]:
    """Return Table 3, measured: times and errors of every method with the paper's times; then ratios."""
    times = table(
        f"case study 1: planar four-bar, {steps} steps of 10°, processor time in ms, one thread",
        ("nEq", "", *PLANAR.values()), 2, LEGEND,
    )  # fmt: skip
    ratios = table(
        "ratios (the paper's in brackets)",
        ("nEq", "TD/fill", "3OT/TD", "SP/TD", "SP/3OT", "SP def/TD"),
    )
    for row in rows:
        s, old = row.seconds, TABLE_3.get(row.n_equations)
        times.add_row(str(row.n_equations), "ms", *(_ms(row, n) for n in PLANAR))
        times.add_row("", "error", *(_error(row, n) for n in PLANAR), end_section=old is None)
        if old:
            paper = {"global": old[0], "global_sparse": old[1], "mod_td": old[2], "mod_3ot": old[3]}
            shown = (f"{1e3 * paper[n]:.0f}" if n in paper else "" for n in PLANAR)
            times.add_row("", "paper", *shown, end_section=True)
        td, sparse = s["mod_td"], s["global_sparse"]
        ratios.add_row(
            str(row.n_equations),
            f"{td / s['fill']:.2f}",
            _beside(s["mod_3ot"] / td, old[3] / old[2] if old else None),
            _beside(sparse / td, old[1] / old[2] if old else None),
            _beside(sparse / s["mod_3ot"], old[1] / old[3] if old else None),
            f"{s['global_sparse_default'] / td:.0f}",
        )
    return [times, ratios]


def growth_table(found: Mapping[int, Mapping[str, float]], lanes: int) -> Table:
    """Return the time of one step over the number of dyads."""
    state = 24 * 3 * lanes / 1e6
    result = table(
        f"growth: ns a step and dyad; as many steps as give a state of about {state:.0f} MB at every size",
        ("dyads", "steps", "MOD_TD", "MOD_3OT"),
    )
    for k, s in found.items():
        per = (f"{1e9 * s[name] / k:.2f}" for name in ("mod_td", "mod_3ot"))
        result.add_row(str(k), str(max(lanes // k, 16)), *per)
    return result


def spatial_tables(rows: Sequence[Row], steps: int) -> list[Table]:
    """Return Table 4, measured, beside the paper's: times, errors and iterations; then ratios."""
    times = table(
        f"case study 2: spatial slider-crank, {steps} steps, processor time in ms, one thread",
        ("nEq", "rad/s", "", *SPATIAL.values()), 3,
        "TD, 3OT: one quadratic a rod (k + 3 equations). SP same: GLOB_SP on these.\n"
        "SP, SP def, p TD, p 3OT: in the paper's 8k + 6 unknowns (1R3D, 2E1P), all by\n"
        "Newton. ~: timed on fewer steps and scaled",
    )  # fmt: skip
    ratios = table(
        "ratios (the paper's in brackets)",
        ("nEq", "rad/s", "SP/p TD", "SP/p 3OT", "p 3OT/TD", "SP/TD", "SP/3OT", "same/TD"), 2,
    )  # fmt: skip
    speeds = sorted({row.speed for row in rows})
    for row in rows:
        s, old = row.seconds, TABLE_4.get(row.n_equations) if len(speeds) == 3 else None
        i = speeds.index(row.speed)
        times.add_row(str(row.n_equations), f"{row.speed:g}", "ms", *(_ms(row, n) for n in SPATIAL))
        times.add_row("", "", "error", *(_error(row, n) for n in SPATIAL))
        counts = (f"{row.iterations[n]:.2f}" if n in row.iterations else "-" for n in SPATIAL)
        times.add_row("", "", "iter", *counts, end_section=old is None)
        if old:
            sparse = TABLE_4_SECONDS[row.n_equations][i]
            times_of = {"mod_newton_paper": sparse / old[0][i], "mod_3ot_paper": sparse / old[1][i]}
            paper = {**times_of, "global_sparse": sparse}
            shown = (f"{1e3 * paper[n]:.0f}" if n in paper else "" for n in SPATIAL)
            times.add_row("", "", "paper, ms", *shown, end_section=True)
        ratios.add_row(
            str(row.n_equations),
            f"{row.speed:g}",
            _beside(s["global_sparse"] / s["mod_newton_paper"], old[0][i] if old else None),
            _beside(s["global_sparse"] / s["mod_3ot_paper"], old[1][i] if old else None),
            _beside(s["mod_3ot_paper"] / s["mod_newton_paper"], old[0][i] / old[1][i] if old else None),
            f"{s['global_sparse'] / s['mod_td']:.0f}",
            f"{s['global_sparse'] / s['mod_3ot']:.0f}",
            f"{s['global_sparse_same'] / s['mod_td']:.0f}",
        )
    return [times, ratios]


def profile_table(row: Row, title: str, paper: bool) -> Table:
    """Return shares of position, velocity, acceleration and other, beside Table 5 where it is the spatial case."""
    brackets = " (the paper's at 806)" if paper else ""
    found = table(f"{title}, nEq = {row.n_equations}: share of the time in per cent{brackets}", ("method", *STAGES))
    for name, shares in sorted(row.profile.items()):
        old = TABLE_5.get(name) if paper else None
        shown = [f"{x:.1f}" for x in shares]
        if old:
            shown = [f"{x} ({y})" for x, y in zip(shown, old, strict=True)]
        found.add_row(name, *shown)
    return found


def case_table(case: str, title: str, rows: Sequence[Row], steps: int) -> Table:
    """Return a further case: a line for every method."""
    found = table(
        f"{case}: {title}\n{steps} steps, processor time in ms, one thread",
        ("k", "nEq", "method", "ms", "/ TD", "iterations", "error"), 3,
    )  # fmt: skip
    for row in rows:
        for i, name in enumerate(row.seconds):
            count = f"{row.iterations[name]:.2f}" if row.iterations.get(name) else "-"
            found.add_row(
                "" if i else str(row.groups),
                "" if i else str(row.n_equations),
                CASE[name],
                _ms(row, name),
                f"{row.seconds[name] / row.seconds['mod_td']:.2f}",
                count,
                _error(row, name),
                end_section=i == len(row.seconds) - 1,
            )
    return found


def peers_table(rows: Sequence[tuple[Row, Sequence[Ready]]], steps: int) -> Table:
    """Return other programs on the planar chain, with the errors of what they return."""
    found = table(
        f"other programs on the planar four-bar, {steps} steps: processor time in ms, one thread",
        ("nEq", "program", "ms", "/ TD", "position", "velocity", "acceleration"), 2,
        "errors against the closed form, relative; MuJoCo and Exudyn integrate motion",
    )  # fmt: skip
    for row, ready in rows:
        for i, r in enumerate(ready):
            name = r.peer.name
            found.add_row(
                "" if i else str(row.n_equations),
                f"{name} {r.version}",
                ("~" if name in row.timed_steps else "") + _figure(1e3 * row.peers[name]),
                f"{row.peers[name] / row.peers['mod_td']:.0f}",
                *(f"{e:.0e}" for e in r.errors),
                end_section=i == len(ready) - 1,
            )
    return found


def show_peers(out: Console, rows: Sequence[tuple[Row, Sequence[Ready]]], missing: Sequence[str], steps: int) -> None:
    """Print the table of other programs, if there are any, and a line on each that is missing."""
    if any(ready for _, ready in rows):
        show(out, peers_table(rows, steps))
    for line in missing:
        out.print(escape(line), highlight=False)  # else [bench] would be markup


def allocation_table(found: Mapping[str, tuple[Taken, Taken]], steps: tuple[int, int]) -> Table:
    """Return what runs of two lengths took from the allocators."""
    result = table(
        f"memory taken by a run of {steps[0]} steps / of {steps[1]}",
        ("method", "Numba's blocks", "Python's heap, bytes", "resident, bytes"), 1,
        "Python's heap: the call itself and what it returns",
    )  # fmt: skip
    for name, (short, long) in found.items():
        pairs = zip((short.numba_blocks, short.heap, short.resident), (long.numba_blocks, long.heap, long.resident),
                    strict=True)  # fmt: skip
        result.add_row(name, *(f"{a} / {b}" for a, b in pairs))
    return result
