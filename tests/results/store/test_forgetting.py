"""A forgotten run stays stored, and is in no list that tables are made of."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from results.record import Run
from results.store import Store

Make = Callable[..., Run]


def test_a_forgotten_run_is_kept_apart_with_the_reason(place: str, make: Make) -> None:
    store, kept, gone = Store(place), make(run_id="a" * 16), make(run_id="b" * 16)
    failed = replace(gone, status="failed", started=gone.started - timedelta(hours=1))
    for one in (kept, failed, gone):
        store.add(one)
    before = store.changed()
    assert store.forget(gone.run_id, "the wrong data") == 2
    assert [run.run_id for run in store.runs()] == [kept.run_id]
    assert [run.run_id for run in store.page(0, 9)] == [kept.run_id]
    assert store.finished_ids() == {kept.run_id}
    assert sum(store.counts().values()) == 1
    assert store.forgotten_ids() == {gone.run_id}
    assert {run.forgotten for run in store.runs(forgotten=True)} == {"the wrong data"}
    assert store.run("b").forgotten == "the wrong data"
    assert store.changed() > before


def test_a_run_that_is_indexed_again_is_forgotten_as_its_folder_says(
    place: str, make: Make
) -> None:
    store, run = Store(place), make()
    store.add(run)
    store.add(replace(run, forgotten="the wrong data"))
    assert store.runs() == []
    store.add(run)  # an older copy of the folder does not undo it
    assert store.runs() == []
