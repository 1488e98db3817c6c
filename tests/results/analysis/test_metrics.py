"""Tables of other metrics than accuracy: their columns, their captions, their direction."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind

from results.analysis.pairwise import compare
from results.analysis.ranking import Cell
from results.analysis.table import Table, tables
from results.analysis.testing.tests import Testing
from results.record import POOLED, Run, Score
from results.reports.formats import names, render
from results.reports.pairwise import markdown
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]


def scores(perplexity: float, bleu: float) -> tuple[Score, ...]:
    """Make the scores of two sets; over both together perplexity is 1 higher, BLEU 2 lower."""
    of_perplexity = {"dolly": perplexity, "webgpt": perplexity + 4, POOLED: perplexity + 1}
    of_bleu = {"dolly": bleu, "webgpt": bleu + 10, POOLED: bleu - 2}
    return (
        *(Score(name, "perplexity", "", True, x, 500) for name, x in of_perplexity.items()),
        *(Score(name, "bleu", "", True, x, 9, signature="tok:13a") for name, x in of_bleu.items()),
        Score("dolly", "sentence bleu", "", False, 12.0, 9),
    )


@pytest.fixture
def runs(make: Make) -> list[Run]:
    """Make two methods with two seeds; hycam has the lower perplexity and the higher BLEU."""
    facts = {"hycam": [(7.0, 31.0), (7.5, 31.5)], "lora": [(9.0, 20.0), (9.5, 20.5)]}
    return [
        make(method, seed=seed, group="multitask", scores=scores(*numbers))
        for method, all_numbers in facts.items()
        for seed, numbers in enumerate(all_numbers)
    ]


def first_row(table: Table) -> tuple[Cell, ...]:
    return table.blocks[0].rows[0].cells


@pytest.fixture
def both(runs: list[Run]) -> list[Table]:
    return tables(runs, testing=Testing(test="welch"))


def test_every_headline_metric_has_a_table_in_the_order_of_the_run(both: list[Table]) -> None:
    assert [table.metric.name for table in both] == ["perplexity", "bleu"]


def test_the_pooled_score_is_as_stored_and_macro_is_the_mean_of_sets(both: list[Table]) -> None:
    perplexity, bleu = ([cell.sample.by_seed[0] for cell in first_row(table)] for table in both)
    assert both[0].columns == both[1].columns == ("dolly", "webgpt", "all", "macro")
    # By hand: (7 + 11) / 2 = 9 and (31 + 41) / 2 = 36.
    assert perplexity == [7.0, 11.0, 8.0, 9.0]
    assert bleu == [31.0, 41.0, 29.0, 36.0]


def test_the_best_is_lowest_in_perplexity_and_highest_in_bleu(both: list[Table]) -> None:
    for table in both:
        hycam, lora = table.blocks[0].rows
        assert {cell.rank for cell in hycam.cells} == {1}
        assert {cell.rank for cell in lora.cells} == {2}


def test_a_run_without_a_pooled_score_lacks_that_column_alone(make: Make, runs: list[Run]) -> None:
    unpooled = tuple(score for score in scores(8.0, 25.0) if score.benchmark != POOLED)
    table = tables([*runs, make("vera", seed=0, group="multitask", scores=unpooled)])[0]
    vera = table.blocks[0].rows[2]
    assert [cell.column for cell in vera.cells if not cell.sample.by_seed] == ["all"]
    assert vera.notes == ("seed 0 lacks all", "seed 1 is missing")


def test_no_run_with_a_pooled_score_makes_no_such_column(make: Make) -> None:
    alone = (Score("convai2", "meteor", "", True, 12.0, 9),)
    (table,) = tables([make(scores=alone)])
    assert table.columns == ("convai2", "macro")


def test_a_method_without_a_metric_keeps_its_row_and_is_told(make: Make, runs: list[Run]) -> None:
    no_bleu = tuple(score for score in scores(8.0, 25.0) if score.metric != "bleu")
    bleu = tables([*runs, make("vera", seed=0, group="multitask", scores=no_bleu)])[1]
    vera = bleu.blocks[0].rows[2]
    assert vera.notes == ("seed 0 lacks dolly, webgpt, all, macro", "seed 1 is missing")


def test_option_likelihood_is_a_share_with_micro_and_macro(make: Make) -> None:
    # By hand: (0.5 * 30 + 1.0 * 10) / 40 = 0.625 and (0.5 + 1.0) / 2 = 0.75.
    sizes = {"boolq": (0.5, 30), "piqa": (1.0, 10)}
    likelihood = (Score(name, "option likelihood", "", True, *size) for name, size in sizes.items())
    (table,) = tables([make(scores=tuple(likelihood))])
    means = {cell.column: cell.sample.mean for cell in first_row(table)}
    assert means == {"boolq": 0.5, "piqa": 1.0, "micro": 0.625, "macro": 0.75}


def test_perplexity_is_printed_as_it_is_and_said_to_be_tested_on_the_logarithm(
    both: list[Table],
) -> None:
    # By hand: 7.0 and 7.5 have mean 7.25 and SD 0.5 / sqrt(2) = 0.354.
    text = render(both[:1], "markdown")
    assert "multitask: perplexity per token of the answer, mean ± SD" in text
    assert "| **7.250 ± 0.354** " in text
    assert "Bold: best (lowest)" in text
    assert "t-test of logarithms, for new training runs" in text


def test_bleu_is_tested_as_it_is_and_its_signature_is_told(both: list[Table]) -> None:
    text = render(both[1:], "markdown")
    assert "multitask: BLEU-4 of the corpus, mean ± SD" in text
    assert "Bold: best;" in text
    assert "logarithm" not in text
    assert "Signature: tok:13a." in text


WITHHELD = Undefined("scores of two signatures do not compare", withheld=True)


def scored(make: Make, method: str, seed: int, value: float, signature: str, **facts: Any) -> Run:
    score = Score("dolly", "bleu", "", True, value, 9, signature=signature)
    return make(method, seed, scores=(score,), **facts)


@pytest.fixture
def of_two_signatures(make: Make) -> list[Run]:
    """Make hycam better beyond chance, if its scores compared with those of lora."""
    return [
        scored(make, method, seed, value + seed, signature)
        for method, value, signature in (("hycam", 60, "tok:13a"), ("lora", 20, "tok:intl"))
        for seed in (0, 1)
    ]


def test_scores_of_two_signatures_are_neither_ranked_nor_tested(
    of_two_signatures: list[Run],
) -> None:
    (table,) = tables(of_two_signatures)
    cells = [cell for row in table.blocks[0].rows for cell in row.cells]
    assert {cell.rank for cell in cells} == {None}
    assert {cell.significantly_best for cell in cells} == {False}
    assert {cell.test for cell in cells} == {WITHHELD}
    assert cells[0].sample.mean == 60.5


@pytest.mark.parametrize("name", ["latex", "markdown"])
def test_scores_of_two_signatures_are_told_below(of_two_signatures: list[Run], name: str) -> None:
    text = render(tables(of_two_signatures), name)
    assert "Scores of two signatures do not compare: tok:13a; tok:intl." in text.replace(
        "tok:intl; tok:13a", "tok:13a; tok:intl"
    )
    assert "Signature:" not in text


def test_a_comparison_over_two_signatures_has_no_p_and_says_why(
    of_two_signatures: list[Run],
) -> None:
    (one,) = compare(of_two_signatures, "hycam", "lora")
    assert {contrast.test for contrast in one.contrasts} == {WITHHELD}
    assert set(one.signatures) == {"tok:13a", "tok:intl"}
    assert "Scores of two signatures do not compare: tok:" in markdown([one])


def test_the_signature_of_an_attempt_that_was_replaced_does_not_count(make: Make) -> None:
    old = scored(make, "lora", 0, 20, "tok:intl")
    new = scored(make, "lora", 0, 20, "tok:13a", minute=1)
    (table,) = tables([old, new, scored(make, "hycam", 0, 60, "tok:13a")])
    assert table.signatures == ("tok:13a",)
    assert [row.cells[0].rank for row in table.blocks[0].rows] == [1, 2]


def test_an_unknown_metric_is_printed_plainly_and_higher_is_better(make: Make) -> None:
    low, high = (Score("x", "chrf", "", True, value, 9) for value in (0.25, 0.75))
    text = render(tables([make("a", scores=(low,)), make("b", scores=(high,))]), "markdown")
    assert "math: chrf, seed 2333 alone." in text
    assert "_0.25_" in text
    assert "**0.75**" in text


@pytest.mark.parametrize("name", names())
def test_every_format_names_every_metric(both: list[Table], name: str) -> None:
    text = render(both, name)
    assert "perplexity" in text
    assert "bleu" in text.lower()


def test_csv_and_json_name_the_metric_beside_every_number(both: list[Table]) -> None:
    lines = list(csv.DictReader(StringIO(render(both, "csv"))))
    assert [line["metric"] for line in lines] == ["perplexity"] * 8 + ["bleu"] * 8
    assert float(lines[0]["mean"]) == 7.25
    found = json.loads(render(both, "json"))
    assert [table["metric"]["lower_is_better"] for table in found] == [True, False]


def test_two_methods_are_compared_in_every_metric_a_perplexity_by_its_ratio(
    runs: list[Run],
) -> None:
    perplexity, bleu = compare(runs, "hycam", "lora", testing=Testing(test="welch"))
    dolly = perplexity.contrasts[0]
    assert dolly.difference == pytest.approx(-2.0)
    logs = ttest_ind(np.log([7.0, 7.5]), np.log([9.0, 9.5]), equal_var=False)
    assert isinstance(dolly.test, Test)
    assert dolly.test.interval == pytest.approx(tuple(logs.confidence_interval()))
    low, high = np.exp(logs.confidence_interval())
    # Right of the difference, the interval is flush right below its heading of 26 characters.
    text = markdown([perplexity])
    assert "| 95 % interval of the ratio |" in text
    assert f"-2.000 | {f'{low:.3f} to {high:.3f}':>26} |" in text
    assert "ratio" not in markdown([bleu])
    # By hand: both variances 0.125, squared error 0.125, df 2, 97.5 % point 4.30265.
    assert "+11.00 | +9.48 to +12.52 |" in markdown([bleu])
