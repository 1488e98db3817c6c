"""Rows with the same scores."""

import pytest

from results.audit.checks.duplicates import check
from results.audit.table import Column
from tests.results.audit.tables import said, table

FIVE = [Column(name, "benchmark") for name in ("GSM8K", "AQuA", "SVAMP", "MAWPS", "AddSub")]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("33.21 22.44 54.10 76.47 78.48", "33.21 22.44 54.10 76.47 78.48", True),
        ("33.21 22.44 54.10 76.47 78.48", "33.21 22.44 54.10 76.47 79.49", True),
        ("33.21 22.44 54.10 76.47 78.48", "33.21 22.44 54.10 77.31 79.49", False),
        ("0.00 0.00 0.00 0.00 0.00", "0.00 0.00 0.00 0.00 0.00", False),
        ("33.21 22.44 54.10 - -", "33.21 22.44 54.10 76.47 78.48", True),
        ("33.21 22.44 - - -", "33.21 22.44 54.10 76.47 78.48", False),
    ],
)
def test_rows_that_agree_in_all_but_one_of_five_scores_are_notable(
    first: str, second: str, same: bool
) -> None:
    found = list(check(table(FIVE, {"LoRA": first, "DoRA": second})))
    assert said(found) == ([("notable", "LoRA and DoRA")] if same else [])
