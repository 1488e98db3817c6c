"""From the cells of the analysis to those of a sheet."""

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.reports import prose
from results.reports.sheets.sheet import Mark, Printed

MARKS: dict[int | None, Mark] = {1: "best", 2: "second"}


def printed(metric: Metric, cell: Cell, marked: bool, spread: bool) -> Printed:
    """Write a cell; its rank shows only if `marked`."""
    if cell.sample.mean is None:
        return Printed(prose.missing(cell))
    mean, _, sd = prose.mean(metric, cell.sample, spread).partition(" ± ")
    mark = MARKS.get(cell.rank, "") if marked else ""
    return Printed(mean, sd, mark, cell.significantly_best)
