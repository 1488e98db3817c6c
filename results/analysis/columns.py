"""The columns of one metric, and the numbers of a run in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from results.analysis.averages import averages, finite, not_finite
from results.analysis.metrics import NOTHING, Metric, metric
from results.record import POOLED, Run, Score

PLAIN = "accuracy"
CLEAN = "clean accuracy"
CLEAN_COLUMNS = ("clean micro", "clean macro")


@dataclass(frozen=True)
class Columns:
    """Which benchmarks the runs of a table have, so that only like is averaged over them."""

    metric: Metric
    benchmarks: tuple[str, ...]
    pooled: bool
    clean: frozenset[str] | None
    """The benchmarks with clean scores; None if no clean averages are asked for."""
    _known: dict[int, tuple[Run, dict[str, float]]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    """Runs by identity with their numbers, which every column asks for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Name the columns from left to right."""
        first = ("micro",) if self.metric.share else (POOLED,) * self.pooled
        last = () if self.clean is None else CLEAN_COLUMNS
        return (*self.benchmarks, *first, "macro", *last)

    @property
    def unfilled(self) -> tuple[str, ...]:
        """Name the columns that no run can have a number in."""
        return () if self.clean is None or self.clean else CLEAN_COLUMNS

    def notes(self) -> Iterator[str]:
        """Say which benchmarks the clean averages are not over."""
        if self.unfilled:
            yield "no clean rows"
        elif self.clean:
            unclean = [name for name in self.benchmarks if name not in self.clean]
            if unclean:
                yield f"clean averages without {', '.join(unclean)}: no row of theirs is clean"

    def numbers(self, run: Run) -> dict[str, float]:
        """Give the one number of a run in each column that it has."""
        if id(run) not in self._known:
            self._known[id(run)] = run, self._numbers(run)
        return self._known[id(run)][1]

    def _numbers(self, run: Run) -> dict[str, float]:
        scores = finite(run.headline(self.metric.name))
        found = {name: scores[name].value for name in self.benchmarks if name in scores}
        # An average over fewer benchmarks than the other runs have would be another quantity.
        if len(found) == len(self.benchmarks):
            found |= averages(self.metric, scores)
        return found | self._clean_numbers(run)

    def not_finite(self, run: Run) -> tuple[str, ...]:
        """Name the scores of a run that count as missing since they are infinite or NaN."""
        clean = {} if self.clean is None else _clean(run)
        return not_finite([*run.headline(self.metric.name).values(), *clean.values()])

    def _clean_numbers(self, run: Run) -> dict[str, float]:
        scores = {} if self.clean is None else finite(_clean(run))
        if not scores or scores.keys() != self.clean:
            return {}
        found = averages(metric(CLEAN), scores)
        return {f"clean {name}": value for name, value in found.items()}


def columns(of: Metric, runs: Sequence[Run], clean: bool) -> Columns:
    """Find the columns of a metric; clean averages stand only beside the plain accuracy."""
    scored = dict.fromkeys(name for run in runs for name in run.headline(of.name))
    with_clean = clean and of.name == PLAIN
    return Columns(
        metric=of,
        benchmarks=tuple(name for name in scored if name != POOLED),
        pooled=POOLED in scored,
        clean=frozenset(name for run in runs for name in _clean(run)) if with_clean else None,
    )


def unfinished(runs: Sequence[Run]) -> Columns:
    """Find the columns of a table in which no run finished: what the runs were planned for."""
    planned = dict.fromkeys(name for run in runs for name in run.benchmarks)
    return Columns(metric=NOTHING, benchmarks=tuple(planned), pooled=False, clean=None)


def _clean(run: Run) -> dict[str, Score]:
    """Give the clean scores by benchmark, of the answers that the headline extractor read."""
    plain = run.headline(PLAIN)
    return {
        score.benchmark: score
        for score in run.scores
        if score.metric == CLEAN
        and score.benchmark in plain
        and score.extractor == plain[score.benchmark].extractor
    }
