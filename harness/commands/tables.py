"""`harness table`, `compare` and `history`: what the store holds about many runs."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypedDict, Unpack

from harness.commands.published import with_published
from harness.commands.report import Report
from harness.errors import UserError, unknown
from harness.plugins.titles import titles
from results.analysis import extractors as extractor_analysis
from results.analysis import history as history_analysis
from results.analysis import pairwise as pairwise_analysis
from results.analysis.runs.selection import narrowed, require, select, split_names
from results.analysis.table import Table, tables
from results.record import Run
from results.reports import extractors as extractor_report
from results.reports import formats, layouts
from results.reports import history as history_report
from results.reports import pairwise as pairwise_report
from results.reports.printing import Printing
from results.reports.to_json import to_json
from results.store import Reader
from tasks.contract import EXTRACTOR_VERSIONS

CRITERIA = ("validation",)
"""By which one of a method's recipes can be chosen."""


class Choices(TypedDict, total=False):
    """What tables compare."""

    clean: bool
    """Also average over the test rows that are not in the training set."""
    own_recipes: bool
    """Compare methods that were trained by recipes of their own."""
    choose: str | None
    """One of `CRITERIA`: of each method only the recipe that is best by it."""


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
        printing = replace(printing, titles=titles(found, _runs(store_place, tasks)))
    text = formats.render(found, name, printing, layout)
    return with_published(text, name, found, printing.published) if printing.published else text


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
        raise UserError(f"No finished {which} in {store_place}. `harness history` lists all runs.")
    if all(table.refusal for table in found):
        raise UserError("\n".join(dict.fromkeys(table.refusal for table in found)))
    return compared(found)


def compared(found: Sequence[Table]) -> list[Table]:
    """Leave out the tables that were refused, and say why."""
    for refusal in dict.fromkeys(table.refusal for table in found if table.refusal):
        print(f"left out: {refusal}", file=sys.stderr)
    return [table for table in found if not table.refusal]


def _tables(
    store_place: str,
    tasks: str | None,
    layout: str,
    *,
    clean: bool = False,
    own_recipes: bool = False,
    choose: str | None = None,
) -> list[Table]:
    if choose not in (None, *CRITERIA):
        raise UserError(unknown("choice", choose, CRITERIA))
    parts = layouts.parts(layout, _runs(store_place, tasks))
    made = (tables(part.runs, clean, own_recipes, choose is not None) for part in parts)
    return list(chain(*made))


def _of_extractors(
    store_place: str, tasks: str | None, name: str, printing: Printing, choices: Choices
) -> str:
    """Show how the scores of all finished runs depend on the extractor."""
    besides = any(choices.values()) or printing.costs or printing.runs or printing.published
    if besides or name not in ("markdown", "json"):
        raise UserError(
            "--extractors supports markdown and json, and cannot be combined with --clean, "
            "--own-recipes, --choose, --costs, --runs or --published."
        )
    effects = extractor_analysis.extractor_effects(_runs(store_place, tasks))
    if not effects:
        raise UserError(f"No finished run in {store_place} has answers that are extracted.")
    return to_json(effects) if name == "json" else extractor_report.markdown(effects)


def compare(
    store_place: str, tasks: str | None, first: str, second: str, *, own_recipes: bool
) -> Report:
    """Compare two methods: differences, their intervals, Welch's test."""
    runs, named = _runs(store_place, tasks), (without_path(first), without_path(second))
    comparisons = pairwise_analysis.compare(runs, *named, own_recipes=own_recipes)
    return Report(pairwise_report.markdown(comparisons), comparisons)


def history(
    store_place: str,
    tasks: str | None,
    method: str | None,
    backbone: str | None,
    *,
    wide: bool = False,
    costs: bool = False,
) -> Report:
    """List every run ever stored, newest first."""
    runs = _runs(store_place, tasks, method, backbone)
    entries = history_analysis.history(runs)
    return Report(history_report.markdown(entries, wide=wide, costs=costs), entries)


def marked(runs: Sequence[Run]) -> list[Run]:
    """Mark the runs whose answers were read by an earlier version of their extractor."""
    told = ((run, tuple(_earlier(run))) for run in runs)
    return [replace(run, marks=run.marks + earlier) if earlier else run for run, earlier in told]


def _earlier(run: Run) -> Iterator[str]:
    for read_by in sorted(run.extraction):
        name, _, version = read_by.rpartition("/")
        current = EXTRACTOR_VERSIONS.get(name, 1)
        if int(version) < current:
            yield f"answers read by {read_by}, now {name}/{current}: run `harness rescore`"


def _runs(
    store_place: str, tasks: str | None, method: str | None = None, backbone: str | None = None
) -> list[Run]:
    store, typed = Reader(store_place), _only(method and without_path(method))
    names = list(map(without_path, split_names(tasks or ""))), typed, _only(backbone)
    kinds = store.kinds()
    found = select(marked(store.runs(**narrowed(kinds, *names))), kinds, *names)
    if typed and not found:  # it may still be of runs of other tasks or backbones
        require(store.runs(**narrowed(kinds, methods=typed)), typed, kinds)
    return found


def without_path(name: str) -> str:
    """Name a method or a benchmark that is given by the path of its file, as `run` takes it.

    >>> without_path("my/tanh_lora.py[r=4]"), without_path("zoo.py"), without_path("lora[r=4]")
    ('tanh_lora[r=4]', 'zoo', 'lora[r=4]')
    """
    return re.sub(r"^(?:[^:\[]*/)?([^/:\[]+)\.py(?=[:\[]|$)", r"\1", name)


def _only(name: str | None) -> list[str]:
    return [name] if name else []
