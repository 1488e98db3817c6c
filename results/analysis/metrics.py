"""Each metric: its title, unit and direction, and how it is tested."""

from dataclasses import dataclass
from math import inf, log


@dataclass(frozen=True)
class Metric:
    """One metric; everything else is the same for all metrics."""

    name: str
    title: str
    """Its name in a caption, with the unit of the printed numbers."""
    share: bool = False
    """Whether it is a share of rows in [0, 1], printed in percent; shares are pooled by rows."""
    lower_is_better: bool = False
    logarithm: bool = False
    """Whether tests compare the means of its logarithm, as they should for a perplexity."""
    digits: int = 2
    """Decimals of the printed numbers."""

    def points(self, value: float) -> float:
        """Give a value as it is printed, so that what prints equal ranks equal.

        >>> metric("accuracy").points(0.83254), metric("perplexity").points(8.316)
        (83.25, 8.316)
        """
        return round(100 * value if self.share else value, self.digits)

    def written(self, value: float, sign: str = "") -> str:
        """Write a value as it is printed; with "+" as `sign`, a difference.

        >>> metric("perplexity").written(8316.5), metric("accuracy").written(-0.00001, "+")
        ('8,316.500', '+0.00')
        """
        return f"{self.points(value):{sign}z,.{self.digits}f}"

    def merit(self, value: float) -> float:
        """Turn a value, or a difference of two, so that larger is better."""
        return -value if self.lower_is_better else value

    def tested(self, value: float) -> float:
        """Give the number that tests work on: not finite of a perplexity that is none."""
        if not self.logarithm:
            return value
        return log(value) if value > 0 else -inf


NOTHING = Metric("none", "no run finished")
"""In place of a metric where no run has a score."""


def metric(name: str) -> Metric:
    """Find what is known of a metric; an unknown one is printed as it is, and higher is better.

    >>> metric("perplexity").lower_is_better, metric("chrf").title
    (True, 'chrf')
    """
    return _KNOWN.get(name) or Metric(name, name)


def _share(name: str, title: str) -> Metric:
    return Metric(name, title, share=True)


def _perplexity(name: str, title: str) -> Metric:
    return Metric(name, title, lower_is_better=True, logarithm=True, digits=3)


_KNOWN = {
    known.name: known
    for known in (
        _share("accuracy", "accuracy in percent"),
        _share("clean accuracy", "accuracy in percent, without test rows of the training set"),
        _share("option likelihood", "accuracy in percent of the most likely option"),
        Metric("bleu", "BLEU-4 of the corpus"),
        Metric("sentence bleu", "BLEU-4, mean over sentences"),
        Metric("rouge-l", "ROUGE-L in percent, mean over rows"),
        Metric("meteor", "METEOR in percent, mean over rows"),
        _perplexity("perplexity", "perplexity per token of the answer"),
        _perplexity("perplexity (hycam)", "perplexity as HyCAM's code takes it: of batch means"),
    )
}
