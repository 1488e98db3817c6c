"""The interval of the micro or macro average of one run: its benchmarks are the strata.

    share - sqrt(sum_b w_b^2 (p_b - l_b)^2)    to    share + sqrt(sum_b w_b^2 (u_b - p_b)^2)

p_b is the share of benchmark b, l_b and u_b are Wilson's limits of it, and w_b is its weight in the
average: its part of the items, or one of the number of benchmarks. The distances add in squares, as
standard errors do; of one benchmark the interval is Wilson's. Zou and Donner, 2008. Construction of
confidence limits about effect measures; for strata Yan and Su, 2010. Stratified Wilson and Newcombe
confidence intervals for multiple binomial proportions.
"""

from collections.abc import Sequence
from math import sqrt

from results.statistics import wilson
from results.statistics.items.verdicts import Average


def interval(shares: Sequence[tuple[float, int]], average: Average) -> tuple[float, float]:
    """Give the interval of an average of shares in [0, 1], each with its number of items.

    >>> [round(end, 4) for end in interval([(0.5, 10)], "macro")]
    [0.2366, 0.7634]
    """
    rows = sum(n for _, n in shares)
    weights = [n / rows if average == "micro" else 1 / len(shares) for _, n in shares]
    limits = [wilson.interval(share, n) for share, n in shares]
    middle = sum(w * share for w, (share, _) in zip(weights, shares, strict=True))
    below, above = (
        sqrt(
            sum(
                (w * (share - limit[end])) ** 2
                for w, (share, _), limit in zip(weights, shares, limits, strict=True)
            )
        )
        for end in (0, 1)
    )
    return middle - below, middle + above
