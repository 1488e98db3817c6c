"""Verdicts go into the store with a run, and come out of it in one query."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from results.record import Run, Verdicts
from results.store import Reader, Store, verdicts

Make = Callable[..., Run]

GSM8K = Verdicts("gsm8k", "rows-of-gsm8k", 10, b"\xa5\x40", None)
SIQA = Verdicts("siqa", "rows-of-siqa", 4, b"\x50", (0, 1, 0, 2))


def by_benchmark(*found: Verdicts) -> dict[str, Verdicts]:
    return {one.benchmark: one for one in found}


def test_verdicts_come_back_equal_by_run_and_benchmark(place: str, make: Make) -> None:
    store, (first, second, other) = Store(place), (make(seed=n, minute=n) for n in range(3))
    store.add(first, [GSM8K, SIQA])
    changed = replace(SIQA, right=b"\x60")
    store.add(second, [changed])
    store.add(other)
    assert Reader(place).verdicts([first, second, other]) == {
        first.run_id: by_benchmark(GSM8K, SIQA),
        second.run_id: by_benchmark(changed),
    }
    assert Reader(place).verdicts([second]) == {second.run_id: by_benchmark(changed)}
    assert Reader(place).verdicts([]) == {}


def test_verdicts_are_of_the_attempt_that_is_asked_for(place: str, make: Make) -> None:
    store, (first, later) = Store(place), (make(minute=1), make(minute=2))
    store.add(first, [GSM8K])
    store.add(later, [SIQA])
    assert store.verdicts([first]) == {first.run_id: by_benchmark(GSM8K)}
    assert store.verdicts([later]) == {later.run_id: by_benchmark(SIQA)}


def test_a_run_that_was_stored_without_verdicts_gets_them(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make())
    store.add(make(), [GSM8K])
    assert store.verdicts([make()]) == {make().run_id: by_benchmark(GSM8K)}
    store.add(make())
    assert store.verdicts([make()]) == {make().run_id: by_benchmark(GSM8K)}


def test_scores_are_replaced_together_with_the_verdicts(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(), [GSM8K, SIQA])
    changed = replace(GSM8K, right=b"\xff\x00")
    store.replace_scores(make(), [changed])
    assert store.verdicts([make()]) == {make().run_id: by_benchmark(changed)}


def test_clusters_belong_to_the_rows_whichever_run_told_them(place: str, make: Make) -> None:
    # A folder of format 1 keeps no prompts, so it does not know which rows share one.
    store, unknown = Store(place), replace(SIQA, clusters=None)
    store.add(make(seed=1), [unknown])
    store.add(make(seed=2), [SIQA])
    found = store.verdicts([make(seed=1), make(seed=2)])
    assert [found[make(seed=n).run_id]["siqa"] for n in (1, 2)] == [SIQA, SIQA]


def test_more_runs_than_a_query_takes_are_read_in_parts(
    place: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "AT_ONCE", 2)
    store, runs = Store(place), [make(seed=n) for n in range(5)]
    for run in runs:
        store.add(run, [GSM8K])
    assert store.verdicts(runs) == {run.run_id: by_benchmark(GSM8K) for run in runs}
