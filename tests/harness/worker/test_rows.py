"""The rows of a run, and the runs of a group with folds."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import plugins
from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun
from harness.worker.rows import Rows, _read_once, in_training, load
from tasks.contract import Row
from tasks.data.contamination import contaminated
from tasks.data.sets import load_test

SETS = ("auto_cot", "icliniq", "dolly", "codealpaca", "webgpt")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, make_backbone: Callable[..., Path]) -> Request:
    backbone = make_backbone(tmp_path_factory.mktemp("rows") / "small")
    return Request(methods="lora", tasks="multitask", backbones=str(backbone), seeds="2")


@pytest.fixture(scope="module")
def jobs(asked: Request) -> list[PlannedRun]:
    return plan(asked)


@pytest.fixture(scope="module")
def folds(jobs: list[PlannedRun]) -> list[Rows]:
    """Give the rows of the five folds of the first seed."""
    return [load(job) for job in jobs[:5]]


def test_a_group_with_folds_is_planned_as_a_run_for_each_fold_and_seed(
    jobs: list[PlannedRun],
) -> None:
    cells = [(job.spec.seeds.init, job.spec.fold) for job in jobs]
    assert cells == [(seed, fold) for seed in (2333, 1000) for fold in range(5)]
    assert len({job.spec.run_id for job in jobs}) == 10
    assert len({job.spec.setting for job in jobs}) == 1
    assert len({job.spec.series for job in jobs}) == 1
    assert {tuple(job.spec.tests) for job in jobs} == {SETS}
    assert {job.head.folds for job in jobs} == {5}


def test_the_runs_of_the_folds_have_names_that_tell_them_apart(jobs: list[PlannedRun]) -> None:
    assert len({job.name for job in jobs}) == 10


def test_a_group_without_folds_is_one_run_a_seed(asked: Request) -> None:
    found = plan(replace(asked, tasks="gsm8k"))
    assert [(job.spec.seeds.init, job.spec.fold) for job in found] == [(2333, None), (1000, None)]
    assert {job.head.folds for job in found} == {None}


def test_every_row_is_tested_in_exactly_one_fold(folds: list[Rows]) -> None:
    tested = Counter(
        (name, row.id) for rows in folds for name, found in rows.tests.items() for row in found
    )
    assert set(tested.values()) == {1}
    assert Counter(name for name, _ in tested) == dict.fromkeys(SETS, 40)


def same(text: str) -> str:
    return " ".join(text.casefold().split())


def test_no_row_of_a_fold_is_in_two_of_training_validation_and_test(folds: list[Rows]) -> None:
    for rows in folds:
        tests = [row for found in rows.tests.values() for row in found]
        parts = [
            {same(f"{row.instruction}\n{row.input}") for row in part}
            for part in (rows.train, rows.validation, tests)
        ]
        assert all(parts)
        assert sum(map(len, parts)) == len(set().union(*parts))


def test_a_fold_trains_and_validates_7_to_2_on_what_it_does_not_test(folds: list[Rows]) -> None:
    for rows in folds:
        tested = sum(map(len, rows.tests.values()))
        assert len(rows.train) + len(rows.validation) + tested == 200
        assert len(rows.train) / len(rows.validation) == pytest.approx(3.5, rel=0.1)


def test_the_first_training_rows_are_of_all_sets_in_turn(jobs: list[PlannedRun]) -> None:
    job = jobs[0]
    limited = PlannedRun(
        spec=job.spec.model_copy(update={"train_limit": 10, "limit": 2}),
        backbone_place=job.backbone_place,
        data_folder=None,
    )
    whole, few = load(job), load(limited)
    assert few.train == whole.train[:10]
    assert {name: len(rows) for name, rows in few.tests.items()} == dict.fromkeys(SETS, 2)
    sets = {name: set(load_test(name, plugins.benchmark(name), None).rows) for name in SETS}
    assert [next(name for name in SETS if row in sets[name]) for row in few.train] == 2 * [*SETS]


def test_the_same_fold_is_the_same_rows_and_another_seed_another_split(
    jobs: list[PlannedRun],
) -> None:
    first = load(jobs[0])
    _read_once.cache_clear()
    again = load(jobs[0])
    assert first == again
    assert first is not again
    assert first.tests != load(jobs[5]).tests


def test_what_was_read_is_read_once_and_divided_by_fold_and_limits(jobs: list[PlannedRun]) -> None:
    first, other = load(jobs[0]), load(jobs[1])
    assert load(jobs[0]) is first
    assert set(first.tests["dolly"]).isdisjoint(other.tests["dolly"])
    assert {id(row) for row in first.tests["dolly"]} < {
        id(row) for rows in (other.train, other.validation) for row in rows
    }


@given(
    st.lists(st.sampled_from(["2 pens", "2 Pens!", "3 pens", ""]), max_size=4),
    st.lists(st.sampled_from(["2 pens.", "3 PENS", "4 pens"]), max_size=4),
)
def test_what_training_holds_is_what_a_search_from_scratch_finds(
    trained: list[str], tested: list[str]
) -> None:
    train, test = (
        [Row(n, text, "", "") for n, text in enumerate(one)] for one in (trained, tested)
    )
    assert in_training(train, test) == contaminated(trained, tested)
    assert in_training(train, test) is in_training(train, test)


def test_without_folds_the_rows_are_the_same_ones_for_every_seed(asked: Request) -> None:
    first, second = plan(replace(asked, tasks="gsm8k", limit=3, train_limit=20))
    assert first.spec.seeds != second.spec.seeds
    assert load(first) is load(second)


def test_without_folds_validation_rows_are_still_to_be_drawn(asked: Request) -> None:
    (job,) = plan(replace(asked, tasks="svamp,gsm8k", seeds="1", limit=3, train_limit=20))
    rows = load(job)
    assert (len(rows.train), rows.validation) == (20, ())
    assert {name: [row.id for row in found] for name, found in rows.tests.items()} == {
        "gsm8k": [0, 1, 2],
        "svamp": [0, 1, 2],
    }


OWN = [{"instruction": f"{n} + 1?", "output": f"It is {n + 1}."} for n in range(30)]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(OWN))
    return file


def test_a_training_file_of_the_users_enters_by_hash_and_is_marked(
    own: Path, asked: Request
) -> None:
    mine = replace(asked, tasks="gsm8k", seeds="1", train_data=own)
    (job,) = plan(mine)
    data = job.spec.train_data
    assert (data.title, data.kind, data.rows) == ("mine.json", "own", 30)
    assert "trained on mine.json, a file of the user's" in job.spec.marks
    assert [asdict(row)["instruction"] for row in load(job).train] == [
        row["instruction"] for row in OWN
    ]
    own.write_text(json.dumps(OWN[::-1]))
    (other,) = plan(mine)
    assert other.spec.run_id != job.spec.run_id
    assert other.spec.setting != job.spec.setting


def test_the_path_of_a_training_file_is_no_part_of_a_run(
    own: Path, asked: Request, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    moved = tmp_path / "there" / own.name
    moved.write_bytes(own.read_bytes())
    mine = replace(asked, tasks="gsm8k", seeds="1")
    (one,), (other,) = (plan(replace(mine, train_data=path)) for path in (own, moved))
    assert one.spec == other.spec
    assert one.train_file == str(own)
    assert str(tmp_path) not in one.spec.model_dump_json()


def test_a_training_file_does_not_go_with_folds(own: Path, asked: Request) -> None:
    with pytest.raises(UserError, match=r"--train-data .*mine\.json.*multitask.*own"):
        plan(replace(asked, train_data=own))


@pytest.mark.parametrize(
    ("content", "words"), [("[]", "0 rows"), ("{", "not JSON"), ('[{"a": 1}]', "instruction")]
)
def test_a_training_file_that_is_none_is_refused(
    own: Path, asked: Request, content: str, words: str
) -> None:
    own.write_text(content)
    with pytest.raises(UserError, match=words):
        plan(replace(asked, tasks="gsm8k", train_data=own))


def test_a_group_with_folds_none_of_whose_sets_is_there_names_what_is_missing(
    asked: Request, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="none of these files is there"):
        plan(replace(asked, data=tmp_path))


def test_rows_that_changed_since_the_run_was_planned_are_refused(own: Path, asked: Request) -> None:
    (job,) = plan(replace(asked, tasks="gsm8k", seeds="1", train_data=own))
    own.write_text(json.dumps(OWN[::-1]))
    with pytest.raises(UserError, match=r"mine\.json.*SHA-256"):
        load(job)
