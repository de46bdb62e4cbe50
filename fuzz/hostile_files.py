"""Spoilt files: mechanisms, specifications, tables and formulas, from the whole ones that the project has."""

from __future__ import annotations

import contextlib
import datetime
import json
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .hostile_words import DATES, FORMULAS, NESTED, NUMBERS, TEXTS

ROOT = Path(__file__).resolve().parents[1]
MECHANISMS = sorted([*(ROOT / "examples").rglob("*.toml"), *(ROOT / "tests" / "data").rglob("*.toml")])
SPECIFICATIONS = sorted((ROOT / "codegen" / "groups").glob("*.toml"))

_TOKEN = re.compile(r"\"[^\"\n]*\"|[\w.+-]+|[^\s\w]|\n|[ \t]+")


# ---- values to TOML -------------------------------------------------------------------------------------------------
def dumped(data: dict[str, Any]) -> str:
    """Return values as TOML, whatever they are."""
    plain = [f"{_key(k)} = {_value(v)}" for k, v in data.items() if not isinstance(v, dict)]
    tables = [
        line
        for name, table in data.items()
        if isinstance(table, dict)
        for line in (f"[{_key(name)}]", *(f"{_key(k)} = {_value(v)}" for k, v in table.items()))
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _key(key: str) -> str:
    return json.dumps(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())}}}"
        case str() | None:
            return json.dumps(str(value), ensure_ascii=value is None or "\x00" in value or "\x7f" in value)
        case datetime.date() | datetime.time():
            return value.isoformat()
    return repr(value)


# ---- spoiling values ------------------------------------------------------------------------------------------------
def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (holder, key or index) below a value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in list(entries):
        yield value, key
        yield from _places(entry)


def hostile_value(rng: random.Random) -> Any:
    """Return something that hardly belongs where it is put."""
    pool = rng.choice((NUMBERS, NUMBERS, TEXTS, FORMULAS, FORMULAS, NESTED, DATES, (True, False)))
    return rng.choice(pool)


GENTLE = (3, 4, 8, 8, 8, 8)


def spoil(data: dict[str, Any], rng: random.Random, ways: tuple[int, ...] = tuple(range(11))) -> None:
    """Change one place of the values of a file; the `GENTLE` ways change numbers, and names for names."""
    places = list(_places(data))
    if not places:
        return
    holder, key = rng.choice(places)
    value = holder[key]
    leaves = [(h, k) for h, k in places if not isinstance(h[k], dict | list)]
    match rng.choice(ways):
        case 0:
            holder[key] = hostile_value(rng)
        case 1:
            del holder[key]
        case 2 if leaves:
            h, k = rng.choice(leaves)
            h[k] = hostile_value(rng)
        case 3 if leaves:  # a name in the place of another
            names = [h[k] for h, k in leaves if isinstance(h[k], str)]
            texts = [(h, k) for h, k in leaves if isinstance(h[k], str)]
            if texts:
                h, k = rng.choice(texts)
                h[k] = rng.choice([*names, *(k2 for _, k2 in places if isinstance(k2, str))])
        case 4 if leaves:
            (h, k), (h2, k2) = rng.choice(leaves), rng.choice(leaves)
            h[k], h2[k2] = h2[k2], h[k]
        case 5 if isinstance(holder, dict):
            holder[rng.choice(("x", "mass", "axis", "length", "extra", key + "1", "", "a b", "Ω", "frame"))] = value
        case 6 if isinstance(holder, dict):
            del holder[key]
            holder[rng.choice((key + "s", key.upper(), key[::-1], "t", "pi", "e"))] = value
        case 7:
            holder[key] = rng.choice(([value], {"a": value}, [value, value], {}, []))
        case 8 if leaves:
            numbers = [(h, k) for h, k in leaves if isinstance(h[k], int | float)]
            if numbers:
                h, k = rng.choice(numbers)
                factor, more = (
                    rng.choice((-1, 0, 1e-9, 1e9, 1e-15, 0.5, 0.9, 1.1, 2, 1e30)),
                    rng.choice((0, 0, 1e-9, 1)),
                )
                with contextlib.suppress(OverflowError):  # of whole numbers that no float is as large as
                    h[k] = h[k] * factor + more
        case 9 if leaves:
            h, k = rng.choice(leaves)
            h[k] = spoilt_formula(rng)
        case _:
            tables = [(h, k) for h, k in places if isinstance(h[k], dict) and h[k]]
            if tables:
                h, k = rng.choice(tables)
                h[k] = {} if rng.random() < 0.3 else {n: hostile_value(rng) for n in h[k]}


