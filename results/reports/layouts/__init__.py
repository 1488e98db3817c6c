"""What a table shows and how it is arranged; a file here is a layout, and its name is its name."""

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from results.analysis.table import Table
from results.errors import ResultsError, unknown
from results.reports.printing import Printing
from results.reports.sheet import Sheet


def names() -> list[str]:
    """List the layouts, importing none."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def sheets(tables: Sequence[Table], name: str, printing: Printing) -> list[Sheet]:
    """Arrange tables by the layout called `name`.

    Raises:
        ResultsError: There is no such layout, or nothing that it could show.
    """
    if name not in names():
        raise ResultsError(unknown("layout", name, names()))
    found: list[Sheet] = import_module(f"{__name__}.{name}").sheets(tables, printing)
    return found
