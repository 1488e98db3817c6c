"""`harness table`: the comparison tables of the runs in the store."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TypedDict, Unpack

from harness.commands.stored import runs
from harness.commands.testing import in_store
from harness.errors import UserError, unknown
from harness.plugins.titles import titles
from harness.printed import say
from results.analysis import extractors as extractor_analysis
from results.analysis.runs.eras import pooled
from results.analysis.table import Table, tables
from results.analysis.testing.tests import DEFAULT, Testing
from results.record import Run
from results.reports import extractors as extractor_report
from results.reports import formats, layouts
from results.reports.sheets.printing import Printing
from results.reports.to_json import to_json
from results.store import database

CRITERIA = ("validation",)
"""By which one of a method's recipes can be chosen."""


class Choices(TypedDict, total=False):
    """What tables compare."""

    backbones: Sequence[str]
    """Only runs on these; all without."""
    clean: bool
    """Also average over the test rows that are not in the training set."""
    own_recipes: bool
    """Compare methods that were trained by recipes of their own."""
    pool_eras: bool
    """Let runs of different environments share a table."""
    choose: str | None
    """One of `CRITERIA`: of each method only the recipe that is best by it."""
    testing: Testing
    """By which tests; the defaults without."""


def table(
    store_place: str,
    tasks: str | None,
    name: str,
    printing: Printing,
    *,
    layout: str = "main",
    extractors: bool = False,
    **choices: Unpack[Choices],
) -> str:
    """Render the tables of all runs in the format `name`.

    Args:
        store_place: The store.
        tasks: Groups and benchmarks; all without.
        name: The format.
        printing: What of the tables is printed.
        layout: How tables are arranged.
        extractors: Show instead how the scores depend on the extractor.
        choices: What the tables compare.

    Raises:
        UserError: There is nothing to show, or the choices do not go together.
    """
    if extractors:
        return _of_extractors(store_place, tasks, name, printing, choices)
    if name == "json":
        found = compared(_tables(store_place, tasks, layout, **choices))
    else:
        found = of_finished(store_place, tasks, layout, **choices)
    if name in formats.FOR_PAPERS:
        printing = replace(printing, titles=titles(found, _runs(store_place, tasks, choices)))
    return formats.render(found, name, printing, layout)


def of_finished(
    store_place: str, tasks: str | None, layout: str = "main", **choices: Unpack[Choices]
) -> list[Table]:
    """Make the tables of all runs.

    Raises:
        UserError: There is none, or none that may be compared.
    """
    found = _tables(store_place, tasks, layout, **choices)
    if not found:
        which = f"run of {tasks!r}" if tasks else "run"
        name = database.name(store_place)
        raise UserError(f"No finished {which} in {name}. `harness history` lists all runs.")
    if all(table.refusal for table in found):
        raise UserError("\n".join(dict.fromkeys(table.refusal for table in found)))
    return compared(found)


def compared(found: Sequence[Table]) -> list[Table]:
    """Leave out the tables that were refused, and say why."""
    for refusal in dict.fromkeys(table.refusal for table in found if table.refusal):
        say(f"left out: {refusal}", err=True)
    return [table for table in found if not table.refusal]


def _tables(
    store_place: str, tasks: str | None, layout: str, **choices: Unpack[Choices]
) -> list[Table]:
    choose = choices.get("choose")
    if choose not in (None, *CRITERIA):
        raise UserError(unknown("choice", choose, CRITERIA))
    testing = in_store(choices.get("testing", DEFAULT), store_place)
    made = (
        tables(
            part.runs,
            clean=choices.get("clean", False),
            own_recipes=choices.get("own_recipes", False),
            choose=choose is not None,
            testing=replace(testing, against=testing.against or part.declared),
        )
        for part in layouts.parts(layout, _runs(store_place, tasks, choices))
    )
    return list(chain(*made))


def _runs(store_place: str, tasks: str | None, choices: Choices) -> list[Run]:
    found = runs(store_place, tasks, backbones=choices.get("backbones", ()))
    return pooled(found) if choices.get("pool_eras") else found


def _of_extractors(
    store_place: str, tasks: str | None, name: str, printing: Printing, choices: Choices
) -> str:
    """Show how the scores of all finished runs depend on the extractor."""
    asked = any(choice for choice in choices.values() if choice != DEFAULT)
    besides = asked or printing.costs or printing.runs or printing.published
    part = printing.methods or printing.protocol or printing.environment
    if besides or part or name not in ("markdown", "json"):
        raise UserError(
            "--extractors supports markdown and json, and cannot be combined with --clean, "
            "--own-recipes, --pool-eras, --choose, --costs, --runs, --published, --backbones, "
            "--methods, --protocol, --environment or the choice of a test."
        )
    effects = extractor_analysis.extractor_effects(runs(store_place, tasks))
    if not effects:
        store = database.name(store_place)
        raise UserError(f"No finished run in {store} has answers that are extracted.")
    return to_json(effects) if name == "json" else extractor_report.markdown(effects)
