"""Standard deviations that no counts have, worked out in the tests."""

from results.audit.checks.sds import check
from results.audit.table import Column
from tests.results.audit.tables import said, table

TEN = Column("ten items", "benchmark", n=10)
UNKNOWN = Column("XSum", "benchmark")


def test_the_deviation_of_some_counts_passes_by_either_divisor() -> None:
    # 4, 5 and 6 of 10: SD 10 by two, 8.165 by three.
    for sd in ("10.00", "8.16", "8.17"):
        assert list(check(table([TEN], {"LoRA": f"50.00+-{sd}"}, seeds=3))) == []


def test_a_deviation_between_those_of_counts_is_impossible() -> None:
    # The sums of squared differences of three counts with the mean 5 are 0, 2, 6, 8, 14, ...: by
    # two and by three, the deviations below 11 points are 0, 8.165 and 10.
    (found,) = check(table([TEN], {"LoRA": "50.00+-9.00"}, seeds=3))
    assert (found.grade, found.where) == ("impossible", "LoRA, ten items")
    assert "no 3 counts have the mean 50.00" in found.arithmetic


def test_the_deviation_of_printed_values_passes() -> None:
    # 1, 1 and 2 of 3 print as 33, 33 and 67, with the SD 19.6; exactly it is 19.2.
    thirds = Column("thirds", "benchmark", n=3)
    assert list(check(table([thirds], {"LoRA": "44+-20"}, seeds=3))) == []
    assert list(check(table([thirds], {"LoRA": "44+-19"}, seeds=3))) == []


def test_more_than_the_range_allows_is_impossible_whatever_the_size() -> None:
    # Two runs with the mean 90 vary most as 80 and 100: SD 14.1. No number of runs varies more.
    for seeds in (None, 2, 5):
        (found,) = check(table([UNKNOWN], {"LoRA": "90.0+-43.0"}, seeds=seeds))
        assert found.grade == "impossible"
        assert "have at most" in found.arithmetic
    assert list(check(table([UNKNOWN], {"LoRA": "90.0+-14.1"}, seeds=2))) == []


def test_what_is_not_declared_makes_it_notable() -> None:
    for unsure in ({"sd_declared": False}, {"sizes_declared": False}):
        (found,) = check(table([TEN], {"LoRA": "50.00+-9.00"}, seeds=3, **unsure))
        assert found.grade == "notable"


def test_one_run_has_no_deviation_over_seeds() -> None:
    assert [one.grade for one in check(table([TEN], {"LoRA": "50.00+-9.00"}))] == ["notable"]


def test_a_column_of_deviations_is_read_as_those_beside_the_cells() -> None:
    columns = [TEN, Column("SD", "sd", of=0)]
    assert said(list(check(table(columns, {"LoRA": "50.00 9.00"}, seeds=3)))) == [
        ("impossible", "LoRA, ten items")
    ]


def test_of_an_impossible_mean_the_deviation_is_not_asked_about_too() -> None:
    assert list(check(table([TEN], {"LoRA": "51.00+-9.00"}, seeds=3))) == []
