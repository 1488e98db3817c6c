"""Which runs may be compared, and which of them are averaged for a method."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean
from typing import Any, TypeVar

from results.analysis.runs import backbones
from results.analysis.runs.recipes import (
    Choice,
    differing_fields,
    is_trained,
    recipe,
    with_recipe,
    without_recipe,
)
from results.analysis.runs.unfinished import beside, never_finished, setting_of
from results.record import Run

Key = TypeVar("Key", bound=Hashable)

SETTING_DIGITS = 8
"""Of its hash, in a title."""


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
    changed: Mapping[str, Mapping[str, Any]]
    """What is not the default for all of them, by part: {"recipe": {"lr": 0.0001}}."""
    tries: int = 0
    """Of how many recipes of each method the one of the lowest validation loss is shown."""
    apart: str = ""
    """What tells them from others of the same title, where nothing above does."""


@dataclass(frozen=True)
class Series:
    """One method on one backbone: its runs of one version, the newest of each seed and fold."""

    method: str
    label: str
    """The method, with the recipe fields in which the rows of its table differ."""
    newest: Run
    by_seed: Mapping[int, Mapping[int | None, Run]]
    """Of each seed the run of each fold; the fold is None without cross-validation."""
    left_out: tuple[Run, ...]
    """The finished runs of other versions of the method."""
    failed: Mapping[tuple[int, int | None], Run]
    """The run of each seed and fold that was begun and never finished."""
    choice: Choice | None = None
    """How its recipe was chosen, if among several."""

    @property
    def trained(self) -> bool:
        """Tell whether the method trains anything; an untrained one has a single seed."""
        return is_trained(self.newest)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that count for the method."""
        return tuple(run for by_fold in self.by_seed.values() for run in by_fold.values())

    @property
    def ids(self) -> dict[int, tuple[str, ...]]:
        """Their ids by seed."""
        return {
            seed: tuple(run.run_id for run in by_fold.values())
            for seed, by_fold in self.by_seed.items()
        }

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
    """The runs of one setting in one environment, by backbone and method."""

    conditions: Conditions
    runs: tuple[Run, ...]
    """The finished ones, the newest first; not all of them count. None where nothing finished."""
    folds: tuple[int | None, ...]
    """Those that any run that counts has, so (None,) without cross-validation."""
    backbones: Mapping[str, tuple[Series, ...]]


def comparables(runs: Iterable[Run], own_recipes: bool = False) -> list[Comparable]:
    """Sort runs by what must agree to be compared, the newest first.

    That is group, setting, environment, the version of the extractor, whether the test rows are
    those of a fold and, unless each method has its own, the recipe. Runs that differ in any of
    these never share a table, hence never an average or a test. Untrained runs belong to every
    recipe. What did not finish stands beside what did; where nothing finished, it stands alone.
    """
    newest_first = sorted(runs, key=lambda run: (run.started, run.run_id), reverse=True)
    finished = [run for run in newest_first if run.status == "finished"]
    failed = never_finished(newest_first)
    # What failed early has no environment, and alone it is compared with nothing.
    settings = _grouped(finished, _read_setting) if finished else _grouped(failed, _planned_setting)
    found = [
        chosen
        for of_setting in settings.values()
        for chosen in ([of_setting] if own_recipes else _by_recipe(of_setting))
    ]
    found.sort(key=lambda chosen: max(map(_age, chosen)), reverse=True)
    names = backbones.names(newest_first)
    return _told_apart(
        [
            _comparable(chosen, beside(chosen, failed, own_recipes), names, own_recipes)
            if finished
            else _comparable([], chosen, names, own_recipes)
            for chosen in found
        ]
    )


def _read_setting(run: Run) -> Hashable:
    return *setting_of(run), run.extraction


def _planned_setting(run: Run) -> tuple[str, str, bool]:
    return run.group, run.setting, run.fold is None


