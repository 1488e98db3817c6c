"""Averages against those of the printed cells, worked out in the tests."""

from dataclasses import replace

from results.audit.checks.averages import check
from results.audit.table import Column
from tests.results.audit.tables import said, table

SMALL = Column("AQuA", "benchmark", n=100)
LARGE = Column("SVAMP", "benchmark", n=300)
MICRO, MACRO = Column("micro", "micro"), Column("macro", "macro")
PARTS = [SMALL, LARGE]
# Of 20 % of 100 items and 60 % of 300, 50 % are right; the mean of both is 40 %.
CELLS = "20.00 60.00"


def test_averages_within_the_rounding_of_the_cells_pass() -> None:
    for averages in ("50.00 40.00", "50.01 39.99"):
        assert list(check(table([*PARTS, MICRO, MACRO], {"LoRA": f"{CELLS} {averages}"}))) == []


def test_averages_outside_are_inconsistent_and_the_interval_is_told() -> None:
    found = list(check(table([*PARTS, MICRO, MACRO], {"LoRA": f"{CELLS} 50.02 39.98"})))
    assert said(found) == [("inconsistent", "LoRA, micro"), ("inconsistent", "LoRA, macro")]
    assert "micro over 400 items is 49.995 to 50.005" in found[0].arithmetic
    assert "macro over 2 benchmarks is 39.995 to 40.005" in found[1].arithmetic


def test_means_over_seeds_may_have_lost_their_digits_twice() -> None:
    for seeds, grades in ((5, []), (None, []), (1, [("inconsistent", "LoRA, micro")])):
        lines = {"LoRA": f"{CELLS} 50.02"}
        assert said(list(check(table([*PARTS, MICRO], lines, seeds=seeds)))) == grades


def test_a_column_that_prints_the_other_average_is_asked_about_once() -> None:
    lines = {"LoRA": f"{CELLS} 40.00", "DoRA": "30.00 50.00 40.00"}
    (found,) = check(table([*PARTS, MICRO], lines))
    assert (found.grade, found.where) == ("inconsistent", "micro")
    assert found.question == "Is this column the macro average?"


def test_an_average_without_a_kind_may_be_either() -> None:
    column = Column("Avg.", "average")
    for value in ("50.00", "40.00"):
        assert list(check(table([*PARTS, column], {"LoRA": f"{CELLS} {value}"}))) == []
    assert said(list(check(table([*PARTS, column], {"LoRA": f"{CELLS} 45.00"})))) == [
        ("inconsistent", "LoRA, Avg.")
    ]


def test_sizes_that_nobody_declared_make_it_notable_for_micro_alone() -> None:
    lines = {"LoRA": f"{CELLS} 50.10 40.10"}
    found = check(table([*PARTS, MICRO, MACRO], lines, sizes_declared=False))
    assert [one.grade for one in found] == ["notable", "inconsistent"]


def test_sizes_that_nobody_declared_may_be_all_the_same() -> None:
    # Of a run with --limit, micro is macro.
    lines = {"LoRA": f"{CELLS} 40.00", "DoRA": "30.00 50.00 40.00"}
    (found,) = check(table([*PARTS, MICRO], lines, sizes_declared=False))
    assert (found.grade, found.question) == ("notable", "Is this column the macro average?")


def test_what_is_not_printed_or_of_unknown_size_is_not_averaged() -> None:
    assert list(check(table([*PARTS, MICRO], {"LoRA": "20.00 - 90.00"}))) == []
    unknown = [SMALL, replace(LARGE, n=None), MICRO]
    assert list(check(table(unknown, {"LoRA": f"{CELLS} 90.00"}))) == []


def test_an_average_is_of_the_benchmarks_below_the_same_head() -> None:
    columns = [replace(one, above=head) for head in ("3B", "8B") for one in [*PARTS, MACRO]]
    lines = {"LoRA": "20.00 60.00 40.00 30.00 90.00 60.00"}
    assert list(check(table(columns, lines))) == []
