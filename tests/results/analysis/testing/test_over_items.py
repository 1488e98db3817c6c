"""Tests over items, from the verdicts of runs."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from results.analysis.pairwise import compare
from results.analysis.table import tables
from results.analysis.testing.evidence import Segments, Texts
from results.analysis.testing.tests import Testing
from results.record import Run, Score, Verdicts
from results.reports.formats import render
from results.reports.pairwise import markdown
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]

FIRST = [1] * 60 + [0] * 40
SECOND = [1] * 50 + [0] * 40 + [1] * 2 + [0] * 8


class Stored:
    """Runs with the verdicts of their items."""

    def __init__(self, make: Make) -> None:
        self.make = make
        self.runs: list[Run] = []
        self.verdicts: dict[str, dict[str, Verdicts]] = {}

    def add(self, method: str, right: Mapping[str, Sequence[int]], **facts: Any) -> None:
        rows = facts.pop("rows", "r")
        clusters = facts.pop("clusters", None)
        scores = tuple(
            Score(name, "accuracy", "e", True, float(np.mean(bits)), len(bits))
            for name, bits in right.items()
        )
        run = self.make(method, scores=scores, **facts)
        self.runs.append(run)
        self.verdicts[run.run_id] = {
            name: Verdicts(name, rows + name, len(bits), np.packbits(bits).tobytes(), clusters)
            for name, bits in right.items()
        }

    def testing(self, **choice: Any) -> Testing:
        def lookup(runs: Iterable[Run]) -> Mapping[str, Mapping[str, Verdicts]]:
            return self.verdicts

        return Testing(verdicts=lookup, **choice)


@pytest.fixture
def stored(make: Make) -> Stored:
    return Stored(make)


def test_with_one_seed_a_table_tests_items_and_says_what_that_compares(stored: Stored) -> None:
    stored.add("a", {"gsm8k": FIRST, "aqua": FIRST})
    stored.add("b", {"gsm8k": SECOND, "aqua": FIRST})
    (table,) = tables(stored.runs, testing=stored.testing())
    gsm8k, aqua, micro, macro = (cell.test for cell in table.blocks[0].rows[0].cells)
    # The first alone is right on 10 items, the second alone on 2.
    expected = binomtest(10, 12).pvalue
    assert isinstance(gsm8k, Test)
    assert isinstance(micro, Test)
    assert gsm8k.p == pytest.approx(expected)
    assert micro.p == pytest.approx(expected)
    assert aqua == Undefined("no item tells the two apart")
    assert isinstance(macro, Test)
    assert macro.name == "paired two-sided sign-flip permutation"
    assert {gsm8k.claim, macro.claim} == {"items"}
    text = render([table], "markdown")
    assert "With one seed, a test compares two trained models, not two methods" in text


def test_one_run_of_each_earns_neither_star_nor_ranks_unless_the_test_was_asked_for(
    stored: Stored,
) -> None:
    for method, bits in (("a", FIRST), ("b", SECOND), ("c", [0] * 100)):
        stored.add(method, {"gsm8k": bits})
    for testing, starred in ((stored.testing(), False), (stored.testing(test="mcnemar"), True)):
        (table,) = tables(stored.runs, testing=testing)
        text = render([table], "markdown")
        assert ("no star and no rank" in text) != starred
        best = table.blocks[0].rows[0].cells[0]
        assert isinstance(best.test, Test)
        assert best.test.significant
        assert (best.rank, best.significantly_best, bool(best.ranks)) == (1, starred, starred)


def test_of_items_that_share_a_passage_signs_are_permuted_by_passage(stored: Stored) -> None:
    clusters = tuple(range(50)) * 2
    stored.add("a", {"boolq": FIRST}, clusters=clusters)
    stored.add("b", {"boolq": SECOND}, clusters=clusters)
    (table,) = tables(stored.runs, testing=stored.testing())
    test = table.blocks[0].rows[0].cells[0].test
    assert isinstance(test, Test)
    assert test.name == "paired two-sided sign-flip permutation"


def test_models_that_were_asked_other_items_are_not_tested(stored: Stored) -> None:
    stored.add("a", {"gsm8k": FIRST})
    stored.add("b", {"gsm8k": SECOND}, rows="others")
    (table,) = tables(stored.runs, testing=stored.testing())
    assert table.blocks[0].rows[0].cells[0].test == Undefined("other items", withheld=True)


def test_without_verdicts_one_seed_makes_no_test(stored: Stored) -> None:
    stored.add("a", {"gsm8k": FIRST})
    stored.add("b", {"gsm8k": SECOND})
    (table,) = tables(stored.runs)
    assert table.tests is None
    assert table.blocks[0].rows[0].cells[0].test == Undefined(
        "one seed, and no verdicts of its items are stored"
    )


@pytest.fixture
def three(stored: Stored) -> Stored:
    """Make two methods with three seeds; the first has ten items more right, less some by seed."""
    for seed in range(3):
        stored.add("a", {"gsm8k": [0] * seed + FIRST[seed:]}, seed=seed)
        stored.add("b", {"gsm8k": [0] * seed * 2 + SECOND[2 * seed :]}, seed=seed)
    return stored


def test_a_comparison_makes_both_claims_side_by_side(three: Stored) -> None:
    (one,) = compare(three.runs, "a", "b", testing=three.testing())
    contrast = one.contrasts[0]
    tests = contrast.test, contrast.crossed, contrast.items
    assert [test.claim for test in tests if isinstance(test, Test)] == [
        "seeds",
        "seeds and items",
        "items",
    ]
    # All three are of the same difference: 59 - 50 right of 100, on average over seeds.
    assert {round(test.difference, 9) for test in tests if isinstance(test, Test)} == {0.09}
    text = markdown([one])
    assert "for new training runs on these items" in text
    assert "for new training runs and new items" in text
    assert "for new items and these trained models" in text
    assert "Spread of one run of a in gsm8k" in text


def test_items_gained_and_lost_are_counted_over_seeds(three: Stored) -> None:
    (one,) = compare(three.runs, "a", "b", testing=three.testing())
    found = one.contrasts[0].exchanged
    assert found is not None
    # Gained are ten that the first alone has right, and four of the first items: the runs of the
    # first have 1, 2, 3, 3 of them right, those of the second 1, 1, 2, 2. Item 0 is equal.
    assert (found.gained, found.lost, found.items) == (13, 2, 100)


def test_a_comparison_of_one_seed_has_tests_over_items_alone(stored: Stored) -> None:
    stored.add("a", {"gsm8k": FIRST})
    stored.add("b", {"gsm8k": SECOND})
    (one,) = compare(stored.runs, "a", "b", testing=stored.testing())
    contrast = one.contrasts[0]
    assert contrast.test == Undefined("one seed, and a test over seeds needs three")
    assert contrast.crossed == Undefined("one seed")
    assert isinstance(contrast.items, Test)
    assert contrast.items.p == pytest.approx(binomtest(10, 12).pvalue)
    assert "compares two trained models, not two methods" in markdown([one])


def test_one_run_has_the_interval_of_its_share_and_several_that_of_their_mean(
    three: Stored, make: Make
) -> None:
    (several,) = tables(three.runs)
    (one,) = tables([make("a", correct={"gsm8k": 50, "aqua": 50})])
    over_seeds, over_items = (table.blocks[0].rows[0].cells[0].interval for table in (several, one))
    assert over_seeds is not None
    assert over_items is not None
    assert (over_seeds.over, over_items.over) == ("seeds", "items")
    # t: 0.6, 0.59, 0.58, SD 0.01, 97.5 % point of 2 df 4.30265. Wilson: 50 of 100, as published.
    half = 4.30265 * 0.01 / 3**0.5
    assert (over_seeds.low, over_seeds.high) == pytest.approx((0.59 - half, 0.59 + half), abs=1e-5)
    assert (over_items.low, over_items.high) == pytest.approx((0.4038, 0.5962), abs=1e-4)


def test_the_worst_benchmark_is_named(make: Make) -> None:
    (table,) = tables([make("a", correct={"gsm8k": 50, "aqua": 20})])
    assert table.blocks[0].rows[0].worst == "aqua"
    losses = {"dolly": 9.0, "webgpt": 7.0}
    scores = tuple(Score(name, "perplexity", "", True, loss, 9) for name, loss in losses.items())
    (table,) = tables([make("a", scores=scores)])
    assert table.blocks[0].rows[0].worst == "dolly"


def test_the_test_of_texts_swaps_them_and_scores_them_anew(make: Make) -> None:
    losses = {"hycam": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "lora": [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]}
    runs = [
        make(name, scores=(Score("dolly", "perplexity", "", True, np.exp(found[0]), 6),))
        for name, found in losses.items()
    ]

    def segments(run: Run, benchmark: str, metric: str) -> Segments:
        assert (benchmark, metric) == ("dolly", "perplexity")
        return Segments(np.array([[loss, 1.0] for loss in losses[run.method]]), "the same rows")

    texts = Texts(segments, {"perplexity": lambda sums: sums[..., 0] / sums[..., 1]})
    (one,) = compare(runs, "hycam", "lora", testing=Testing(texts=texts))
    test = one.contrasts[0].items
    assert isinstance(test, Test)
    # Of 2^6 ways to swap, two are as extreme: all and none.
    assert (test.difference, test.p) == (pytest.approx(-1.0), pytest.approx(2 / 64))
    assert one.contrasts[0].exchanged is None


def test_a_test_that_few_items_decide_says_so_and_not_that_there_are_few(stored: Stored) -> None:
    # Only two of 100 items tell the two apart: the smallest two-sided p is 2 / 2^2.
    stored.add("a", {"gsm8k": FIRST})
    stored.add("b", {"gsm8k": [*FIRST[:58], 0, 0, *FIRST[60:]]})
    text = render(tables(stored.runs, testing=stored.testing()), "markdown")
    why = "cannot reach p < 0.05, as too few of 100 items tell the two apart (smallest 0.5)."
    assert f"The test of all columns {why}" in text
    (one,) = compare(stored.runs, "a", "b", testing=stored.testing())
    assert f"McNemar's exact two-sided test {why}" in markdown([one])


def test_a_p_that_is_nearly_0_is_printed_as_below_a_thousandth(stored: Stored) -> None:
    stored.add("a", {"gsm8k": [1] * 90 + [0] * 10})
    stored.add("b", {"gsm8k": [0] * 90 + [1] * 10})
    (one,) = compare(stored.runs, "a", "b", testing=stored.testing())
    assert isinstance(one.contrasts[0].items, Test)
    assert 0 < one.contrasts[0].items.p < 1e-9
    assert "| < 0.001 |" in markdown([one])


class Kept:
    """Keeps as the store's cache does: JSON under a key of JSON."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.computed = 0

    def __call__(self, key: Any, compute: Callable[[], Any]) -> Any:
        told = json.dumps(key)
        if told not in self.values:
            self.computed += 1
            self.values[told] = json.dumps(compute())
        return json.loads(self.values[told])


