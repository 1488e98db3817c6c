"""What may be asked about printed tables, as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill
from typing import Any

from results.audit.audit import Audit
from results.audit.checks.cells import SILENT, Resolution
from results.audit.finding import GRADES, Finding, Grade
from results.audit.papers import Paper
from results.audit.table import PrintedTable
from results.reports.markdown_table import markdown_table

WIDTH = 100
"""Characters of a line."""
GRADED = (
    "impossible: no data give this number. inconsistent: two printed things do not go together. "
    "notable: worth knowing, and often the way of the field. Each is a question, not a verdict."
)
POSSIBLE = (
    "Of the numbers that could be printed in a column, so many are possible: as the share of one "
    "run, as the mean of the runs, or also as the mean of what was rounded before. A column of "
    f"which more than {SILENT:.0%} are possible is left out: it says nothing about its cells."
)


def markdown(audits: Sequence[Audit], without: Sequence[Paper] = ()) -> str:
    """Write all findings, gravest first in each table; `without` are papers that print no table."""
    parts = [_summary(audits), *(part for one in audits if _says(one) for part in _table(one))]
    if any(one.resolutions for one in audits):
        parts.append(_wrapped(POSSIBLE))
    silent = [one.table.title for one in audits if not _says(one)]
    if silent:
        parts.append(_wrapped(f"Nothing to ask about: {'; '.join(silent)}."))
    parts += [_wrapped(f"{paper.title}: no table. {paper.remark}") for paper in without]
    return "\n\n".join(parts)


def values(audits: Iterable[Audit]) -> list[dict[str, Any]]:
    """Give the findings as plain values."""
    return [
        {
            "table": one.table.title,
            "seeds": one.table.seeds,
            "findings": one.findings,
            "possible_values": one.resolutions,
        }
        for one in audits
    ]


def _says(audit: Audit) -> bool:
    return bool(audit.findings or audit.resolutions)


def _summary(audits: Sequence[Audit]) -> str:
    grades = [finding.grade for one in audits for finding in one.findings]
    counted = ", ".join(f"{grades.count(grade)} {grade}" for grade in GRADES)
    cells = sum(cell is not None for one in audits for row in one.table.rows for cell in row.cells)
    tables = f"{len(audits)} table{'s' * (len(audits) != 1)}"
    return _wrapped(f"{tables} of {cells:,} printed numbers: {counted}. {GRADED}")


def _table(audit: Audit) -> Iterator[str]:
    yield f"## {audit.table.title}"
    yield _wrapped(_read(audit.table))
    if audit.findings:
        yield from _findings(audit.findings)
    if audit.resolutions:
        yield _possible(audit.resolutions, audit.table.seeds)


def _read(table: PrintedTable) -> str:
    """Say what was read, and what was taken for granted."""
    seeds = {None: "number of runs not said", 1: "one run"}.get(table.seeds, f"{table.seeds} runs")
    known = any(column.n for column in table.columns)
    stated = "as the source or the user says" if table.sizes_declared else "as they are usually"
    sizes = f"; sizes of test sets {stated}" if known else ""
    return f"{len(table.rows)} rows, {len(table.columns)} columns of numbers; {seeds}{sizes}."


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    """Write each question once, with the places that it is about."""
    asked: dict[tuple[Grade, str], list[Finding]] = {}
    for one in findings:
        asked.setdefault((one.grade, one.question), []).append(one)
    for (grade, question), about in asked.items():
        yield _wrapped(f"**{grade}:** {question}")
        yield "\n".join(_wrapped(f"- {one.where}: {one.arithmetic}", "  ") for one in about)


def _possible(resolutions: Sequence[Resolution], seeds: int | None) -> str:
    head = ["column", "items", "runs", "decimals", "of one run", "of the mean", "all possible"]
    rows = [
        [
            *(one.column, f"{one.n:,}", str(seeds or "?"), str(one.decimals)),
            *(f"{share:.1%}" for share in (one.one, one.counts, one.any)),
        ]
        for one in resolutions
    ]
    return markdown_table(head, rows, "lrrrrrr")


def _wrapped(text: str, indent: str = "") -> str:
    return fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
