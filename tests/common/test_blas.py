"""One BLAS thread inside, what was there before outside; nested, by two threads, and after an error, too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
from assurgent.common.blas import one_blas_thread

def counts():
    return {d["num_threads"] for d in threadpool_info() if d["user_api"] == "blas"}

assert counts() == {2}, counts()
with one_blas_thread():
    assert counts() == {1}
    with one_blas_thread():
        pass
    assert counts() == {1}
assert counts() == {2}
try:
    with one_blas_thread():
        raise KeyError
except KeyError:
    pass
assert counts() == {2}

import threading
entered, leave = threading.Event(), threading.Event()
def other():
    with one_blas_thread():
        entered.set()
        leave.wait()
with one_blas_thread():
    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    assert counts() == {1}
leave.set()
thread.join()
assert counts() == {2}, counts()  # whoever came last and left last
"""


# some builds of OpenBLAS start no more threads than there are processors for this process
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor: BLAS may have one thread to begin with")
def test_one_thread_inside_and_as_before_outside() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    call = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
