"""Many tests of one column: all pairs, the declared method, the star, rank sets."""

from collections.abc import Callable

import pytest
from scipy.stats import ttest_ind

from results.analysis.ranking import Cell
from results.analysis.table import Table, tables
from results.analysis.testing.tests import Testing
from results.errors import ResultsError
from results.record import Run, Score
from results.reports.formats import render
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]
RIGHTS = {"a": [80, 81, 82], "b": [70, 71, 72], "c": [70, 72, 74], "d": [40, 41, 42]}


@pytest.fixture
def runs(make: Make) -> list[Run]:
    return [
        make(method, seed, {"gsm8k": right})
        for method, rights in RIGHTS.items()
        for seed, right in enumerate(rights)
    ]


def column(table: Table) -> dict[str, Cell]:
    return {row.label: row.cells[0] for row in table.blocks[0].rows}


def p(first: str, second: str, side: str = "two-sided") -> float:
    numbers = ([right / 100 for right in RIGHTS[name]] for name in (first, second))
    return float(ttest_ind(*numbers, equal_var=False, alternative=side).pvalue)


def made(cell: Cell) -> Test:
    assert isinstance(cell.test, Test)
    return cell.test


def test_without_a_declared_method_p_is_adjusted_for_all_pairs(runs: list[Run]) -> None:
    (table,) = tables(runs)
    cells = column(table)
    # By SciPy, of six pairs; a differs from c third least of all, so Holm multiplies by 3 at most.
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    ordered = sorted(pairs, key=lambda pair: p(*pair))
    steps = [(6 - place) * p(*pair) for place, pair in enumerate(ordered)]
    place = ordered.index(("a", "c"))
    assert made(cells["a"]).p == pytest.approx(p("a", "c"))
    assert made(cells["a"]).adjusted == pytest.approx(min(1.0, max(steps[: place + 1])))
    assert (cells["a"].rival, cells["c"].rival) == ("c", "a")


def test_the_star_is_the_largest_p_against_every_other_method(runs: list[Run]) -> None:
    cells = column(tables(runs)[0])
    assert cells["a"].against_all == pytest.approx(max(p("a", other) for other in "bcd"))
    assert cells["a"].significantly_best
    # It is not better than a, whatever it is than the others.
    assert cells["b"].against_all == 1.0


def test_a_best_that_one_other_cannot_be_tested_against_has_no_star(
    make: Make, runs: list[Run]
) -> None:
    (table,) = tables([*runs, make("e", 0, {"gsm8k": 20}), make("e", 1, {"gsm8k": 21})])
    cell = column(table)["a"]
    assert cell.against_all == Undefined("seeds are missing", withheld=True)
    assert not cell.significantly_best


def test_rank_sets_hold_the_ranks_that_adjusted_pairs_leave(runs: list[Run]) -> None:
    (table,) = tables(runs)
    # b and c do not differ (p = 0.48); all else does, adjusted too.
    found = {
        name: (cell.ranks.first, cell.ranks.last, cell.ranks.top_band)
        for name, cell in column(table).items()
        if cell.ranks
    }
    assert found == {
        "a": (1, 1, True),
        "b": (2, 3, False),
        "c": (2, 3, False),
        "d": (4, 4, False),
    }
    text = render([table], "markdown")
    assert "possible ranks in gsm8k: 1: a; 2 to 3: b, c; 4: d; top band: a." in text.lower()


def test_ranks_that_tests_leave_open_are_those_among_trained_methods(
    make: Make, runs: list[Run]
) -> None:
    (table,) = tables([*runs, make("base", 0, {"gsm8k": 1}, trainable_parameters=0)])
    text = render([table], "markdown")
    assert "possible ranks in gsm8k among trained methods: 1: a; 2 to 3: b, c" in text.lower()


