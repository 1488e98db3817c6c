"""`harness table --published`: what a paper prints, beside the user's tables."""

import json
from collections.abc import Sequence

from harness.commands.audit import test_sets
from harness.errors import UserError
from results.analysis.published import beside
from results.analysis.table import Table
from results.audit import papers
from results.reports import published as report
from results.reports.to_json import to_json

FORMS = ("markdown", "json")


def with_published(text: str, name: str, found: Sequence[Table], paper: str) -> str:
    """Add what a paper prints of the same to tables that are written in the format `name`.

    Raises:
        UserError: The format has no place for it.
        ResultsError: There is no such paper.
    """
    if name not in FORMS:
        raise UserError(f"--published is written as {' or '.join(FORMS)}, not as {name}.")
    printed = papers.paper(paper, test_sets())
    pairs = beside(found, printed)
    if name == "json":
        return to_json({"tables": json.loads(text), "published": pairs})
    return f"{text}\n\n{report.markdown(printed, pairs)}"
