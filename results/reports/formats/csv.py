"""One line per number, for a spreadsheet or a data frame; unrounded, shares in [0, 1]."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from results.analysis.published import rows
from results.analysis.ranking import Cell
from results.analysis.series import unique
from results.analysis.table import Block, Table, TableRow
from results.audit.papers import Paper
from results.reports import prose
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Sheet, behind_sheets
from results.reports.spreadsheet import comma_separated
from results.statistics.test import Test, Undefined


def render(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write the tables of sheets as one CSV text, its first line naming the columns."""
    tables = behind_sheets(sheets)
    return comma_separated([*records(tables), *_published(tables, printing.published)])


def records(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """List the numbers of tables with what each is a number of."""
    return [line for table in tables for line in _lines(table)]


def _published(tables: Sequence[Table], paper: Paper | None) -> Iterator[dict[str, Any]]:
    """List the numbers that a paper prints in these columns; the rest of their lines is empty."""
    for table in tables:
        for row in chain(*rows(table, paper)):
            for column, figure in zip(table.columns, row.figures, strict=True):
                if figure:
                    yield {
                        "published": figure.table,
                        "group": table.conditions.group,
                        "metric": table.metric.name,
                        "backbone": row.backbone,
                        "method": row.method,
                        "trainable_percent": figure.trainable and figure.trainable[0],
                        "column": column,
                        "mean": figure.value,
                    }


def _lines(table: Table) -> Iterator[dict[str, Any]]:
    for block in table.blocks:
        for row in block.rows:
            for cell in row.cells:
                yield _facts(table) | _who(block, row) | _what(cell) | _among(block)


def _facts(table: Table) -> dict[str, Any]:
    conditions = table.conditions
    return {
        "published": "",
        "group": conditions.group,
        "protocol": conditions.protocol,
        "conditions": prose.changed(conditions.changed),
        "marks": "; ".join(conditions.marks),
        "setting": conditions.setting,
        "environment_id": conditions.environment_id,
        "metric": table.metric.name,
        "folds": " ".join(map(str, table.folds)),
        "harness": "; ".join(table.harness),
    }


def _who(block: Block, row: TableRow) -> dict[str, Any]:
    return {
        "backbone": block.backbone,
        "method": row.label,
        "recipe": row.recipe,
        "tries": row.choice.tries if row.choice else None,
        "trainable_percent": row.trainable_percent,
        **asdict(row.costs),
        "notes": "; ".join(row.notes),
        "flags": "; ".join(unique(row.flags.values())),
    }


def _among(block: Block) -> dict[str, Any]:
    return {"ranked_among": len(block.rows) + len(block.hidden)}


def _what(cell: Cell) -> dict[str, Any]:
    return {
        "column": cell.column,
        "mean": cell.sample.mean,
        "sd": cell.sample.sd,
        "seeds": " ".join(map(str, cell.sample.by_seed)),
        "runs": " ".join(cell.runs),
        "complete": cell.complete,
        "missing": "; ".join(f"seed {seed}: {why}" for seed, why in cell.missing.items()),
        "rank": cell.rank,
        "low": cell.interval.low if cell.interval else None,
        "high": cell.interval.high if cell.interval else None,
        "first_rank": cell.ranks.first if cell.ranks else None,
        "last_rank": cell.ranks.last if cell.ranks else None,
        "rival": cell.rival,
        "test": cell.test.name if isinstance(cell.test, Test) else "",
        "p": cell.test.p if isinstance(cell.test, Test) else None,
        "p_adjusted": cell.test.adjusted if isinstance(cell.test, Test) else None,
        "no_test": cell.test.reason if isinstance(cell.test, Undefined) else "",
    }
