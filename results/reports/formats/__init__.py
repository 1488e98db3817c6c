"""Renderings of sheets; a file or folder here is a format, and its name is its name."""

import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from results.analysis.table import Table
from results.errors import ResultsError, unknown
from results.reports import layouts
from results.reports.sheets.chosen import chosen
from results.reports.sheets.printing import Printing

FOR_PAPERS = ("html", "latex")
"""The formats that call methods and benchmarks by their titles."""


def names() -> list[str]:
    """List the formats, importing none."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def render(
    tables: Sequence[Table], name: str, printing: Printing | None = None, layout: str = "main"
) -> str:
    """Write tables in the format called `name`, arranged by a layout.

    Raises:
        ResultsError: There is no such format or layout, or the tables have nothing of a name.
    """
    if name not in names():
        raise ResultsError(unknown("format", name, names()))
    printing = printing or Printing()
    printing = replace(printing, titles=(printing.titles or {}) if name in FOR_PAPERS else None)
    shown = layouts.sheets(chosen(tables, printing), layout, printing)
    text: str = import_module(f"{__name__}.{name}").render(shown, printing)
    return text
