"""Measures the figures of docs/performance.md and writes them into its tables.

`python docs/performance.py measure` runs the commands of the page one after the other (half an hour on a machine that
does nothing else) and keeps what they write in out/bench; `measure users spatial:86` runs those of one table, or one of
them by its last word. `python docs/performance.py` fills the tables from there, as far as they were measured. A table
stands between `<!-- figures: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assurgent.bench.dynamics_study import OURS
from assurgent.bench.paper import TABLE_3, TABLE_4
from assurgent.bench.startup import NUMBA

PAGE = Path(__file__).parent / "performance.md"
FOUND = PAGE.parent.parent / "out" / "bench"
# name of a table: the options of `assurgent bench` that measure it; `a|b` as the last word are two commands
PLANAR = "--case planar --no-peers --sizes"
COMMANDS = {
    "choices": "--case choices",
    "planar": f"{PLANAR} 22|102|202",
    "growth": f"{PLANAR} 202",
    "peers": "--case planar --rounds 3 --sizes 22|202",
    "spatial": "--case spatial --rounds 3 --sizes 14|86|806",
    "paper": "--paper --case spatial --sizes 86|806",
    "further": "--case zoo|jansen|triad|spatial8|stewart",
    "dynamics": "--dynamics",
    "startup": "--startup",
    "types": "--startup",
    "users": "--case users run|designs|populations|inverse|simulate|start",
}
FURTHER = {
    "zoo": "zoo: RRR RRP RPR PRP RPP", "jansen": "Jansen's leg", "triad": "planar triad",
    "spatial8": "spatial group of 8 unknowns", "stewart": "Stewart platform",
}  # fmt: skip
Data = Mapping[str, Any]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], words: int = 0) -> str:
    """Return a table in Markdown whose columns after the first few `words` are numbers."""
    line = ["---" if i < words else "---:" for i in range(len(heads))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, *rows)).replace(
        "\n", "\n|" + "|".join(line) + "|\n", 1
    )


def short(value: float) -> str:
    """Return three digits, and all digits before the point."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def beside(ours: float, paper: float | None) -> str:
    return short(ours) + ("" if paper is None else f" ({paper:.2g})")


# ---- the tables -----------------------------------------------------------------------------------------------------
def choices(data: Data) -> str:
    found: dict[str, float] = data["choices"]
    first = next(iter(found.values()))
    dyad = 1e9 / (100 * 24_000)
    rows = [(what, f"{dyad * s:.2f}", f"{s / first:.2f}") for what, s in found.items()]
    return table(("change", "ns a dyad and step", "ratio"), rows, 1)


def planar(data: Data) -> str:
    rows = []
    for row in data["planar"]:
        old = TABLE_3.get(row["nEq"])
        td, three, sparse = row["mod_td"], row["mod_3ot"], row["global_sparse"]
        paper = (old[3] / old[2], old[1] / old[2], old[1] / old[3]) if old else (None, None, None)
        ratios = zip((three / td, sparse / td, sparse / three), paper, strict=True)
        default = short(row["global_sparse_default"] / td)
        rows.append((str(row["nEq"]), f"{td / row['fill']:.2f}", *(beside(*pair) for pair in ratios), default))
    return table(("nEq", "TD/fill", "3OT/TD", "GLOB_SP/TD", "GLOB_SP/3OT", "default/TD"), rows)


def growth(data: Data) -> str:
    names = ("mod_td", "mod_3ot")
    rows = [(str(row["dyads"]), *(f"{1e9 * row[n] / row['dyads']:.2f}" for n in names)) for row in data["growth"]]
    return table(("dyads", "MOD_TD, ns a step and dyad", "MOD_3OT"), rows)


def peers(data: Data) -> str:
    sizes = [row for row in data["planar"] if row["peers"]]
    programs = [name for name in sizes[0]["peers"] if name != "mod_td"]
    rows = []
    for name in programs:
        ratios = (short(row["peers"][name] / row["peers"]["mod_td"]) for row in sizes)
        rows.append((name, *ratios, f"{sizes[-1]['error'][name]:.0e}"))
    heads = ("program", *(f"nEq {row['nEq']}: time / TD" for row in sizes), f"largest error at {sizes[-1]['nEq']}")
    return table(heads, rows, 1)


def spatial(data: Data) -> str:
    rows = []
    for row in data["spatial"]:
        sparse, same = row["global_sparse"], row["global_sparse_same"]
        ratios = (same / row["mod_td"], same / row["mod_3ot"], sparse / row["mod_td"], sparse / row["mod_3ot"])
        newton = (sparse / row["mod_newton_paper"], row["mod_3ot_paper"] / row["mod_newton_paper"])
        rows.append((str(row["nEq"]), f"{row['speed']:g}", *map(short, ratios), *(f"{x:.2f}" for x in newton)))
    heads = ("nEq", "rad/s", "k + 3: GLOB_SP/TD", "GLOB_SP/3OT", "8k + 6 by k + 3: GLOB_SP/TD", "GLOB_SP/3OT",
             "8k + 6: GLOB_SP/TD", "3OT/TD")  # fmt: skip
    return table(heads, rows)


