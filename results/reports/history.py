"""The history of all attempts as Markdown."""

from collections.abc import Collection, Mapping, Sequence

from results.analysis.history import Entry
from results.reports import costs as costs_report
from results.reports import prose
from results.reports.markdown_table import markdown_table
from results.reports.sheets.printing import Printing

NUMBERS = {"seed", "fold", *costs_report.HEADER}
ALWAYS = ("started", "run", "method", "seed", "overall")
"""What has a column even if it is the same for all attempts."""

DIGITS = 8
"""How much of a run's id is shown; `harness show` asks for more where it is not enough."""


def markdown(entries: Sequence[Entry], *, wide: bool = False, costs: bool = False) -> str:
    """Write the history as a table; a failed attempt shows the first line of its reason.

    Unless it is to be `wide`, ids are short, and what all attempts have in common stands below.
    """
    shared = () if wide else _shared_marks(entries)
    tagged = any(entry.tags for entry in entries)
    lines = [_line(entry, shared, tagged) | (_costs(entry) if costs else {}) for entry in entries]
    if wide or not lines:
        return _table(lines, list(lines[0] if lines else ALWAYS), None)
    short = [line | {"run": line["run"][:DIGITS]} for line in lines]
    common = {
        name: text
        for name, text in lines[0].items()
        if name not in ALWAYS and all(line[name] == text for line in lines)
    }
    columns = [name for name in lines[0] if name not in common]
    told = [f"{name} {text}" for name, text in common.items() if text not in ("", "-")]
    below = f"All of them: {', '.join(told)}." if told else ""
    care = f"Read with care: {'; '.join(shared)}." if shared else ""
    return "\n\n".join(filter(None, [_table(short, columns, Printing.characters), below, care]))


def _shared_marks(entries: Sequence[Entry]) -> tuple[str, ...]:
    marks = entries[0].marks if entries else ()
    return tuple(mark for mark in marks if all(mark in entry.marks for entry in entries))


def _table(
    lines: Sequence[Mapping[str, str]], columns: Sequence[str], characters: int | None
) -> str:
    align = "".join("r" if name in NUMBERS else "l" for name in columns)
    rows = ([line[name] for name in columns] for line in lines)
    return markdown_table(columns, rows, align, characters)


def _line(entry: Entry, shared: Collection[str], tagged: bool) -> dict[str, str]:
    written = [note.text for note in entry.written]
    marks = [mark for mark in entry.marks if mark not in shared]
    return {
        "started": f"{entry.started:%Y-%m-%d %H:%M}",
        "run": entry.run_id,
        "status": entry.status,
        "method": entry.label,
        "backbone": entry.backbone,
        "group": entry.group,
        "protocol": prose.how(entry.protocol, entry.conditions),
        "seed": str(entry.seed),
        "fold": "-" if entry.fold is None else str(entry.fold),
        "overall": prose.overall(entry.overall),
        **({"tags": " ".join(entry.tags)} if tagged else {}),
        "notes": "; ".join([*marks, *entry.notes, *written, *entry.reason.splitlines()[:1]]),
    }


def _costs(entry: Entry) -> dict[str, str]:
    return dict(zip(costs_report.HEADER, costs_report.cells(entry.costs), strict=True))
