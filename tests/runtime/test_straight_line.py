"""Kernels that go to LLVM directly compute what the same text computes as Python."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from assurgent.runtime.store import load_source

MODULE = '''
import math

import numpy as np
from numba import njit

from assurgent.runtime.straight_line import straight_line

OK = 0


@straight_line({options})
def every(v, w, t):
    """Every operation, choices on one condition (four and more: a branch) and on others."""
    a, b, c = v
    (d,) = w
    e = v[2]
    s = a * b - c / (d * d + 1.0) + math.sin(t) * math.pi
    r = math.sqrt(abs(s)) + math.cos(a) + math.tan(b / 9.0) + math.exp(-c * c) + math.log(1.0 + d * d)
    r2 = math.asin(a / 10.0) + math.acos(b / 10.0) + math.atan(c) - e
    flag = (1.0 if a < b else 0.0)
    p = (a if 0.0 < flag else b)
    q = (b if 0.0 < flag else a)
    _t0 = c * d
    x = (_t0 if 0.0 < flag else -_t0)
    y = (2.0 * c if 0.0 < flag else d)
    z = (p if 0.0 < flag else q)
    k = (r if r2 < s else -r)
    return (s, r, r2, p, q, x, y, z, k)


@straight_line({options})
def into(v, t, out):
    a, b, c = v
    out[0, 1] = a * t
    out[1, 2] = b - c
    return OK


@njit(error_model="numpy")
def call(v, w, t):
    return every((v[0], v[1], v[2]), (w[0],), t)


@njit(error_model="numpy")
def call_with_integers(v, t):
    return every((v[0], v[1], v[2]), (3,), t)[0]


@njit(error_model="numpy")
def write(v, t, out):
    status = into((v[0], v[1], v[2]), t, out)
    into((v[2], v[1], v[0]), t, out[:, ::-1])
    return status
'''


OPTIONS = ["", "forceinline=True, fastmath={'contract', 'nsz'}"]


@pytest.fixture(scope="module", params=OPTIONS, ids=["called", "inlined"])
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    path: Path = tmp_path_factory.mktemp("kernels") / "kernels.py"
    path.write_text(MODULE.replace("{options}", request.param), "utf-8")
    return load_source(path, f"kernels_{bool(request.param)}")


@pytest.mark.parametrize("seed", range(6))
def test_same_values_as_python(module, seed: int) -> None:
    v, w = np.random.default_rng(seed).uniform(-2.0, 2.0, (2, 3))
    assert v[0] != v[1]
    expected = module.every(tuple(v), (w[0],), w[1])
    assert np.allclose(module.call(v, w, w[1]), expected, rtol=1e-14, atol=1e-15)  # products may be fused with sums


def test_both_sides_of_a_choice_were_taken(module) -> None:
    low, high = (module.call(np.array(v), np.array([0.7]), 0.2) for v in ([1.0, 2.0, 3.0], [2.0, 1.0, 3.0]))
    assert (low[3], low[4], low[5], low[7]) == (1.0, 2.0, 3.0 * 0.7, 1.0)
    assert (high[3], high[4], high[5], high[7]) == (1.0, 2.0, -3.0 * 0.7, 2.0)


def test_integers_become_doubles(module) -> None:
    v = np.array([0.5, 1.5, 2.0])
    assert math.isclose(module.call_with_integers(v, 0.1), module.every(tuple(v), (3.0,), 0.1)[0], rel_tol=1e-15)


def test_arrays_of_any_layout_are_written(module) -> None:
    out = np.zeros((2, 4))
    assert module.write(np.array([2.0, 3.0, 5.0]), 7.0, out) == 0
    expected = np.zeros((2, 4))
    expected[0, 1], expected[1, 2], expected[0, 2], expected[1, 1] = 14.0, -2.0, 35.0, 1.0
    assert np.array_equal(out, expected)
