"""Lists of nonsense: numbers, texts, formulas, options and paths that hardly belong where they are put."""

from __future__ import annotations

import datetime
from typing import Any

# fmt: off
NUMBERS: tuple[Any, ...] = (
    *(0, -0.0, 1, -1, 1e308, -1e308, 1e-308, 5e-324, float("nan"), float("inf"), float("-inf"), 10**400, -(10**25)),
    *(2**63, 1e-12, 1e12, 1e150, 1e-150, 0.5, 3, 1e200, 7e-200),
)
DATES = (datetime.date(2020, 2, 29), datetime.time(1, 2, 3), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
TEXTS = (
    *("", " ", "t", "nan", "inf", "1e999", "__import__('os')", "A", "frame", "{0.__class__}", "%s%n", "\x00", "\ufeff"),
    *("ﬀ", "Ω", "é", "\u202e", "🦿", "a" * 5000, "../../etc/passwd", "a\nb", "[red]x[/]", "R", "weld", "\\", "'",
      "t.real",),
)
NESTED: tuple[Any, ...] = ([], {}, [[]], [[1]], [{}], {"a": {"b": {}}}, [1, "a", None], [[[[0]]]], [0, 0], [0, 0, 0])
FORMULAS = (
    *("1/0", "0/0", "0**-1", "(-1)**0.5", "sqrt(-1)", "log(0)", "log(t)", "asin(2)", "acos(1 + t)", "exp(1000)"),
    *("exp(exp(t))", "10**400", "1e309", "9**9**9**9", "1/t", "1/(t - 0.1)", "sqrt(t - 0.1)", "tan(pi/2)", "t**0.5"),
    *("floor(1e300)", "min()", "max(1)", "atan2(0, 0)", "if(t < 0.1, 0, 1)", "if(1, 2, 3)", "if(t < 1)", "sign(t)"),
    *("abs(t)", "t +", "+", "(", ")", "()", "t t", "2(3)", "sin t", "sin()", "sin(1, 2)", "foo(1)", "x", "1e", ".",
      "1.2.3",),
    *("0x10", "1_000", "1j", "True", "None", "lambda: 0", "[].__class__", "t.__class__", "().__class__", "a := 1"),
    *("__import__('os').system('true')", "open('x')", "eval('1')", "t; t", "t if t else t", "'a'*9", "{t}", "t\\",
      "t\n+1",),
    *("t < 1", "t == 1", "not t", "t % 2", "t // 2", "t & 1", "t^2", "30 deg", "5 rpm", "0*t", "1e308*10*t",
      "1e-320*t", "t*1e300",),
    *("-" * 150 + "t", "-" * 300 + "t", "(" * 199 + "t" + ")" * 199, "(" * 200 + "t" + ")" * 200, "(" * 5000 + "t"),
    *("+".join(["t"] * 4999), "+".join(["t"] * 6000), "sin(" * 60 + "t" + ")" * 60, "**".join(["2"] * 150), "t" * 9999),
    *("exp(" * 199 + "t" + ")" * 199, "/".join(["t"] * 400), "*".join(["sin(t)"] * 900),
      "if(t<1," * 90 + "t" + ",0)" * 90,),
)
NONSENSE = (
    *("", " ", "nan", "inf", "-inf", "-1", "0", "1e308", "1e-308", "1e-12", "x", ",", ",,", "0,", "1,0", "0,nan",
      "0,inf",),
    *("-1,0", "0,0", "0,1e300", "0;1", "0x10", "1_0", "١", "½", "0 1", "--help", "-o", "\x00", "\udcff", "9" * 400,
      "[red]",),
    *("1e9", "0,1e9", "0,1e-300", "0," * 300, ",".join(map(str, range(2000))), "true", "None", "a=b", "=", "=1",
      "1=", "--", "-",),
)
SETTINGS = (
    *("omega", "omega=", "=5", "omega=x", "omega=nan", "omega=inf", "omega=1e308", "omega=-1e308", "omega=1e-320"),
    *("omega=0", "omgea=1", "omega=1=2", "omega=__import__('os')", "pi=3", "t=1", "", "omega=1\x00", "a b=1", "Ω=1",
      "omega=1e30",),
)
OPTIONS = (
    *("--at", "--set", "--method", "-o", "--threads", "--jerk", "--fps", "--seconds", "--vectors", "--trace",
      "--names",),
    *("--reactions", "--energy", "--forces", "--svg", "--json", "--fixed-step", "--stop-at-bifurcation", "--help"),
    *("-n", "--bound", "--latex", "--source", "--version", "--nonsense", "-x", "--out", "--a"),
)
TARGETS = (
    *("out.csv", "out.CSV", "out", "out.", ".csv", "out.xyz", "out.csv.gz", "no/out.csv", ".", "..", "/", "",
      "out.csv/",),
    *("folder", "folder.csv", "/proc/out.csv", "/dev/full", "/dev/null", "a" * 300 + ".csv", "a" * 250 + ".csv"),
    *("x\x00.csv", "Ω 🦿.csv", "-.csv", "out\n.csv", "dangling.csv", "loop.csv", "fifo.csv", "m.toml",
      "old.csv/x.csv", "[red].csv",),
    *("old.csv", "old.json", "old.npz", "old.nc", "old.parquet", "old.png", "old.svg", "old.html", "full.csv",
      "\udcff.csv",),
)
SOURCES = (
    *("", ".", "..", "/", "no.toml", "folder", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "dangling.csv",
      "loop.csv",),
    *("fifo.csv", "/proc/self/mem", "/proc/self/maps", "/etc/passwd", "m.toml/", "m.toml/x", "a" * 300, "m\x00.toml",
      "-", "--", "~",),
    *("/proc/self/environ", "m.TOML", "m", "\udcff", "folder/m.toml", "/dev/tty", "/proc/kmsg", "/dev/stdin"),
)
# fmt: on
