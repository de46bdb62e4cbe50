"""The paper's Tables 3 to 5 and Figures 7 to 9, like for like: every method by Newton in the paper's unknowns.

MOD_TD and MOD_3OT are run as the paper has them (normal equations, velocities by Eq. 26, L by Eq. 39 or 43, every step
from the one before). What `run` does stands beside them: its own Newton in the same unknowns, and closed forms apart.
"""

from __future__ import annotations

import functools
import time as clocks
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..verification.paper_kernels import ACCELERATION, POSITION, VELOCITY
from ..verification.paper_method import step_through
from . import chains
from .claims import Claim
from .command import STEPS
from .competitors import ONE_SYSTEM, PATIENCE, PROBE, Check, Contest, Modular, Row, compared
from .paper import TABLE_3, TABLE_4, TABLE_4_SECONDS, TABLE_5_SECONDS
from .printed_tables import STAGES, table
from .studies import instants, spatial_profile
from .timing import least

METHODS = {"mod_td": "td-paper", "mod_3ot": "3ot-paper"}
LENGTH = 6.0  # of the rods
COUNTED = {"2E1P": ("V4_z",)}  # Table 2: independent, though it stands still


class Stepwise:
    """A chain moved group by group in the paper's way, on as many steps as patience allows."""

    def __init__(self, chain: chains.Chain, n: int, method: str) -> None:
        self.chain, self.method = chain, method
        self._begin(min(n, PROBE))
        self.run()  # compiles
        before = clocks.thread_time()
        self.run()
        pace = (clocks.thread_time() - before) / len(self.time)
        self.n = min(n, max(PROBE, int(PATIENCE / max(pace, 1e-9))))
        self._begin(self.n)

    def _begin(self, n: int) -> None:
        self.time, self.state = self.chain.state(n)
        self.state[:, :, 0] = Modular(self.chain, 1).state[:, :, 0]

    def run(self, upto: int = ACCELERATION) -> None:
        """Solve all steps, or only their positions, or positions and velocities."""
        sequence = self.chain.program.sequence
        numbers = sequence.numbers
        done = step_through(sequence, self.time, self.state, numbers, self.method, LENGTH, upto, COUNTED)
        assert done.lost is None, done
        self.iterations = done.iterations / len(self.time) / max(1, len(sequence.groups))


def _stepwise(contest: Contest, chain: chains.Chain, check: Check) -> dict[str, Stepwise]:
    """Add both methods in the paper's way."""
    found = {}
    for name, method in METHODS.items():
        system = found[name] = Stepwise(chain, contest.n, method)
        system.run()
        contest.error[name], contest.iterations[name] = check(system.state), system.iterations
        contest.actions[name] = system.run
        if system.n < contest.n:
            contest.timed_steps[name] = system.n
    return found


def planar(k: int, n: int, rounds: int) -> Row:
    """Return case study 1 with k dyads, in the paper's 2k + 2 unknowns throughout."""
    chain = chains.planar(k)
    check = compared(chain, chains.planar_exact(k, instants(n)))
    contest = Contest(n)
    modular = Modular(chain, n)
    contest.modular(modular, {"closed_td": ("td", None), "closed_3ot": ("3ot", None)}, check)
    _stepwise(contest, chain, check)
    start = modular.state[:, :, 0].copy()
    for name in ("global_sparse", "global"):
        method, tuned = ONE_SYSTEM[name]
        contest.one_system(name, chain, method, tuned, start, check)
    seconds = contest.scaled(least(contest.actions, rounds))
    return Row(chain.n_equations, k, seconds, contest.error, contest.iterations, timed_steps=contest.timed_steps)


def spatial(k: int, speed: float, n: int, rounds: int, profiled: bool) -> Row:
    """Return case study 2 with k rods in the paper's 8k + 6 unknowns; closed forms in k + 3 apart."""
    paper, own = chains.paper_spatial(k, speed), chains.spatial(k, speed)
    time = instants(n)
    wide = chains.spatial_exact(k, speed, time, True)
    contest = Contest(n)
    stepping = _stepwise(contest, paper, compared(paper, wide))
    modular = Modular(paper, n)
    contest.modular(modular, {"own_td": ("td", None), "own_3ot": ("3ot", None)}, compared(paper, wide))
    closed = compared(own, chains.spatial_exact(k, speed, time, False))
    contest.modular(Modular(own, n), {"closed_td": ("td", None), "closed_3ot": ("3ot", None)}, closed)
    start = modular.state[:, :, 0].copy()
    contest.one_system("global_sparse", paper, "global-sparse", True, start, compared(paper, wide))
    seconds = contest.scaled(least(contest.actions, rounds))
    timed = contest.timed_steps
    row = Row(paper.n_equations, k, seconds, contest.error, contest.iterations, speed, timed_steps=timed)
    if profiled:
        _profile(row, stepping, n, rounds)
    return row


