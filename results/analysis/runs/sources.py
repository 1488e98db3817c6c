"""Which version of its method a run is of: the first digits of the hash of the method's source."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

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


def versioned(found: Sequence[Comparable]) -> list[Comparable]:
    """Name the version in the rows of methods of which several versions are shown."""
    rows = [
        one for comparable in found for family in comparable.backbones.values() for one in family
    ]
    more = several(row.newest for row in rows)

    def labelled(row: Series) -> Series:
        return replace(row, label=with_version(row.label, row.newest, more))

    return [
        replace(
            one,
            backbones={name: tuple(map(labelled, rows)) for name, rows in one.backbones.items()},
        )
        for one in found
    ]


def _method(run: Run) -> Method:
    method = run.spec.get("method", {})
    return method.get("name", run.method), bool(method.get("fields", {}).get("dls"))
