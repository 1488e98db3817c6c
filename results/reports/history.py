"""The history of all attempts as Markdown."""

from collections.abc import Sequence

from results.analysis.history import Entry
from results.reports import prose
from results.reports.markdown_table import markdown_table

HEADER = (
    *("started", "run", "status", "method", "backbone", "group"),
    *("protocol", "seed", "fold", "overall", "notes"),
)


def markdown(entries: Sequence[Entry]) -> str:
    """Write the history as a table; a failed attempt shows the first line of its reason."""
    return markdown_table(HEADER, map(_line, entries), align="lllllllrrll")


def _line(entry: Entry) -> list[str]:
    return [
        f"{entry.started:%Y-%m-%d %H:%M}",
        entry.run_id,
        entry.status,
        entry.method,
        entry.backbone,
        entry.group,
        entry.protocol,
        str(entry.seed),
        "-" if entry.fold is None else str(entry.fold),
        prose.overall(entry.overall),
        "; ".join([*entry.marks, *entry.notes, *entry.reason.splitlines()[:1]]),
    ]
