"""Items done ahead by threads: in order, not further ahead than two for each thread, and failures reach the caller."""

from __future__ import annotations

import threading

import pytest

from assurgent import InputError
from assurgent.runtime.parallel import ahead


@pytest.mark.parametrize("count", [1, 2, 3])
def test_items_come_in_order(count: int) -> None:
    assert list(ahead(lambda k: k * k, range(50), count)) == [k * k for k in range(50)]


def test_no_further_ahead_than_two_for_each_thread() -> None:
    begun: list[int] = []
    lock = threading.Lock()

    def note(k: int) -> int:
        with lock:
            begun.append(k)
        return k

    for k in ahead(note, range(40), 2):
        with lock:
            assert len(begun) <= k + 6  # itself, four that wait, and one more that was asked for with it


@pytest.mark.parametrize("count", [1, 2])
def test_a_failure_reaches_the_caller_and_the_rest_is_not_begun(count: int) -> None:
    begun: list[int] = []

    def fail(k: int) -> int:
        begun.append(k)
        if k == 3:
            raise InputError("the third")
        return k

    found: list[int] = []
    with pytest.raises(InputError, match="the third"):
        found.extend(ahead(fail, range(1000), count))
    assert found == [0, 1, 2]
    assert len(begun) < 12
