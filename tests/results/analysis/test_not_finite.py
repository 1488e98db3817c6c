"""A score that is infinite or NaN counts as missing, wherever it comes from."""

from collections.abc import Callable
from pathlib import Path

import pytest

from results.analysis.extractors import extractor_effects
from results.analysis.history import history
from results.analysis.table import Table, tables
from results.record import POOLED, Run, Score
from results.reports import extractors as extractors_report
from results.reports import history as history_report
from results.reports.formats import names, render
from results.reports.one_run import run as run_report
from results.statistics.test import Undefined
from results.store import Reader, Store

Make = Callable[..., Run]

INFINITE = pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")], ids=str)


def diverged(make: Make, value: float) -> list[Run]:
    """Make two methods with two seeds; the second seed of lora has no usable score on dolly."""
    numbers = {("hycam", 0): 7.0, ("hycam", 1): 7.5, ("lora", 0): 9.0, ("lora", 1): value}
    return [
        make(
            method,
            seed,
            scores=(
                Score("dolly", "perplexity", "", True, dolly, 500),
                Score("webgpt", "perplexity", "", True, 8.0, 500),
                Score(POOLED, "perplexity", "", True, 8.0, 1000),
            ),
        )
        for (method, seed), dolly in numbers.items()
    ]


def check_lora(table: Table) -> None:
    hycam, lora = table.blocks[0].rows
    assert lora.notes == (
        "seed 1 lacks dolly, all, macro",
        "seed 1: dolly: perplexity is not finite",
    )
    assert dict(lora.cells[0].sample.by_seed) == {0: 9.0}
    assert dict(lora.cells[1].sample.by_seed) == {0: 8.0, 1: 8.0}
    assert hycam.cells[0].test == Undefined("seeds are missing", withheld=True)


@INFINITE
def test_a_table_counts_it_as_missing_and_says_so_in_a_note(make: Make, value: float) -> None:
    (table,) = tables(diverged(make, value))
    check_lora(table)
    for name in names():
        assert "dolly: perplexity is not finite" in render([table], name)


def test_a_store_that_holds_one_is_read_and_tabled(make: Make, tmp_path: Path) -> None:
    store = Store(tmp_path / "harness.db")
    for run in diverged(make, float("inf")):
        store.add(run)
    runs = Reader(tmp_path / "harness.db").runs()
    (table,) = tables(runs)
    check_lora(table)
    assert "dolly: perplexity is not finite" in history_report.markdown(history(runs), wide=True)
    (lora,) = (run for run in runs if (run.method, run.seed) == ("lora", 1))
    assert " inf |" in run_report.markdown(lora)


@INFINITE
def test_the_history_has_no_number_for_it_and_a_note(make: Make, value: float) -> None:
    entry = history(diverged(make, value))[-1]
    assert entry.overall is None
    assert entry.notes == ("dolly: perplexity is not finite",)


@INFINITE
def test_the_extractors_leave_it_out(make: Make, value: float) -> None:
    scores = (
        Score("gsm8k", "accuracy", "paper", True, value, 100),
        Score("gsm8k", "accuracy", "strict", False, 0.5, 100),
    )
    (effect,) = extractor_effects([make(scores=scores)])
    paper, strict = effect.methods[0].benchmarks[0].readings
    assert (paper.accuracy, strict.accuracy) == (None, 0.5)
    assert "nan" not in extractors_report.markdown([effect])


@INFINITE
def test_a_clean_score_that_is_not_finite_makes_no_clean_average(make: Make, value: float) -> None:
    plain = Score("gsm8k", "accuracy", "e", True, 0.5, 100)
    clean = Score("gsm8k", "clean accuracy", "e", False, value, 50)
    (table,) = tables([make(scores=(plain, clean))], clean=True)
    row = table.blocks[0].rows[0]
    assert row.cells[-1].sample.mean is None
    assert "gsm8k: clean accuracy is not finite" in row.notes
