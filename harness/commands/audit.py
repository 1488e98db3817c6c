"""`harness audit`: whether the numbers of printed tables can be what they are said to be."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import plugins
from harness.commands.report import Report
from harness.errors import UserError
from results import names
from results.audit import papers
from results.audit.audit import Audit, audit
from results.audit.counts import Counts, counts, from_json
from results.audit.papers import Paper
from results.audit.reading import Declared, read
from results.audit.table import PrintedTable
from results.reports import audit as report

FORMS = "LaTeX, CSV, Markdown, or text copied from a page"


@dataclass(frozen=True)
class Said:
    """What the user says of the tables of a file."""

    seeds: int | None = None
    """Training runs behind each number."""
    items: Mapping[str, int] = field(default_factory=dict)
    """Rows of test sets, by the name of the column."""
    count: bool = False
    """Whether to count parameters that the committed table does not have."""


def file(place: str | None, said: Said) -> Report:
    """Audit the tables of a file, or of what is piped in with "-".

    Raises:
        UserError: None is named, it cannot be read, or it has no table of scores.
    """
    if place is None:
        raise UserError("Name a file, or take the shipped tables: harness audit --published.")
    sizes = {names.benchmark(name): rows for name, rows in said.items.items()}
    declared = Declared(test_sets(), sizes=sizes, seeds=said.seeds)
    found = read(_source(place), declared)
    if not found:
        raise UserError(
            f"{place}: no table of scores was found.\n"
            f"  Read are {FORMS}, with a head that names benchmarks, averages or metrics. A column "
            "of another\n  benchmark is one with --items NAME=ROWS."
        )
    return _report(_audits(found, said))


def paper(name: str) -> Paper | None:
    """Read what the paper called `name` prints; nothing without a name.

    Raises:
        ResultsError: There is no such paper.
    """
    return papers.paper(name, test_sets()) if name else None


def published(name: str | None, said: Said) -> Report:
    """Audit the tables of one paper, or of all whose tables are shipped.

    Raises:
        UserError: There is no such paper.
    """
    known = test_sets()
    found = [papers.paper(one, known) for one in ([name] if name else papers.names())]
    tables = [table for paper in found for table in paper.tables]
    return _report(_audits(tables, said), [paper for paper in found if not paper.tables])


def test_sets() -> dict[str, int]:
    """Give the rows of the published test sets, by the letters of the names of benchmarks."""
    files = {name: plugins.benchmark(name).file for name in plugins.usable("tasks")}
    return {names.benchmark(name): file.rows for name, file in files.items() if file.rows}


def sizes(text: str) -> dict[str, int]:
    """Read rows of test sets as the user writes them.

    Raises:
        UserError: Something is no NAME=ROWS.

    >>> sizes("gsm8k=500,ARC-C=100")
    {'gsm8k': 500, 'ARC-C': 100}
    """
    found = {}
    for part in filter(None, text.split(",")):
        name, _, rows = part.partition("=")
        if not rows.strip().isdigit() or int(rows) == 0:
            raise UserError(f"{part!r} says no number of rows. Write it as gsm8k=1319,svamp=1000.")
        found[name.strip()] = int(rows)
    return found


def _source(place: str) -> str:
    if place == "-":
        return sys.stdin.read()
    path = Path(place)
    if not path.is_file():
        raise UserError(f"{place}: there is no such file. With - it is read from a pipe.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{place} is no text in UTF-8. Read are {FORMS}.") from error


def _audits(tables: Sequence[PrintedTable], said: Said) -> list[Audit]:
    more = _counted(tables) if said.count else {}
    return [audit(table, more) for table in tables]


def _report(audits: Sequence[Audit], without: Sequence[Paper] = ()) -> Report:
    """Report all audits; they are unsound if anything is more than notable."""
    grades = {finding.grade for one in audits for finding in one.findings}
    value = [*report.values(audits), *({"paper": paper.title, "table": None} for paper in without)]
    return Report(report.markdown(audits, without), value, sound=grades <= {"notable"})


def _counted(tables: Iterable[PrintedTable]) -> Counts:
    """Count what the tables print percentages of and the committed table does not have."""
    from harness.planning.footprint.parameters import counting, shapes  # noqa: PLC0415 (start-up)
    from harness.planning.footprint.table import counted  # noqa: PLC0415

    with counting():
        return from_json(
            {
                printed: counted(printed, config, ["base", *methods])
                for printed, methods in _uncounted(tables).items()
                for config in [*shapes(printed).values()][-1:]  # of several, the language model
            }
        )


def _uncounted(tables: Iterable[PrintedTable]) -> dict[str, list[str]]:
    """Give the methods to count, by backbone as the tables write it."""
    known = {names.method(name): name for name in plugins.names("methods")}
    found: dict[str, dict[str, None]] = {}
    for backbone, printed in _with_parameters(tables):
        place = names.method(printed), names.backbone(backbone)
        method = known.get(place[0])
        if method and place not in counts():
            found.setdefault(backbone, {})[method] = None
    return {backbone: list(methods) for backbone, methods in found.items()}


def _with_parameters(tables: Iterable[PrintedTable]) -> Iterator[tuple[str, str]]:
    """Give backbone and method of each row that prints parameters."""
    for table in tables:
        if any(column.kind == "parameters" for column in table.columns):
            yield from ((row.group, row.method) for row in table.rows if row.group)
