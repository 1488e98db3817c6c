"""Equivalence by two one-sided tests (TOST): whether a difference is smaller than a margin.

A p above ALPHA of a test of a difference shows nothing; here it is the difference that is tested
against -margin and against margin. Both tests are significant exactly if the interval at
1 - 2 ALPHA lies between the two.

Schuirmann, 1987. A comparison of the two one-sided tests procedure and the power approach.
"""

from dataclasses import dataclass

from results.statistics.estimate import Estimate
from results.statistics.power import critical
from results.statistics.test import ALPHA, Test, Undefined


@dataclass(frozen=True)
class Equivalence:
    """Whether two methods differ by less than a margin."""

    margin: float
    p: float
    """The larger one of the two one-sided tests, as both have to be significant."""
    interval: tuple[float, float]
    """Of the difference, at the level 1 - 2 ALPHA."""
    smallest_margin: float
    """Within which this error could show a difference of exactly 0 to be."""

    @property
    def equivalent(self) -> bool:
        """Tell whether the difference is shown to be smaller than the margin."""
        return self.p < ALPHA


def equivalence(difference: float, error: float, df: float, margin: float) -> Equivalence:
    """Test whether a difference with a standard error lies within `margin`, above 0, around 0.

    >>> result = equivalence(0.1, 0.5, 8, margin=1.0)
    >>> round(result.p, 4), result.equivalent, round(result.smallest_margin, 4)
    (0.0548, False, 0.9298)
    """
    above, below = (Estimate(margin + x, error, df).p("greater") for x in (difference, -difference))
    interval = Estimate(difference, error, df).interval(1 - 2 * ALPHA)
    return Equivalence(margin, max(above, below), interval, critical(df, "greater") * error)


def of_test(test: Test, margin: float) -> Equivalence | Undefined:
    """Test the difference of a t-test for equivalence; other tests have no standard error.

    >>> of_test(Test("sign flip", "items", 0.1, None, 0.5, (9, 9)), margin=1.0)
    Undefined(reason='equivalence needs a t-test', withheld=False)
    """
    if test.error is None or test.df is None:
        return Undefined("equivalence needs a t-test")
    return equivalence(test.difference, test.error, test.df, margin)
