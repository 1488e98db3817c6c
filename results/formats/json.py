"""The tables as they are: every number unrounded, per seed, with every test."""

from collections.abc import Sequence

from results.json_text import json_text
from results.table import Table


def render(tables: Sequence[Table]) -> str:
    """Write tables as a JSON list."""
    return json_text(tables)
