"""Reads printed tables: LaTeX, Markdown, CSV or copied text."""

from results.audit.reading import latex, markdown, plain
from results.audit.reading.grid import Grid
from results.audit.reading.printed import Declared, printed
from results.audit.table import PrintedTable

__all__ = ["Declared", "read"]


def read(source: str, declared: Declared) -> list[PrintedTable]:
    r"""Read the tables of scores of a source; which form it has, it shows itself.

    >>> source = "method | GSM8K\n--- | ---\nLoRA | **33.21**"
    >>> [table] = read(source, Declared(known={"gsm8k": 1319}))
    >>> table.columns[0].n, table.rows[0].cells[0].value, table.rows[0].cells[0].bold
    (1319, Decimal('33.21'), True)
    """
    return printed(grids(source), declared)


def grids(source: str) -> list[Grid]:
    """Read the tables of a source as they stand."""
    if r"\begin{tab" in source or (r"\\" in source and "&" in source):
        return list(latex.grids(source))
    if any(map(markdown.RULE.fullmatch, source.splitlines())):
        return list(markdown.grids(source))
    mark = plain.separated(source)
    return list(plain.of_csv(source, mark) if mark else plain.of_text(source))