def recipe_fields(backbones: Mapping[str, Sequence[Series]]) -> tuple[str, ...]:
    """Name the fields of the recipe in which the rows of a table differ."""
    rows = [one for family in backbones.values() for one in family if one.trained]
    return differing_fields(one.newest.spec["train"] for one in rows)


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


def _comparable(
    runs: Sequence[Run],
    failed: Sequence[Run],
    names: Mapping[tuple[str, str], str],
    own_recipes: bool,
) -> Comparable:
    of_backbones = _grouped([*runs, *failed], lambda run: names[run.backbone_identity])
    series = {name: _series(of_backbones[name], own_recipes) for name in sorted(of_backbones)}
    every = [one for family in series.values() for one in family]
    folds = {run.fold for one in every for run in (*one.runs, *one.failed.values())}
    return Comparable(
        conditions=_conditions(
            [*runs, *failed], own_recipes, recipe_fields(series) if own_recipes else ()
        ),
        runs=tuple(runs),
        folds=tuple(sorted(folds, key=_fold_order)),
        backbones=_labelled(series) if own_recipes else series,
    )


def _conditions(runs: Sequence[Run], own_recipes: bool, differing: Collection[str]) -> Conditions:
    """Say what the runs agree in; those that finished come first, and know their environment."""
    newest = runs[0]
    facts = newest.environment.items()
    trained = next(filter(is_trained, runs), None)
    # What is not trained has no recipe, whatever it was given.
    named = trained.conditions if trained else _without(newest.conditions, "recipe")
    own = {name: value for name, value in named.get("recipe", {}).items() if name not in differing}
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
        changed=({"recipe": own} if own else {}) | _without(named, "recipe"),
    )


def _without(parts: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in parts.items() if key != name}


def _told_apart(found: Sequence[Comparable]) -> list[Comparable]:
    """Name the setting by its hash where two settings have the same title."""
    settings: dict[str, set[str]] = {}
    for one in found:
        settings.setdefault(_title(one), set()).add(one.conditions.setting)

    def named(one: Comparable) -> Comparable:
        if len(settings[_title(one)]) == 1:
            return one
        apart = f"setting {one.conditions.setting[:SETTING_DIGITS]}"
        return replace(one, conditions=replace(one.conditions, apart=apart))

    return [named(one) for one in found]


def _title(one: Comparable) -> str:
    told = one.conditions
    return repr((told.group, told.protocol, told.marks, told.changed, one.folds == (None,)))


def _series(runs: Sequence[Run], own_recipes: bool) -> tuple[Series, ...]:
    def row(run: Run) -> tuple[str, str]:
        return (without_recipe(run.method), recipe(run)) if own_recipes else (run.method, "")

    methods = _grouped(runs, row)
    return tuple(_one_series(methods[key]) for key in sorted(methods))


def _one_series(attempts: Sequence[Run]) -> Series:
    """Keep the newest attempt at each seed and fold, of the series of the newest attempt."""
    finished = [run for run in attempts if run.status == "finished"]
    newest = (finished or attempts)[0]
    trained = is_trained(newest)
    current = [
        run
        for run in attempts
        # Without training a seed changes nothing, so one is all.
        if run.series == newest.series and (trained or run.seed == newest.seed)
    ]
    of_seeds = _grouped((run for run in current if run.status == "finished"), lambda run: run.seed)
    by_seed = {seed: _by_fold(of_seeds[seed]) for seed in sorted(of_seeds)}
    others = {run.run_id: run for run in finished if run.series != newest.series}
    return Series(
        method=newest.method,
        label=newest.method,
        newest=newest,
        by_seed=by_seed,
        left_out=tuple(others.values()) if trained else (),
        failed={
            (run.seed, run.fold): run
            for run in current
            if run.status != "finished" and run.fold not in by_seed.get(run.seed, {})
        },
    )


def _labelled(backbones: Mapping[str, Sequence[Series]]) -> dict[str, tuple[Series, ...]]:
    """Add the recipe to the labels of trained methods, as far as the rows differ in it."""
    fields = recipe_fields(backbones)

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
