"""Cells that are no share of right items; the arithmetic is in the tests."""

from dataclasses import replace

from results.audit.checks.cells import check, resolutions
from results.audit.table import Column, PrintedTable
from tests.results.audit.tables import said, table

MAWPS = Column("MAWPS", "benchmark", n=238)
HELLASWAG = Column("HellaSwag", "benchmark", n=10_042)


def one_cell(column: Column, text: str, **declared: object) -> PrintedTable:
    return table([column], {"LoRA": text}, **declared)


def test_a_share_of_the_items_passes_rounded_and_truncated() -> None:
    # 210 of 238 are 88.2353 %, 211 are 88.6555 %.
    assert list(check(one_cell(MAWPS, "88.24"))) == []
    assert list(check(one_cell(MAWPS, "88.65"))) == []


def test_no_share_of_the_items_is_impossible_and_its_neighbours_are_named() -> None:
    (found,) = check(one_cell(MAWPS, "88.40"))
    assert found.grade == "impossible"
    assert found.where == "LoRA, MAWPS"
    assert "88.24 and 88.66" in found.arithmetic
    assert found.question.endswith("?")


def test_the_mean_of_counts_of_declared_seeds_passes() -> None:
    # 1052 of 5 * 238 are 88.4034 %.
    assert list(check(one_cell(MAWPS, "88.40", seeds=5))) == []


def test_the_mean_of_printed_values_passes() -> None:
    thirds = Column("thirds", "benchmark", n=3)
    # 0.0 and 66.7 have the mean 33.35, which is rounded to 33.4; 2 of 6 are 33.33.
    assert list(check(one_cell(thirds, "33.4", seeds=2))) == []
    assert said(list(check(one_cell(thirds, "33.5", seeds=2)))) == [("impossible", "LoRA, thirds")]


def test_without_declared_size_or_seeds_there_is_one_notable_finding_for_a_column() -> None:
    lines = {"LoRA": "88.40", "DoRA": "88.24", "OFT": "88.57"}
    for unsure in ({"seeds": None}, {"sizes_declared": False}):
        (found,) = check(table([MAWPS], lines, **unsure))
        assert found.grade == "notable"
        assert found.where == "MAWPS"
        assert "88.40; 88.57 (2 of 3 cells)" in found.arithmetic


def test_where_no_number_of_seeds_is_declared_one_that_would_do_is_named() -> None:
    # 88.40 is 1052 of 1190 and no k of 714: 631 are 88.375, 632 are 88.515.
    (found,) = check(one_cell(MAWPS, "88.40", seeds=None))
    assert found.arithmetic.endswith("; with 5 runs all are")


def test_a_share_above_all_is_impossible_whatever_the_size() -> None:
    unknown = Column("XSum", "benchmark")
    assert said(list(check(one_cell(unknown, "100.40", seeds=None)))) == [
        ("impossible", "LoRA, XSum")
    ]
    assert list(check(one_cell(replace(unknown, metric="other"), "100.40"))) == []


def test_a_share_of_one_is_read_by_its_own_scale() -> None:
    of_one = replace(MAWPS, whole=1)
    assert list(check(one_cell(of_one, "0.8824"))) == []
    assert said(list(check(one_cell(of_one, "0.8840")))) == [("impossible", "LoRA, MAWPS")]


def test_in_a_truncated_table_a_unit_below_an_exact_share_may_be_noise() -> None:
    svamp = Column("SVAMP", "benchmark", n=1000)
    # 29 of 100 is 28.999999999999996 in floating point. 88.65 is 88.6555 truncated.
    columns = [MAWPS, svamp]
    (noise,) = check(table(columns, {"LoRA": "88.65 28.99"}))
    assert noise.grade == "notable"
    (wrong,) = check(table(columns, {"LoRA": "88.66 28.99"}))
    assert wrong.grade == "impossible"


def test_the_share_of_possible_values_is_told_up_to_nine_in_ten() -> None:
    both = table([MAWPS, HELLASWAG], {"LoRA": "88.24 90.00"}, seeds=5)
    (found,) = resolutions(both)
    assert found.column == "MAWPS"
    assert round(found.one, 3) == 0.024  # 239 of 10,001 values
    assert round(found.counts, 2) == 0.12  # 1,191 of 10,001
    assert found.counts < found.any < 0.3


def test_means_that_are_nearly_all_shares_of_one_run_are_asked_about() -> None:
    # 210, 211, 212 and 148 of 238; of 1,191 means of five runs, 239 are shares of one.
    lines = {"LoRA": "88.24", "DoRA": "88.66", "OFT": "89.08", "Bone": "62.18"}
    (found,) = check(table([MAWPS], lines, seeds=5))
    assert (found.grade, found.where) == ("notable", "the table")
    assert found.arithmetic.startswith("4 of 4 cells are shares of one run")
    assert found.arithmetic.endswith("of means of 5 runs about 1 would be")
    assert list(check(table([MAWPS], lines, seeds=1))) == []
    assert list(check(table([MAWPS], {**lines, "SHiRA": "88.40"}, seeds=5))) == []
