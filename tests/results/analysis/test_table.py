"""Tables: what is pooled, what never is, and who is marked best."""

from collections.abc import Callable
from dataclasses import asdict, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.analysis.ranking import Cell
from results.analysis.table import Table, TableRow, tables
from results.record import Run, Score
from results.statistics.test import Undefined

Make = Callable[..., Run]


def row(table: Table, method: str, backbone: str = "tiny") -> TableRow:
    (block,) = (block for block in table.blocks if block.backbone == backbone)
    (found,) = (row for row in block.rows if row.method == method)
    return found


def cell(table: Table, method: str, column: str = "gsm8k") -> Cell:
    (found,) = (cell for cell in row(table, method).cells if cell.column == column)
    return found


def test_a_failed_run_never_enters_an_average(make: Make) -> None:
    runs = [make(seed=1, correct={"gsm8k": 80}), make(seed=2, status="failed", scores=())]
    (table,) = tables(runs)
    assert cell(table, "lora").sample.by_seed == {1: 0.8}


@pytest.mark.parametrize("condition", ["group", "setting", "environment_id"])
def test_runs_of_other_conditions_never_share_a_table(make: Make, condition: str) -> None:
    runs = [make(seed=1), make("dypam", seed=1, **{condition: "another"}, minute=1)]
    newer, older = tables(runs)
    assert [block.rows[0].method for block in newer.blocks] == ["dypam"]
    assert [block.rows[0].method for block in older.blocks] == ["lora"]
    assert cell(older, "lora").test == Undefined("no other method")


def test_the_newest_finished_attempt_stands_for_its_run(make: Make) -> None:
    old, new = make(correct={"gsm8k": 10}), make(correct={"gsm8k": 20}, minute=1)
    (table,) = tables([old, make(status="failed", minute=2), new])
    assert cell(table, "lora").sample.by_seed == {2333: 0.2}


def test_seeds_of_two_versions_of_a_method_are_never_averaged(make: Make) -> None:
    old = [make(seed=seed, series="before") for seed in (1, 2)]
    (table,) = tables([*old, make(seed=1, series="after", minute=1)])
    assert row(table, "lora").seeds == (1,)
    assert row(table, "lora").notes == ("runs of another version left out: 2",)


def test_scores_of_two_versions_of_an_extractor_are_never_averaged(make: Make) -> None:
    first = Score("gsm8k", "accuracy", "strict", True, 0.25, 4)
    second = replace(first, value=0.75, extractor_version=2)
    old, new = make(seed=1, scores=(first,)), make(seed=2, scores=(second,), minute=1)
    newer, older = tables([old, new])
    assert cell(newer, "lora").sample.by_seed == {2: 0.75}
    assert cell(older, "lora").sample.by_seed == {1: 0.25}


def test_a_version_of_an_extractor_that_is_not_the_headline_divides_nothing(make: Make) -> None:
    headline = Score("gsm8k", "accuracy", "llm-adapters", True, 0.5, 4)
    beside = Score("gsm8k", "accuracy", "strict", False, 0.25, 4)
    newer = replace(beside, extractor_version=2)
    runs = [make(seed=1, scores=(headline, beside)), make(seed=2, scores=(headline, newer))]
    (table,) = tables(runs)
    assert row(table, "lora").seeds == (1, 2)


def test_only_headline_scores_enter(make: Make) -> None:
    strict = Score("gsm8k", "accuracy", "strict", False, 0.25, 4)
    scores = (strict, Score("gsm8k", "accuracy", "llm-adapters", True, 0.75, 4))
    (table,) = tables([make(scores=scores)])
    assert cell(table, "lora", "micro").sample.by_seed == {2333: 0.75}


def test_averages_are_taken_per_seed_and_then_over_seeds(make: Make) -> None:
    gsm8k = Score("gsm8k", "accuracy", "e", True, 0.3, 300)
    aqua = [Score("aqua", "accuracy", "e", True, right, 100) for right in (0.5, 1.0)]
    (table,) = tables(make(seed=seed, scores=(gsm8k, one)) for seed, one in enumerate(aqua))
    # By hand: micro 140/400 and 190/400, mean 0.4125; macro 0.4 and 0.65, mean 0.525.
    assert table.columns == ("gsm8k", "aqua", "micro", "macro")
    assert cell(table, "lora", "micro").sample.mean == pytest.approx(0.4125)
    assert cell(table, "lora", "macro").sample.mean == pytest.approx(0.525)
    # Two values 0.25 apart deviate by 0.25 / sqrt(2).
    assert cell(table, "lora", "macro").sample.sd == pytest.approx(0.25 / 2**0.5)


def test_trainable_parameters_are_a_share_of_all(make: Make) -> None:
    (table,) = tables([make(trainable_parameters=3, total_parameters=400)])
    assert row(table, "lora").trainable_percent == 0.75


def test_best_and_second_are_named_per_backbone(make: Make) -> None:
    runs = [
        make("a", correct={"gsm8k": 9}),
        make("b", correct={"gsm8k": 8}),
        make("c", correct={"gsm8k": 7}),
        make("c", correct={"gsm8k": 99}, backbone="llama"),
    ]
    (table,) = tables(runs)
    llama, tiny = table.blocks
    assert [row.cells[0].rank for row in tiny.rows] == [1, 2, 3]
    assert [row.cells[0].rank for row in llama.rows] == [None]  # alone: the best of nothing


def test_a_missing_seed_is_told_and_the_mean_is_of_the_others(make: Make) -> None:
    (table,) = tables(
        [make("a", 1), make("a", 2), make("a", 3), make("b", 1), make("b", 2, {"gsm8k": 52})]
    )
    assert row(table, "b").notes == ("seed 3 is missing",)
    assert not cell(table, "b").complete
    assert cell(table, "b").sample.mean == pytest.approx(0.51)
    assert row(table, "a").notes == ()


def test_a_seed_without_a_benchmark_has_no_average_over_benchmarks(make: Make) -> None:
    whole = {"gsm8k": 40, "aqua": 20}
    runs = [make(seed=1, correct=whole), make(seed=2, correct={"gsm8k": 60})]
    (table,) = tables(runs)
    assert row(table, "lora").notes == ("seed 2 lacks aqua, micro, macro",)
    assert cell(table, "lora", "gsm8k").complete
    assert cell(table, "lora", "macro").sample.by_seed == {1: pytest.approx(0.3)}


def test_all_marks_of_the_runs_are_kept(make: Make) -> None:
    runs = [make(seed=1, marks=("sample data", "limit 5")), make(seed=2, marks=("sample data",))]
    (table,) = tables(runs)
    assert set(table.conditions.marks) == {"sample data", "limit 5"}


def test_the_environment_is_summed_up_by_its_plain_facts(make: Make) -> None:
    (table,) = tables([make(environment={"gpu": "none", "cores": 2, "packages": {"torch": "2"}})])
    assert table.conditions.environment == "gpu none, cores 2"


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_runs_does_not_matter(make: Make, random: Random) -> None:
    runs = [
        make(method, seed=seed, backbone=backbone, correct={"gsm8k": 10 * seed + len(method)})
        for method in ("lora", "dypam")
        for seed in (1, 2)
        for backbone in ("tiny", "llama")
    ]
    shuffled = random.sample(runs, len(runs))
    assert [asdict(table) for table in tables(shuffled)] == [
        asdict(table) for table in tables(runs)
    ]