@pytest.mark.parametrize("test", ["crossed", "sign-flip", "bootstrap", "mcnemar"])
def test_tests_over_items_are_made_once_and_come_back_as_they_were(
    three: Stored, test: str
) -> None:
    three.add("c", {"gsm8k": FIRST}, seed=0)  # its other seeds are missing
    without = tables(three.runs, testing=three.testing(test=test))
    keep = Kept()
    for _ in range(2):
        assert tables(three.runs, testing=three.testing(test=test, keep=keep)) == without
        # Once for micro and macro; micro of a single benchmark is that benchmark.
        assert keep.computed == 2


def test_the_items_of_a_comparison_are_tested_once(three: Stored) -> None:
    keep = Kept()
    once, again = (
        compare(three.runs, "a", "b", testing=three.testing(keep=keep)) for _ in range(2)
    )
    assert once == again == compare(three.runs, "a", "b", testing=three.testing())
    assert keep.computed == 2
    # The other way round it is another difference.
    assert compare(three.runs, "b", "a", testing=three.testing(keep=keep)) != once


def test_other_verdicts_of_the_same_runs_are_tested_anew(stored: Stored) -> None:
    stored.add("a", {"gsm8k": FIRST})
    stored.add("b", {"gsm8k": SECOND})
    keep = Kept()
    testing = stored.testing(keep=keep)
    before = tables(stored.runs, testing=testing)
    verdicts = stored.verdicts[stored.runs[1].run_id]
    verdicts["gsm8k"] = replace(verdicts["gsm8k"], right=np.packbits(FIRST[::-1]).tobytes())
    after = tables(stored.runs, testing=testing)
    assert before != after == tables(stored.runs, testing=stored.testing())


@pytest.mark.parametrize(
    "other", [{"alternative": "greater"}, {"against": "a"}, {"against": "c"}, {"test": "mcnemar"}]
)
def test_another_choice_of_test_is_another_entry(stored: Stored, other: dict[str, Any]) -> None:
    for method, bits in (("a", FIRST), ("b", SECOND), ("c", [0] * 50 + [1] * 50)):
        stored.add(method, {"gsm8k": bits})
    keep = Kept()
    for choice in ({"against": "b"}, {"against": "b"} | other):
        kept = tables(stored.runs, testing=stored.testing(keep=keep, **choice))
        assert kept == tables(stored.runs, testing=stored.testing(**choice))


def test_tests_over_seeds_are_not_kept(three: Stored) -> None:
    keep = Kept()
    tables(three.runs, testing=three.testing(keep=keep))
    assert keep.computed == 0
