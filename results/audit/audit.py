"""All checks of a printed table."""

from dataclasses import dataclass

from results.audit.checks import (
    averages,
    cells,
    digits,
    duplicates,
    gaps,
    marks,
    p_values,
    parameters,
    sds,
)
from results.audit.checks.cells import Resolution
from results.audit.counts import Counts, counts
from results.audit.finding import GRADES, Finding
from results.audit.fits import printed
from results.audit.table import PrintedTable


@dataclass(frozen=True)
class Audit:
    """What is asked about a table, gravest first, and how finely its columns can vary."""

    table: PrintedTable
    findings: tuple[Finding, ...]
    resolutions: tuple[Resolution, ...]
    printed: str
    """How the digits were cut, as `fits.printed` says it."""


CHECKS = (cells, averages, digits, sds, p_values, marks, duplicates, gaps)


def audit(table: PrintedTable, known: Counts | None = None) -> Audit:
    """Make all checks of a table; `known` are counts of parameters beside the committed ones."""
    found = [finding for one in CHECKS for finding in one.check(table)]
    found += parameters.check(table, {**counts(), **(known or {})})
    ordered = sorted(found, key=lambda finding: GRADES.index(finding.grade))
    return Audit(table, tuple(ordered), tuple(cells.resolutions(table)), printed(table))
