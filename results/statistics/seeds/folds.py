"""Corrected t-test over the folds of a cross-validation.

    t = mean(d) / sqrt((1 / k + n_test / n_train) s_d^2),    k - 1 degrees of freedom

d_f is the difference of the two methods on fold f of k. The folds share most of their training
rows, so that s_d^2 / k is too small; n_test / n_train makes up for it. Of equal
methods it finds a difference in 1, 3, 5 and 7 % of cases, if the d_f of five folds correlate by 0,
0.1, 0.2 and 0.3. Averaging seeds that divide the rows again makes the d_f correlate more: at 0.2
between all runs it finds one in 9, 13 and 20 % of cases with 2, 3 and 5 seeds.

Nadeau and Bengio, 2003. Inference for the Generalization Error, section 3.
"""

from collections.abc import Collection, Mapping
from statistics import fmean

from results.statistics.sample import finite
from results.statistics.seeds.paired import of_pairs
from results.statistics.test import Alternative, Test, Undefined

ByFold = Mapping[int, Mapping[int, float]]
"""Of each fold, a number per seed."""

NAME = "Nadeau and Bengio's {} fold-wise t-test"


def folds(
    a: ByFold,
    b: ByFold,
    planned: Collection[int],
    test_to_train: float,
    alternative: Alternative = "two-sided",
) -> Test | Undefined:
    """Test whether two methods differ on the folds that were planned; seeds are averaged first.

    `test_to_train` is the number of rows that a fold tests over the number that it really trains
    on: without those held out for validation. A fold or a seed of one that only one of the two
    has withholds the test.

    >>> a = {0: {1: 0.6, 2: 0.8}, 1: {1: 0.5, 2: 0.7}, 2: {1: 0.9, 2: 0.9}}
    >>> b = {0: {1: 0.5, 2: 0.7}, 1: {1: 0.4, 2: 0.4}, 2: {1: 0.6, 2: 0.6}}
    >>> result = folds(a, b, range(3), test_to_train=0.5)
    >>> round(result.difference, 9), round(result.statistic, 9), result.df
    (0.2, 2.19089023, 2)
    >>> folds(a, b, range(5), test_to_train=0.25)
    Undefined(reason='a fold is missing', withheld=True)
    """
    if not all(one.get(fold) for one in (a, b) for fold in planned):
        return Undefined("a fold is missing", withheld=True)
    if any(a[fold].keys() != b[fold].keys() for fold in planned):
        return Undefined("the two have other seeds", withheld=True)
    k = len(planned)
    if k < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined("one fold")
    if not finite([x for one in (a, b) for fold in planned for x in one[fold].values()]):
        return Undefined("a score is not finite")
    pairs = [(fmean(a[fold].values()), fmean(b[fold].values())) for fold in planned]
    return of_pairs(pairs, 1 / k + test_to_train, NAME, "seeds and items", alternative)