def test_a_declared_method_is_tested_against_each_other_one_alone(runs: list[Run]) -> None:
    (table,) = tables(runs, testing=Testing(against="c"))
    cells = column(table)
    # Holm over three comparisons: that with b has the largest p.
    assert made(cells["b"]).difference == pytest.approx(-0.01)
    assert made(cells["b"]).adjusted == pytest.approx(p("b", "c"))
    assert all(cell.ranks is None for cell in cells.values())
    assert cells["a"].against_all is None
    assert not cells["a"].significantly_best
    text = render([table], "markdown")
    assert "Test (chosen for this table)" in text
    assert "c against each other one" in text


def test_a_declared_method_that_is_better_than_every_other_has_the_star(runs: list[Run]) -> None:
    (table,) = tables(runs, testing=Testing(against="a", alternative="greater"))
    cell = column(table)["a"]
    assert cell.against_all == pytest.approx(max(p("a", other, "greater") for other in "bcd"))
    assert cell.significantly_best
    # The same claim from the other side: the difference turns its sign, the p stays.
    assert made(column(table)["b"]).p == pytest.approx(p("a", "b", "greater"))
    assert made(column(table)["b"]).difference == pytest.approx(-0.1)


def test_one_sided_a_lower_perplexity_is_the_better_one(make: Make) -> None:
    runs = [
        make(name, seed, scores=(Score("dolly", "perplexity", "", True, value + seed / 9, 9),))
        for name, value in {"hycam": 7.0, "lora": 9.0}.items()
        for seed in range(3)
    ]
    (table,) = tables(runs, testing=Testing(against="hycam", alternative="greater"))
    assert made(column(table)["hycam"]).p < 0.01
    assert made(column(table)["hycam"]).difference < 0
    (table,) = tables(runs, testing=Testing(against="lora", alternative="greater"))
    assert made(column(table)["lora"]).p > 0.99


def test_the_correction_can_be_chosen(runs: list[Run]) -> None:
    (plain,) = tables(runs, testing=Testing(correction="none"))
    assert made(column(plain)["a"]).adjusted is None
    (rate,) = tables(runs, testing=Testing(correction="bh"))
    assert (made(column(rate)["a"]).adjusted or 0) <= (
        made(column(tables(runs)[0])["a"]).adjusted or 0
    )
    assert "Benjamini and Hochberg" in render([rate], "markdown")


def test_a_test_that_cannot_reach_the_level_says_so(runs: list[Run]) -> None:
    (table,) = tables(runs, testing=Testing(test="permutation"))
    # Of 3 and 3 numbers there are 20 choices, and two of them are as extreme: 2 / 20.
    assert made(column(table)["a"]).smallest_p == pytest.approx(0.1)
    text = render([table], "markdown")
    assert "cannot reach p < 0.05 with n = 3 (smallest 0.1)" in text


def test_a_default_is_called_so(runs: list[Run]) -> None:
    text = render(tables(runs), "markdown")
    assert "Test (default): Welch's two-sided t-test, for new training runs on these items" in text


@pytest.mark.parametrize(
    ("testing", "message"),
    [
        (Testing(test="welsh"), "Did you mean 'welch'"),
        (Testing(alternative="greater"), "name it with --against"),
        (Testing(against="lorra"), "'lorra' is not a known method with finished runs"),
    ],
)
def test_what_cannot_be_tested_is_refused(runs: list[Run], testing: Testing, message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        tables(runs, testing=testing)


def test_differences_within_a_margin_are_shown_and_never_called_equal(make: Make) -> None:
    runs = [
        make(name, seed, {"gsm8k": 50 + seed % 2}) for name in ("a", "b", "c") for seed in range(6)
    ]
    near = render(tables(runs, testing=Testing(margin=2.0)), "markdown", None)
    far = render(tables(runs, testing=Testing(margin=0.1)), "markdown", None)
    assert "differences smaller than 2 in gsm8k" in near.lower()
    assert "are shown for none" in far
    assert "equal" not in near + far
    (table,) = tables(runs, testing=Testing(margin=2.0))
    assert table.tests is not None
    assert not table.tests.chosen
