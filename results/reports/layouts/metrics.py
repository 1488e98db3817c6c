"""Perplexity, BLEU and ROUGE-L side by side: per backbone over all sets, and per set."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from results.analysis.table import Table
from results.errors import ResultsError
from results.reports import prose
from results.reports.layouts.main import slug
from results.reports.sheets.behind import behind
from results.reports.sheets.notes import notes
from results.reports.sheets.places import Place, lines
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Column, LineGroup, Sheet
from results.reports.sheets.shown import benchmarks, overall, without_idle_averages
from results.reports.sheets.titles import titled

SHORT = {"perplexity": "PPL", "bleu": "BLEU", "rouge-l": "ROUGE-L"}
"""The metrics in the order of their columns, and what heads these."""


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make two sheets of the tables of the same runs, one of them where there is one set.

    Raises:
        ResultsError: No table has one of the metrics.
    """
    found = [sheet for same in _of_same_runs(tables) for sheet in _both(same, printing)]
    if not found:
        raise ResultsError(
            f"No run has {', '.join(SHORT.values())}: the layout `metrics` is for generated texts, "
            "such as those of the group `multitask`."
        )
    return found


def _of_same_runs(tables: Sequence[Table]) -> list[list[Table]]:
    """Bring together the tables that differ in their metric alone, in the order of `SHORT`."""
    found: dict[tuple[str, ...], list[Table]] = {}
    for name in SHORT:
        for table in tables:
            if table.metric.name == name:
                found.setdefault(_runs(table), []).append(table)
    return list(found.values())


def _runs(table: Table) -> tuple[str, ...]:
    """Tell by which runs of which environment a table was made; two may have runs of one id."""
    ids = (run for block in table.blocks for row in block.rows for run in row.flags)
    return table.conditions.environment_id, *ids


def _both(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    shown = [titled(without_idle_averages(table, printing), printing.titles) for table in tables]
    column, sets = overall(shown[0]), benchmarks(shown[0])
    what = ", ".join(SHORT[table.metric.name] for table in shown)
    backbones = [block.backbone for block in shown[0].blocks]
    whole = Sheet(
        name=f"{slug(tables[0].conditions.group)}-metrics",
        tables=tuple(tables),
        title=prose.title(shown[0], spread=printing.spread, column=column, what=what),
        columns=_columns(shown, [name.rpartition("/")[2] for name in backbones]),
        groups=(LineGroup("", lines(_places(shown, backbones, [column]), printing)),),
        notes=notes(shown, printing.command),
        runs=behind(shown),
    )
    if len(sets) < 2:  # noqa: PLR2004
        return [whole]
    by_set = replace(
        whole,
        name=f"{whole.name}-sets",
        title=prose.title(shown[0], spread=printing.spread, what=what),
        columns=_columns(shown, sets),
        groups=tuple(
            LineGroup(name, lines(_places(shown, [name], sets), printing)) for name in backbones
        ),
    )
    return [whole, by_set]


def _columns(tables: Sequence[Table], over: Sequence[str]) -> tuple[Column, ...]:
    """Head the columns of the metrics, with their directions, below each of some names."""
    heads = [
        f"{SHORT[table.metric.name]} {'↓' if table.metric.lower_is_better else '↑'}"
        for table in tables
    ]
    return tuple(Column(head, name) for name in over for head in heads)


def _places(
    tables: Sequence[Table], backbones: Sequence[str], columns: Sequence[str]
) -> list[Place]:
    """Find all metrics of each backbone and column."""
    return [
        Place(table, block, column)
        for backbone, column in product(backbones, columns)
        for table in tables
        for block in table.blocks
        if block.backbone == backbone
    ]
