"""From the lines of a table to a printed table, which the checks are given."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from results.audit.reading.columns import Heads, column, common, heads, spans
from results.audit.reading.grid import NOTHING, Entry, Grid
from results.audit.table import Cell, Column, PrintedTable, Row
from results.names import benchmark

SAMPLES = re.compile(r"#?\s*(?:samples|examples|items|test|test size|size|n|rows)", re.IGNORECASE)
NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SEEDS = re.compile(rf"(?<![\w,.])([1-9]\d*|{'|'.join(NUMERALS)})\s+(?:\w+\s+)?(?:seeds|runs)\b")
BACKBONE = re.compile(r"\b[A-Z][A-Za-z]*[- ]?\d(?:\.\d)?[- ]\d+(?:\.\d+)?B\b")
LEVEL = re.compile(r"p\s*<\s*(0?\.\d+)")
SPREAD = re.compile(r"\bSDs?\b|[Ss]tandard deviations?|\bstd\b")
SCORES = ("benchmark", "micro", "macro", "average")


@dataclass(frozen=True)
class Declared:
    """What a user, or the facts of a paper, say of its tables.

    Attributes:
        known: Items of the usual test sets, by the letters of the names of benchmarks.
        sizes: Items as they are declared, in place of the usual ones.
        seeds: Training runs behind each cell.
        paper: Whose configurations of the methods the rows are of.
        name: What titles begin with.
    """

    known: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    seeds: int | None = None
    paper: str = ""
    name: str = ""


def printed(found: Sequence[Grid], declared: Declared) -> list[PrintedTable]:
    """Read the tables of scores of a source; the sizes of test sets are those that it states."""
    stated = {name: size for grid in found for name, size in sizes(grid)}
    declared = replace(declared, sizes={**stated, **declared.sizes})
    tables = (_table(grid, place, declared) for place, grid in enumerate(found, start=1))
    return [table for table in tables if any(one.kind in SCORES for one in table.columns)]


def sizes(grid: Grid) -> Iterator[tuple[str, int]]:
    """Read the sizes of test sets from a table that lists them, by the letters of their names."""
    first = common(grid.lines)
    for place in range(1, len(grid.lines[0]) if grid.lines else 0):
        if SAMPLES.fullmatch(heads(grid.lines[:first], place)[0]):
            for line in grid.lines[first:]:
                cell = line[place].cell if place < len(line) else None
                if cell and cell.value >= 1:
                    yield benchmark(line[0].words), int(cell.value)
            return


def _table(grid: Grid, place: int, declared: Declared) -> PrintedTable:
    first = common(grid.lines)
    body = [_whole_line(line, grid) for line in grid.lines[first:]]
    numbers = [one for one in range(_width(grid)) if _is_numbers(body, one)]
    words = [one for one in range(min(numbers, default=0)) if one not in numbers]
    columns = _columns(grid, body, numbers, declared)
    tested = [benchmark(one.title) for one in columns if one.kind == "benchmark"]
    level = LEVEL.search(grid.caption.replace("$", ""))
    return PrintedTable(
        title=", ".join(filter(None, [declared.name, grid.label or f"table {place}"])),
        columns=tuple(columns),
        rows=tuple(_rows(body, words, numbers, _backbone(grid.caption))),
        paper=declared.paper,
        seeds=declared.seeds or _seeds(grid.caption),
        sizes_declared=bool(tested) and set(tested) <= declared.sizes.keys(),
        sd_declared=bool(SPREAD.search(grid.caption)),
        star=Decimal(level[1]) if level else None,
    )


def _width(grid: Grid) -> int:
    return max(map(len, grid.lines), default=0)


def _whole_line(line: Sequence[Entry], grid: Grid) -> tuple[Entry, ...]:
    return (*line, *[NOTHING] * (_width(grid) - len(line)))


def _is_numbers(body: Sequence[Sequence[Entry]], place: int) -> bool:
    """Whether most of what stands in a column are numbers; the first one has names."""
    filled = [line[place] for line in body if not line[place].empty and not spans(line)]
    return place > 0 and sum(bool(one.cell) for one in filled) * 2 > len(filled)


def _columns(
    grid: Grid, body: Sequence[Sequence[Entry]], numbers: Sequence[int], declared: Declared
) -> list[Column]:
    top = [_whole_line(line, grid) for line in grid.lines[: common(grid.lines)]]
    known = {**declared.known, **declared.sizes}
    found: list[Column] = []
    before = None
    for place in numbers:
        cells = [line[place].cell for line in body]
        titled = Heads(*heads(top, place), [cell for cell in cells if cell])
        found.append(column(titled, grid.caption, known, before))
        if found[-1].of is None:
            before = len(found) - 1
    return found


def _rows(
    body: Sequence[Sequence[Entry]], words: Sequence[int], numbers: Sequence[int], group: str
) -> Iterator[Row]:
    for line in body:
        if spans(line) and not any(line[place].cell for place in numbers):
            group = next(one.words for one in line if one.words)
            continue
        if len(words) > 1:
            group = line[words[0]].words or group
        cells: list[Cell | None] = [line[place].cell for place in numbers]
        if any(cells):
            yield Row(group, line[words[-1]].words if words else "", tuple(cells))


def _backbone(caption: str) -> str:
    """Read the one backbone that a caption names; empty if it names none or several."""
    named = set(BACKBONE.findall(caption))
    return named.pop() if len(named) == 1 else ""


def _seeds(caption: str) -> int | None:
    found = SEEDS.search(caption.lower())
    if not found:
        return None
    return int(found[1]) if found[1].isdigit() else NUMERALS.index(found[1]) + 1
