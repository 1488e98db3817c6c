"""A request to stop."""

import signal
from collections.abc import Iterator

import pytest

from harness.worker import stopping


@pytest.fixture(autouse=True)
def heeding() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    stopping.heed()
    yield
    stopping.heed()
    signal.signal(signal.SIGTERM, before)


def test_nothing_ends_before_it_is_asked_for() -> None:
    stopping.leave_if_asked()
    assert not stopping.asked()


def test_sigterm_ends_the_work_at_its_next_safe_point_and_not_before() -> None:
    signal.raise_signal(signal.SIGTERM)
    assert stopping.asked()
    with pytest.raises(stopping.Interrupted):
        stopping.leave_if_asked()


def test_what_handles_errors_lets_a_request_to_stop_through() -> None:
    assert not issubclass(stopping.Interrupted, Exception)
