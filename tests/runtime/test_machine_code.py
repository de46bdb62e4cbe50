"""Numba made quicker from outside: the same code comes out, and nothing stays switched off."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys

from numba import njit
from numba.core import event

from assurgent.runtime.machine_code import prepare, when_compiling

KERNEL = """
import sys
import numpy as np
from numba import njit
if sys.argv[1] == "prepared":
    from assurgent.runtime.machine_code import prepare
    prepare()

@njit(error_model="numpy", fastmath={"contract"})
def helper(x, k, n):
    return x[k] ** 2 if k < n else np.float64(n) / 3

@njit(error_model="numpy", fastmath={"contract"})
def kernel(x, y):
    total = 0.0
    for i in range(len(x)):
        total += helper(x, i, len(y)) * y[i % 3] + abs(x[i]) - max(x[i], 0.5, y[0]) + np.sqrt(x[np.uint64(0)] * 2)
        y[i] = total if total > 1 else -total
    return total

kernel(np.ones(4), np.ones(4))
(text,) = kernel.inspect_llvm().values()
print(text)
"""


def test_the_same_code_comes_out() -> None:
    texts = [
        subprocess.run(
            [sys.executable, "-c", KERNEL, word], capture_output=True, text=True, check=True, env=dict(os.environ)
        ).stdout
        for word in ("plain", "prepared")
    ]
    assert "define" in texts[0]
    assert texts[0] == texts[1]


def test_flags_are_equal_when_all_their_values_are() -> None:
    from numba.core.compiler import Flags

    prepare()
    some = [Flags() for _ in range(5)]
    some[1].no_cpython_wrapper = False  # the default, said aloud
    some[2].no_cpython_wrapper = True
    some[3].error_model = "numpy"
    some[4].no_cpython_wrapper, some[4].error_model = True, "numpy"
    for one, other in itertools.product(some, some):
        assert (one == other) == (one.values() == other.values())
        assert hash(one) == hash(other)  # of the names of the options alone, as in Numba
    assert some[0] == some[1] != some[2]


def _scaled(x: float, n: int) -> float:
    return n * x


_scaled.__module__ = "assurgent.test"  # as a function of the project
scaled = njit(_scaled)


@njit
def both(x: float) -> float:
    return scaled(x, 2) + scaled(x, 3)


def test_one_version_serves_all_numbers_in_calls() -> None:
    prepare()
    assert both(1.5) == 7.5
    assert len(scaled.overloads) == 1


@njit
def somebody_elses(x: float) -> float:
    return 2.0 * x


def test_only_our_functions_ask_for_whole_vectors() -> None:
    prepare()
    scaled(1.5, 2)
    somebody_elses(1.5)
    (ours,), (theirs,) = scaled.inspect_llvm().values(), somebody_elses.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in ours
    assert "prefer-vector-width" not in theirs


def test_garbage_is_looked_for_again_after_compiling() -> None:
    prepare()
    was_on, during = gc.isenabled(), []

    class Watch(event.Listener):  # type: ignore[misc]
        def on_start(self, _: event.Event) -> None:
            during.append(gc.isenabled())

        def on_end(self, _: event.Event) -> None:
            pass

    gc.enable()
    try:
        with event.install_listener("numba:run_pass", Watch()):
            assert njit(lambda x: x + 1)(1) == 2
        assert during
        assert not any(during)
        assert gc.isenabled()
        gc.disable()
        assert njit(lambda x: x + 2)(1) == 3
        assert not gc.isenabled()  # whoever switched it off keeps it so
    finally:
        (gc.enable if was_on else gc.disable)()


def test_who_waits_is_told_when_something_is_compiled() -> None:
    prepare()
    heard: list[str] = []
    when_compiling.append(lambda: heard.append("compiling"))
    try:
        function = njit(lambda x: x - 1)
        assert function(3) == 2
        assert heard == ["compiling"]
        function(4)
        assert heard == ["compiling"]
    finally:
        when_compiling.pop()
