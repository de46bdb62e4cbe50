"""Wrong files: refused with the place and the way out, never with a traceback."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism.reader import from_data, load, loads
from tests.mechanism.reader_samples import ALL, places, read

# ---- wrong input ----
WRONG = [
    (0, "format = 1", "format = 2", "m.toml:1: format: 2 is not known - a mechanism file begins with format = 1"),
    (0, '"planar"', '"plane"', 'space: .plane. is not known - write "planar"'),
    (0, "[simulation]", "[simulatoin]", r"\[simulatoin\]: 'simulatoin' is not known here - did you mean 'simulation'"),
    (0, "step  = 0.5", "setp = 0.5", r"\[simulation\] setp: 'setp' is not known here - did you mean 'step'"),
    (0, "step  = 0.5", "step = 0", r"\[simulation\] step: is 0 and must be greater than 0"),
    (0, "step  = 0.5", "step = 1e-300", r"\[simulation\] step: makes"),
    (0, "stop  = 1.5", "stop = -1", r"\[simulation\] stop: is -1, before start = 0"),
    (0, 'cut = ["D"]', 'cut = ["Q"]', r"\[simulation\] cut: there is no joint 'Q'"),
    (0, "omega = 34.96", "e = 1", r"\[parameters\] e: 'e' has a meaning of its own"),
    (0, "omega = 34.96", "sin = 1", r"\[parameters\] sin: "),
    (0, "omega = 34.96", 'omega = "twice"', r"\[parameters\] omega: column 1 of .twice.: unknown name"),
    (0, "B = [0, 2]", "B = [0, 2, 1]", r"m.toml:13: \[points\] B: is a list of 2 numbers in a planar mechanism"),
    (0, "B = [0, 2]", "B = [0, true]", r"\[points\] B: is a number or a formula in quotes, not true"),
    (0, "B = [0, 2]", "B = [0, nan]", r"\[points\] B: nan is not a finite number"),
    (0, "B = [0, 2]", f"B = [0, {'9' * 400}]", r"\[points\] B: 9+\.\.\. is not a finite number"),
    (0, "B = [0, 2]", 'B = [0, "9**9**9"]', r'\[points\] B: "9\*\*9\*\*9" is not a finite number'),
    (0, "D = [6, 0]", "D = [6, 0]\nX = [1, 1]", r"\[points\] X: belongs to no body"),
    (0, "D = [6, 0]", 'D = [6, 0]\n"a\\nb" = [1, 1]', "a name has 1 to 100 printable characters"),
    (0, "[bodies.frame]", "[bodies.ground]", r"\[bodies\]: lacks the ground - write \[bodies.frame\]"),
    (0, "length = 2\n", "length = -2\n", r"m.toml:22: \[bodies.crank\] length: is -2 and must be greater than 0"),
    (0, "length = 2\n", "lenght = 2\n", r"\[bodies.crank\] lenght: 'lenght' is not known here - did you mean 'length'"),
    (0, "length = 2\n", "length = 2\nlocal = {A = [0, 0], B = [2, 0]}\n", "exclude each other"),
    (0, 'points = ["A", "B"]', 'points = ["A", "B", "C"]', r"\[bodies.crank\] length: belongs to a body of 2 points"),
    (0, 'points = ["A", "B"]', 'points = ["A", "Q"]', r"\[bodies.crank\] points: there is no point 'Q'"),
    (0, 'points = ["A", "B"]', 'points = ["A", "A"]', "names 'A' twice"),
    (0, 'points = ["A", "B"]', "points = 3", "is a list of names"),
    (0, 'points = ["A", "B"]\n', "", r"\[bodies.crank\]: lacks 'points'"),
    (0, "P = [3, 1] }", "Q = [3, 1] }", r"\[bodies.rod\] local.Q: there is no point of body 'rod' named 'Q'"),
    (0, ", P = [3, 1] }", " }", r"\[bodies.rod\] local: lacks the point 'P'"),
    (0, "C = [5.0, 5.0]\n", "", r"\[bodies.rod\] points: 'C' is not in \[points\]; it may be left out only if two"),
    (0, "C = [5.0, 5.0]", "C = [0, 2]", r"\[bodies.rod\] local: its points lie at one place"),
    (0, "C = [5.0, 5.0]", "C = [6, 0]", r"\[bodies.rocker\]: its two points lie at one place"),
    (0, "mass = 2", "mass = -2", r"\[bodies.rod\] mass: is -2 and must not be negative"),
    (0, 'centre = "P"', 'centre = "D"', r"\[bodies.rod\] centre: there is no point of body 'rod' named 'D'"),
    (0, "inertia = 3", "inertia = [1, 2]", r"\[bodies.rocker\] inertia: is a number"),
    (
        0,
        'D = { type = "R", bodies = ["frame", "rocker"], at = "D" }',
        "",
        r"\[points\] D: is a point of frame, rocker, but no joint",
    ),
    (
        0,
        'type = "R", bodies = ["crank", "rod"]',
        'type = "T", bodies = ["crank", "rod"]',
        r"\[joints\] B.type: there is no joint type 'T'",
    ),
    (
        0,
        'type = "R", bodies = ["crank", "rod"]',
        'type = "S", bodies = ["crank", "rod"]',
        r"belongs to a spatial mechanism",
    ),
    (
        0,
        'bodies = ["crank", "rod"]',
        'bodies = ["crnak", "rod"]',
        r"\[joints\] B.bodies: there is no body 'crnak' - did you mean 'crank'",
    ),
    (0, 'bodies = ["crank", "rod"]', 'bodies = ["rod", "rod"]', "names 'rod' twice"),
    (
        0,
        'bodies = ["crank", "rod"],',
        'axis = [0, 1], bodies = ["crank", "rod"],',
        r"\[joints\] B.axis: has no meaning for a joint 'R' of a planar",
    ),
    (0, 'bodies = ["crank", "rod"],   at = "B"', 'bodies = ["crank", "rod"]', r"\[joints\] B: lacks 'at'"),
    (
        0,
        'bodies = ["crank", "rod"],   at = "B"',
        'bodies = ["crank", "rod"], at = "D"',
        "'D' is not a point of body 'crank'",
    ),
    (0, 'joint = "A", angle = "pi', 'joint = "Z", angle = "pi', r"\[drivers\] theta.joint: there is no joint 'Z'"),
    (
        0,
        'angle = "pi/2 + omega*t"',
        'displacement = "t"',
        r"\[drivers\] theta.displacement: does not fit: joint 'A' is of type 'R'",
    ),
    (0, ', angle = "pi/2 + omega*t"', "", r"\[drivers\] theta: has neither 'angle' nor 'displacement'"),
    (0, 'angle = "pi/2 + omega*t"', 'angle = "pi/2 + omga*t"', "unknown name 'omga' - did you mean 'omega'"),
    (0, "[drivers]", '[drivers]\nagain = { between = ["B", "P"], distance = "t" }', "both points of body 'rod'"),
    (0, "[drivers]", '[drivers]\nagain = { between = ["B", "P"], joint = "A" }', "a driver has one of 'joint'"),
    (0, 'joint = "D", angle = 2', 'joint = "A", angle = 2', "the driver 'theta' prescribes this coordinate"),
    (0, 'torque = "3*t"', 'torque = ["t", "t"]', r"turn.torque: is a number or a formula in t, not \['t', 't'\] of 2"),
    (0, "torque = ", "point = 'B', force = [1, 2, 3] } #", r"force: is a list of 2 .* in t, not \[1, 2, 3\] of 3"),
    (0, 'angle = "pi/2 + omega*t"', 'angle = "pi/2 + omega*time"', "unknown name 'time' - time is written t$"),
    (0, ', torque = "3*t"', "", r"\[forces\] turn: has either 'force'"),
    (0, 'type = "spring"', 'type = "sping"', "there is no type of force 'sping' - did you mean 'spring'"),
    (0, "length = 2, damping", "damping", r"\[forces\] coil: lacks 'length'"),
    (0, "RRR_1 = 1", "RRR_1 = 1.5", r"\[assembly\] RRR_1: is the whole number of an assembly mode"),
    (0, "gravity = [0", "gravity = [0, 0", "gravity: is a list of 2 numbers"),
    (0, "[joints]", "[joints", "m.toml:39: not valid TOML"),
    (0, "[points]", "[points]\nA = [1, 1]", r"m.toml:\d+: not valid TOML: the name 'A' stands twice in one"),
    (0, "[points]", "[points]\n[points]", r"m.toml:\d+: not valid TOML: the table \[points\] stands twice - join"),
    (1, "radius = 2, axis", "radius = 2, radius = 3, axis", r"the name 'radius' stands twice in one table"),
    (0, "[bodies.crank]", "[bodies.crank]\nkind = 'rod'", "a rod is a moving body of a spatial mechanism"),
    (1, "radii = [2, 1]", "radii = [2, 1], ratio = 2", "a gear has either 'ratio'"),
    (1, "radii = [2, 1]", "radii = [2, -1]", r"\[joints\] mesh.radii: must be greater than 0"),
    (1, 'carrier = "arm"', 'carrier = "sun"', "'sun' is one of the two wheels"),
    (1, "ratio = -2.5", "ratio = 0", r"\[joints\] wheel.ratio: is 0"),
    (1, "axis = [0, 2]", "axis = [0, 0]", r"\[joints\] lift.axis: is zero and has no direction"),
    (1, "radius = 2, axis", "radius = 0, axis", r"\[joints\] teeth.radius: is 0"),
    (1, '"3 + cos(u)"', '"3 + cos(t)"', r"\[joints\] cam.profile: column 9"),
    (1, '"3 + cos(u)"', '"1/u"', "is not finite and smooth"),
    (1, "radius = 0.5 }", "radius = 0.5, direction = [1, 0] }", "keep one of them"),
    (1, 'point = "F"', 'point = "S"', r"\[joints\] cam.follower.point: there is no point of body 'follower'"),
    (1, 'bodies = ["hub", "disc"] }', 'bodies = ["hub", "disc"], at = "T" }', "has no meaning for a joint 'weld'"),
    (1, 'joint = "sun"', 'joint = "fixed"', "'fixed' is a weld, which has no coordinate"),
    (1, 'joint = "sun"', 'joint = "mesh"', "is a joint 'gear'; a driver needs one of"),
    (2, "axis = [0, 0, 2]", "axis = [0, 2]", "is a list of 3 numbers in a spatial mechanism"),
    (2, ", axis = [0, 0, 2]", "", r"\[joints\] A: lacks 'axis'"),
    (2, "[0, 0, 5]", "[0, 4, 5]", r"\[joints\] F.axes: stand at 51.34 degrees"),
    (2, 'type = "S", bodies = ["crank"', 'type = "slot", bodies = ["crank"', "belongs to a planar mechanism"),
    (2, "inertia = [1, 2, 3,", "inertia = [1, 2, -3,", "a principal moment is negative"),
    (2, 'displacement = "t"', 'table = "x.csv"', "a joint C turns and slides"),
    (2, "[drivers]", '[drivers]\nq = { bodies = ["u", "v"], angle = "t" }', "planar mechanisms only"),
]


@pytest.mark.parametrize(("which", "old", "new", "says"), WRONG, ids=[f"{i}-{w[2][:30]}" for i, w in enumerate(WRONG)])
def test_wrong_input(which: int, old: str, new: str, says: str) -> None:
    """Each mistake has one message with the file, the table, the key, and what would be right."""
    assert old in ALL[which]
    with pytest.raises(InputError) as caught:
        read(ALL[which].replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith("m.toml")
    assert re.search(says, message), message
    assert "\n" not in message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.toml: cannot be read: No such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load(tmp_path / "latin.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "big.toml").write_text("#" * 8_000_001)
    with pytest.raises(InputError, match="has more than 8000000 bytes"):
        load(tmp_path / "big.toml")
    with pytest.raises(InputError, match="not valid TOML"):
        loads("a = " + "[" * 100_000, "deep")


def test_a_name_that_stands_twice_is_named_with_its_line() -> None:
    """Also at the end of a file, where the parser gives no line, and in a value of several lines, which hides it."""
    for text, says in (
        ('[d]\nx = { joint = "A", angle = pi/2 + w*t }', "m:2: not valid TOML: pi/2 \\+ w\\*t in angle stands without"),
        ("[p]\nA = [0, L*atan2(3,4)]\n", 'm:2: not valid TOML: L\\*atan2\\(3,4\\) in A .* has them: "L'),
        ('b = 18 deg # "no', "m:1: not valid TOML: 18 deg in b stands without quotes"),
        ("[a]\nb = 1\nb = 2", "m:3: not valid TOML: the name 'b' stands twice"),
        ("[a]\r\nb = 1\r\nb = 2\r\nc = 3\r\n", "m:3: not valid TOML: the name 'b' stands twice"),
        ("[a]\nb = 1\n[a.b]\nc = 2\n", "m:3: not valid TOML: the name 'a.b' stands twice"),
        ("b = 1\nb = [\n  2,\n]\nc = 3\n", "m:4: not valid TOML: a name stands twice"),
        ("[a.b]\n[c]\n[a.b]\n", r"m:3: not valid TOML: the table \[a.b\] stands twice"),
    ):
        with pytest.raises(InputError, match=says):
            loads(text, "m")


# ---- anything else is InputError, too ----
VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 1.5, math.nan, math.inf, 10**400, True, "", "A", "t", "1/0", "frame", "9**9**9", "x.csv"),
    *([], [1], [1, 2], [1, 2, 3], ["A"], ["A", "B"], ["frame", "crank"], [[1, 0, 0], [0, 1, 0]], [[]], {}, {"A": 1}),
)


def mutate(data: dict[str, Any], rng: random.Random) -> None:
    *way, key = rng.choice(places(data))
    holder: Any = data
    for step in way:
        holder = holder[step]
    action = rng.randrange(4)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[rng.choice([str(key) + "x", str(key)[:-1], "type", "at", "joint", "local", ""])] = holder.pop(key)
    elif action == 2:
        names = [str(p[-1]) for p in places(data)]
        holder[key] = rng.choice(names)
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))


@pytest.mark.parametrize("which", range(3))
def test_mutated_files_are_read_or_refused(which: int) -> None:
    """1500 files with one to four random faults each: a model or an InputError of one line, nothing else."""
    rng = random.Random(20240 + which)
    original = tomllib.loads(ALL[which])
    refused: list[str] = []
    for _ in range(1500):
        data = copy.deepcopy(original)
        for _ in range(rng.randint(1, 4)):
            mutate(data, rng)
        try:
            model = from_data(data, "fuzz", None, Path(), ALL[which])
        except InputError as error:
            refused.append(str(error))
        else:
            for body in model.bodies.values():
                assert all(np.isfinite(p).all() for p in body.points.values())
    assert len(refused) > 900  # most faults matter
    assert all(message.startswith("fuzz") and "\n" not in message for message in refused)


def test_mutated_text_is_read_or_refused() -> None:
    rng = random.Random(5)
    for text, _ in itertools.product(ALL, range(300)):
        cut = rng.randrange(len(text))
        piece = rng.choice(["", "[", '"', "=", "\x00", "1e999", "'", "{}", text[: rng.randrange(40)]])
        with contextlib.suppress(InputError):
            loads(text[:cut] + piece + text[cut + rng.randrange(4) :], "fuzz")


def test_a_misspelt_point_is_named_although_the_right_one_then_belongs_to_no_body() -> None:
    text = """
        format = 1
        space = "planar"
        [points]
        A = [0, 0]
        B = [1, 0]
        P = [2, 0]
        [bodies]
        frame = { points = ["A"] }
        crank = { points = ["A", "B", "PP"] }
        [joints]
        A = { type = "R", bodies = ["frame", "crank"], at = "A" }
    """
    with pytest.raises(InputError, match=r"crank.*points.*there is no point 'PP'.*did you mean 'P'"):
        loads(text, "p.toml")
