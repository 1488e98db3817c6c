"""Welch's t-test: whether two means differ, without assuming equal variances.

    t = (mean_a - mean_b) / sqrt(s_a^2 / n_a + s_b^2 / n_b)

Welch, 1947. The generalization of "Student's" problem when several different population variances
are involved. The degrees of freedom are those of Welch and Satterthwaite.
"""

from collections.abc import Collection
from statistics import fmean, variance

# Not scipy.stats, which takes longer to import than all the rest of a report takes.
from scipy.special import stdtr, stdtrit

from results.statistics.test import ALPHA, Test, Undefined

NAME = "Welch's two-sided t-test"

SAME = 1e-9
"""Numbers closer than this differ by rounding alone: one item of a million makes 1e-6."""


def welch(a: Collection[float], b: Collection[float]) -> Test | Undefined:
    """Test whether the means behind two independent samples differ.

    >>> result = welch([3.0, 5.0], [1.0, 1.0, 1.0])
    >>> result.difference, result.statistic, result.df
    (3.0, 3.0, 1.0)
    >>> welch([1.0], [2.0, 3.0])
    Undefined(reason='one seed', withheld=False)
    >>> welch([0.5, 0.5], [0.25, 0.25])
    Undefined(reason='no spread over seeds', withheld=False)
    """
    if min(len(a), len(b)) < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined("one seed")
    if _constant(a) and _constant(b):
        # The formula would divide by zero, or by rounding noise, and call anything significant.
        return Undefined("no spread over seeds")
    return _welch(a, b)


def _constant(values: Collection[float]) -> bool:
    return max(values) - min(values) < SAME


def _welch(a: Collection[float], b: Collection[float]) -> Test:
    squares = variance(a) / len(a), variance(b) / len(b)
    error = sum(squares) ** 0.5
    df = sum(squares) ** 2 / (squares[0] ** 2 / (len(a) - 1) + squares[1] ** 2 / (len(b) - 1))
    difference = fmean(a) - fmean(b)
    t = difference / error
    margin = float(stdtrit(df, 1 - ALPHA / 2)) * error
    return Test(
        name=NAME,
        claim="seeds",
        difference=difference,
        interval=(difference - margin, difference + margin),
        statistic=t,
        df=df,
        p=2 * float(stdtr(df, -abs(t))),
        n=(len(a), len(b)),
    )
