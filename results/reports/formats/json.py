"""The tables behind the sheets as they are: every number unrounded, per seed, with every test."""

from collections.abc import Sequence

from results.reports.printing import Printing
from results.reports.sheet import Sheet, behind_sheets
from results.reports.to_json import to_json


def render(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write the tables of sheets as a JSON list."""
    return to_json(behind_sheets(sheets))
