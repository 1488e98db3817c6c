"""McNemar's exact test: which of two trained models is right where one is and the other is not.

    p = 2 P(X <= min(b, c)),    X ~ Binomial(b + c, 1/2)

b items only the first has right, c only the second. McNemar, 1947. Note on the sampling error of
the difference between correlated proportions or percentages; exact by the binomial distribution.

The interval of the difference of the shares is that of Bonett and Price, 2012. Adjusted Wald
confidence interval for a difference of binomial proportions based on paired data: one is added to
b and to c. Fagerland, Lydersen and Laake, 2014, recommend it beside the exact test.
"""

from math import sqrt

import numpy as np
from scipy.special import bdtr, ndtri

from results.statistics.items.verdicts import Answers, Average, fault, strata
from results.statistics.test import ALPHA, SIDED, Alternative, Test, Undefined


def mcnemar(
    a: Answers, b: Answers, average: Average = "micro", alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two trained models, one run each, have the same share of items right.

    The items of all benchmarks are pooled. They must stand alone and be right or wrong; of
    clusters, of other scores and of a macro average `sign_flip` is the test.
    """
    why_not = fault(a, b) or not_pairs(a, b, average)
    if why_not:
        return why_not
    first, second = (strata(answers, "micro")[0].values[0] for answers in (a, b))
    return _test(int((first > second).sum()), int((first < second).sum()), first.size, alternative)


def not_pairs(a: Answers, b: Answers, average: Average) -> Undefined | None:
    """Say why McNemar's test is not made of these answers; the scores do not matter."""
    every = [*a.values(), *b.values()]
    if average == "macro" and len(a) > 1:
        return Undefined("McNemar's test pools items, a macro average does not")
    if any(len(one.seeds) > 1 for one in every):
        return Undefined("McNemar's test is of one run each")
    if any(one.clusters is not None for one in every):
        return Undefined("McNemar's test is of items that stand alone; some share a passage")
    if not all(np.isin(one.values, (0, 1)).all() for one in every):
        return Undefined("McNemar's test is of right and wrong, not of other scores")
    return None


def _test(b: int, c: int, n: int, alternative: Alternative) -> Test | Undefined:
    if b + c == 0:
        return Undefined("no item tells the two apart")
    sides = 2 if alternative == "two-sided" else 1
    # P(X <= c) is the p of "the first is right more often": X >= b is c or fewer for the second.
    fewer = c if alternative == "greater" else min(b, c)
    return Test(
        name=f"McNemar's exact {SIDED[alternative]} test",
        claim="items",
        difference=(b - c) / n,
        interval=_interval(b, c, n),
        p=min(1.0, sides * float(bdtr(fewer, b + c, 0.5))),
        n=(n, n),
        alternative=alternative,
        smallest_p=min(1.0, sides * 0.5 ** (b + c)),
    )


def _interval(b: int, c: int, n: int) -> tuple[float, float]:
    first, second = (b + 1) / (n + 2), (c + 1) / (n + 2)
    middle = first - second
    half = float(ndtri(1 - ALPHA / 2)) * sqrt((first + second - middle**2) / (n + 2))
    return max(-1.0, middle - half), min(1.0, middle + half)
