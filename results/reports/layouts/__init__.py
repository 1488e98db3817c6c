"""What a table shows and how it is arranged; a file here is a layout, and its name is its name."""

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from results.analysis.table import Table
from results.errors import ResultsError, unknown
from results.record import Run
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Sheet


@dataclass(frozen=True)
class Part:
    """Runs that tables are made of."""

    runs: Sequence[Run]
    declared: str = ""
    """The method that is tested against the others; empty for all pairs."""


def names() -> list[str]:
    """List the layouts, importing none."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def parts(name: str, runs: Sequence[Run]) -> list[Part]:
    """Divide runs as the layout called `name` compares them: all together, or by method.

    Raises:
        ResultsError: There is no such layout, or nothing that it could show.
    """
    divide: Callable[[Sequence[Run]], list[Part]] | None = getattr(_module(name), "parts", None)
    return divide(runs) if divide else [Part(runs)]


def sheets(tables: Sequence[Table], name: str, printing: Printing) -> list[Sheet]:
    """Arrange tables by the layout called `name`.

    Raises:
        ResultsError: There is no such layout, or nothing that it could show.
    """
    found: list[Sheet] = _module(name).sheets(tables, printing)
    return found


def _module(name: str) -> ModuleType:
    if name not in names():
        raise ResultsError(unknown("layout", name, names()))
    return import_module(f"{__name__}.{name}")
