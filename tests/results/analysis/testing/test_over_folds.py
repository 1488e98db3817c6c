"""The test over the folds of a cross-validation, from runs to the sentence below a table."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, log, sqrt

import pytest

from results.analysis.pairwise import compare
from results.analysis.table import tables
from results.analysis.testing.tests import Testing
from results.record import POOLED, Run, Score
from results.reports.formats import render
from results.reports.pairwise import markdown
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]
Outcome = Test | Undefined

FOLDS = Testing(test="folds")
RIGHT = {"hycam": (52, 54, 56, 58, 60), "lora": (51, 52, 53, 54, 55)}
"""Of 100; differences of 1 to 5, so their mean is 3 and their variance 5/2."""
T = 2 * sqrt(2)
"""Where n_test / n_train is 1/4: 3 / sqrt((1/5 + 1/4) 5/2)."""


@pytest.fixture
def runs(make: Make) -> list[Run]:
    """Make five folds of two methods; a fold tests 200 rows and trains on 800."""
    return [
        make(
            method,
            fold=fold,
            folds=5,
            trained_rows=800,
            correct={"gsm8k": right, "aqua": 50 + fold**2},
        )
        for method, rights in RIGHT.items()
        for fold, right in enumerate(rights)
    ]


def outcome(runs: Sequence[Run], testing: Testing = FOLDS) -> Outcome:
    """Give the test of hycam minus lora in the first column."""
    (table,) = tables(runs, testing=testing)
    return table.blocks[0].rows[0].cells[0].test


def test_a_table_tests_all_planned_folds_as_derived_by_hand(runs: list[Run]) -> None:
    found = outcome(runs)
    assert isinstance(found, Test)
    assert (found.claim, found.n, found.df) == ("seeds and items", (5, 5), 4)
    # The column is of one benchmark, the sizes are those of the whole fold.
    assert found.statistic == pytest.approx(T)


def test_the_note_names_the_test_and_its_claim_and_speaks_of_methods(runs: list[Run]) -> None:
    text = render(tables(runs, testing=FOLDS), "markdown")
    assert (
        "Test (chosen for this table): Nadeau and Bengio's two-sided fold-wise t-test, for new "
        "training runs and new items" in text
    )
    assert "two trained models" not in text


def test_a_comparison_makes_the_chosen_test_over_folds(runs: list[Run]) -> None:
    (one,) = compare(runs, "hycam", "lora", testing=FOLDS)
    found = one.contrasts[0].test
    assert isinstance(found, Test)
    assert found.statistic == pytest.approx(T)
    assert "p (chosen): Nadeau and Bengio's two-sided fold-wise t-test" in markdown([one])


def test_several_seeds_of_a_fold_are_averaged_first(runs: list[Run], make: Make) -> None:
    def shifted(run: Run, seed: int, by: float) -> Run:
        scores = tuple(replace(score, value=score.value + by) for score in run.scores)
        return replace(run, run_id=f"{run.run_id[:14]}{seed:02}", seed=seed, scores=scores)

    # What one seed adds to the first method alone, the other takes away.
    both = [
        shifted(run, seed, by * (run.method == "hycam") * ((run.fold or 0) + 1))
        for run in runs
        for seed, by in ((1, 0.02), (2, -0.02))
    ]
    found = outcome(both)
    assert isinstance(found, Test)
    assert (found.n, found.statistic) == ((5, 5), pytest.approx(T))


def test_where_sizes_differ_their_means_count_and_the_name_says_so(runs: list[Run]) -> None:
    uneven = [replace(run, trained_rows=800 + 2 * (run.fold or 0) - 4) for run in runs]
    found = outcome(uneven)
    assert isinstance(found, Test)
    assert found.statistic == pytest.approx(T)
    assert found.name.endswith("fold-wise t-test (mean sizes of the folds)")


def test_of_a_perplexity_rows_are_counted_not_tokens(make: Make) -> None:
    def scores(loss: float) -> tuple[Score, ...]:
        return (
            Score("dolly", "perplexity", "", True, exp(loss), 9000),
            Score("dolly", "sentence bleu", "", False, 1.0, 100),
            Score(POOLED, "sentence bleu", "", False, 1.0, 100),
        )

    found = outcome(
        [
            make(method, fold=fold, folds=5, trained_rows=400, scores=scores(log(right)))
            for method, rights in {
                name: [exp(right / 10) for right in rights] for name, rights in RIGHT.items()
            }.items()
            for fold, right in enumerate(rights)
        ]
    )
    assert isinstance(found, Test)
    # Of logarithms, whose differences are 0.1 to 0.5: t is that of 1 to 5.
    assert (found.difference, found.statistic) == (pytest.approx(0.3), pytest.approx(T))


def test_a_planned_fold_that_nobody_ran_withholds_the_test(runs: list[Run]) -> None:
    found = outcome([run for run in runs if run.fold != 4])
    assert found == Undefined("a fold is missing", withheld=True)


def test_a_fold_that_one_method_lacks_withholds_the_test(runs: list[Run]) -> None:
    lacking = [run for run in runs if (run.method, run.fold) != ("lora", 4)]
    assert isinstance(outcome(lacking), Undefined)
    (one,) = compare(lacking, "hycam", "lora", testing=FOLDS)
    assert one.contrasts[0].test == Undefined("seeds are missing", withheld=True)
    assert "lora: seed 2333 lacks fold 4." in markdown([one])


@pytest.mark.parametrize("unknown", ["folds", "trained_rows"])
def test_runs_that_do_not_say_their_folds_name_reindex(runs: list[Run], unknown: str) -> None:
    first, *others = runs
    found = outcome([replace(first, **{unknown: None}), *others])
    assert isinstance(found, Undefined)
    assert not found.withheld
    assert "`harness reindex`" in found.reason


def test_methods_of_other_numbers_of_folds_are_not_tested(runs: list[Run]) -> None:
    others = [replace(run, folds=10) if run.method == "lora" else run for run in runs]
    assert outcome(others) == Undefined("other numbers of folds", withheld=True)


def test_a_single_split_has_no_folds(make: Make) -> None:
    assert outcome([make("hycam"), make("lora")]) == Undefined("no folds")


def test_with_one_seed_the_default_names_the_test_over_folds(runs: list[Run]) -> None:
    named = "(--test folds tests the folds)"
    assert named in render(tables(runs), "markdown")
    (one,) = compare(runs, "hycam", "lora")
    found = one.contrasts[0].test
    assert isinstance(found, Undefined)
    assert found.reason.startswith("one seed")
    assert found.reason.endswith(named)
