"""What a paper prints, beside what runs gave here; never ranked, never in a test.

A printed number is taken for the number of one more run. It does not reproduce where such a run
would fall elsewhere in 95 of 100 cases. It reproduces where it could be one, and where the runs are
close enough together to tell a gap as large as what the test set itself leaves open, which is the
95 % interval of the printed number over items. Otherwise it cannot be told.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, fmean
from typing import Literal

from results import names
from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.table import Block, Table, TableRow
from results.audit.figures import Figure, Place, figures
from results.audit.papers import Paper
from results.statistics.prediction import prediction
from results.statistics.test import ALPHA, Undefined

Verdict = Literal["reproduces", "does not reproduce", "cannot be told"]


@dataclass(frozen=True)
class Beside:
    """A printed number and the user's own of the same method, backbone and benchmark."""

    figure: Figure
    backbone: str
    label: str
    """Of the user's row."""
    column: str
    metric: Metric
    mean: float
    """Of the user's seeds, in the unit of scores."""
    seeds: int
    gap: float
    """The user's mean minus the printed number; of logarithms, if the metric is tested so."""
    interval: tuple[float, float] | None
    """Of the gap at 95 %, for one more run; it covers the digits that are not printed."""
    verdict: Verdict
    reason: str
    """Why it cannot be told; empty otherwise."""


@dataclass(frozen=True)
class PrintedRow:
    """What a paper prints of one method, in the columns of a table on one backbone."""

    method: str
    """As the paper writes it, without what stands in brackets."""
    backbone: str
    """As the table writes it."""
    figures: tuple[Figure | None, ...]
    """One for each column."""
    below: int | None
    """The last of the user's rows of the method, from 0; None if there is none."""


def rows(table: Table, paper: Paper | None) -> list[list[PrintedRow]]:
    """Give for each block of a table what the paper prints of its backbone, in its order.

    Of a block with hidden rows, only the methods of the others.
    """
    if paper is None:
        return [[] for _ in table.blocks]
    printed = _placed(paper)
    return [list(_rows(table, block, printed, paper)) for block in table.blocks]


def _rows(
    table: Table, block: Block, printed: Mapping[Place, Figure], paper: Paper
) -> Iterator[PrintedRow]:
    own = {_method(row, paper): place for place, row in enumerate(block.rows)}
    for method in dict.fromkeys(names.method(one.method) for one in printed.values()):
        found = _figures(table, block, method, printed)
        if block.hidden and method not in own:
            continue
        if first := next(filter(None, found), None):
            title = names.without_brackets(first.method)
            yield PrintedRow(title, block.backbone, found, own.get(method))


def beside(tables: Sequence[Table], paper: Paper) -> list[Beside]:
    """Set the numbers of a paper beside the user's."""
    printed = _placed(paper)
    return [
        _beside(figure, table, block, row, cell, paper)
        for table in tables
        for block in table.blocks
        for row in block.rows
        for cell, figure in zip(
            row.cells, _figures(table, block, _method(row, paper), printed), strict=True
        )
        if figure and cell.sample.mean is not None
    ]


@cache
def _placed(paper: Paper) -> Mapping[Place, Figure]:
    """Find numbers by their places, in their order; the first of one place counts."""
    found: dict[Place, Figure] = {}
    for figure in figures(paper):
        found.setdefault(figure.place, figure)
    return found


def _figures(
    table: Table, block: Block, method: str, printed: Mapping[Place, Figure]
) -> tuple[Figure | None, ...]:
    """Give the number of a method in each column, if there is one; an average over the same."""
    over = tuple(sorted(map(names.benchmark, table.benchmarks)))
    of_row = names.backbone(block.backbone), method, table.metric.name
    columns = map(names.benchmark, table.columns)
    return tuple(
        printed.get((*of_row, column, ())) or printed.get((*of_row, column, over))
        for column in columns
    )


def _method(row: TableRow, paper: Paper) -> str:
    """Give the letters of the row's method; nothing of a variant that is not the paper's own."""
    found = re.match(r"([\w.]+)(?::([\w.-]+))?", row.label)
    own = found and found[2] in (None, f"{paper.name}-paper")
    return names.method(found[1]) if found and own else ""


def _beside(
    figure: Figure, table: Table, block: Block, row: TableRow, cell: Cell, paper: Paper
) -> Beside:
    metric, values = table.metric, list(cell.sample.by_seed.values())
    tested = [metric.tested(value) for value in values]
    gap, half = fmean(tested) - metric.tested(figure.value), prediction(tested)
    rounding = abs(metric.tested(figure.value + figure.half_digit) - metric.tested(figure.value))
    reach = None if isinstance(half, Undefined) else half + rounding
    why = _other(figure, table, row, paper) or (half.reason if isinstance(half, Undefined) else "")
    told: tuple[Verdict, str] = ("cannot be told", why)
    verdict, reason = told if why else _verdict(figure, gap, reach or 0.0)
    return Beside(
        figure=figure,
        backbone=block.backbone,
        label=row.label,
        column=cell.column,
        metric=metric,
        mean=fmean(values),
        seeds=len(values),
        gap=gap,
        interval=(gap - reach, gap + reach) if reach else None,
        verdict=verdict,
        reason=reason,
    )


def _other(figure: Figure, table: Table, row: TableRow, paper: Paper) -> str:
    """Say what differs from the paper besides the seeds; empty if nothing is known to."""
    conditions = table.conditions
    if conditions.marks:
        return f"other data here: {'; '.join(conditions.marks)}"
    if conditions.protocol.partition("/")[0] != paper.protocol:
        return f"protocol {conditions.protocol} here, {paper.protocol} there"
    if conditions.changed or "train." in row.label:
        return "recipe or batches are not the default"
    if not figure.trainable or row.trainable_percent is None:
        return ""
    printed, unit = figure.trainable
    if abs(row.trainable_percent - printed) > 1.5 * unit:  # a unit, and its rounding
        return f"{row.trainable_percent:.3g} % trainable here, {printed:g} % there"
    return ""


def _verdict(figure: Figure, gap: float, reach: float) -> tuple[Verdict, str]:
    if abs(gap) > reach:
        return "does not reproduce", ""
    if figure.error is None:
        return "cannot be told", "no error over items is known of this metric"
    if reach > figure.error * NormalDist().inv_cdf(1 - ALPHA / 2):
        return "cannot be told", "the seeds lie too far apart"
    return "reproduces", ""
