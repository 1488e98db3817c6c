"""`harness table`, `compare` and `history`: what the store holds about many runs."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from inspect import getsource
from itertools import chain
from math import inf
from typing import Any, TypedDict, Unpack

from harness.commands.report import Report
from harness.commands.segments import segments
from harness.errors import UserError, unknown
from harness.plugins.titles import titles
from results.analysis import extractors as extractor_analysis
from results.analysis import history as history_analysis
from results.analysis import pairwise as pairwise_analysis
from results.analysis import planning
from results.analysis.matches import Across
from results.analysis.runs.selection import narrowed, require, select, split_names
from results.analysis.table import Table, tables
from results.analysis.testing.evidence import Texts
from results.analysis.testing.tests import DEFAULT, Testing
from results.record import Run
from results.reports import extractors as extractor_report
from results.reports import formats, layouts
from results.reports import history as history_report
from results.reports import pairwise as pairwise_report
from results.reports import planning as planning_report
from results.reports.sheets.printing import Printing
from results.reports.to_json import to_json
from results.statistics.multiplicity import Correction
from results.store import Reader
from results.store.kept import kept
from tasks.contract import EXTRACTOR_VERSIONS
from tasks.metrics import parts

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
        printing = replace(printing, titles=titles(found, _runs(store_place, tasks)))
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
    store_place: str, tasks: str | None, layout: str, **choices: Unpack[Choices]
) -> list[Table]:
    choose = choices.get("choose")
    if choose not in (None, *CRITERIA):
        raise UserError(unknown("choice", choose, CRITERIA))
    testing = _in_store(choices.get("testing", DEFAULT), store_place)
    made = (
        tables(
            part.runs,
            clean=choices.get("clean", False),
            own_recipes=choices.get("own_recipes", False),
            choose=choose is not None,
            testing=replace(testing, against=testing.against or part.declared),
        )
        for part in layouts.parts(layout, _runs(store_place, tasks))
    )
    return list(chain(*made))


def _in_store(testing: Testing, store_place: str) -> Testing:
    """Let tests over items find the verdicts of a store, and be looked up if made before."""
    return replace(testing, verdicts=Reader(store_place).verdicts, keep=_keep)


def _keep(key: Any, compute: Callable[[], Any]) -> Any:
    # Tests over texts depend on how sums of their parts are scored, too.
    return kept([getsource(parts), key], compute)


def _of_extractors(
    store_place: str, tasks: str | None, name: str, printing: Printing, choices: Choices
) -> str:
    """Show how the scores of all finished runs depend on the extractor."""
    asked = any(choice for choice in choices.values() if choice != DEFAULT)
    besides = asked or printing.costs or printing.runs or printing.published
    if besides or name not in ("markdown", "json"):
        raise UserError(
            "--extractors supports markdown and json, and cannot be combined with --clean, "
            "--own-recipes, --choose, --costs, --runs, --published or the choice of a test."
        )
    effects = extractor_analysis.extractor_effects(_runs(store_place, tasks))
    if not effects:
        raise UserError(f"No finished run in {store_place} has answers that are extracted.")
    return to_json(effects) if name == "json" else extractor_report.markdown(effects)


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
    comparisons = pairwise_analysis.compare(
        _runs(store_place, tasks),
        first,
        second,
        own_recipes=own_recipes,
        testing=replace(_in_store(testing, store_place), texts=Texts(segments, parts.SCORES)),
        across=across,
    )
    return Report(pairwise_report.markdown(comparisons), comparisons)


def asked(
    test: str = "",
    correction: Correction = "holm",
    against: str = "",
    one_sided: bool = False,
    margin: float | None = None,
) -> Testing:
    """Put together which tests a user asked for.

    Raises:
        UserError: The margin is not above 0.
    """
    if margin is not None:
        _require_points("margin", margin)
    return Testing(
        test=test,
        correction=correction,
        against=without_path(against),
        alternative="greater" if one_sided else "two-sided",
        margin=margin,
    )


def across(backbones: str, protocols: str) -> Across:
    """Read the two backbones and the two protocols that a comparison is of.

    Raises:
        UserError: They are not two.
    """
    return Across(_two("backbones", backbones), _two("protocols", protocols))


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


def plan(store_place: str, tasks: str | None, delta: float, methods: str) -> Report:
    """Say how many seeds or items a difference needs, from the spread of what is stored.

    Raises:
        UserError: The difference is not above 0, or no trained method has finished runs.
    """
    _require_points("delta", delta)
    names = list(map(without_path, split_names(methods)))
    runs = _runs(store_place, tasks)
    plans = planning.plan(runs, names, delta, _in_store(DEFAULT, store_place))
    if not plans:
        raise UserError(f"No trained method has finished runs in {store_place}.")
    return Report(planning_report.markdown(plans), plans)


def _require_points(option: str, points: float) -> None:
    if not 0 < points < inf:
        raise UserError(f"--{option} {points:g}: please give a difference above 0, in points.")


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
