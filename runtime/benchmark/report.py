"""The tables and plots of a measurement, beside the paper's figures, and the claims with their limits."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from .paper import TABLE_3, TABLE_4, TABLE_5
from .studies import Row
from .timing import growth


def machine() -> str:
    """Return what the figures were measured on."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [x for x in info.read_text("utf-8").splitlines() if x.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else name
    return f"{name}, {platform.system()}, Python {platform.python_version()}"


def _ms(row: Row, name: str) -> str:
    return f"{1e3 * row.seconds[name]:.1f}" if name in row.seconds else "-"


def planar_tables(rows: Sequence[Row], steps: int) -> tuple[Table, Table]:
    """Return Table 3, measured: times with the largest error of all methods, and ratios beside the paper's."""
    times = Table(title=f"case study 1, planar four-bar, {steps} steps of 10 degrees: processor time in ms, one thread")
    for head in ("nEq", "fill", "MOD_TD", "MOD_3OT", "Newton", "lanes", "GLOB_SP", "default", "GLOB", "error"):
        times.add_column(head, justify="right")
    ratios = Table(title="ratios (of the paper); SP: GLOB_SP, tuned")
    for head in ("nEq", "TD/fill", "3OT/TD", "SP/TD", "SP/3OT", "default/TD", "SP/Newton", "SP/lanes"):
        ratios.add_column(head, justify="right")
    names = ("fill", "mod_td", "mod_3ot", "mod_td_newton", "mod_td_newton_lanes", "global_sparse")
    for row in rows:
        s, old = row.seconds, TABLE_3.get(row.n_equations)
        worst = f"{max(row.error.values()):.0e}"
        both = (*names, "global_sparse_default", "global")
        times.add_row(str(row.n_equations), *(_ms(row, n) for n in both), worst)
        td, sparse = s["mod_td"], s["global_sparse"]
        ratios.add_row(
            str(row.n_equations),
            f"{td / s['fill']:.2f}",
            f"{s['mod_3ot'] / td:.2f}" + (f" ({old[3] / old[2]:.2f})" if old else ""),
            f"{sparse / td:.0f}" + (f" ({old[1] / old[2]:.1f})" if old else ""),
            f"{sparse / s['mod_3ot']:.0f}" + (f" ({old[1] / old[3]:.1f})" if old else ""),
            f"{s['global_sparse_default'] / td:.0f}",
            f"{sparse / s['mod_td_newton']:.1f}",
            f"{sparse / s['mod_td_newton_lanes']:.1f}",
        )
    return times, ratios


def spatial_table(rows: Sequence[Row], steps: int) -> Table:
    """Return Table 4, measured, beside the paper's."""
    table = Table(title=f"case study 2, spatial slider-crank, {steps} steps: processor time in ms, one thread")
    heads = ("nEq", "rad/s", "MOD_TD", "MOD_3OT", "GLOB_SP", "default", "SP small")
    for head in (*heads, "SP/TD", "(paper)", "SP/3OT", "(paper)", "error"):
        table.add_column(head, justify="right")
    speeds = sorted({row.speed for row in rows})
    for row in rows:
        s, old = row.seconds, TABLE_4.get(row.n_equations)
        i = speeds.index(row.speed)
        table.add_row(
            str(row.n_equations),
            f"{row.speed:g}",
            *(_ms(row, n) for n in ("mod_td", "mod_3ot", "global_sparse", "global_sparse_default")),
            _ms(row, "global_sparse_small"),
            f"{s['global_sparse'] / s['mod_td']:.0f}",
            f"{old[0][i]:.2f}" if old and len(speeds) == 3 else "-",
            f"{s['global_sparse'] / s['mod_3ot']:.0f}",
            f"{old[1][i]:.2f}" if old and len(speeds) == 3 else "-",
            f"{max(row.error.values()):.0e}",
        )
    return table


