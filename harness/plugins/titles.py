"""What a paper calls the methods, benchmarks and groups of tables, read without importing them."""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from harness import plugins
from results.analysis.table import Table
from results.record import Run


def titles(tables: Iterable[Table], runs: Iterable[Run] = ()) -> dict[str, str]:
    """Give the titles of all names in some tables, as far as they are known.

    Runs know the titles of what the user gave by path; of two of one name, the newest.
    """
    of_runs = [run.provenance.get("titles", {}) for run in runs]
    return dict(chain(*(one.items() for one in reversed(of_runs)))) | {
        name: found for kind, name in dict.fromkeys(names(tables)) if (found := title(kind, name))
    }


def title(kind: plugins.Kind, name: str) -> str | None:
    """Read the title that a plugin's file gives it."""
    return stated(kind, name, "title")


def stated(kind: plugins.Kind, name: str, what: str) -> str | None:
    """Read what a plugin's file says of itself: `method = Method(title="LoRA", ...)`.

    The module is not imported, since that of a method imports torch. None where there is no such
    line, no such plugin, or no file that can be read: a table needs no titles.
    """
    if name not in plugins.names(kind):
        return None
    try:
        offered = plugins.entry(kind, name).attr
        statements = ast.parse(plugins.source_path(kind, name).read_text()).body
    except Exception:  # whatever the package of a guest raises
        return None
    calls = (
        statement.value
        for statement in statements
        if isinstance(statement, ast.Assign)
        and ast.unparse(statement.targets[0]) == offered
        and isinstance(statement.value, ast.Call)
    )
    given = (word.value for call in calls for word in call.keywords if word.arg == what)
    return next((str(one.value) for one in given if isinstance(one, ast.Constant)), None)


def names(tables: Iterable[Table]) -> Iterator[tuple[plugins.Kind, str]]:
    """Name all that tables show, by its kind, more than once; what is no plugin too."""
    for table in tables:
        yield "groups", table.conditions.group
        yield from (("tasks", column) for column in table.columns)
        for block in table.blocks:
            yield from (("methods", re.split(r"[:\[@]", row.label)[0]) for row in block.rows)
