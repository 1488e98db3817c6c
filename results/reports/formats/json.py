"""The tables behind the sheets as they are: every number unrounded, per seed, with every test."""

from collections.abc import Sequence
from itertools import chain

from results.analysis.published import beside, rows
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Sheet, behind_sheets
from results.reports.to_json import to_json


def render(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write the tables of sheets as a JSON list; with what a paper prints, as an object."""
    tables, paper = behind_sheets(sheets), printing.published
    if paper is None:
        return to_json(tables)
    printed = [row for table in tables for row in chain(*rows(table, paper))]
    return to_json(
        {"tables": tables, "published": beside(tables, paper), "published_rows": printed}
    )
