"""The store: what goes in comes out, and every way it can be refused."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from results.errors import ResultsError
from results.record import POOLED, Run, Score, Status, Verdicts
from results.store import Reader, Store, database, schema

Make = Callable[..., Run]


def test_a_run_comes_back_equal(place: str, make: Make) -> None:
    scores = (
        Score("gsm8k", "accuracy", "llm-adapters", True, 1 / 3, 3),
        Score("gsm8k", "accuracy", "strict", False, 0.0, 3, unparsed=2),
        Score(POOLED, "bleu", "", True, 31.4159, 3, signature="nrefs:1|tok:13a"),
    )
    sizes = {"fold": 4, "folds": 5, "trained_rows": 1244}
    run = make(scores=scores, seed=2**40, **sizes, marks=("limit 3", "sample"), flags=("empty",))
    Store(place).add(run)
    assert Reader(place).runs() == [run]


def test_a_start_in_another_zone_comes_back_in_utc(place: str, make: Make) -> None:
    zone = timezone(timedelta(hours=2))
    Store(place).add(make(started=datetime(2026, 1, 1, 1, 30, tzinfo=zone)))
    (run,) = Reader(place).runs()
    assert run.started.isoformat() == "2025-12-31T23:30:00+00:00"


def test_a_failure_and_its_later_success_are_both_kept_newest_first(place: str, make: Make) -> None:
    failed = make(status="failed", reason="out of memory", scores=())
    finished = make(minute=1)
    store = Store(place)
    store.add(finished)
    store.add(failed)
    assert failed.run_id == finished.run_id
    assert store.runs() == [finished, failed]


def test_a_store_has_the_attempts_up_to_the_newest_that_was_added(place: str, make: Make) -> None:
    store = Store(place)
    assert not store.has(make())
    store.add(make(minute=5))
    assert [store.has(make(minute=minute)) for minute in (4, 5, 6)] == [True, True, False]
    assert not store.has(make(seed=1))


def test_adding_an_attempt_twice_changes_nothing(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make())
    store.add(make())
    assert store.runs() == [make()]


def test_adding_an_attempt_again_adds_what_older_schemas_did_not_keep(
    place: str, make: Make
) -> None:
    store, old = Store(place), make(fold=4)
    store.add(old)
    told = replace(old, folds=5, trained_rows=1244)
    store.add(told)
    assert store.runs() == [told]
    store.add(old)  # a folder that does not say it takes nothing back
    assert store.runs() == [told]


def test_replaced_scores_and_flags_are_those_of_the_one_attempt(place: str, make: Make) -> None:
    store = Store(place)
    failed, finished = make(status="failed"), make(minute=1, flags=("old",))
    store.add(failed)
    store.add(finished)
    scores = (
        Score("gsm8k", "accuracy", "strict", True, 0.25, 100),
        Score("gsm8k", "accuracy", "llm-adapters", False, 0.5, 100, unparsed=7),
    )
    rescored = replace(finished, scores=scores, flags=("new", "newer"))
    store.replace_scores(rescored)
    assert Reader(place).runs() == [rescored, failed]


def test_replacing_scores_changes_nothing_else_of_a_run(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make())
    store.replace_scores(replace(make(), reason="another", folder="elsewhere", scores=()))
    assert store.runs() == [replace(make(), scores=())]


def test_scores_of_an_attempt_that_is_not_stored_are_refused(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make())
    with pytest.raises(ResultsError, match=r"2026-01-01 00:01:00 is not in .*\n.*reindex"):
        store.replace_scores(make(minute=1))
    assert store.runs() == [make()]


def test_only_finished_runs_count_as_finished(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(seed=1))
    store.add(make(seed=2, status="failed"))
    assert store.finished_ids() == {make(seed=1).run_id}


@pytest.mark.parametrize(
    ("filters", "seeds"),
    [
        ({}, [4, 3, 2, 1]),
        ({"groups": ["math"]}, [4, 2, 1]),
        ({"methods": ["dypam", "vera"]}, [2]),
        ({"backbones": ["llama"]}, [4]),
        ({"status": "failed"}, [3]),
        ({"groups": ["math"], "methods": ["lora"]}, [4, 1]),
    ],
)
def test_filters_narrow_together(
    place: str, make: Make, filters: dict[str, Any], seeds: list[int]
) -> None:
    store = Store(place)
    store.add(make("lora", seed=1, minute=1))
    store.add(make("dypam", seed=2, minute=2))
    store.add(make("lora", seed=3, minute=3, group="dialogue", status="failed"))
    store.add(make("lora", seed=4, minute=4, backbone="llama"))
    assert [run.seed for run in store.runs(**filters)] == seeds


def test_a_run_is_found_by_the_start_of_its_id_newest_attempt_first(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(run_id="ab12" * 4, status="failed"))
    store.add(make(run_id="ab12" * 4, minute=1))
    store.add(make(run_id="cd34" * 4, minute=2))
    assert store.run("AB1") == make(run_id="ab12" * 4, minute=1)


def test_an_ambiguous_id_lists_the_runs_it_may_mean(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(run_id="ab12" * 4))
    store.add(make(run_id="ab99" * 4, minute=1))
    with pytest.raises(ResultsError, match=r"2 runs start with 'ab': ab99\w+, ab12"):
        store.run("ab")


def test_an_unknown_id_lists_the_nearest(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(run_id="ab12" * 4))
    store.add(make(run_id="cd34" * 4))
    with pytest.raises(ResultsError, match=r"'ab13'.\n  Nearest: (ab12){4}\n  `harness history`"):
        store.run("ab13")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("abff", "Nearest: ab99ab99ab99ab99, ab12ab12ab12ab12\n"),
        ("AB1f", "Nearest: ab12ab12ab12ab12\n"),
        ("cd34cd34cd34cd35", "Nearest: cd34cd34cd34cd34\n"),
        ("ffff", "Newest: cd34cd34cd34cd34, ab99ab99ab99ab99, ab12ab12ab12ab12\n"),
        ("%", "Newest: cd34cd34cd34cd34, ab99ab99ab99ab99, ab12ab12ab12ab12\n"),
    ],
)
def test_the_nearest_ids_share_the_most_first_digits(
    place: str, make: Make, typed: str, told: str
) -> None:
    store = Store(place)
    for minute, digits in enumerate(("ab12", "ab99", "cd34")):
        store.add(make(run_id=digits * 4, minute=minute))
    with pytest.raises(ResultsError) as refused:
        store.run(typed)
    assert told in str(refused.value)


def test_more_ids_than_fit_are_counted(place: str, make: Make) -> None:
    store = Store(place)
    for minute in range(23):
        store.add(make(run_id=f"a{minute:015x}", minute=minute))
    with pytest.raises(ResultsError, match=r"Newest: a0{13}16, .* and 3 more\n"):
        store.run("ff")
    with pytest.raises(ResultsError, match=r"23 runs start with 'a': a0{13}16, .* and 3 more\n"):
        store.run("a")


def test_a_store_without_runs_says_so_of_any_id(place: str) -> None:
    with pytest.raises(ResultsError, match="Newest: none yet"):
        Store(place).run("ab")


def test_kinds_are_listed_once_the_newest_first(place: str, make: Make) -> None:
    store = Store(place)
    for minute, (method, group) in enumerate([("lora", "math"), ("lora", "qa"), ("lora", "math")]):
        store.add(make(method, seed=minute, minute=minute, group=group))
    assert [(kind.method, kind.group) for kind in Reader(place).kinds()] == [
        ("lora", "math"),
        ("lora", "qa"),
    ]
    assert Reader(place).kinds()[0] == make("lora").kind


def test_every_change_of_a_run_tells_readers_of_its_kind_and_of_no_other(
    place: str, make: Make
) -> None:
    store, first, other = Store(place), make(), make("dypam", group="qa")
    reader = Reader(place)
    assert reader.changed() == 0
    seen = {0}
    for change in (
        lambda: store.add(other),
        lambda: store.add(first),
        lambda: store.add(make(seed=2)),
        lambda: store.replace_scores(replace(first, scores=())),
        lambda: store.add(first, [Verdicts("gsm8k", "rows", 1, b"\x80", None)]),
    ):
        qa = reader.changed(groups=["qa"])
        change()
        assert reader.changed() not in seen
        seen.add(reader.changed())
    assert reader.changed(groups=["qa"]) == qa < reader.changed(groups=["math"])
    assert reader.changed(groups=["math"]) == reader.changed(methods=["lora"]) == max(seen)


def test_who_learns_which_rows_share_a_prompt_tells_readers_of_all_runs_of_these_rows(
    place: str, make: Make
) -> None:
    store, bits = Store(place), Verdicts("gsm8k", "rows", 2, b"\x80", None)
    store.add(make("dypam", group="qa"), [bits])
    before = store.changed(groups=["qa"])
    store.add(make(), [replace(bits, clusters=(0, 0))])
    assert store.changed(groups=["qa"]) > before


def test_a_change_is_later_than_those_before_even_if_the_clock_was_set_back(
    place: str, make: Make
) -> None:
    store, later = Store(place), 2**60
    store.add(make())
    with database.to_write(place).transaction() as connection:
        connection.execute(sa.update(schema.kinds).values(changed=later))
    store.add(make("dypam"))
    assert store.changed() > later


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from([None, "finished", "failed"]))
@settings(max_examples=25, deadline=None)
def test_a_page_of_runs_is_a_part_of_all_runs(
    ten: str, first: int, most: int, status: Status | None
) -> None:
    reader = Reader(ten)
    every = reader.runs(status=status)
    assert reader.page(first, most, status) == every[first:][:most]
    counts: dict[Status, int] = {"finished": 7, "failed": 3}
    assert reader.counts() == counts


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory, make: Make) -> str:
    """Make a store of ten attempts, of which every fourth failed."""
    place = str(tmp_path_factory.mktemp("ten") / "harness.db")
    store = Store(place)
    for minute in range(10):
        status = "finished" if minute % 4 else "failed"
        store.add(make(seed=minute, minute=minute % 3, status=status))
    return place


def test_a_percent_sign_is_no_wildcard(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make())
    assert store.runs(prefix="%") == []


ADD = """
import runpy, sys
from results.store import Store

