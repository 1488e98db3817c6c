"""Values are made once, and again whenever what they were made of has changed."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.errors import ResultsError
from results.leaderboard.cache import Cache


def counted(value: bytes = b"") -> tuple[list[bytes], Callable[[], bytes]]:
    """Give what makes `value`, and a list that is as long as it was asked."""
    made: list[bytes] = []

    def make() -> bytes:
        made.append(value)
        return value + bytes(len(made))

    return made, make


def test_a_value_is_made_again_only_under_another_stamp() -> None:
    cache, (made, make) = Cache[bytes](100), counted()
    given = [cache.get("key", lambda now=now: now, make) for now in (1, 1, 2, 2, 1)]
    assert [len(one) for one in given] == [1, 1, 2, 2, 3]
    assert len(made) == 3


def test_what_threads_want_at_once_is_made_once() -> None:
    cache, (made, make), begun, end = Cache[bytes](100), counted(), Event(), Event()

    def slowly() -> bytes:
        begun.set()
        assert end.wait(10)
        return make()

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(cache.get, "key", lambda: 1, slowly)
        assert begun.wait(10)
        others = [pool.submit(cache.get, "key", lambda: 1, make) for _ in range(7)]
        end.set()
        assert {one.result() for one in (first, *others)} == {bytes(1)}
    assert len(made) == 1


def test_a_value_in_the_making_lets_others_through() -> None:
    cache = Cache[bytes](100)
    assert (
        cache.get("a", lambda: 1, lambda: cache.get("b", lambda: 1, lambda: b"inner")) == b"inner"
    )


@given(st.lists(st.integers(0, 5), max_size=40))
def test_what_was_not_asked_for_longest_goes_first(asked: list[int]) -> None:
    cache, made = Cache[bytes](30), list[int]()

    def make(key: int) -> bytes:
        made.append(key)
        return bytes(10)

    expected, held = [], list[int]()  # the most recently used last, three of ten bytes fit
    for key in asked:
        cache.get(key, lambda: 1, lambda key=key: make(key))
        expected += [] if key in held else [key]
        held = [*(one for one in held if one != key), key][-3:]
    assert made == expected


def test_a_value_that_is_too_long_for_all_others_stays() -> None:
    cache, (made, make) = Cache[bytes](10), counted(bytes(100))
    for _ in range(2):
        assert len(cache.get("key", lambda: 1, make)) == 101
    assert len(made) == 1


def test_what_could_not_be_made_is_tried_again() -> None:
    cache, (_, make) = Cache[bytes](10), counted()

    def fail() -> bytes:
        raise ResultsError("There is no store.")

    with pytest.raises(ResultsError):
        cache.get("key", lambda: 1, fail)
    assert cache.get("key", lambda: 1, make) == bytes(1)


def test_another_process_begins_with_nothing() -> None:
    cache, (made, make) = Cache[bytes](10), counted()
    cache.get("key", lambda: 1, make)
    pickle.loads(pickle.dumps(cache)).get("key", lambda: 1, make)
    assert len(made) == 2
