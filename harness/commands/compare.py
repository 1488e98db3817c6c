"""`harness compare`: two methods, from the store."""

from dataclasses import replace

from harness.commands.report import Report
from harness.commands.segments import segments
from harness.commands.stored import runs, without_path
from harness.commands.testing import in_store
from harness.errors import UserError
from results.analysis import pairwise as analysis
from results.analysis.matches import Across
from results.analysis.runs.eras import pooled
from results.analysis.runs.selection import split_names
from results.analysis.testing.evidence import Texts
from results.analysis.testing.tests import Testing
from results.reports import pairwise as report
from tasks.metrics import parts


def compare(
    store_place: str,
    tasks: str | None,
    methods: tuple[str, str],
    *,
    own_recipes: bool,
    testing: Testing,
    across: Across,
) -> Report:
    """Compare two methods: differences, their intervals and tests, items gained and lost."""
    first, second = map(without_path, methods)
    found = runs(store_place, tasks)
    comparisons = analysis.compare(
        pooled(found) if across.environments else found,
        first,
        second,
        own_recipes=own_recipes,
        testing=replace(in_store(testing, store_place), texts=Texts(segments, parts.SCORES)),
        across=across,
    )
    return Report(report.markdown(comparisons), comparisons)


def across(backbones: str, protocols: str, *, pool_eras: bool = False) -> Across:
    """Read the two backbones and the two protocols that a comparison is of.

    Raises:
        UserError: They are not two.
    """
    return Across(_two("backbones", backbones), _two("protocols", protocols), pool_eras)


def _two(option: str, typed: str) -> tuple[str, str] | None:
    match split_names(typed):
        case []:
            return None
        case [first, second] if first != second:
            return first, second
    raise UserError(
        f"--{option} {typed!r} does not name two {option}. Please give one for each side, "
        f"with a comma between them; the same twice is no comparison of {option}."
    )
