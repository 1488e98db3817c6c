"""`harness history`: every run ever stored."""

from dataclasses import dataclass
from typing import Any, Literal

from harness.commands.asked import Asked, Fields, query, require_known
from harness.commands.report import Report, table
from harness.commands.stored import marked, without_path
from harness.errors import UserError
from results.analysis import history as analysis
from results.analysis.runs.selection import require, select, split_names
from results.record import Kind, Run
from results.reports import history as report
from results.reports.spreadsheet import comma_separated
from results.store import Reader
from results.store.query import Query


@dataclass(frozen=True)
class Shown:
    """What of the runs is shown, and how."""

    limit: int = 50
    columns: str = ""
    """Fields with commas between them; the usual ones without."""
    group_by: str = ""
    """Fields with commas between them; each run for itself without."""
    form: Literal["table", "csv"] = "table"
    wide: bool = False
    costs: bool = False


EVERYTHING = Asked()
USUAL = Shown()

NONE = "There is none."


def history(store_place: str, asked: Asked = EVERYTHING, shown: Shown = USUAL) -> Report:
    """List stored attempts, the newest first unless they are sorted.

    Raises:
        UserError: A condition, field or value cannot be read, or no run has it.
        ResultsError: A name is of no stored run.
    """
    store = Reader(store_place)
    kinds = store.kinds() if asked.tasks or asked.method or asked.backbone else []
    wanted = query(store, asked, kinds)
    if shown.group_by and shown.columns:
        raise UserError(
            "--columns and --group-by do not go together: groups have columns of theirs."
        )
    if shown.group_by:
        return _groups(store, asked, wanted, shown)
    runs, count = store.select(wanted, most=shown.limit)
    if not count:
        require_known(store, asked)
        _require_method(store, asked, wanted, kinds)
    tasks = list(map(without_path, split_names(asked.tasks)))
    found = select(marked(runs), kinds, tasks) if tasks else marked(runs)
    return _report(store, found, shown, _more(len(runs), count, "attempts"))


def _require_method(store: Reader, asked: Asked, wanted: Query, kinds: list[Kind]) -> None:
    """Refuse a method of which there is no run, whatever else is asked for."""
    if asked.method:
        of_method = query(store, Asked(method=asked.method), kinds)
        if not store.select(of_method, most=1)[1]:
            require([], [without_path(asked.method)], kinds)


def _report(store: Reader, runs: list[Run], shown: Shown, notes: list[str]) -> Report:
    if shown.columns:
        fields = _fields(store, shown.columns)
        rows = [{one.name: analysis.value(run, one) for one in fields} for run in runs]
        return Report(_written(rows, shown), rows, notes=notes)
    entries = analysis.history(runs)
    if shown.form == "csv":
        return Report(comma_separated(list(map(analysis.row, entries))), entries, notes=notes)
    text = report.markdown(entries, wide=shown.wide, costs=shown.costs)
    return Report(text if entries else NONE, entries, notes=notes)


def _groups(store: Reader, asked: Asked, wanted: Query, shown: Shown) -> Report:
    by = _fields(store, shown.group_by)
    groups, count = store.groups(wanted, by, shown.limit)
    if not count:
        require_known(store, asked)
    best = (
        f"{'highest' if wanted.descending else 'lowest'} {wanted.sort.name}" if wanted.sort else ""
    )
    rows = [
        {
            **{field.name: value for field, value in zip(by, group.values, strict=True)},
            "attempts": group.attempts,
            "finished": group.finished,
            "diverged": group.diverged,
            "failed": group.failed,
            "hours": round(group.hours, 2),
            "newest": f"{group.newest:%Y-%m-%d %H:%M}",
            **({best: analysis.printed(wanted.sort, group.best)} if wanted.sort else {}),
        }
        for group in groups
    ]
    return Report(_written(rows, shown), rows, notes=_more(len(rows), count, "groups"))


def _fields(store: Reader, typed: str) -> list[Any]:
    fields = Fields(store)
    return [fields.named(name) for name in split_names(typed)]


def _written(rows: list[dict[str, Any]], shown: Shown) -> str:
    if shown.form == "csv":
        return comma_separated(rows)
    return table(rows, wide=shown.wide) if rows else NONE


def _more(some: int, count: int, what: str) -> list[str]:
    if some == count:
        return []
    return [f"{some:,} of {count:,} {what} are shown, {count - some:,} more with --limit {count}."]
