"""Which version of its method a run is of: the first digits of the hash of the method's source."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace

from results.analysis.runs.recipes import is_trained, without_recipe
from results.analysis.runs.unfinished import setting_of
from results.analysis.series import Comparable, Series
from results.record import Run

DIGITS = 8

Method = tuple[str, bool]
"""A method by name, and whether it selects layers, whose code is then a part of its source."""


def version(run: Run) -> str:
    """Give the version of a run's method; empty for a run that does not know it."""
    return str(run.spec.get("method", {}).get("source", ""))[:DIGITS]


def with_version(label: str, run: Run, several: Collection[Method]) -> str:
    """Add the version to the label of a run's method where there are several.

    A label is written as `lora@9f3c1a2b[r=64]`.
    """
    if _method(run) not in several:
        return label
    name, bracket, fields = label.partition("[")
    return f"{name}@{version(run)}{bracket}{fields}"


def several(runs: Iterable[Run]) -> set[Method]:
    """List the methods of which some runs are of several versions."""
    versions = defaultdict(set)
    for run in runs:
        versions[_method(run)].add(version(run))
    return {method for method, found in versions.items() if len(found - {""}) > 1}


def versioned(found: Sequence[Comparable], stored: Sequence[Run] = ()) -> list[Comparable]:
    """Name the version in the rows of methods of which several versions are shown.

    Those of the runs `stored` that would be in a row, were they not of another version of its
    method, are left out of it.
    """
    families = [family for comparable in found for family in comparable.backbones.values()]
    shown = several(row.newest for family in families for row in family)
    places = defaultdict(list)
    for run in stored:
        if run.status == "finished" and is_trained(run):
            places[_place(run)].append(run)

    def told(row: Series) -> Series:
        besides = [run for run in places[_place(row.newest)] if run.series != row.newest.series]
        others = {run.run_id: run for run in [*row.left_out, *besides]}
        label = with_version(row.label, row.newest, shown)
        return replace(row, label=label, left_out=tuple(others.values()))

    return [
        replace(
            one, backbones={name: tuple(map(told, rows)) for name, rows in one.backbones.items()}
        )
        for one in found
    ]


def _place(run: Run) -> Hashable:
    """Tell which row of which table a run is in."""
    label = without_recipe(run.method)
    return *setting_of(run), run.extraction, run.backbone_identity, label, run.recipe


def _method(run: Run) -> Method:
    method = run.spec.get("method", {})
    return method.get("name", run.method), bool(method.get("fields", {}).get("dls"))
