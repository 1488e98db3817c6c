"""Leads against the standard error of one score, worked out in the tests."""

from math import sqrt

import pytest

from results.audit.checks.gaps import check, standard_error
from results.audit.table import Column
from tests.results.audit.tables import table

COLUMNS = [
    Column("AQuA", "benchmark", n=100),
    Column("SVAMP", "benchmark", n=400),
    Column("micro", "micro"),
    Column("macro", "macro"),
    Column("Avg.", "average"),
]
LINES = {"LoRA": "50.0 80.0 74.0 65.0 74.0", "DoRA": "46.0 77.0 70.8 61.5 70.8"}


def test_the_standard_error_takes_benchmarks_as_strata() -> None:
    printed = table(COLUMNS, LINES)
    # Variances of one item: 0.25 and 0.16; of the shares: 0.0025 and 0.0004.
    expected = [
        5.0,
        2.0,
        100 * sqrt(100 * 0.25 + 400 * 0.16) / 500,
        100 * sqrt(0.0025 + 0.0004) / 2,
    ]
    found = [standard_error(printed, index, printed.rows[0]) for index in range(5)]
    assert found[:4] == pytest.approx(expected)
    assert found[4] is None


def test_a_lead_below_the_standard_error_is_notable_and_one_above_is_not() -> None:
    found = list(check(table(COLUMNS, LINES)))
    assert [(one.grade, one.where) for one in found] == [("notable", "AQuA")]
    assert found[0].arithmetic.endswith("over items, smallest for LoRA: 4.00 < 5.00")


def test_without_sizes_or_of_other_metrics_no_error_is_known() -> None:
    unknown = [Column("XSum", "benchmark"), Column("PPL", "benchmark", metric="other", n=100)]
    assert list(check(table(unknown, {"LoRA": "50.0 3.1", "DoRA": "49.9 3.2"}))) == []
