"""Cross-validation: what a seed's number is, and when it has none."""

from collections.abc import Callable

import pytest

from results.analysis.pairwise import compare
from results.analysis.table import Table, tables
from results.analysis.testing.tests import Testing
from results.record import Run
from results.reports.formats import render
from results.reports.pairwise import markdown
from results.reports.prose import label
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]
Folds = dict[tuple[str, int, int], int]
"""Of method, seed and fold the right answers of 100."""

WHOLE: Folds = {
    ("hycam", 1, 0): 80,
    ("hycam", 1, 1): 90,
    ("hycam", 2, 0): 82,
    ("hycam", 2, 1): 86,
    ("lora", 1, 0): 50,
    ("lora", 1, 1): 60,
    ("lora", 2, 0): 51,
    ("lora", 2, 1): 61,
}


@pytest.fixture
def fold_runs(make: Make) -> Callable[[Folds], list[Run]]:
    """Make a run of each fold that is given."""

    def runs(rights: Folds) -> list[Run]:
        return [
            make(method, seed=seed, fold=fold, correct={"gsm8k": right})
            for (method, seed, fold), right in rights.items()
        ]

    return runs


Runs = Callable[[Folds], list[Run]]


def without(*left_out: tuple[str, int, int]) -> Folds:
    return {key: right for key, right in WHOLE.items() if key not in left_out}


def only(table: Table) -> tuple[dict[int, float], ...]:
    """Give the numbers of each method in the first column."""
    return tuple(dict(row.cells[0].sample.by_seed) for row in table.blocks[0].rows)


def test_the_number_of_a_seed_is_the_mean_over_its_folds(fold_runs: Runs) -> None:
    (table,) = tables(fold_runs(WHOLE))
    hycam, lora = only(table)
    assert hycam == {1: pytest.approx(0.85), 2: pytest.approx(0.84)}
    assert lora == {1: pytest.approx(0.55), 2: pytest.approx(0.56)}


def test_seeds_are_the_sample_and_folds_are_not(fold_runs: Runs) -> None:
    (table,) = tables(fold_runs(WHOLE), testing=Testing(test="welch"))
    test = table.blocks[0].rows[0].cells[0].test
    assert isinstance(test, Test)
    assert test.n == (2, 2)
    # By hand: means 0.845 and 0.555; both variances 5e-5, so the squared error is 5e-5, df 2.
    assert test.statistic == pytest.approx(0.29 / 5e-5**0.5)


def test_a_seed_that_lacks_a_fold_has_no_number_and_is_told(fold_runs: Runs) -> None:
    (table,) = tables(fold_runs(without(("lora", 2, 1))))
    hycam, lora = table.blocks[0].rows
    assert only(table)[1] == {1: pytest.approx(0.55)}
    assert lora.notes == ("seed 2 lacks fold 1",)
    assert label(lora) == "lora†"
    assert hycam.notes == ()
    assert hycam.cells[0].test == Undefined("seeds are missing", withheld=True)


def test_a_fold_that_only_another_backbone_has_is_missed_as_well(make: Make) -> None:
    runs = [make(fold=0), make(fold=1), make(fold=0, backbone="llama")]
    (table,) = tables(runs)
    llama, tiny = table.blocks
    assert llama.rows[0].notes == ("seed 2333 lacks fold 1",)
    assert tiny.rows[0].notes == ()


def test_one_seed_makes_no_test_however_many_its_folds(make: Make) -> None:
    runs = [make(method, fold=fold) for method in ("hycam", "lora") for fold in range(5)]
    (table,) = tables(runs)
    assert table.blocks[0].rows[0].cells[0].test == Undefined(
        "one seed, and no verdicts of its items are stored (--test folds tests the folds)"
    )
    text = render([table], "markdown")
    assert "accuracy in percent (mean over 5 folds), seed 2333 alone." in text


def test_a_single_split_never_shares_a_table_with_folds(make: Make) -> None:
    split, folded = make(seed=1), make(seed=2, fold=0, minute=1)
    newer, older = tables([split, folded])
    assert (newer.folds, newer.seeds) == ((0,), (2,))
    assert (older.folds, older.seeds) == ((), (1,))


def test_the_newest_attempt_at_a_fold_counts(make: Make) -> None:
    runs = [make(fold=0), make(fold=1), make(fold=1, minute=1, correct={"gsm8k": 90})]
    (table,) = tables(runs)
    assert only(table)[0] == {2333: pytest.approx(0.7)}
    assert table.blocks[0].rows[0].notes == ()


def test_the_caption_of_one_fold_says_which(make: Make) -> None:
    text = render(tables([make(fold=3)]), "markdown")
    assert "accuracy in percent (fold 3 alone), seed 2333 alone." in text


def test_a_comparison_says_of_how_many_folds_its_numbers_are(fold_runs: Runs) -> None:
    text = markdown(compare(fold_runs(WHOLE), "hycam", "lora"))
    assert "accuracy in percent (mean over 2 folds)." in text
    assert "84.50 ± 0.71 | 55.50 ± 0.71 |" in text
