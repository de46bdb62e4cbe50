"""Compiled types against published and independently derived values (50 digits, tests/data/rrr_K_L.json)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import assurgent
import numpy as np
import pytest
from assurgent.codegen.generate import compile_spec
from assurgent.codegen.specification_reader import parse_spec
from assurgent.runtime.group_type import GroupType

DATA = json.loads((Path(__file__).parents[1] / "data" / "rrr_K_L.json").read_text("utf-8"))
EXPECTED = DATA["expected"]
RTOL = 1e-12  # as the data file asks
H = {"A": (0.5, 1.9), "B": (6.0, 0.25)}
PAR = {"L_AC": 5.0, "L_BC": 5.5}


def numbers(value: Any) -> np.ndarray:
    return np.array(value, dtype=float)


def close(value: np.ndarray, truth: Any) -> bool:
    truth = numbers(truth)
    return bool(np.max(np.abs(value - truth)) <= RTOL * np.max(np.abs(truth)))


@pytest.fixture(scope="module")
def rrr() -> GroupType:
    return assurgent.load("RRR")


@pytest.fixture(scope="module")
def C(rrr: GroupType) -> np.ndarray:
    """The assembly with C left of A -> B."""
    found = [rrr.position(H, PAR, branch=sign) for sign in (1, -1)]
    A, B = np.array(H["A"]), np.array(H["B"])
    left = [c for c in found if np.linalg.det(np.array([B - A, c - A])) > 0]
    assert len(left) == 1
    return left[0]


def test_position_in_closed_form(C: np.ndarray) -> None:
    assert close(C, EXPECTED["C"])


def test_newton_finds_the_same_position(rrr: GroupType, C: np.ndarray) -> None:
    assert close(rrr.position(H, PAR, start=C + [0.3, -0.2]), EXPECTED["C"])


def test_K_and_L(rrr: GroupType, C: np.ndarray) -> None:
    _, K, L = rrr.acceleration_3ot(C, H, PAR, np.zeros(4), np.zeros(4))
    assert close(K, EXPECTED["K"])
    for i, name in enumerate(("d/dxA", "d/dyA", "d/dxB", "d/dyB")):
        assert close(L[i], EXPECTED["L"][name])
    assert close(L[0][:, 0], EXPECTED["Eq40_first_column_correct"])


def test_velocity_and_both_accelerations(rrr: GroupType, C: np.ndarray) -> None:
    hdot, hddot = numbers(EXPECTED["h_dot"]), numbers(EXPECTED["h_ddot"])
    v = rrr.velocity(C, H, PAR, hdot)
    assert close(v, EXPECTED["C_dot"])
    assert close(rrr.acceleration(C, H, PAR, v, hdot, hddot), EXPECTED["C_ddot"])
    assert close(rrr.acceleration_3ot(C, H, PAR, hdot, hddot)[0], EXPECTED["C_ddot"])


def test_the_papers_redundant_crank() -> None:
    """1R of Eq. 48a with its driver in h: three equations, two unknowns, least squares."""
    data = EXPECTED["redundant_1R_of_Eq48a"]
    theta, rate, second = numbers(data["theta,theta_dot,theta_ddot"])
    crank = assurgent.load("1R")
    par = {"A": (0, 0), "L_BA": float(data["L"])}
    B = crank.position({"theta": theta}, par)
    v = crank.velocity(B, [theta], par, [rate])
    assert close(B, 2 * np.array([np.cos(theta), np.sin(theta)]))
    assert close(v, data["velocity"])
    assert close(crank.acceleration(B, [theta], par, v, [rate], [second]), data["acceleration"])
    assert close(crank.acceleration_3ot(B, [theta], par, [rate], [second])[0], data["acceleration"])


RHEONOMIC = """
format = 1
name = "crank-of-time"
space = "planar"
[dependent]
B = "point"
[independent]
A = "point"
[parameters]
L = "length"
theta_0 = "angle"
omega = "number"
alpha = "number"
[let]
theta = "theta_0 + omega*t + alpha*t^2/2"
[constraints]
rigid = "|B - A|^2 = L^2"
drive = "B = A + L*[cos(theta), sin(theta)]"
"""


def module_of(text: str, name: str, folder: Path) -> ModuleType:
    """Compile a specification that the library does not hold and import what was emitted."""
    path = folder / f"{name}.py"
    path.write_text(compile_spec(parse_spec(text, f"{name}.toml"), f"{name}.toml").module.text, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("base", [(0.0, 0.0), (0.7, -1.1)])
def test_explicit_time_with_least_squares(base: tuple[float, float], tmp_path: Path) -> None:
    """θ(t) explicit in the redundant crank: Eq. 42a with its sign corrected, and K_t where the base moves (Eq. 36)."""
    data = EXPECTED["redundant_1R_of_Eq48a"]
    theta, rate, second = numbers(data["theta,theta_dot,theta_ddot"])
    group = GroupType(module_of(RHEONOMIC, "crank_of_time", tmp_path))
    par = {"L": 2.0, "theta_0": theta, "omega": rate, "alpha": second}
    hdot, hddot = np.array([0.4, -0.9]) * (base != (0.0, 0.0)), np.array([1.3, 0.2]) * (base != (0.0, 0.0))
    h = np.array(base)
    B = group.position(h, par, start=h + 2 * np.array([np.cos(theta), np.sin(theta)]) + 1e-3)
    v = group.velocity(B, h, par, hdot)
    assert close(v, numbers(data["velocity"]) + hdot)
    truth = numbers(data["acceleration"]) + hddot
    assert close(group.acceleration(B, h, par, v, hdot, hddot), truth)
    assert close(group.acceleration_3ot(B, h, par, hdot, hddot)[0], truth)
    if base == (0.0, 0.0):
        assert not close(truth, data["Eq42a_with_printed_sign_would_give"])
