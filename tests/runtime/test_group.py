"""What reaches compiled code has the right size and finite values; damaged machine code is compiled again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assurgent
from assurgent.common.errors import InputError
from assurgent.runtime.group_type import GroupType

H, PAR, C = {"A": (0, 0), "B": (5, 0)}, {"L_AC": 3, "L_BC": 4}, (1.8, 2.4)
TIME = np.linspace(0.0, 1.0, 5)
NAN = float("nan")


@pytest.fixture(scope="module")
def rrr() -> GroupType:
    return assurgent.load("RRR")


# Each call has one wrong array; the message must hold the text.
WRONG: dict[str, tuple[Callable[[GroupType], Any], str]] = {
    "start too short": (lambda g: g.position(H, PAR, start=(1,)), "start has 2 entries: x_C, y_C; 1 number given"),
    "start too long": (lambda g: g.position(H, PAR, start=(1, 2, 3)), "start has 2 entries: x_C, y_C; 3 numbers given"),
    "start in 2-D": (lambda g: g.position(H, PAR, start=[[1, 2]]), "start has 2 entries: x_C, y_C; 1 x 2 numbers"),
    "start, many steps": (lambda g: g.position(H, PAR, start=[[1], [2]]), "start is one value for each of x_C, y_C"),
    "start not a number": (lambda g: g.position(H, PAR, start=(1, NAN)), "start: y_C is nan - give a finite number"),
    "start a text": (lambda g: g.position(H, PAR, start="ab"), "start is not an array of numbers"),
    "h too short": (lambda g: g.position((0, 0, 5), PAR), "h has 4 entries: x_A, y_A, x_B, y_B; 3 numbers given"),
    "h a number": (lambda g: g.position(3.0, PAR), "h has 4 entries: x_A, y_A, x_B, y_B; a number given"),
    "h in 2-D": (lambda g: g.position(np.zeros((4, 2)), PAR), "'motion' takes many time steps at once"),
    "h infinite": (lambda g: g.position((0, 0, np.inf, 0), PAR), "h: x_B is inf - give a finite number"),
    "h, a component missing": (
        lambda g: g.position({"A": (0,), "B": (5, 0)}, PAR),
        "'A' has the 2 components x_A, y_A",
    ),
    "par lacks one": (lambda g: g.position(H, {"L_AC": 3}), "RRR: par lacks L_BC"),
    "par unknown": (lambda g: g.position(H, {"length": 3}), "par has no 'length'. It has L_AC, L_BC."),
    "par nearly known": (lambda g: g.position(H, {"L_CA": 3}), "no 'L_CA' - did you mean 'L_AC'? It has L_AC, L_BC."),
    "par in 2-D": (lambda g: g.position(H, [[3], [4]]), "par is one value for each of L_AC, L_BC here"),
    "two signs": (lambda g: g.position(H, PAR, branch=(1, 1)), "branch is 1 sign, +1 or -1: sigma; [1, 1] given"),
    "a sign of 2": (lambda g: g.position(H, PAR, branch=2), "branch is 1 sign, +1 or -1: sigma; 2 given"),
    "time infinite": (lambda g: g.position(H, PAR, t=np.inf), "t is one finite number; inf given"),
    "phi too short": (lambda g: g.constraint((1,), H, PAR), "phi has 2 entries: x_C, y_C; 1 number given"),
    "phi of jacobians": (lambda g: g.jacobians(np.zeros(3), H, PAR), "phi has 2 entries"),
    "phi of velocity": (lambda g: g.velocity((1, NAN), H, PAR, H), "phi: y_C is nan"),
    "hdot": (lambda g: g.velocity(C, H, PAR, (1, 2)), "hdot has 4 entries"),
    "phidot": (lambda g: g.acceleration(C, H, PAR, (1,), H, H), "phidot has 2 entries: x_C, y_C; 1 number given"),
    "hddot": (lambda g: g.acceleration(C, H, PAR, C, H, np.zeros(5)), "hddot has 4 entries"),
    "phi of 3OT": (lambda g: g.acceleration_3ot((1,), H, PAR, H, H), "phi has 2 entries"),
    "phiddot of jerk": (lambda g: g.jerk(C, H, PAR, C, H, (1,), H, H), "phiddot has 2 entries"),
    "hdddot of jerk": (lambda g: g.jerk(C, H, PAR, C, H, C, H, (1,)), "hdddot has 4 entries"),
    "phidot of sensitivities": (lambda g: g.sensitivities(C, H, PAR, (1,), H, C, H), "phidot has 2 entries"),
    "phi of conditioning": (lambda g: g.conditioning((1,), H, PAR), "phi has 2 entries"),
    "method": (lambda g: g.motion(TIME, H, H, H, PAR, method="3OT"), "method '3OT' - did you mean '3ot'?"),
    "method unlike any": (lambda g: g.motion(TIME, H, H, H, PAR, method="xx"), "method 'xx' - it is 'td' or '3ot'"),
    "steps of h": (lambda g: g.motion(TIME, np.zeros((4, 3)), H, H, PAR), "h has 3 steps, time has 5 - give one value"),
    "steps of hdot": (lambda g: g.motion(TIME, H, np.zeros((4, 6)), H, PAR), "hdot has 6 steps, time has 5"),
    "steps that differ": (
        lambda g: g.motion(TIME, {"A": (np.zeros(5), 0), "B": (np.full(4, 5), 0)}, H, H, PAR),
        "the entries of h differ in their number of steps: x_A 5 numbers, y_A a number, x_B 4 numbers",
    ),
    "h not a number at a step": (
        lambda g: g.motion(TIME, {"A": (0, 0), "B": ([5, 5, NAN, 5, 5], 0)}, H, H, PAR),
        "h: x_B is nan at step 2 - give a finite number",
    ),
    "no time": (lambda g: g.motion([], H, H, H, PAR), "time is a list of finite numbers, one for each step; 0 numbers"),
    "time in 2-D": (lambda g: g.motion([[0, 1]], H, H, H, PAR), "one for each step; 1 x 2 numbers given"),
    "time not a number": (lambda g: g.motion([0, NAN], H, H, H, PAR), "one for each step; nan given"),
    "start of a closed form": (
        lambda g: g.motion(TIME, H, H, H, PAR, start=C),
        "takes branch, the signs, and no start",
    ),
}


@pytest.mark.parametrize(("call", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_array_never_reaches_compiled_code(call: Callable[[GroupType], Any], says: str, rrr: GroupType) -> None:
    """The message names the type, what was given and what is right."""
    with pytest.raises(InputError) as caught:
        call(rrr)
    assert str(caught.value).startswith("RRR")
    assert says in str(caught.value)


def test_a_newton_type_checks_its_start_and_has_no_signs() -> None:
    triad = assurgent.load("triad-6R")
    h, par = np.arange(6.0), np.ones(len(triad.parameters))
    for solve in (triad.position, lambda h, par, **more: triad.motion(TIME, h, h, h, par, **more)):
        with pytest.raises(InputError, match=r"start has 4 entries: x_D, y_D, x_E, y_E; 2 numbers given"):
            solve(h, par, start=(1, 2))
        with pytest.raises(InputError, match="branch is not used: this type has no signs; 1 given"):
            solve(h, par, start=(1, 2, 3, 4), branch=1)
        with pytest.raises(InputError, match="has no closed form: give start"):
            solve(h, par)


def test_right_arrays_of_every_kind_are_taken(rrr: GroupType) -> None:
    """Lists, names, strided and read-only arrays, one value for all steps: the same 3-4-5 triangle."""
    strided = np.array([0.0, 9.0, 0.0, 9.0, 5.0, 9.0, 0.0, 9.0])[::2]
    strided.flags.writeable = False
    for h in (H, [0, 0, 5, 0], strided, {"x_A": 0, "y_A": np.float64(0), "B": np.array([5, 0])}):
        assert rrr.position(h, PAR, branch=-1) == pytest.approx(C, rel=1e-15)
    moving = {"A": (0, 0), "B": (np.full(5, 5.0), 0)}
    rest = {"A": (0, 0), "B": (0, 0)}
    for h in (H, moving, np.array([[0], [0], [5], [0]])):
        found = rrr.motion(TIME, h, rest, rest, PAR, branch=-1)
        assert found.phi == pytest.approx(np.tile(C, (5, 1)).T, rel=1e-15)


SOLVE = """
import assurgent
print(*assurgent.load("RRR").position({"A": (0, 0), "B": (5, 0)}, {"L_AC": 3, "L_BC": 4}, branch=-1).round(12))
"""


def solved(cache: Path) -> str:
    """Solve in a fresh process with the machine code below a folder; return what it prints."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", SOLVE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def machine_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of machine code as Numba leaves it."""
    folder = tmp_path_factory.mktemp("numba")
    assert solved(folder) == "1.8 2.4\n"
    return folder


@pytest.mark.parametrize(
    ("suffix", "content"),
    [("nbi", b""), ("nbi", b"\x80\x04\x8c\x05\xff\xfe\xff\xff\xff."), ("nbc", b"not machine code")],
    ids=["empty index", "index that is no UTF-8", "code that is none"],
)
def test_damaged_machine_code_is_compiled_again(
    machine_code: Path, tmp_path: Path, suffix: str, content: bytes
) -> None:
    """A damaged file of Numba's cache counts as missing; afterwards the cache is whole again."""
    cache = Path(shutil.copytree(machine_code, tmp_path / "cache"))
    (file,) = cache.rglob(f"rrr.position-*.{suffix}")
    file.write_bytes(content)
    assert solved(cache) == "1.8 2.4\n"
    assert file.read_bytes() != content
