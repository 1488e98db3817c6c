"""What papers call the groups, benchmarks and methods of a page, by their names."""

from results.analysis.runs.variants import full
from results.leaderboard.source import Opened
from results.leaderboard.values.tables import Found


def titles(opened: Opened, made: Found) -> dict[str, str]:
    """Give the titles of what some tables show, and of all groups, as far as they are known.

    Runs know the titles of what the user gave by path; of two of one name, the newest.
    """
    found: dict[str, str] = {}
    for run in made.runs.values():
        found |= opened.source.public.value(run.provenance.get("titles", {}))
    known = opened.source.title
    rows = [row for table in made.tables for block in table.blocks for row in block.rows]
    named = (
        *((name, known("groups", name)) for name in opened.groups),
        *((name, known("tasks", name)) for table in made.tables for name in table.columns),
        *((name, known("methods", name)) for name in {full(row.label): None for row in rows}),
    )
    return found | {name: title for name, title in named if title}
