"""The folds of a cross-validation, as the test over folds takes them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from statistics import fmean

from results.analysis.metrics import metric
from results.record import POOLED, Run
from results.statistics.seeds import folds
from results.statistics.test import Alternative, Test, Undefined

NO_FOLDS = Undefined("no folds")
NOT_KEPT = Undefined(
    "the store does not say how many folds were planned, or how many rows were trained on; "
    "`harness reindex` adds it where the run folders say it"
)
OTHER_FOLDS = Undefined("other numbers of folds", withheld=True)


@dataclass(frozen=True)
class Folded:
    """The numbers of one method in one column by fold and seed, and the runs that they are of."""

    numbers: folds.ByFold
    runs: tuple[Run, ...]

    @property
    def any(self) -> bool:
        """Whether the runs are of a cross-validation."""
        return any(run.fold is not None for run in self.runs)


def nothing() -> Folded:
    """Give no folds."""
    return Folded({}, ())


def over_folds(
    first: Folded, second: Folded, alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test two methods on all planned folds.

    The sizes of a fold are the rows of all benchmarks that it tests, and those that it trains on.
    Where folds differ in them, the means over folds count, and the name of the test says so.
    """
    if not (first.any and second.any):
        return NO_FOLDS
    runs = (*first.runs, *second.runs)
    planned = [run.folds for run in runs if run.folds]
    trained = [run.trained_rows for run in runs if run.trained_rows]
    if not len(planned) == len(trained) == len(runs):
        return NOT_KEPT
    if len(set(planned)) > 1:
        return OTHER_FOLDS
    tested = list(map(_tested_rows, runs))
    ratio = fmean(tested) / fmean(trained)
    test = folds.folds(first.numbers, second.numbers, range(planned[0]), ratio, alternative)
    return test if isinstance(test, Undefined) or _equal(tested, trained) else _by_means(test)


def _tested_rows(run: Run) -> int:
    rows: dict[str, int] = {}
    for score in run.scores:
        # Of a perplexity, n are tokens; of a clean accuracy, fewer rows.
        if score.benchmark != POOLED and not metric(score.metric).logarithm:
            rows[score.benchmark] = max(score.n, rows.get(score.benchmark, 0))
    return sum(rows.values())


def _equal(*sizes: Collection[int]) -> bool:
    return all(len(set(one)) == 1 for one in sizes)


def _by_means(test: Test) -> Test:
    return replace(test, name=f"{test.name} (mean sizes of the folds)")
