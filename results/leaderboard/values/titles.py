"""What papers call the groups, benchmarks and methods of a page, by their names."""

import re
from collections.abc import Iterable

from results.analysis.runs.variants import full
from results.leaderboard.source import Opened
from results.leaderboard.values.tables import Found
from results.record import Run

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def titles(opened: Opened, made: Found) -> dict[str, str]:
    """Give the titles of what some tables show as a page writes them, as far as they are known."""
    return {name: raised(title) for name, title in typed(opened, made).items()}


def typed(opened: Opened, made: Found) -> dict[str, str]:
    """Give the same as files of methods and benchmarks write them, which LaTeX sets."""
    rows = [row for table in made.tables for block in table.blocks for row in block.rows]
    columns = (name for table in made.tables for name in table.columns)
    return _named(opened, made.runs.values(), columns, (row.label for row in rows))


def of_runs(opened: Opened, runs: Iterable[Run]) -> dict[str, str]:
    """Give the titles of what some runs are of, as a page writes them."""
    known = list(runs)
    benchmarks = (name for run in known for name in run.benchmarks)
    named = _named(opened, known, benchmarks, (run.method for run in known))
    return {name: raised(title) for name, title in named.items()}


def raised(title: str) -> str:
    """Raise the exponents of a title.

    >>> raised("(IA)^3")
    '(IA)³'
    """
    return re.sub(r"\^(\d+)", lambda found: found[1].translate(RAISED), title)


def _named(
    opened: Opened, runs: Iterable[Run], benchmarks: Iterable[str], labels: Iterable[str]
) -> dict[str, str]:
    """Give the titles of all groups, and of some benchmarks and methods.

    Runs know the titles of what the user gave by path; of two of one name, the newest.
    """
    found: dict[str, str] = {}
    for run in runs:
        found |= opened.source.public.value(run.provenance.get("titles", {}))
    known = opened.source.title
    named = (
        *((name, known("groups", name)) for name in opened.groups),
        *((name, known("tasks", name)) for name in dict.fromkeys(benchmarks)),
        *((name, known("methods", name)) for name in dict.fromkeys(map(full, labels))),
    )
    return found | {name: title for name, title in named if title}
