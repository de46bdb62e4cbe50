"""What the measurements must show: ratios with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .allocation import Taken
from .chains import SPATIAL_SPEEDS
from .competitors import Row
from .paper import TABLE_4
from .timing import growth


@dataclass(frozen=True)
class Claim:
    """A ratio with its limit, a least or a greatest value."""

    text: str
    value: float
    limit: float
    at_least: bool

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'holds' if self.holds else 'FAILS'} {self.value:8.2f} {sign} {self.limit:<4g} {self.text}"


def planar(rows: Sequence[Row]) -> list[Claim]:
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
            ]
        if "pylinkage" in row.peers:
            ratio = row.peers["pylinkage"] / row.peers["mod_td"]
            claims.append(Claim(f"nEq {n}: pylinkage / MOD_TD", ratio, 20, True))
    return claims


def growing(found: Mapping[int, Mapping[str, float]]) -> list[Claim]:
    """Return what the growth with the number of dyads must show."""
    claims = []
    for name, title in (("mod_td", "MOD_TD"), ("mod_3ot", "MOD_3OT")):
        exponent = growth(list(found), [s[name] for s in found.values()])
        text = f"exponent of growth of {title}, {min(found)} to {max(found)} dyads"
        claims += [Claim(text, exponent, 0.9, True), Claim(text, exponent, 1.1, False)]
    return claims


def allocation(found: Mapping[str, tuple[Taken, Taken]]) -> list[Claim]:
    """Return that no method takes memory in its loop: nothing from Numba, and no more for more steps."""
    blocks = sum(t.numba_blocks for pair in found.values() for t in pair)
    more = max(long.heap - short.heap for short, long in found.values())
    return [
        Claim("blocks that compiled loops took from Numba's run-time", blocks, 0, False),
        Claim("bytes of Python's heap that ten times the steps took more", more, 0, False),
    ]


def spatial(rows: Sequence[Row]) -> list[Claim]:
    """Return what case study 2 must show."""
    found = []
    for row in rows:
        s, where = row.seconds, f"nEq {row.n_equations}, {row.speed:g} rad/s"
        found.append(Claim(f"{where}: GLOB_SP / MOD_TD", s["global_sparse"] / s["mod_td"], 40, True))
        found.append(Claim(f"{where}: GLOB_SP / MOD_3OT", s["global_sparse"] / s["mod_3ot"], 5, True))
        same = s["global_sparse_same"] / s["mod_td"]
        found.append(Claim(f"{where}: GLOB_SP in our coordinates / MOD_TD", same, 40, True))
        if row.n_equations >= 86:  # below it the crank's own 1R3D, by least squares, counts as much as the rods
            like = s["global_sparse"] / s["mod_newton_paper"]
            found.append(Claim(f"{where}: the paper's coordinates: GLOB_SP / MOD_TD", like, 1.5, True))
            tensor = s["mod_3ot_paper"] / s["mod_newton_paper"]
            i = SPATIAL_SPEEDS.index(row.speed) if row.speed in SPATIAL_SPEEDS else 2
            td, threefold = TABLE_4.get(row.n_equations, TABLE_4[806])
            most = td[i] / threefold[i]  # of the paper, at the same size and speed
            found.append(Claim(f"{where}: the paper's coordinates: MOD_3OT / MOD_TD", tensor, most, False))
    return found


def alone(case: str, rows: Sequence[Row]) -> list[Claim]:
    """Return what a group without a closed form must show, its input given."""
    found = []
    for row in rows:
        s = row.seconds
        if row.groups == 0 and "mod_td_serial" in s:
            ratio = s["global"] / s["mod_td"]
            found.append(Claim(f"{case} alone: generic LU step by step / Newton in lanes", ratio, 4, True))
            ratio = s["mod_td_serial"] / s["mod_td"]
            # 2.4 to 4.7 on the processors tried: it hangs on how fast they divide numbers one by one
            found.append(Claim(f"{case} alone: Newton lane by lane / in lanes", ratio, 2, True))
    return found
