"""What commands at work told the store of their run folders."""

from dataclasses import replace
from datetime import UTC, datetime

from results.store import LastSeen, Reader, Store

FIRST = LastSeen(
    host="node7",
    folder="/data/runs",
    time=datetime(2026, 1, 1, 12, 30, 5, 250_000, tzinfo=UTC),
    ended=False,
    page={"counts": {"running": 2}, "amiss": [{"reason": "no file \u0000 or é"}]},
)


def test_of_each_folder_of_a_host_the_last_word_is_kept_and_the_newest_comes_first(
    place: str,
) -> None:
    last = replace(FIRST, time=FIRST.time.replace(day=2), ended=True, page={"counts": {}})
    other = replace(FIRST, host="node8", time=FIRST.time.replace(day=3))
    store = Store(place)
    for seen in (FIRST, other, last):
        store.saw(seen)
    assert Reader(place).last_seen() == [other, last]


def test_what_was_told_comes_back_equal(place: str) -> None:
    Store(place).saw(FIRST)
    assert Reader(place).last_seen() == [FIRST]
