"""Which runs may be compared, and which of them are averaged for a method."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean
from typing import TypeVar

from results.analysis.recipes import (
    differing_fields,
    is_trained,
    recipe,
    with_recipe,
    without_recipe,
)
from results.record import Run

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Conditions:
    """What the runs of one table have in common; the environment is summed up in one line."""

    group: str
    protocol: str
    marks: tuple[str, ...]
    setting: str
    own_recipes: bool
    """Whether each method is trained by its own recipe, instead of all by the same."""
    environment: str
    environment_id: str


@dataclass(frozen=True)
class Series:
    """One method on one backbone: its runs of one version, the newest of each seed and fold."""

    method: str
    label: str
    """The method, with the recipe fields in which the rows of its table differ."""
    newest: Run
    by_seed: Mapping[int, Mapping[int | None, Run]]
    """Of each seed the run of each fold; the fold is None without cross-validation."""
    left_out: int
    """How many runs there are of earlier versions of the method."""

    @property
    def trained(self) -> bool:
        """Tell whether the method trains anything; an untrained one has a single seed."""
        return is_trained(self.newest)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that count for the method."""
        return tuple(run for by_fold in self.by_seed.values() for run in by_fold.values())

    def averages(
        self, folds: Sequence[int | None], number: Callable[[Run], float | None]
    ) -> dict[int, float]:
        """Average a number over `folds`, for each seed that has it in all of them."""
        found = {}
        for seed, by_fold in self.by_seed.items():
            values = [value for value in map(number, by_fold.values()) if value is not None]
            # A mean over fewer folds than the other seeds have would be another quantity.
            if len(values) == len(folds):
                found[seed] = fmean(values)
        return found


@dataclass(frozen=True)
class Comparable:
    """The runs of one setting in one environment that ended, by backbone and method."""

    conditions: Conditions
    runs: tuple[Run, ...]
    """All of them, the newest first; not all of them count."""
    folds: tuple[int | None, ...]
    """Those that any run that counts has, so (None,) without cross-validation."""
    backbones: Mapping[str, tuple[Series, ...]]


def comparables(runs: Iterable[Run], own_recipes: bool = False) -> list[Comparable]:
    """Sort the runs that ended by what must agree to be compared, the newest first.

    That is group, setting, environment, whether the test rows are those of a fold and, unless
    each method has its own, the recipe. Runs that differ in any of these never share a table,
    hence never an average or a test. Untrained runs belong to every recipe. A run that diverged
    keeps its place among the others and has no number.
    """
    ended = [run for run in runs if run.ended]
    newest_first = sorted(ended, key=lambda run: (run.started, run.run_id), reverse=True)
    settings = _grouped(
        newest_first,
        lambda run: (run.group, run.setting, run.environment_id, run.fold is None),
    )
    found = [
        chosen
        for of_setting in settings.values()
        for chosen in ([of_setting] if own_recipes else _by_recipe(of_setting))
    ]
    found.sort(key=lambda chosen: max(map(_age, chosen)), reverse=True)
    return [_comparable(chosen, own_recipes) for chosen in found]


def unique(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Give every text of several lists once, in the order of their first appearance."""
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _by_recipe(runs: Sequence[Run]) -> list[list[Run]]:
    recipes = dict.fromkeys(run.recipe for run in runs if is_trained(run))
    if not recipes:
        return [list(runs)]
    return [[run for run in runs if run.recipe == one or not is_trained(run)] for one in recipes]


def _age(run: Run) -> tuple[bool, datetime, str]:
    # Untrained runs are in the tables of all recipes, so they say nothing of their order.
    return is_trained(run), run.started, run.run_id


def _comparable(runs: Sequence[Run], own_recipes: bool) -> Comparable:
    of_backbones = _grouped(runs, lambda run: run.backbone)
    series = {name: _series(of_backbones[name], own_recipes) for name in sorted(of_backbones)}
    used = [run for family in series.values() for one in family for run in one.runs]
    folds = {run.fold for run in used}
    return Comparable(
        conditions=_conditions(runs, own_recipes),
        runs=tuple(runs),
        folds=tuple(sorted(folds, key=_fold_order)),
        backbones=_labelled(series) if own_recipes else series,
    )


def _conditions(runs: Sequence[Run], own_recipes: bool) -> Conditions:
    newest = runs[0]
    facts = newest.environment.items()
    return Conditions(
        group=newest.group,
        protocol=newest.protocol,
        marks=unique(run.marks for run in runs),
        setting=newest.setting,
        own_recipes=own_recipes,
        environment=", ".join(
            f"{key} {fact}" for key, fact in facts if isinstance(fact, str | int)
        ),
        environment_id=newest.environment_id,
    )


def _series(runs: Sequence[Run], own_recipes: bool) -> tuple[Series, ...]:
    def row(run: Run) -> tuple[str, str]:
        return (without_recipe(run.method), recipe(run)) if own_recipes else (run.method, "")

    methods = _grouped(runs, row)
    return tuple(_one_series(methods[key]) for key in sorted(methods))


def _one_series(attempts: Sequence[Run]) -> Series:
    """Keep the newest attempt at each seed and fold, of the series of the newest attempt."""
    newest = attempts[0]
    trained = is_trained(newest)
    current = [
        run
        for run in attempts
        # Without training a seed changes nothing, so one is all.
        if run.series == newest.series and (trained or run.seed == newest.seed)
    ]
    of_seeds = _grouped(current, lambda run: run.seed)
    by_seed = {seed: _by_fold(of_seeds[seed]) for seed in sorted(of_seeds)}
    kept = {run.run_id for by_fold in by_seed.values() for run in by_fold.values()}
    earlier = {run.run_id for run in attempts} - kept
    return Series(newest.method, newest.method, newest, by_seed, len(earlier) if trained else 0)


def _labelled(backbones: Mapping[str, Sequence[Series]]) -> dict[str, tuple[Series, ...]]:
    """Add the recipe to the labels of trained methods, as far as the rows differ in it."""
    trained = [one for family in backbones.values() for one in family if one.trained]
    fields = differing_fields(one.newest.spec["train"] for one in trained)

    def labelled(one: Series) -> Series:
        if not one.trained:
            return one
        return replace(one, label=with_recipe(one.method, one.newest.spec["train"], fields))

    return {
        name: tuple(sorted(map(labelled, family), key=lambda one: one.label))
        for name, family in backbones.items()
    }


def _by_fold(newest_first: Sequence[Run]) -> dict[int | None, Run]:
    oldest_first = reversed(newest_first)
    return {run.fold: run for run in sorted(oldest_first, key=lambda run: _fold_order(run.fold))}


def _fold_order(fold: int | None) -> int:
    return -1 if fold is None else fold


def _grouped(runs: Iterable[Run], key: Callable[[Run], Key]) -> dict[Key, list[Run]]:
    found: dict[Key, list[Run]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return found
