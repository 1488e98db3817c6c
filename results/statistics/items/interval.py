"""The interval of an average over new items: a t interval, with benchmarks as strata."""

from math import sqrt

import numpy as np

from results.statistics.estimate import Estimate
from results.statistics.items.verdicts import Items


def interval(parts: list[Items]) -> tuple[float, float] | None:
    """Give the interval of the mean of the means of `parts`, which have one row each.

    The variance of the average is the sum of the variances of the means, each divided by the
    square of the number of parts; the degrees of freedom are those of Satterthwaite, 1946. None
    where a part has one unit only, or nothing differs.
    """
    if any(part.units == 1 for part in parts):
        return None
    variances = np.array([(part.deviations**2).sum() for part in parts]) / len(parts) ** 2
    if not variances.any():
        return None
    df = variances.sum() ** 2 / sum(
        variance**2 / (part.units - 1) for variance, part in zip(variances, parts, strict=True)
    )
    middle = float(np.mean([part.means[0] for part in parts]))
    return Estimate(middle, sqrt(variances.sum()), float(df)).interval()
