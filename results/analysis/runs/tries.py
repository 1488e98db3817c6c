"""Choosing one of several recipes of a method by validation loss, never by test scores."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from statistics import fmean

from results.analysis.runs.recipes import Choice, Try, fields_written
from results.analysis.series import Comparable, Series, recipe_fields
from results.errors import ResultsError

Family = Sequence[Series]
"""The rows of one backbone, a row per method and recipe."""


class UnequalTriesError(ResultsError):
    """The methods of a table cannot be compared by a choice among their tries."""


def chosen(comparable: Comparable) -> Comparable:
    """Keep of each method on each backbone the recipe of the lowest validation loss.

    Args:
        comparable: Runs in rows per method and recipe.

    Raises:
        UnequalTriesError: Two methods had different numbers of tries, or losses are not known.
    """
    fields = recipe_fields(comparable.backbones)
    backbones = {
        name: _of_family(family, fields, name) for name, family in comparable.backbones.items()
    }
    tries = [one.choice.tries for family in backbones.values() for one in family if one.choice]
    conditions = replace(comparable.conditions, tries=max(tries, default=0))
    return replace(comparable, conditions=conditions, backbones=backbones)


def _of_family(family: Family, fields: Sequence[str], backbone: str) -> tuple[Series, ...]:
    methods: dict[str, list[Series]] = {}
    for one in family:
        methods.setdefault(one.method, []).append(one)
    numbers = {name: _tries(tries) for name, tries in methods.items() if tries[0].trained}
    if len(set(numbers.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in numbers.items())
        raise UnequalTriesError(
            f"{backbone}: the methods had different numbers of tries ({listed}), so that a choice "
            "by validation loss would favour some.\n  Give each the same number, such as "
            "--methods 'lora[train.lr=1e-4|1e-3],dypam[train.lr=1e-4|1e-3]'."
        )
    return tuple(
        _best(tries, fields, backbone) if tries[0].trained else tries[0]
        for tries in methods.values()
    )


def _tries(tries: Family) -> int:
    """Count the recipes of a method: those that are stored, or that were planned together."""
    planned = [int(one.newest.provenance.get("tries", 1)) for one in tries]
    return max(len(tries), *planned)


def _best(tries: Family, fields: Sequence[str], backbone: str) -> Series:
    finished = [one for one in tries if one.by_seed]
    if not finished:
        return tries[0]
    shared = set.intersection(*({(r.seed, r.fold) for r in one.runs} for one in finished))
    if not shared:
        raise UnequalTriesError(
            f"{backbone}: the tries of {tries[0].method} have no seed in common, so that their "
            "validation losses do not compare."
        )
    losses = {id(one): _loss(one, shared) for one in finished}
    if None in losses.values() and len(tries) > 1:
        raise UnequalTriesError(
            f"{backbone}: the validation losses of {tries[0].method} are not in the store, which "
            "an earlier version wrote.\n  `harness reindex --store ANOTHER` reads them from the "
            "run folders."
        )

    def order(one: Series) -> tuple[bool, float]:
        loss = losses.get(id(one))
        return (False, loss) if loss is not None and isfinite(loss) else (True, 0.0)

    ordered = sorted(tries, key=order)
    tried = (
        Try(fields_written(one.newest.spec["train"], fields), losses.get(id(one)))
        for one in ordered
    )
    seeds = tuple(sorted({seed for seed, _ in shared}))
    return replace(ordered[0], choice=Choice(_tries(tries), seeds, tuple(tried)))


def _loss(one: Series, shared: set[tuple[int, int | None]]) -> float | None:
    losses = [run.validation_loss for run in one.runs if (run.seed, run.fold) in shared]
    known = [loss for loss in losses if loss is not None]
    return fmean(known) if len(known) == len(losses) else None
