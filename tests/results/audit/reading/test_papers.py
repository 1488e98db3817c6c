"""The shipped pages of the papers: what their sources print, cell by cell."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from results import names
from results.audit import papers
from results.audit.reading import Declared, read
from results.audit.table import Cell, PrintedTable, Row

PRINTED = {"dypam": "DyPAM ", "rosa": "RoSA ", "cascade": "CASCADE ", "hycam": "HyCAM "}
"""What `\\framework` prints, which the sources use and do not define."""
OWN = {"camera_ready_tab7"}
"""Of figures that no source at hand prints."""


@pytest.fixture(scope="module")
def sizes() -> dict[str, int]:
    listed = "BoolQ PIQA SIQA ARC-C ARC-E OBQA HellaSwag WinoGrande MultiArith GSM8K AddSub AQuA"
    return {names.benchmark(one): 1 for one in [*listed.split(), "SingleEq", "SVAMP", "MAWPS"]}


def seen(cell: Cell | None) -> Any:
    return cell and (str(cell.value), cell.bold, cell.underlined, cell.star)


@pytest.mark.parametrize("name", PRINTED)
def test_a_page_has_every_cell_and_mark_of_the_source(
    name: str, material: Path, sizes: dict[str, int]
) -> None:
    source = (material / "papers" / f"{name}.txt").read_text(encoding="utf-8")
    macro = rf"\newcommand{{\framework}}{{{PRINTED[name]}}}"
    printed = {one.title: one for one in read(macro + source, Declared(sizes))}
    page = {one.title: one for one in read(papers.page(name), Declared(sizes))}
    assert printed.keys() == page.keys()
    for title, table in printed.items():
        assert table.columns == page[title].columns
        rows = [(row.group, row.method, *map(seen, row.cells)) for row in table.rows]
        shipped = [(row.group, row.method, *map(seen, row.cells)) for row in page[title].rows]
        assert [row[1:] for row in rows] == [row[1:] for row in shipped]
        assert all(was[0] in (now[0], "") for was, now in zip(rows, shipped, strict=True))


def test_of_smoa_no_table_is_at_hand(material: Path, sizes: dict[str, int]) -> None:
    source = (material / "papers" / "smoa.txt").read_text(encoding="utf-8")
    assert read(source, Declared(sizes)) == []
    assert papers.paper("smoa", sizes).tables == ()


def numbers(table: PrintedTable, row: Row, entry: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Give the numbers of a row that an entry of the list is about, by the list's names."""
    for column, cell in zip(table.columns, row.cells, strict=True):
        if not cell:
            continue
        backbones = {names.backbone(one) for one in (row.group, column.above, column.title) if one}
        task = entry.get("task")
        if task and task != column.above:
            continue
        if (
            not task
            and names.backbone(entry["backbone"]) not in backbones
            and any((row.group, column.above))
        ):
            continue
        yield names.benchmark(column.title), float(cell.value)


def wanted(entry: dict[str, Any]) -> dict[str, float]:
    """Write an entry of the list by the titles that the tables use."""
    own = {"params_pct": "param", "micro": "microavg", "macro": "macroavg"}
    found = {short: entry[name] for name, short in own.items() if entry[name] is not None}
    texts = {"bleu4": "bleu", "rougel": "rouge"}
    scores = {names.benchmark(name): value for name, value in entry["scores"].items()}
    return found | {texts.get(name, name): value for name, value in scores.items()}


def test_the_list_of_published_figures_says_the_same(material: Path, sizes: dict[str, int]) -> None:
    listed = json.loads((material / "data" / "published" / "results.json").read_text())
    tables = {
        (name, table.title.partition(", ")[2]): table
        for name in papers.names()
        for table in papers.paper(name, sizes).tables
    }
    assert len(listed) == 267
    compared = 0
    for entry in listed:
        if entry["table"] in OWN:
            continue
        table = tables[entry["paper"].lower(), entry["table"]]
        for name, value in wanted(entry).items():
            found = [
                number
                for row in table.rows
                if names.method(row.method) == names.method(entry["method"])
                for column, number in numbers(table, row, entry)
                if column == name
                or (not entry["scores"] and column == names.bare(entry["backbone"]))
                or (not entry["scores"] and name.startswith("m") and column.startswith("m"))
            ]
            assert found == [value], (entry, name)
            compared += 1
    assert compared > 1500


def test_a_paper_is_found_in_capitals_and_an_unknown_one_is_told(sizes: dict[str, int]) -> None:
    assert papers.paper("DyPAM", sizes).name == "dypam"
    with pytest.raises(papers.ResultsError, match=re.escape("Did you mean 'rosa'?")):
        papers.paper("roza", sizes)


def test_seeds_and_sizes_are_those_that_a_paper_states(sizes: dict[str, int]) -> None:
    main, *_ = papers.paper("dypam", sizes).tables
    assert main.seeds == 5
    assert main.sizes_declared
    assert [one.n for one in main.columns if one.kind == "benchmark"] == [
        *(600, 1319, 395, 254, 508, 1000, 238),
    ]
    assert papers.paper("cascade", sizes).tables[0].seeds is None
