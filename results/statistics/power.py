"""Power: which difference a test would find, and how much it needs to find one.

Student's ratio of a difference of `noncentrality` standard errors follows the noncentral t. A
difference is found if it is significant and has the right sign.
"""

from math import exp, sqrt

from scipy.special import gammaln, nctdtr, nctdtrinc, stdtrit

from results.statistics.test import ALPHA, Alternative, Test

POWER = 0.8
"""The power with which a detectable difference is found."""


def critical(df: float, alternative: Alternative = "two-sided", level: float = ALPHA) -> float:
    """Give the ratio of a difference to its error from which on it is significant."""
    return float(stdtrit(df, 1 - (level / 2 if alternative == "two-sided" else level)))


def noncentrality(df: float, alternative: Alternative = "two-sided", level: float = ALPHA) -> float:
    """Give the difference, in standard errors, that is found with POWER; `df` is at least 1.

    >>> round(noncentrality(8), 4), round(noncentrality(8, "greater"), 4)
    (3.2009, 2.7268)
    """
    return float(nctdtrinc(df, 1 - POWER, critical(df, alternative, level)))


def detectable(test: Test) -> float | None:
    """Give the smallest difference that is found with POWER at the n and spread of a t-test.

    Other tests have no standard error, and below one degree of freedom the distribution is too wide
    for SciPy to invert.
    """
    if test.error is None or test.df is None or test.df < 1:
        return None
    return noncentrality(test.df, test.alternative) * test.error


def power(
    difference: float, error: float, df: float, alternative: Alternative = "two-sided"
) -> float:
    """Give the probability that a true difference of this size, above 0, is found.

    >>> round(power(2.0, 0.6325, 8), 3)
    0.79
    """
    missed = float(nctdtr(df, difference / error, critical(df, alternative)))
    # SciPy has no number for a probability below 1e-200.
    return 1 - missed if missed >= 0 else 1.0


def hedges(difference: float, sd: float, df: float) -> float | None:
    """Give the difference in units of the SD, without the bias of an SD of few numbers.

    For an SD of one degree of freedom there is no such correction.

    Hedges, 1981. Distribution theory for Glass's estimator of effect size, equation 6e.

    >>> round(hedges(1.0, 0.5, 8), 4)
    1.8054
    """
    if df <= 1:
        return None
    return difference / sd * exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / sqrt(df / 2)
