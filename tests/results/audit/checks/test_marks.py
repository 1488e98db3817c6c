"""Bold and underlined cells against the printed order."""

import pytest

from results.audit.checks.marks import check
from results.audit.table import Column
from tests.results.audit.tables import said, table

GSM8K = Column("GSM8K", "benchmark")
PPL = Column("PPL", "benchmark", metric="other", higher_is_better=False)


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (GSM8K, "*40.18* _39.88_ 39.73"),
        (PPL, "*2.757* _2.830_ 2.840"),
        (GSM8K, "*40.18* *40.18* 39.73"),  # nobody is second
        (GSM8K, "*40.18* *40.18* _39.73_"),  # or the next one is
        (GSM8K, "*40.18* _39.88_ _39.88_"),
        (GSM8K, "40.18 39.88 39.73"),
    ],
)
def test_the_best_in_bold_and_the_second_underlined_pass(column: Column, cells: str) -> None:
    assert list(check(table([column], named(cells)))) == []


@pytest.mark.parametrize(
    ("column", "cells", "found"),
    [
        (GSM8K, "40.18 *39.88* 39.73", [("inconsistent", "B, GSM8K")]),
        (PPL, "*2.840* 2.830 2.757", [("inconsistent", "A, PPL")]),
        (GSM8K, "*40.18* 39.88 _39.73_", [("inconsistent", "C, GSM8K")]),
        (GSM8K, "*40.18* 40.18 39.73", [("notable", "B, GSM8K")]),
        (GSM8K, "*40.18* _40.18_ 39.73", [("notable", "B, GSM8K")]),
        (GSM8K, "*40.18* _39.88_ 39.88", [("notable", "C, GSM8K")]),
    ],
)
def test_other_marks_are_asked_about_and_ties_are_notable(
    column: Column, cells: str, found: list[tuple[str, str]]
) -> None:
    assert said(list(check(table([column], named(cells))))) == found


def named(cells: str) -> dict[str, str]:
    return dict(zip("ABC", cells.split(), strict=False))


def test_the_only_column_of_a_block_without_a_bold_value_is_notable() -> None:
    columns = [GSM8K, Column("SVAMP", "benchmark"), Column("micro", "micro")]
    found = list(check(table(columns, {"A": "*2.0* *3.0* 2.5", "B": "1.0 1.0 1.0"})))
    assert said(found) == [("notable", "micro")]


def test_parameters_have_no_best() -> None:
    columns = [Column("Param", "parameters"), GSM8K]
    assert list(check(table(columns, {"A": "*1.12* *9.0*", "B": "0.73 8.0"}))) == []
