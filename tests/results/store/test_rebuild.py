"""A store that is built anew beside and swapped, on every database."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from results.errors import ResultsError
from results.record import Run
from results.store import Reader, Store, database
from results.store.health import fault
from results.store.rebuild import rebuild

Make = Callable[..., Run]


def execute(place: str, statement: str) -> None:
    with database.to_write(place).transaction() as connection:
        connection.execute(sa.text(statement))


def test_a_store_is_whole(place: str, make: Make) -> None:
    Store(place).add(make())
    assert fault(place) is None


@pytest.mark.parametrize("table", ["scores", "verdicts", "harness_schema"])
def test_a_store_that_lost_a_table_is_built_anew(table: str, place: str, make: Make) -> None:
    Store(place).add(make(seed=1))
    execute(place, "DROP VIEW v_scores")  # PostgreSQL would not drop a table that it needs
    execute(place, f"DROP TABLE {table}")
    assert "has lost the table" in (fault(place) or "")
    kept = rebuild(place, lambda store: store.add(make(seed=2)))
    assert kept
    assert "damaged" in kept
    assert Reader(place).runs() == [make(seed=2)]
    assert fault(place) is None


def test_a_store_that_lost_a_view_is_built_anew(place: str, make: Make) -> None:
    Store(place).add(make())
    execute(place, "DROP VIEW v_runs")
    assert fault(place) == "has lost the view v_runs"


def test_a_rebuild_that_fails_leaves_the_store_as_it_was(place: str, make: Make) -> None:
    Store(place).add(make(seed=1))

    def fails(store: Store) -> None:
        store.add(make(seed=2))
        raise ResultsError("no space")

    with pytest.raises(ResultsError, match="no space"):
        rebuild(place, fails)
    assert Reader(place).runs() == [make(seed=1)]
    assert fault(place) is None


def test_what_is_put_takes_the_place_of_the_same_attempt_alone(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(seed=1))
    store.add(make(seed=2))
    changed = make(seed=2, correct={"gsm8k": 70}, flags=("cut",))
    assert store.put(changed)
    assert not store.put(changed)
    assert sorted(store.runs(), key=lambda run: run.seed) == [make(seed=1), changed]


@pytest.mark.parametrize("table", ["averages", "facts", "kinds"])
def test_what_a_run_is_found_by_is_put_right_once(table: str, place: str, make: Make) -> None:
    store, run = Store(place), make()
    store.add(run)
    assert not store.put(run)
    execute(place, f"DELETE FROM {table}")
    assert store.put(run)
    assert not store.put(run)
    assert [kind.method for kind in store.kinds()] == ["lora"]