def profile_table(row: Row) -> Table:
    """Return Table 5, measured: shares of position, velocity, acceleration and other."""
    table = Table(title=f"spatial, nEq = {row.n_equations}: share of the time in per cent (the paper's in brackets)")
    for head in ("method", "position", "velocity", "acceleration", "other"):
        table.add_column(head, justify="right")
    for name, shares in row.profile.items():
        table.add_row(name, *(f"{x:.1f} ({y})" for x, y in zip(shares, TABLE_5[name], strict=True)))
    return table


@dataclass(frozen=True)
class Claim:
    """A ratio with its limit: `least` or `most`."""

    text: str
    value: float
    limit: float
    at_least: bool

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'holds' if self.holds else 'FAILS'}  {self.value:8.2f} {sign} {self.limit:<5g} {self.text}"


def planar_claims(rows: Sequence[Row]) -> list[Claim]:
    """Return what case study 1 must show."""
    claims = []
    for row in rows:
        n, s = row.n_equations, row.seconds
        if n in (22, 202):
            limit = 1.5 if n == 202 else 3.0
            claims.append(Claim(f"nEq {n}: MOD_TD / fill", s["mod_td"] / s["fill"], limit, False))
        if 102 <= n <= 202:
            tuned, default = s["global_sparse"], s["global_sparse_default"]
            claims += [
                Claim(f"nEq {n}: GLOB_SP / MOD_TD", tuned / s["mod_td"], 40, True),
                Claim(f"nEq {n}: GLOB_SP with defaults / MOD_TD", default / s["mod_td"], 61, True),
                Claim(f"nEq {n}: MOD_3OT / MOD_TD", s["mod_3ot"] / s["mod_td"], 2, False),
                Claim(f"nEq {n}: GLOB_SP / Newton one by one", tuned / s["mod_td_newton"], 3, True),
                Claim(f"nEq {n}: GLOB_SP / Newton in lanes", tuned / s["mod_td_newton_lanes"], 15, True),
            ]
    if len(rows) > 1:
        groups = [row.groups for row in rows]
        for name in ("mod_td", "mod_3ot"):
            exponent = growth(groups, [row.seconds[name] for row in rows])
            claims.append(Claim(f"exponent of growth of {name} with the number of dyads", exponent, 1.1, False))
            claims.append(Claim(f"exponent of growth of {name} with the number of dyads", exponent, 0.9, True))
    return claims


def spatial_claims(rows: Sequence[Row]) -> list[Claim]:
    """Return what case study 2 must show."""
    found = []
    for row in rows:
        s, where = row.seconds, f"nEq {row.n_equations}, {row.speed:g} rad/s"
        found.append(Claim(f"{where}: GLOB_SP / MOD_TD", s["global_sparse"] / s["mod_td"], 40, True))
        found.append(Claim(f"{where}: GLOB_SP / MOD_3OT", s["global_sparse"] / s["mod_3ot"], 5, True))
    return found


def triad_table(row: Row, steps: int) -> Table:
    """Return the planar triad of six revolutes, which has no closed form, by Newton's ways."""
    table = Table(title=f"planar triad on a crank, {steps} steps: processor time in ms, one thread")
    for head in ("method", "ms", "iterations a step", "error"):
        table.add_column(head, justify="left" if head == "method" else "right")
    for name, seconds in row.seconds.items():
        count = f"{row.iterations[name]:.2f}" if name in row.iterations else "-"
        table.add_row(name, f"{1e3 * seconds:.2f}", count, f"{row.error[name]:.0e}" if name in row.error else "-")
    return table


def triad_claims(row: Row) -> list[Claim]:
    """Return what the triad must show."""
    s = row.seconds
    return [Claim("triad: generic LU step by step / Newton in lanes", s["generic_lu"] / s["newton_lanes"], 4, True)]


def plot(rows: Sequence[Row], title: str, path: Path) -> None:
    """Save time over size as in Figure 7: logarithmic axes, a line per method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot()
    for name in dict.fromkeys(n for row in rows for n in row.seconds):
        chosen = [row for row in rows if name in row.seconds]
        axes.loglog([r.n_equations for r in chosen], [r.seconds[name] for r in chosen], marker="o", label=name)
    axes.set(xlabel="constraint equations", ylabel="processor time, s", title=title)
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path)
