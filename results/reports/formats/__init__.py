"""Renderings of comparison tables; a file here is a format, and its name is its name."""

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from results.analysis.table import Table
from results.errors import ResultsError, unknown


def names() -> list[str]:
    """List the formats, importing none."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@dataclass(frozen=True)
class Extra:
    """What a reader of Markdown asks for besides; JSON and CSV always hold it."""

    costs: bool = False
    runs: bool = False
    """The ids of the runs behind the cells."""


def render(tables: Sequence[Table], name: str, extra: Extra = Extra()) -> str:
    """Write tables in the format called `name`."""
    if name not in names():
        raise ResultsError(unknown("format", name, names()))
    text: str = import_module(f"{__name__}.{name}").render(tables, extra)
    return text
