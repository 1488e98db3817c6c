"""Renderings of comparison tables; a file here is a format, and its name is its name."""

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from results.analysis.table import Table
from results.errors import ResultsError, unknown
from results.reports.layout import Layout, chosen


def names() -> list[str]:
    """List the formats, importing none."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def render(tables: Sequence[Table], name: str, layout: Layout | None = None) -> str:
    """Write tables in the format called `name`.

    Raises:
        ResultsError: There is no such format, or no such column.
    """
    if name not in names():
        raise ResultsError(unknown("format", name, names()))
    layout = layout or Layout()
    shown = chosen(tables, layout.columns)
    text: str = import_module(f"{__name__}.{name}").render(shown, layout)
    return text
