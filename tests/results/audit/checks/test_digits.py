"""Rounding told from truncation by cells that only one of them explains."""

from results.audit.checks.digits import check
from results.audit.fits import printed
from results.audit.table import Column
from tests.results.audit.tables import table

MAWPS = Column("MAWPS", "benchmark", n=238)
# 211 of 238 are 88.6555 %, 212 are 89.0756 %, 210 are 88.2353 %.
ROUNDED, TRUNCATED, EITHER = "88.66", "89.07", "88.24"


def test_a_table_of_rounded_cells_is_rounded() -> None:
    rounded = table([MAWPS], {"LoRA": ROUNDED, "DoRA": EITHER})
    assert printed(rounded) == "rounded"
    assert list(check(rounded)) == []


def test_a_table_of_truncated_cells_is_notable() -> None:
    truncated = table([MAWPS], {"LoRA": TRUNCATED, "DoRA": "88.23"})
    assert printed(truncated) == "truncated"
    assert [one.grade for one in check(truncated)] == ["notable"]


def test_a_table_of_both_is_inconsistent_and_both_cells_are_named() -> None:
    (found,) = check(table([MAWPS], {"LoRA": ROUNDED, "DoRA": TRUNCATED}))
    assert found.grade == "inconsistent"
    assert "88.66 at LoRA, MAWPS" in found.arithmetic
    assert "89.07 at DoRA, MAWPS" in found.arithmetic


def test_cells_that_both_explain_tell_nothing() -> None:
    # 148 of 238 are 62.1849 %, of which both print 62.18.
    assert printed(table([MAWPS], {"LoRA": "62.18"})) == "rounded or truncated"


def test_a_column_of_another_size_tells_nothing() -> None:
    lines = {"LoRA": ROUNDED, "DoRA": TRUNCATED, "OFT": "88.40"}
    assert list(check(table([MAWPS], lines, sizes_declared=False))) == []
