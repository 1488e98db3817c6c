"""A difference with its standard error, whose ratio is compared with Student's t."""

from dataclasses import dataclass

# Not scipy.stats, which takes longer to import than all the rest of a report takes.
from scipy.special import stdtr, stdtrit

from results.statistics.test import ALPHA, SIDED, Alternative, Claim, Test


@dataclass(frozen=True)
class Estimate:
    """An estimate of a difference, first minus second."""

    difference: float
    error: float
    """Its standard error, above 0."""
    df: float
    """Degrees of freedom of the standard error."""

    def interval(self, level: float = 1 - ALPHA) -> tuple[float, float]:
        """Give the two-sided interval of a level of confidence."""
        half = float(stdtrit(self.df, (1 + level) / 2)) * self.error
        return self.difference - half, self.difference + half

    def p(self, alternative: Alternative = "two-sided") -> float:
        """Give the probability of a ratio at least as large if there is no difference."""
        t = self.difference / self.error
        one_sided = alternative == "greater"
        return float(stdtr(self.df, -t) if one_sided else 2 * stdtr(self.df, -abs(t)))

    def test(
        self,
        name: str,
        claim: Claim,
        n: tuple[int, int],
        alternative: Alternative,
        effect: float | None = None,
    ) -> Test:
        """Test the difference; "{}" in the name is where "two-sided" or "one-sided" goes."""
        return Test(
            name=name.format(SIDED[alternative]),
            claim=claim,
            difference=self.difference,
            interval=self.interval(),
            p=self.p(alternative),
            n=n,
            statistic=self.difference / self.error,
            df=self.df,
            alternative=alternative,
            effect=effect,
            error=self.error,
        )
