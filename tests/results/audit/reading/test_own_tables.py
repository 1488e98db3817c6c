"""The tables that this project sets are read back: the numbers, the best, the columns."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from results.analysis.table import tables
from results.audit.reading import Declared, read
from results.record import Run
from results.reports.formats import render
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_a_table_of_ours_reads_as_what_was_printed(
    form: str, make: Make, known: dict[str, int]
) -> None:
    right = {"lora": (50, 60, 55), "dypam": (70, 71, 72)}
    runs = [
        make(method, seed=seed, correct={"gsm8k": count, "svamp": count + 1})
        for method, counts in right.items()
        for seed, count in enumerate(counts)
    ]
    [table] = read(render(tables(runs), form, Printing(characters=None)), Declared(known))
    assert table.seeds == 3
    kinds = [one.kind for one in table.columns]
    assert kinds == ["parameters", "benchmark", "benchmark", "micro", "macro"]
    rows = {row.method: row.cells[1] for row in table.rows}
    lora, dypam = rows["lora"], rows["dypam"]
    assert lora
    assert dypam
    assert (lora.value, lora.sd, lora.bold) == (Decimal("55.00"), Decimal("5.00"), False)
    assert (dypam.value, dypam.sd, dypam.bold) == (Decimal("71.00"), Decimal("1.00"), True)
