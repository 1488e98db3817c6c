"""Where one more run would fall, given the numbers of a few."""

from collections.abc import Collection
from math import sqrt
from statistics import stdev

from scipy.special import stdtrit

from results.statistics.sample import constant
from results.statistics.test import ALPHA, Undefined


def prediction(values: Collection[float]) -> float | Undefined:
    """Give how far from their mean one more value falls in 95 of 100 cases, at most.

    t(n - 1) s sqrt(1 + 1 / n), for a normal population: more than the half of the interval of the
    mean, since the one more value has a spread of its own. Hahn, 1969. Factors for Calculating
    Two-Sided Prediction Intervals for Samples from a Normal Distribution.

    >>> round(prediction([9.0, 10.0, 11.0]), 4)
    4.9683
    >>> prediction([9.0])
    Undefined(reason='one seed', withheld=False)
    """
    n = len(values)
    if n < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined("one seed")
    if constant(values):
        return Undefined("no spread over seeds")
    return float(stdtrit(n - 1, 1 - ALPHA / 2)) * stdev(values) * sqrt(1 + 1 / n)
