"""What the tests of a column look at: numbers per seed and benchmark, and verdicts of items."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from statistics import fmean
from typing import Literal

import numpy as np

from results.analysis.columns import PLAIN, Columns
from results.analysis.series import Series
from results.analysis.testing.answers import OTHER_ITEMS, ByRun, Judged, judged
from results.analysis.testing.folds import Folded, nothing
from results.record import POOLED, Run
from results.statistics import strata
from results.statistics.items.bootstrap import Score
from results.statistics.items.verdicts import Average, Floats, Items
from results.statistics.sample import sample
from results.statistics.test import Undefined

Lookup = Callable[[Iterable[Run]], ByRun]
"""Where the verdicts of runs come from: the store."""


@dataclass(frozen=True)
class Segments:
    """A metric of each text of a benchmark, as parts that are summed before they are scored."""

    parts: Floats
    """(texts, parts)."""
    rows: str
    """The hash of which texts they are."""


@dataclass(frozen=True)
class Texts:
    """Where tests over texts find their parts, and how sums of them are scored."""

    segments: Callable[[Run, str, str], Segments | None]
    """Of a run, a benchmark and a metric."""
    scores: Mapping[str, Score]
    """By metric."""


NOT_STORED = Undefined("no verdicts of its items are stored")
NO_VERDICTS = Undefined("its items are not right or wrong")
NO_TEXTS = Undefined("its run folders hold no texts to test")
OF_FOLDS = Undefined("its texts are scored fold by fold")

AVERAGES = ("micro", POOLED, "macro")


def nowhere(runs: Iterable[Run]) -> ByRun:
    """Look up no verdicts."""
    return {}


def _not_stored() -> Undefined:
    return NOT_STORED


@dataclass(frozen=True)
class Evidence:
    """The numbers of one method in one column, as tests take them."""

    by_seed: Mapping[int, float]
    by_benchmark: Callable[[], Mapping[str, float]] = dict
    """Of an average, what it averages: a mean over seeds each."""
    folded: Callable[[], Folded] = nothing
    """By fold too; without folds where there is no cross-validation."""
    judged: Callable[[], Judged | Undefined] = _not_stored
    """Only tests over items read verdicts."""
    average: Average = "micro"
    """How items of several benchmarks are averaged."""
    score: Score | None = None
    """Of the summed parts of texts; None where items are right or wrong."""


@dataclass(frozen=True)
class Interval:
    """How far a mean may be from what it estimates, at 95 %."""

    low: float
    high: float
    over: Literal["seeds", "items"]
    """Over new training runs on these items; of one run, over new items."""


@dataclass(frozen=True)
class Source:
    """Where the numbers of comparable methods come from."""

    columns: Columns
    folds: Sequence[int | None]
    runs: Sequence[Run] = ()
    """Those whose verdicts are looked up at once."""
    lookup: Lookup = nowhere
    texts: Texts | None = None

    @cached_property
    def verdicts(self) -> ByRun:
        """The verdicts of the runs."""
        return self.lookup(self.runs)

    def by_seed(self, series: Series, column: str) -> dict[int, float]:
        """Give the number of each seed that has one in all folds."""
        return series.averages(self.folds, lambda run: self.columns.numbers(run).get(column))

    def evidence(self, series: Series, column: str) -> Evidence:
        """Give what tests look at; of a perplexity, logarithms."""
        of, within = self.columns.metric, self._within(column)
        return Evidence(
            {seed: of.tested(one) for seed, one in self.by_seed(series, column).items()},
            partial(self._by_benchmark, series, within),
            partial(self._folded, series, column),
            cache(partial(self._judged, series, within)),
            _average(column),
            self.texts.scores.get(of.name) if self.texts else None,
        )

    def interval(self, series: Series, column: str) -> Interval | None:
        """Give the interval of a mean over seeds, or of one run's share over items."""
        by_seed = self.by_seed(series, column)
        if len(by_seed) != 1:
            over_seeds = sample(by_seed).interval
            return over_seeds and Interval(*over_seeds, "seeds")
        within = self._within(column)
        if not within or not self.columns.metric.share:
            return None
        runs = [run for seed in by_seed for run in series.by_seed[seed].values()]
        shares = [self._share(runs, name) for name in within]
        return Interval(*strata.interval(shares, _average(column)), "items")

    def _share(self, runs: Sequence[Run], benchmark: str) -> tuple[float, int]:
        """Give the share of a benchmark, and of how many items; of folds, of all of theirs."""
        scores = [run.headline(self.columns.metric.name)[benchmark] for run in runs]
        return fmean(score.value for score in scores), sum(score.n for score in scores)

    def _within(self, column: str) -> tuple[str, ...]:
        """Name the benchmarks that a column is over, as far as tests can look into it."""
        every = self.columns.benchmarks
        return (column,) if column in every else every if column in AVERAGES else ()

    def _by_benchmark(self, series: Series, within: Sequence[str]) -> dict[str, float]:
        numbers = {name: self.by_seed(series, name).values() for name in within}
        tested = self.columns.metric.tested
        return {name: fmean(map(tested, found)) for name, found in numbers.items() if found}

    def _folded(self, series: Series, column: str) -> Folded:
        found: dict[int, dict[int, float]] = {}
        for run in series.runs:
            number = self.columns.numbers(run).get(column)
            if number is not None and run.fold is not None:
                found.setdefault(run.fold, {})[run.seed] = self.columns.metric.tested(number)
        return Folded(found, series.runs)

    def _judged(self, series: Series, within: Sequence[str]) -> Judged | Undefined:
        if not within:
            return NOT_STORED
        if self.columns.metric.name == PLAIN:
            return judged(series, self.folds, within, self.verdicts) or NOT_STORED
        return self._segments(series, within) if self.texts else NO_VERDICTS

    def _segments(self, series: Series, within: Sequence[str]) -> Judged | Undefined:
        """Put together the parts of texts, unless a score is a mean over folds."""
        assert self.texts is not None
        if tuple(self.folds) != (None,):
            return OF_FOLDS
        read, metric = self.texts.segments, self.columns.metric.name
        runs = [by_fold.get(None) for by_fold in series.by_seed.values()]
        found = {name: [run and read(run, name, metric) for run in runs] for name in within}
        answers, rows = {}, {}
        for name, segments in found.items():
            of_seeds = [one for one in segments if one]
            if len(of_seeds) < len(segments) or not of_seeds:
                return NO_TEXTS
            if len({one.rows for one in of_seeds}) > 1:
                return OTHER_ITEMS
            parts = np.array([one.parts for one in of_seeds])
            answers[name] = Items(tuple(series.by_seed), parts)
            rows[name] = (of_seeds[0].rows,)
        return Judged(answers, rows)


def _average(column: str) -> Average:
    return "macro" if column == "macro" else "micro"
