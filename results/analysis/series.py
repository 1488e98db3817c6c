"""Which runs may be compared, and which of them are averaged for a method."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from results.record import Run

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Conditions:
    """What the runs of one table have in common; the environment is summed up in one line."""

    group: str
    protocol: str
    marks: tuple[str, ...]
    setting: str
    environment: str
    environment_id: str


@dataclass(frozen=True)
class Series:
    """One method on one backbone: its runs of one version, the newest of each seed and fold."""

    method: str
    newest: Run
    by_seed: Mapping[int, Mapping[int | None, Run]]
    """Of each seed the run of each fold; the fold is None without cross-validation."""
    left_out: int
    """How many runs there are of earlier versions of the method."""

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
    """The finished runs of one setting in one environment, by backbone and method."""

    conditions: Conditions
    runs: tuple[Run, ...]
    """All of them, the newest first; not all of them count."""
    folds: tuple[int | None, ...]
    """Those that any run has, so (None,) without cross-validation."""
    backbones: Mapping[str, tuple[Series, ...]]


def comparables(runs: Iterable[Run]) -> list[Comparable]:
    """Sort the finished runs by what must agree to be compared, the newest first.

    That is group, setting, environment, and whether the test rows are those of a fold. Runs that
    differ in any of these never share a table, hence never an average or a test.
    """
    finished = [run for run in runs if run.status == "finished"]
    newest_first = sorted(finished, key=lambda run: (run.started, run.run_id), reverse=True)
    found = _grouped(
        newest_first,
        lambda run: (run.group, run.setting, run.environment_id, run.fold is None),
    )
    return [_comparable(comparable) for comparable in found.values()]


def unique(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Give every text of several lists once, in the order of their first appearance."""
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _comparable(runs: Sequence[Run]) -> Comparable:
    backbones = _grouped(runs, lambda run: run.backbone)
    series = {name: _series(backbones[name]) for name in sorted(backbones)}
    folds = {
        fold
        for all_series in series.values()
        for one in all_series
        for by_fold in one.by_seed.values()
        for fold in by_fold
    }
    return Comparable(_conditions(runs), tuple(runs), tuple(sorted(folds, key=_fold_order)), series)


def _conditions(runs: Sequence[Run]) -> Conditions:
    newest = runs[0]
    facts = newest.environment.items()
    return Conditions(
        group=newest.group,
        protocol=newest.protocol,
        marks=unique(run.marks for run in runs),
        setting=newest.setting,
        environment=", ".join(
            f"{key} {fact}" for key, fact in facts if isinstance(fact, str | int)
        ),
        environment_id=newest.environment_id,
    )


def _series(runs: Sequence[Run]) -> tuple[Series, ...]:
    methods = _grouped(runs, lambda run: run.method)
    return tuple(_one_series(method, methods[method]) for method in sorted(methods))


def _one_series(method: str, attempts: Sequence[Run]) -> Series:
    """Keep the newest attempt at each seed and fold, of the series of the newest attempt."""
    newest = attempts[0]
    current = [run for run in attempts if run.series == newest.series]
    of_seeds = _grouped(current, lambda run: run.seed)
    by_seed = {seed: _by_fold(of_seeds[seed]) for seed in sorted(of_seeds)}
    kept = {run.run_id for by_fold in by_seed.values() for run in by_fold.values()}
    return Series(method, newest, by_seed, len({run.run_id for run in attempts} - kept))


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