def _profile(row: Row, stepping: dict[str, Stepwise], n: int, rounds: int) -> None:
    """Add shares: of GLOB_SP by a clock in its loop, of the others by runs that stop after a stage."""
    spatial_profile(row, n)
    for name, system in stepping.items():
        upto = {i: functools.partial(system.run, i) for i in (POSITION, VELOCITY, ACCELERATION)}
        taken = least({str(i): run for i, run in upto.items()}, rounds)
        position, velocity, whole = (taken[str(i)] for i in upto)
        parts = position, max(0.0, velocity - position), max(0.0, whole - velocity), 0.0
        row.profile[name.upper()] = tuple(100 * p / sum(parts) for p in parts)


# ---- tables -------------------------------------------------------------------------------------------------------
def _ms(row: Row, name: str) -> str:
    return ("~" if name in row.timed_steps else "") + _three(1e3 * row.seconds[name])


def _three(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def _both(ours: float, theirs: float | None) -> str:
    return _three(ours) if theirs is None else f"{_three(ours)} ({theirs:.2g})"


def table_3(rows: Sequence[Row], steps: int) -> Table:
    """Return Table 3: times, the paper's scaled below them, and the three speed-ups with the paper's in brackets."""
    found = table(
        f"Table 3, planar: {steps} steps of 10°, processor time in ms (paper: scaled to these)",
        ("nEq", "", "GLOB", "SP", "TD", "3OT", "SP/TD", "SP/3OT", "3OT/TD"), 2,
        "SP: GLOB_SP; TD, 3OT: MOD_TD and MOD_3OT in the paper's way. All by Newton in\n"
        "2k + 2 unknowns. closed: `run`, closed forms in the same unknowns.\n"
        "~: timed on fewer steps and scaled. In brackets the paper's",
    )  # fmt: skip
    for row in rows:
        s, old = row.seconds, TABLE_3.get(row.n_equations)
        sparse, td, tensor = s["global_sparse"], s["mod_td"], s["mod_3ot"]
        ratios = [sparse / td, sparse / tensor, tensor / td]
        theirs = [old[1] / old[2], old[1] / old[3], old[3] / old[2]] if old else [None] * 3
        names = ("global", "global_sparse", "mod_td", "mod_3ot")
        found.add_row(str(row.n_equations), "ours", *(_ms(row, x) for x in names), *map(_both, ratios, theirs))
        if old:
            found.add_row("", "paper", *(_three(1e3 * x * steps / STEPS) for x in old), "", "", "")
        closed = [sparse / s["closed_td"], sparse / s["closed_3ot"], s["closed_3ot"] / s["closed_td"]]
        cells = ("", "", _ms(row, "closed_td"), _ms(row, "closed_3ot"), *map(_three, closed))
        found.add_row("", "closed", *cells, end_section=True)
    return found


def table_4(rows: Sequence[Row], steps: int) -> Table:
    """Return Table 4: GLOB_SP and the speed-ups over it, at each speed of the crank."""
    found = table(
        f"Table 4, spatial: {steps} steps, processor time in ms (paper: scaled to these)",
        ("nEq", "rad/s", "SP", "paper", "SP/TD", "SP/3OT", "3OT/TD", "SP/own", "own", "closed"), 2,
        "SP (GLOB_SP), TD, 3OT: the paper's 8k + 6 unknowns; TD, 3OT: 1R3D and 2E1P in the\n"
        "paper's way. SP/own, own: the same groups as `run` solves them, and its 3OT/TD.\n"
        "closed: SP / TD in our k + 3 unknowns. ~: fewer steps, scaled. In brackets the paper's",
    )  # fmt: skip
    speeds = sorted({row.speed for row in rows})
    for row in rows:
        s, i = row.seconds, speeds.index(row.speed)
        old = TABLE_4.get(row.n_equations) if len(speeds) == 3 else None
        sparse = s["global_sparse"]
        seconds = _three(1e3 * TABLE_4_SECONDS[row.n_equations][i] * steps / STEPS) if old else "-"
        found.add_row(
            str(row.n_equations),
            f"{row.speed:g}" if row.speed > 0.01 else f"{1e5 * row.speed:.1f}e-5",
            _ms(row, "global_sparse"),
            seconds,
            _both(sparse / s["mod_td"], old[0][i] if old else None),
            _both(sparse / s["mod_3ot"], old[1][i] if old else None),
            _both(s["mod_3ot"] / s["mod_td"], old[0][i] / old[1][i] if old else None),
            _three(sparse / s["own_td"]),
            _three(s["own_3ot"] / s["own_td"]),
            _three(sparse / s["closed_td"]),
            end_section=i == len(speeds) - 1,
        )
    return found


def table_5(row: Row, steps: int) -> Table:
    """Return Table 5: where the time goes, in ms and per cent, beside the paper's."""
    found = table(
        f"Table 5, spatial, nEq = {row.n_equations}, {row.speed:g} rad/s: ms (per cent) of {steps} steps",
        ("method", "", "total", *STAGES[:3]), 2,
        "paper: nEq = 806, scaled to these steps; stages of MOD: by runs that stop after one",
    )  # fmt: skip
    for label, name in (("GLOB_SP", "global_sparse"), ("MOD_TD", "mod_td"), ("MOD_3OT", "mod_3ot")):
        total = 1e3 * row.seconds[name]
        shares = row.profile[label][:3]
        found.add_row(label, "ours", _three(total), *(f"{_three(total * x / 100)} ({x:.1f})" for x in shares))
        old = TABLE_5_SECONDS[label]
        parts = (f"{_three(1e3 * p * steps / STEPS)} ({100 * p / sum(old):.1f})" for p in old[:3])
        found.add_row("", "paper", _three(1e3 * sum(old) * steps / STEPS), *parts, end_section=True)
    return found


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Return what case study 2 must show in the paper's coordinates."""
    found = []
    for row in rows:
        s, where = row.seconds, f"nEq {row.n_equations}, {row.speed:g} rad/s"
        if row.n_equations in (86, 806):
            for name, way in (("mod_td", "in the paper's way"), ("own_td", "as `run` solves the same groups")):
                gain = s["global_sparse"] / s[name]
                found.append(Claim(f"{where}: GLOB_SP / MOD_TD {way}, the same unknowns", gain, 1.5, True))
        if row.n_equations >= 86 and row.speed == max(chains.SPATIAL_SPEEDS):  # Table 5: the paper has 10.9
            ratio = s["mod_3ot"] / s["mod_td"]
            text, own = f"{where}: MOD_3OT / MOD_TD", s["own_3ot"] / s["own_td"]
            found += [Claim(f"{text} in the paper's way", ratio, 5, True),
                      Claim(f"{text} in the paper's way", ratio, 12, False),
                      Claim(f"{text} as `run` has it, below that", own, ratio, False)]  # fmt: skip
    return found


def report(
    out: Console, planar_groups: Sequence[int], spatial_groups: Sequence[int], steps: int, rounds: int, plots: Path
) -> dict[str, Any]:
    """Measure the case studies, print the tables, save the figures, and return what the --json file holds."""
    from . import figures
    from .printed_tables import show

    plots.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    if planar_groups:
        rows = [planar(k, steps, rounds) for k in planar_groups]
        show(out, table_3(rows, steps))
        figures.planar(rows, plots / "figure7.png", steps)
        found["paper_planar"] = [r.as_json() for r in rows]
    if spatial_groups:
        speeds, wide = chains.SPATIAL_SPEEDS, []
        for k in spatial_groups:
            last = k == spatial_groups[-1]
            wide += [spatial(k, v, steps, rounds, last and v == speeds[-1]) for v in speeds]
        show(out, table_4(wide, steps))
        show(out, table_5(wide[-1], steps))
        for claim in claims(wide):
            out.print(str(claim), highlight=False)
        figures.accuracy(plots / "figure8.png")
        figures.stages(wide[-1], plots / "figure9.png", steps)
        found["paper_spatial"] = [r.as_json() for r in wide]
    out.print(f"Figures are in {plots}", highlight=False, markup=False)
    return found
