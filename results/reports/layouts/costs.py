"""The averages of each method beside what its runs cost."""

from collections.abc import Sequence
from dataclasses import replace

from results.analysis.table import Table
from results.reports.layouts import main
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Sheet
from results.reports.sheets.shown import AVERAGES, only, without_idle_averages


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make a sheet of each table."""
    arranged = main.sheets(
        [_summed_up(table, printing) for table in tables], replace(printing, costs=True)
    )
    pairs = zip(arranged, tables, strict=True)
    return [replace(sheet, tables=(table,), name=f"{sheet.name}-costs") for sheet, table in pairs]


def _summed_up(table: Table, printing: Printing) -> Table:
    """Keep the averages, or of one benchmark its numbers; or what was asked for."""
    shown = without_idle_averages(table, printing)
    averages = [name for name in shown.columns if name in AVERAGES]
    return only(shown, averages) if averages and not printing.columns else shown
