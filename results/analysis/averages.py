"""Averages over the benchmarks of one run, in one metric."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

from results.analysis.metrics import Metric, metric
from results.record import POOLED, Run, Score


@dataclass(frozen=True)
class Overall:
    """A run in one number: the first average of its first metric."""

    metric: str
    average: str
    value: float


def overall(run: Run) -> Overall | None:
    """Sum up a run in one number; None if it has no scores, or one that is not finite."""
    for name in run.metrics[:1]:
        scores = run.headline(name)
        if finite(scores).keys() == scores.keys():
            average, value = next(iter(averages(metric(name), scores).items()))
            return Overall(name, average, value)
    return None


def finite(scores: Mapping[str, Score]) -> dict[str, Score]:
    """Leave out the scores that are infinite or NaN: they count as missing."""
    return {name: score for name, score in scores.items() if isfinite(score.value)}


def not_finite(scores: Iterable[Score]) -> tuple[str, ...]:
    """Name the scores that are infinite or NaN, one note for each.

    >>> not_finite([Score("dolly", "perplexity", "", True, float("inf"), 9)])
    ('dolly: perplexity is not finite',)
    """
    return tuple(
        f"{score.benchmark}: {score.metric} is not finite"
        for score in scores
        if not isfinite(score.value)
    )


def averages(of: Metric, scores: Mapping[str, Score]) -> dict[str, float]:
    """Average a metric over benchmarks, by the name of the average.

    A share has micro and macro. Any other metric has macro, and before it the pooled score, if
    there is one: its own value over all rows cannot be had from its values over benchmarks.
    """
    benchmarks = [score for name, score in scores.items() if name != POOLED]
    if of.share:
        return {"micro": micro(benchmarks), "macro": macro(benchmarks)}
    pooled = {POOLED: scores[POOLED].value} if POOLED in scores else {}
    return pooled | {"macro": macro(benchmarks)}


def micro(scores: Collection[Score]) -> float:
    """Pool the rows of all benchmarks, so that a large benchmark counts for more.

    >>> sizes = {"gsm8k": (0.25, 4), "aqua": (1.0, 1)}
    >>> micro([Score(name, "accuracy", "strict", True, *size) for name, size in sizes.items()])
    0.4
    """
    return fmean([score.value for score in scores], [score.n for score in scores])


def macro(scores: Collection[Score]) -> float:
    """Average the benchmarks, so that every one counts the same.

    >>> sizes = {"gsm8k": (0.25, 4), "aqua": (1.0, 1)}
    >>> macro([Score(name, "accuracy", "strict", True, *size) for name, size in sizes.items()])
    0.625
    """
    return fmean(score.value for score in scores)