def spoilt_formula(rng: random.Random) -> str:
    """Return a formula that is wrong, or nearly."""
    parts = [
        "t",
        "1",
        "0",
        "sin(",
        "(",
        ")",
        "+",
        "-",
        "*",
        "/",
        "**",
        ",",
        "pi",
        "e",
        "omega",
        "<",
        "if(",
        "1e3",
        "2.5",
    ]
    if rng.random() < 0.5:
        return rng.choice(FORMULAS)
    return "".join(rng.choice(parts) for _ in range(rng.randrange(1, 12)))


# ---- spoiling text --------------------------------------------------------------------------------------------------
def spoilt_text(text: str, rng: random.Random) -> bytes:
    """Return a text with a few tokens, lines or bytes changed."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randrange(1, 4)):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(9):
            case 0:
                tokens[at] = ""
            case 1:
                tokens[at] *= 2
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = tokens[other]
            case 4:
                tokens[at] = rng.choice(TEXTS)
            case 5:
                tokens[at] = str(rng.choice(NUMBERS[:-8]))
            case 6:
                del tokens[at : at + rng.randrange(1, 30)]
                tokens.append("\n")
            case 7:
                tokens[at:at] = tokens[other : other + rng.randrange(1, 40)]
            case _:
                tokens[at] = rng.choice(
                    ('"""', "'''", "[[", "]]", "{", "}", "#", "=", "\r", "\t", "\\u", "1e", "0x", ".")
                )
    raw = "".join(tokens).encode("utf-8", "surrogatepass")
    match rng.randrange(14):
        case 0:
            return raw[: rng.randrange(len(raw) + 1)]
        case 1:
            return b"\xef\xbb\xbf" + raw
        case 2:
            return raw.replace(b"\n", b"\r\n")
        case 3:
            at = rng.randrange(len(raw) + 1)
            return raw[:at] + rng.choice((b"\x00", b"\xff", b"\xc3", rng.randbytes(20))) + raw[at:]
        case 4:
            return raw.replace(b"\n", b"\r")
        case 5:
            return raw.decode("utf-8", "ignore").encode("utf-16")
    return raw


def spoilt_mechanism(rng: random.Random) -> bytes:
    """Return the bytes of a mechanism file that is probably wrong."""
    path = rng.choice(MECHANISMS)
    text = path.read_text("utf-8")
    if rng.random() < 0.4:
        return spoilt_text(text, rng)
    data = tomllib.loads(text)
    ways = rng.choice((tuple(range(11)), GENTLE, (8,)))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        spoil(data, rng, ways)
    return dumped(data).encode("utf-8", "surrogatepass")


def spoilt_specification(rng: random.Random) -> bytes:
    """Return the bytes of a specification that is probably wrong."""
    text = rng.choice(SPECIFICATIONS).read_text("utf-8")
    if rng.random() < 0.5:
        return spoilt_text(text, rng)
    data = tomllib.loads(text)
    data["name"] = "hostile"
    for _ in range(rng.choice((1, 2, 3))):
        spoil(data, rng)
    return dumped(data).encode("utf-8", "surrogatepass")


# ---- whole files of a bad kind --------------------------------------------------------------------------------------
def chain(count: int) -> str:
    """Return a planar mechanism of so many dyads, one on the other."""
    lines = ['format = 1\nspace = "planar"\n[points]\nA = [0, 0]\nB = [0, 1]']
    lines += [f"G{k} = [{3 + k}, 0]\nC{k} = [{2 + k}, 2]" for k in range(count)]
    frame = ", ".join(f'"G{k}"' for k in range(count))
    lines += [f'[bodies]\nframe = {{ points = ["A", {frame}] }}\ncrank = {{ points = ["A", "B"] }}']
    before = ["B", *(f"C{k}" for k in range(count))]
    for k in range(count):
        lines += [f'rod{k} = {{ points = ["{before[k]}", "C{k}"] }}', f'bar{k} = {{ points = ["G{k}", "C{k}"] }}']
    lines += ['[joints]\nA = { type = "R", bodies = ["frame", "crank"], at = "A" }']
    for k in range(count):
        carrier = "crank" if k == 0 else f"bar{k - 1}"
        lines += [
            f'L{k} = {{ type = "R", bodies = ["{carrier}", "rod{k}"], at = "{before[k]}" }}',
            f'C{k} = {{ type = "R", bodies = ["rod{k}", "bar{k}"], at = "C{k}" }}',
            f'G{k} = {{ type = "R", bodies = ["frame", "bar{k}"], at = "G{k}" }}',
        ]
    lines += ['[drivers]\ntheta = { joint = "A", angle = "pi/2 + 0.01*t" }\n[simulation]\nstop = 1\nstep = 0.5\n']
    return "\n".join(lines)


