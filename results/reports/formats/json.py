"""The tables as they are: every number unrounded, per seed, with every test."""

from collections.abc import Sequence

from results.analysis.table import Table
from results.reports.layout import Layout
from results.reports.to_json import to_json


def render(tables: Sequence[Table], layout: Layout) -> str:
    """Write tables as a JSON list."""
    return to_json(tables)
