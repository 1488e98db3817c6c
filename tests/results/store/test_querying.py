"""What `harness history` asks of a store, on each database, against a plain loop over all runs."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from harness.commands.asked import Asked
from harness.commands.history import Shown, history
from harness.errors import UserError
from results.record import Note, Run
from results.store import Reader, Store, database

Make = Callable[..., Run]
Filled = tuple[str, list[Run]]

RATES = (1e-4, 2e-4, 1e-3)


def stored(make: Make) -> list[Run]:
    """Make 24 runs that differ in what can be asked for; the newest is the last."""
    found = []
    for n in range(24):
        method = ("lora", "dypam", "vera")[n % 3]
        found.append(
            make(
                method,
                seed=n % 4,
                minute=n * 600,
                correct={"gsm8k": 30 + n, "aqua": 90 - n},
                status="failed" if n % 7 == 6 else "finished",
                protocol=("paper/1", "chat/2")[n % 2],
                environment={"torch": f"2.{n % 2}", "harness": {"dirty": n == 5}},
                environment_id=f"{n % 2}abc",
                validation_loss=None if n % 5 == 0 else n / 10,
                spec={
                    "train": {"lr": RATES[n % 3], "batch_size": 2},
                    "generate": {"batch_size": 32},
                    "method": {"name": method, "fields": {"r": 8 * (n % 3), "bias": None}},
                },
            )
        )
    return found


@pytest.fixture(scope="module")
def filled(new_place: Callable[[], str], make: Make) -> Filled:
    """Fill a store that is only read; name it with its runs."""
    place, found = new_place(), stored(make)
    store = Store(place)
    for run in found:
        store.add(run)
    return place, found


def ids(place: str, **asked: Any) -> list[str]:
    return [entry.run_id for entry in history(place, Asked(**asked)).value]


QUERIES: list[tuple[dict[str, Any], Callable[[Run], bool]]] = [
    ({}, lambda run: True),
    ({"method": "lora"}, lambda run: run.method == "lora"),
    ({"method": "dypam[r=8]"}, lambda run: run.method == "dypam"),
    ({"method": "lora[train.lr=1e-4]"}, lambda run: run.method == "lora"),
    ({"status": "failed"}, lambda run: run.status == "failed"),
    ({"protocol": "chat"}, lambda run: run.protocol == "chat/2"),
    ({"environment": "1a"}, lambda run: run.environment_id == "1abc"),
    ({"seeds": "1,3"}, lambda run: run.seed in (1, 3)),
    (
        {"start": "2026-01-02", "end": "2026-01-03"},
        lambda run: (
            datetime(2026, 1, 2, tzinfo=UTC) <= run.started < datetime(2026, 1, 4, tzinfo=UTC)
        ),
    ),
    ({"end": "20260102"}, lambda run: run.started < datetime(2026, 1, 3, tzinfo=UTC)),
    (
        {"where": ["started > 2026-01-02", "started <= 2026-01-03"]},
        lambda run: (
            datetime(2026, 1, 3, tzinfo=UTC) <= run.started < datetime(2026, 1, 4, tzinfo=UTC)
        ),
    ),
    (
        {"where": ["started <= 2026-01-03T20:00+10:00"]},
        lambda run: run.started <= datetime(2026, 1, 3, 10, tzinfo=UTC),
    ),
    ({"metrics": ["gsm8k.accuracy:40..44.5"]}, lambda run: 0.4 <= run.scores[0].value <= 0.445),
    ({"metrics": ["aqua.accuracy:..80"]}, lambda run: run.scores[1].value <= 0.8),
    ({"where": ["lr >= 2e-4"]}, lambda run: run.spec["train"]["lr"] >= 2e-4),
    ({"where": ["lr != 0.001"]}, lambda run: run.spec["train"]["lr"] != 1e-3),
    (
        {"where": ["train.lr = 0.0001", "seed < 2"]},
        lambda run: run.spec["train"]["lr"] == 1e-4 and run.seed < 2,
    ),
    ({"where": ["dirty = true"]}, lambda run: run.environment["harness"]["dirty"]),
    ({"where": ["environment.torch ~ .1"]}, lambda run: run.environment["torch"] == "2.1"),
    ({"where": ["validation_loss > 1.1"]}, lambda run: (run.validation_loss or 0) > 1.1),
    ({"where": ["bias = null"]}, lambda run: True),
    ({"where": ["method ~ RA"]}, lambda run: "ra" in run.method),
    (
        {"method": "vera", "where": ["r = 16"], "status": "finished", "seeds": "2"},
        lambda run: run.method == "vera" and run.seed == 2 and run.status == "finished",
    ),
]


@pytest.mark.parametrize(("asked", "meant"), QUERIES, ids=[str(asked) for asked, _ in QUERIES])
def test_a_query_finds_the_runs_that_it_means_newest_first(
    filled: Filled, asked: dict[str, Any], meant: Callable[[Run], bool]
) -> None:
    place, runs = filled
    assert ids(place, **asked) == [run.run_id for run in reversed(runs) if meant(run)]


def test_runs_are_sorted_by_a_field_or_a_score_and_those_without_it_are_left_out(
    filled: Filled,
) -> None:
    place, runs = filled
    by_score = sorted(runs, key=lambda run: run.scores[0].value, reverse=True)
    assert ids(place, sort="-gsm8k.accuracy") == [run.run_id for run in by_score]
    losses = [run for run in runs if run.validation_loss is not None]
    assert ids(place, sort="validation_loss") == [run.run_id for run in losses]
    lowest = ids(place, sort="lr")[: len(runs) // 3]
    assert set(lowest) == {run.run_id for run in runs if run.spec["train"]["lr"] == 1e-4}


def test_a_run_with_two_tags_is_sorted_by_the_first_and_listed_and_counted_once(
    place: str, make: Make
) -> None:
    runs = [make(tags=("b",)), make(seed=1, tags=("c", "a")), make(seed=2)]
    for run in runs:
        Store(place).add(run)
    assert ids(place, sort="tag") == [runs[1].run_id, runs[0].run_id]
    by_method = history(place, Asked(sort="tag"), Shown(group_by="method")).value
    assert [(row["attempts"], row["lowest tag"]) for row in by_method] == [(2, "a")]
    by_tag = history(place, Asked(sort="tag"), Shown(group_by="tag")).value
    assert [(row["tag"], row["attempts"]) for row in by_tag] == [("a", 1), ("b", 1), ("c", 1)]


def test_an_average_is_that_over_the_rows_of_all_benchmarks(place: str, make: Make) -> None:
    run = make(correct={"gsm8k": 50, "aqua": 70})
    Store(place).add(run)
    assert ids(place, metrics=["accuracy:59.9..60.1"]) == [run.run_id]  # (50 + 70) / 200
    assert ids(place, metrics=["accuracy:61.."]) == []


def test_a_limit_says_how_many_more_there_are(filled: Filled) -> None:
    place, runs = filled
    found = history(place, shown=Shown(limit=5))
    assert [entry.run_id for entry in found.value] == [run.run_id for run in runs[:-6:-1]]
    assert found.notes == ["5 of 24 attempts are shown, 19 more with --limit 24."]
    assert history(place, shown=Shown(limit=24)).notes == []


def test_groups_count_their_runs(filled: Filled) -> None:
    place, _ = filled
    asked = Asked(sort="-gsm8k.accuracy")
    found = history(place, asked, Shown(group_by="method,train.lr")).value
    assert [(row["method"], row["train.lr"], row["attempts"]) for row in found] == [
        ("vera", 1e-3, 8),
        ("dypam", 2e-4, 8),
        ("lora", 1e-4, 8),
    ]
    assert [row["highest gsm8k.accuracy"] for row in found] == [53.0, 52.0, 51.0]
    assert sum(row["failed"] for row in found) == 3  # runs 6, 13 and 20
    assert sum(row["hours"] for row in found) == pytest.approx(24 * 12 / 3600, abs=0.01)


def test_columns_are_any_fields(filled: Filled) -> None:
    place, runs = filled
    names = "run,r,lr,gsm8k.accuracy,accuracy,environment.torch,tag"
    (row, *_) = history(place, shown=Shown(columns=names)).value
    assert list(row.values()) == [runs[-1].run_id, 16, 1e-3, 53.0, 60.0, "2.1", ""]


def test_csv_has_a_line_for_each_run(filled: Filled) -> None:
    place, runs = filled
    lines = history(place, shown=Shown(form="csv")).text.splitlines()
    assert len(lines) == 1 + len(runs)
    assert lines[0].startswith('"run","started","status","method"')


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"where": ["train.lrr > 1"]}, "Did you mean 'train.lr'"),
        ({"where": ["lrr > 1"]}, "Known: .*train.lr"),
        ({"where": ["batch_size > 1"]}, "generate.batch_size, train.batch_size"),
        ({"where": ["lr"]}, "FIELD OP VALUE"),
        ({"where": ["lr > high"]}, "train.lr is a number"),
        ({"where": ["lr ~ 1"]}, "is no text"),
        ({"metrics": ["accuracy"]}, "METRIC:LOW..HIGH"),
        ({"sort": "gsm9k.accuracy"}, "not a known field"),
        ({"status": "finishd"}, "Did you mean 'finished'"),
        ({"protocol": "papr"}, "Did you mean"),
        ({"tags": ["main"]}, "not a known tag"),
        ({"seeds": "one"}, "no list of seeds"),
        ({"seeds": "9" * 400}, "no list of seeds"),
        ({"start": "yesterday"}, "no date"),
        ({"start": "0001-01-01T00:00+05:00"}, "no date of a run"),
        ({"end": "9999-12-31"}, "no date of a run"),
        ({"where": ["started = 2026-01-02"]}, "--from 2026-01-02 --to 2026-01-02"),
        ({"where": ["environment.torch >= 2.1"]}, "no order. Use .*'environment.torch ~ 2.1'"),
        ({"metrics": ["method:a..z"]}, "method has values that are no numbers"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_nearest(
    filled: Filled, asked: dict[str, Any], words: str
) -> None:
    place, _ = filled
    with pytest.raises(UserError, match=words):
        history(place, Asked(**asked))


def test_forgotten_runs_are_asked_for_like_those_of_a_status(place: str, make: Make) -> None:
    store = Store(place)
    for seed in (1, 2):
        store.add(make(seed=seed))
    store.forget(make(seed=2).run_id, "the wrong data")
    assert ids(place, status="forgotten") == [make(seed=2).run_id]


def test_where_no_run_is_as_asked_that_is_said(filled: Filled) -> None:
    place, _ = filled
    assert history(place, Asked(seeds="99")).text == "There is none."


def test_tags_and_notes_are_kept_beside_runs_and_replaced_as_a_whole(
    place: str, make: Make
) -> None:
    store, run = Store(place), make()
    note = Note(datetime(2026, 2, 1, tzinfo=UTC), "looks right")
    said = make(tags=("main", "paper"), notes=(note,))
    store.add(run)
    store.remark(run.run_id, lambda known: known.with_those(said.tags, said.notes))
    assert Reader(place).runs() == [said]
    assert ids(place, tags=["main", "paper"]) == [run.run_id]
    store.add(run)  # an older copy of the folder takes nothing away
    assert Reader(place).runs() == [said]
    before = store.changed()
    store.remark(run.run_id, lambda known: replace(known, tags=("main",), notes=()))
    assert store.changed() > before
    assert Reader(place).runs() == [make(tags=("main",))]


def test_new_scores_have_new_averages(place: str, make: Make) -> None:
    store = Store(place)
    store.add(make(correct={"gsm8k": 10}))
    store.replace_scores(make(correct={"gsm8k": 80}))
    assert ids(place, metrics=["accuracy:79..81"]) == [make().run_id]
    assert ids(place, metrics=["accuracy:..79"]) == []


README = Path(database.__file__).parent / "README.md"


def test_the_views_answer_the_example_of_the_readme(place: str, make: Make) -> None:
    store = Store(place)
    for seed, right in ((1, 50), (2, 60)):
        store.add(make(seed=seed, correct={"gsm8k": right}))
    store.add(make("dypam", correct={"gsm8k": 70}))
    store.forget(make("dypam").run_id, "the wrong data")
    query = README.read_text().partition("```sql\n")[2].partition("```")[0]
    with database.to_read(place).transaction() as connection:
        assert connection.execute(sa.text(query)).all() == [("lora", "tiny", "gsm8k", 2, 0.55)]


def test_the_views_have_the_columns_of_the_readme(place: str, make: Make) -> None:
    Store(place)
    text = README.read_text()
    with database.to_read(place).transaction() as connection:
        for view in ("v_runs", "v_scores"):
            told = text.partition(f"| `{view}` | ")[2].partition(" |")[0]
            found = [column["name"] for column in sa.inspect(connection).get_columns(view)]
            assert [name.strip("`") for name in told.split(", ")] == found