def paper(data: Data) -> str:
    speeds = sorted({row["speed"] for row in data["paper_spatial"]})
    rows = []
    for row in data["paper_spatial"]:
        i, old, sparse = speeds.index(row["speed"]), TABLE_4[row["nEq"]], row["global_sparse"]
        td, tensor, own = row["mod_td"], row["mod_3ot"], row["own_td"]
        ratios = zip((sparse / td, sparse / tensor, tensor / td),
                     (old[0][i], old[1][i], old[0][i] / old[1][i]), strict=True)  # fmt: skip
        cells = (f"{x:.2f} ({y:.2g})" for x, y in ratios)
        rows.append(
            (str(row["nEq"]), f"{row['speed']:g}", *cells, f"{sparse / own:.2f}", f"{row['own_3ot'] / own:.2f}")
        )
    heads = ("nEq", "rad/s", "GLOB_SP/MOD_TD", "GLOB_SP/MOD_3OT", "MOD_3OT/MOD_TD",
             "`run`: GLOB_SP/TD", "`run`: 3OT/TD")  # fmt: skip
    return table(heads, rows)


def further(data: Data) -> str:
    rows = []
    for case, title in FURTHER.items():
        for row in data.get(case, ()):
            cells = []
            for name in ("mod_td", "mod_td_serial", "global_sparse", "global"):
                count = row["iterations"].get(name)
                cells.append(short(1e3 * row[name]) + (f" ({count:.1f})" if count else "") if name in row else "-")
            rows.append((f"{title}, {row['groups']} times" if row["groups"] > 1 else title, str(row["nEq"]), *cells))
    return table(("case", "nEq", "TD", "lane by lane", "GLOB_SP", "generic LU"), rows, 1)


def dynamics(data: Data) -> str:
    figures: list[Data] = data["dynamics"]
    programs = list(dict.fromkeys(f["program"] for f in figures))
    rows = []
    for case in dict.fromkeys(f["case"] for f in figures):
        own = {f["program"]: f for f in figures if f["case"] == case}
        shown = {p: short(1e3 * f["seconds"]) + ("" if f["reached"] else " !") for p, f in own.items()}
        rows.append((case, *(shown.get(p, "-") for p in programs), short(1e6 * own[OURS]["evaluation"])))
    return table(("mechanism", *programs, "one right-hand side of ours, µs"), rows, 1)


def startup(data: Data) -> str:
    found: dict[str, Data] = data["startup"]["seconds"]
    base = found[NUMBA]["wall"]
    rows = [(w, f"{s['wall']:.2f}", f"{s['processor']:.2f}", f"{s['wall'] - base:.2f}") for w, s in found.items()]
    return table(("what", "wall, s", "processor, s", "wall over `import numba`, s"), rows, 1)


def types(data: Data) -> str:
    found: dict[str, dict[str, float]] = data["startup"]["types"]
    rows = [(name, f"{sum(s.values()):.1f}", f"{s.get('compile', 0.0):.1f}") for name, s in found.items()]
    return table(("type", "all, s", "of which compilation"), rows, 1)


def users(data: Data) -> str:
    rows = []
    for row in data["users"]:
        if "value" in row:
            rows.append((row["text"], short(row["value"]), f"{'≥' if row['at_least'] else '≤'} {row['limit']:g}"))
        else:
            rows.append((row["what"], "-", row["why"]))
    return table(("what", "measured", "bound"), rows, 1)


TABLES: dict[str, Callable[[Data], str]] = {
    f.__name__: f for f in (choices, planar, growth, peers, spatial, paper, further, dynamics, startup, types, users)
}


# ---- the page -------------------------------------------------------------------------------------------------------
def filled(page: str, found: Mapping[str, Data]) -> str:
    """Return the page with the tables that were measured; `found` are the files by their commands."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        data: dict[str, Any] = {}
        for options in alternatives(COMMANDS[name]):
            for key, value in found.get(options, {}).items():
                data[key] = data[key] + value if isinstance(value, list) and key in data else value
        text = TABLES[name](data) + "\n" if data else match[2]
        return f"<!-- figures: {name} -->\n{text}<!-- end -->"

    return re.sub(r"<!-- figures: (\w+) -->\n(.*?)<!-- end -->", fill, page, flags=re.DOTALL)


def alternatives(options: str) -> list[str]:
    """Return the single commands of one written as `--case a|b`."""
    head, _, last = options.rpartition(" ")
    return [f"{head} {name}".strip() for name in last.split("|")]


def file_of(options: str) -> Path:
    return FOUND / (re.sub(r"\W+", "-", options).strip("-") + ".json")


def chosen(names: Sequence[str]) -> list[str]:
    """Return the commands of some tables, of all without a name; `table:word` is the one that ends with the word."""
    found = []
    for name in names or COMMANDS:
        of, _, last = name.partition(":")
        own = [o for o in alternatives(COMMANDS.get(of, "")) if of in COMMANDS and (not last or o.split()[-1] == last)]
        if not own:
            raise SystemExit(f"{name}: no such table; there are {', '.join(COMMANDS)}")
        found += own
    return list(dict.fromkeys(found))


def main(arguments: Sequence[str]) -> None:
    if arguments and arguments[0] == "measure":
        FOUND.mkdir(parents=True, exist_ok=True)
        for options in chosen(arguments[1:]):
            command = [sys.executable, "-m", "assurgent", "bench", *options.split(), "--json", str(file_of(options))]
            subprocess.run(command, check=True)
    measured = {o: json.loads(file_of(o).read_text("utf-8")) for o in chosen([]) if file_of(o).is_file()}
    PAGE.write_text(filled(PAGE.read_text("utf-8"), measured), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