def odd_mechanism(rng: random.Random) -> bytes:
    """Return a file that is extreme as a whole: empty, huge, deep, binary, self-referring."""
    plain = (ROOT / "examples" / "four-bar.toml").read_bytes()
    n = rng.choice((10, 300, 5000))
    match rng.randrange(16):
        case 0:
            return rng.choice(
                (b"", b"\n", b"\x00", b"\xef\xbb\xbf", b"=", b"[", b"format = 1", b'format = 1\nspace = "planar"')
            )
        case 1:
            return rng.randbytes(rng.choice((1, 100, 10_000)))
        case 2:
            return plain + b"#" * rng.choice((7_990_000 - len(plain), 8_000_001, 9_000_000))
        case 3:
            return plain + b"\n[x]\ny = " + b"[" * n + b"]" * n
        case 4:
            return plain + b"\n[x]\ny = " + b"{a = " * n + b"1" + b"}" * n
        case 5:
            return plain + b"\n[" + b"a." * n + b"b]\nc = 1\n"
        case 6:
            cycle = "\n".join(f'p{k} = "p{(k + 1) % n} + 1"' for k in range(n))
            return (
                f'format = 1\nspace = "planar"\n[parameters]\n{cycle}\n[bodies]\nframe = {{ points = [] }}\n'.encode()
            )
        case 7:
            ladder = "\n".join(f'p{k} = "p{k - 1} + p{k - 1}"' if k else "p0 = 1" for k in range(n))
            return plain.replace(b"[points]", f"[parameters]\n{ladder}\n[points]".encode(), 1)
        case 8:
            return chain(rng.choice((3, 30, 200))).encode()
        case 9:
            return plain.replace(
                b"[points]", b"[points]\n" + b"".join(b"Q%d = [%d, 1]\n" % (k, k) for k in range(n)), 1
            )
        case 10:
            return plain.replace(b"\n", b"\r\n")
        case 11:
            return b"\xef\xbb\xbf" + plain
        case 12:
            return plain.replace(b'"A"', b'"' + b"A" * n + b'"')
        case 13:
            return plain.replace(b"theta", '"θ [bold] \\u0007"'.encode())
        case 14:
            bodies = b"".join(b'b%d = { points = ["A", "Q%d"] }\n' % (k, k) for k in range(n))
            return plain.replace(b"[bodies]", b"[bodies]\n" + bodies, 1)
        case _:
            return plain[: rng.randrange(len(plain))]


def spoilt_table(rng: random.Random) -> bytes:
    """Return the bytes of a CSV table that is probably wrong."""
    rows: list[list[Any]] = [[0.1 * k, 0.3 * k] for k in range(rng.choice((2, 3, 20)))]
    text = "t,value\n" + "".join(f"{a},{b}\n" for a, b in rows)
    match rng.randrange(14):
        case 0:
            return rng.choice(
                (b"", b"\n", b",", b"t,value\n", b"t,value\n0,1\n", b"0,0\n0,0\n", b"\x00\x00", b"\xff\xfe1")
            )
        case 1:
            return text.replace("0.1", str(rng.choice(NUMBERS)), 1).encode()
        case 2:
            rows.reverse()
        case 3:
            rng.choice(rows)[rng.randrange(2)] = rng.choice(NUMBERS[:-1])
        case 4:
            rng.choice(rows).append(7)
        case 5:
            rng.choice(rows).pop()
        case 6:
            return text.replace(",", rng.choice((";", "\t", ",,", " "))).encode()
        case 7:
            return text.encode("utf-16")
        case 8:
            return text.replace("\n", "\r\n").encode() + b"\r\n\r\n"
        case 9:
            return b"\xef\xbb\xbf" + text.encode()
        case 10:
            return text.encode() + b'"' + b"x" * rng.choice((3, 200_000))
        case 11:
            return b"t,value\n" + b"".join(b"%d,%d\n" % (k, k) for k in range(rng.choice((1000, 100_000, 800_000))))
        case 12:
            rows = [[1e-300 * k, 1e300 * (-1) ** k] for k in range(5)]
        case _:
            rows = [[k, rng.choice(("nan", "1e400", "1_0", "x", "", "1e-400", 1))] for k in range(5)]
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
