"""The history of all attempts as Markdown."""

from collections.abc import Sequence

from results.analysis.history import Entry
from results.reports import costs as costs_report
from results.reports import prose
from results.reports.markdown_table import markdown_table

HEADER = (
    *("started", "run", "status", "method", "backbone", "group"),
    *("protocol", "seed", "fold", "overall", "notes"),
)


def markdown(entries: Sequence[Entry], costs: bool = False) -> str:
    """Write the history as a table; a failed attempt shows the first line of its reason."""
    header = (*HEADER, *costs_report.HEADER) if costs else HEADER
    align = "lllllllrrll" + "r" * (len(header) - len(HEADER))
    return markdown_table(header, [_line(entry, costs) for entry in entries], align)


def _line(entry: Entry, costs: bool) -> list[str]:
    return [
        f"{entry.started:%Y-%m-%d %H:%M}",
        entry.run_id,
        entry.status,
        entry.method,
        entry.backbone,
        entry.group,
        ", ".join(filter(None, [entry.protocol, prose.changed(entry.conditions)])),
        str(entry.seed),
        "-" if entry.fold is None else str(entry.fold),
        prose.overall(entry.overall),
        "; ".join([*entry.marks, *entry.notes, *entry.reason.splitlines()[:1]]),
        *(costs_report.cells(entry.costs) if costs else ()),
    ]
