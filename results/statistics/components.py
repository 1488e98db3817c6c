"""Variance components of seeds and items: what new training runs and new test items would change.

A method has S training runs, all asked the same n items. Both are drawn at random and crossed:

    x_si = mu + alpha_s + beta_i + epsilon_si

With one score in each cell, the expected mean squares are

    MS_seeds    = n sum_s (x_s. - x_..)^2 / (S - 1)                       var_e + n var_alpha
    MS_items    = S sum_i (x_.i - x_..)^2 / (n - 1)                       var_e + S var_beta
    MS_residual = sum_si (x_si - x_s. - x_.i + x_..)^2 / (S - 1)(n - 1)   var_e

since x_s. has the variance var_alpha + var_e / n about what all runs share, and x_.i the variance
var_beta + var_e / S; the residuals hold epsilon alone. So var_alpha is estimated by
(MS_seeds - MS_residual) / n and var_beta by (MS_items - MS_residual) / S; what comes out negative
is taken for 0. The mean x_.. over new seeds and new items has the variance

    var_alpha / S + var_beta / n + var_e / (S n).

Searle, Casella and McCulloch, 1992. Variance Components, section 4.

Two methods a and b share the items and not the seeds. Let d_i = x_a.i - x_b.i, and s^2 be the
variance of a method's scores x_s. over its seeds, which is MS_seeds / n. The variance of d over
items is var(beta_a - beta_b) + var_ea / S_a + var_eb / S_b, so the difference of the means has

    var(d) / n + (s_a^2 - MS_residual_a / n) / S_a + (s_b^2 - MS_residual_b / n) / S_b:

Welch's variance and that of the paired items, less the residuals, which both of them hold. A
bracket that comes out negative is taken for 0. The degrees of freedom are those of Satterthwaite,
1946: the square of the variance over the sum of the squares of the terms (as they are before that),
each over its own: n - 1, S - 1 and (S - 1)(n - 1); they are 1 at least.

Clusters take the place of items where items share a passage (`Items.deviations`). Of a macro
average over B benchmarks, the parts of items and residuals are summed over the benchmarks with
weights 1 / B^2; a run answers all benchmarks, so s^2 is taken of the macro average of each seed.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from results.statistics.estimate import Estimate
from results.statistics.items.verdicts import (
    Answers,
    Average,
    Floats,
    mismatch,
    strata,
    unusable,
)
from results.statistics.sample import SAME
from results.statistics.test import Alternative, Test, Undefined

NAME = "{} t-test by crossed variance components of seeds and items"


@dataclass(frozen=True)
class Components:
    """What the variance of one run's average is made of, over new seeds and new items."""

    mean: float
    seeds: float
    """var_alpha: what another seed changes on all items alike."""
    items: float
    """var_beta / n: what other items change for all seeds alike."""
    residual: float
    """var_e / n: what the seed changes on some items and not on others."""
    n: tuple[int, int]
    """Seeds, and items or clusters."""

    @property
    def error(self) -> float:
        """The standard error of the mean over these seeds, for new seeds and new items."""
        return sqrt(self.items + (self.seeds + self.residual) / self.n[0])


@dataclass(frozen=True)
class _Summary:
    """What the tests of a method need, so that each pair costs one pass over the items."""

    answers: Answers
    mean: float
    score: float
    """s^2 / S: the part of Welch's variance."""
    residuals: Floats
    """MS_residual / (S n) of each part."""
    deviations: Floats
    """How far each unit moves the mean over seeds, (units)."""
    units: NDArray[np.int64]
    """The number of items or clusters of each part."""
    n: int
    """The number of seeds."""


def components(answers: Answers, average: Average = "micro") -> Components | Undefined:
    """Divide the variance of a method's average into seeds, items and the rest."""
    found = _summary(answers, average)
    if isinstance(found, Undefined):
        return found
    residual = float(found.residuals.sum())
    return Components(
        mean=found.mean,
        seeds=max(0.0, found.score - residual) * found.n,
        items=max(0.0, float((found.deviations**2).sum()) - residual),
        residual=residual * found.n,
        n=(found.n, int(found.units.sum())),
    )


def crossed(
    a: Answers, b: Answers, average: Average = "micro", alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two methods differ over new seeds and new items."""
    return _of_pair(_summary(a, average), _summary(b, average), alternative)


def _summary(answers: Answers, average: Average) -> _Summary | Undefined:
    why_not = unusable(answers)
    if why_not:
        return why_not
    parts = strata(answers, average)
    units = np.array([part.units for part in parts])
    n = len(parts[0].seeds)
    if n == 1 or units.min() == 1:
        return Undefined("one seed" if n == 1 else "a benchmark of one item")
    by_seed = np.mean([part.means for part in parts], axis=0)
    deviations = np.concatenate([part.deviations for part in parts], axis=1) / len(parts)
    middle = deviations.mean(axis=0)
    residuals = ((deviations - middle) ** 2).sum(axis=0) / (n - 1)
    return _Summary(
        answers=answers,
        mean=float(by_seed.mean()),
        score=float(by_seed.var(ddof=1)) / n,
        residuals=_by_part(residuals, units) / n,
        deviations=middle,
        units=units,
        n=n,
    )


def _by_part(values: Floats, units: NDArray[np.int64]) -> Floats:
    return np.add.reduceat(values, np.cumsum(units) - units)


def _of_pair(
    a: _Summary | Undefined, b: _Summary | Undefined, alternative: Alternative
) -> Test | Undefined:
    if isinstance(a, Undefined):
        return a
    if isinstance(b, Undefined):
        return b
    why_not = mismatch(a.answers, b.answers)
    if why_not:
        return why_not
    if max(one.score + one.residuals.sum() for one in (a, b)) < SAME**2:
        return Undefined("no spread over seeds")
    variance, df = _variance(a, b)
    if variance < SAME**2:
        return Undefined("no spread over seeds and items")
    estimate = Estimate(a.mean - b.mean, sqrt(variance), df)
    return estimate.test(NAME, "seeds and items", (a.n, b.n), alternative)


def _variance(a: _Summary, b: _Summary) -> tuple[float, float]:
    """Give the variance of the difference, and its degrees of freedom."""
    items = _by_part((a.deviations - b.deviations) ** 2, a.units)
    seeds = sum(max(0.0, one.score - float(one.residuals.sum())) for one in (a, b))
    squares = (items**2 / (a.units - 1)).sum() + sum(
        (one.score**2 + (one.residuals**2 / (one.units - 1)).sum()) / (one.n - 1) for one in (a, b)
    )
    variance = float(items.sum()) + seeds
    return variance, max(1.0, float(variance**2 / squares))