conftest, place, *minutes = sys.argv[1:]
make = runpy.run_path(conftest)["make_run"]
for minute in map(int, minutes):
    Store(place).add(make(seed=minute, minute=minute))
"""


def test_processes_that_start_at_once_make_one_store_and_lose_no_run(
    place: str, make: Make
) -> None:
    conftest = Path(__file__).parents[1] / "conftest.py"
    shares = [map(str, range(first, 12, 3)) for first in range(3)]
    processes = [
        subprocess.Popen([sys.executable, "-c", ADD, conftest, place, *share]) for share in shares
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert Reader(place).runs() == [make(seed=m, minute=m) for m in reversed(range(12))]


def test_reading_a_store_needs_neither_alembic_nor_what_only_reports_need(
    place: str, make: Make
) -> None:
    Store(place).add(make())
    heavy = "{'alembic', 'scipy', 'numpy', 'pydantic', 'torch', 'transformers'}"
    read = "from results.store import Reader; Reader(sys.argv[1]).runs()"
    code = f"import sys; {read}; assert not {heavy} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code, place], check=True)


def test_starts_are_compared_as_times_not_as_texts(place: str, make: Make) -> None:
    store = Store(place)
    early = make(seed=1, started=datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC))
    late = make(seed=2, started=datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC))
    store.add(late)
    store.add(early)
    assert store.runs() == [late, early]
