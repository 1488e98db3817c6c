"""Markdown, CSV and copied text: the same table in each form reads the same."""

from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from results.audit.audit import audit
from results.audit.reading import Declared, read
from results.audit.table import PrintedTable

MARKDOWN = """
# A page

## tab:main

Accuracy in percent, mean ± SD over 3 seeds; \\*: p < 0.05.

| Backbone | Method | trainable % | GSM8K       | SVAMP | Avg.        |
| :------- | :----- | ----------: | ----------: | ----: | ----------: |
| Qwen3 8B | LoRA   |        1.12 | _33.21_     | 54.10 | 43.65       |
|          | DyPAM  |        0.92 | **36.20** * |     - | **36.2**    |
"""
CSV = """Backbone,Method,trainable %,GSM8K,SVAMP,Avg.
Qwen3 8B,LoRA,1.12,_33.21_,54.10,43.65
,DyPAM,0.92,**36.20** *,-,**36.2**
"""
TEXT = """Method       Param(%)  GSM8K  SVAMP  Avg.
----------------------------------------
Qwen3 8B
LoRA 1.12 _33.21_
54.10 43.65
DyPAM (ours) 0.92 **36.20** - **36.2**
"""


@pytest.fixture(scope="module", params=[MARKDOWN, CSV, CSV.replace(",", "\t"), TEXT])
def table(request: pytest.FixtureRequest, known: dict[str, int]) -> PrintedTable:
    [found] = read(request.param, Declared(known=known))
    return found


def test_columns_are_those_of_the_head(table: PrintedTable) -> None:
    kinds = [(one.kind, one.n) for one in table.columns]
    assert kinds == [
        ("parameters", None),
        ("benchmark", 1319),
        ("benchmark", 1000),
        ("average", None),
    ]


def test_rows_are_the_numbers_with_their_marks(table: PrintedTable) -> None:
    lora, dypam = table.rows
    assert (lora.group, lora.method, dypam.group) == ("Qwen3 8B", "LoRA", "Qwen3 8B")
    values = [[cell and str(cell.value) for cell in row.cells] for row in table.rows]
    assert values == [["1.12", "33.21", "54.10", "43.65"], ["0.92", "36.20", None, "36.2"]]
    second, best = lora.cells[1], dypam.cells[1]
    assert second
    assert best
    assert (second.underlined, second.bold, best.bold) == (True, False, True)


def test_heading_and_paragraph_of_a_page_are_label_and_caption(known: dict[str, int]) -> None:
    [table] = read(MARKDOWN, Declared(known=known, name="A"))
    assert (table.title, table.seeds, table.star) == ("A, tab:main", 3, Decimal("0.05"))
    assert [cell.star for _, cell in table.cells(1)] == [False, True]


def test_a_table_that_lists_sizes_declares_them(known: dict[str, int]) -> None:
    source = "| Dataset | Samples |\n| --- | --- |\n| GSM8K | 1,000 |\n\n"
    [table] = read(source + "| m | GSM8K |\n| - | - |\n| a | 5.0 |", Declared(known))
    assert (table.columns[0].n, table.sizes_declared) == (1000, True)


def test_what_a_user_declares_comes_before_all(known: dict[str, int]) -> None:
    [table] = read(CSV, Declared(known, sizes={"gsm8k": 500, "svamp": 300}, seeds=7))
    assert [one.n for one in table.columns] == [None, 500, 300, None]
    assert (table.seeds, table.sizes_declared) == (7, True)


def test_shares_of_one_perplexities_spreads_and_p_values_are_told_apart(
    known: dict[str, int],
) -> None:
    source = "method,GSM8K,SD,p,PPL↓,Qwen3 0.6B,#Params\nlora,0.332,0.011,0.04,3.19,0.5012,12\n"
    [table] = read(source, Declared(known))
    found = [(one.kind, one.metric, one.whole, one.of) for one in table.columns]
    assert found == [
        ("benchmark", "share", 1, None),
        ("sd", "share", 1, 0),
        ("p", "share", 1, 0),
        ("benchmark", "other", 100, None),
        ("average", "share", 1, None),
        ("other", "share", 100, None),
    ]
    assert not table.columns[3].higher_is_better


def test_text_without_a_table_has_none(known: dict[str, int]) -> None:
    assert read("No numbers here.\nNone at all.", Declared(known)) == []
    assert read("", Declared(known)) == []


PIECES = st.sampled_from(
    [*"|,;\t\n -*_%±.", "1", "23.4", "GSM8K", "SD", "Param(%)", "LoRA", "\n|", "|\n", "|-|-|\n"]
)


@example(",\n\n|,")  # a line of which nothing is left
@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_stops_the_readers(source: str) -> None:
    for table in read(source, Declared(known={"gsm8k": 13})):
        assert all(len(row.cells) == len(table.columns) for row in table.rows)
        assert audit(table).table == table


def test_tables_of_the_oddest_shape_are_audited() -> None:
    rows = "| a | 1.0 | 23.4 | 5 | 0.1 |\n| b | - | 23 | 5 ± 1 | -3 |\n"
    for heads in permutations(("GSM8K", "SD", "p", "micro", "Param(%)"), 4):
        source = f"| m | {' | '.join(heads)} |\n|-|-|-|-|-|\n{rows}"
        for table in read(source, Declared(known={"gsm8k": 13}, seeds=3)):
            assert audit(table).table == table
