"""The outcome of a test of a difference, whichever test it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ALPHA = 0.05
"""The level of every test; intervals cover 1 - ALPHA."""

Claim = Literal["seeds", "seeds and items", "items", "benchmarks"]
"""What a test generalises to: new training runs on these items, new training runs and new items,
new items for these trained models, or new benchmarks."""

Alternative = Literal["two-sided", "greater"]
"""What is tested against "no difference": any difference, or that the first is greater."""

SIDED: Mapping[Alternative, str] = {"two-sided": "two-sided", "greater": "one-sided"}
"""How the name of a test says it."""


@dataclass(frozen=True)
class Test:
    """A test of a difference, first minus second."""

    # Not a class of tests, as pytest would conclude from the name.
    __test__ = False

    name: str
    """As a caption names it, such as "Welch's two-sided t-test"."""
    claim: Claim
    difference: float
    interval: tuple[float, float] | None
    """Of the difference, at the level 1 - ALPHA, to both sides; None where the test gives none.

    It is two-sided for a one-sided test too, since it says how large the difference may be: it may
    hold 0 while the one-sided p is below ALPHA.
    """
    p: float
    n: tuple[int, int]
    """Sizes of the two samples."""
    statistic: float | None = None
    df: float | None = None
    alternative: Alternative = "two-sided"
    smallest_p: float = 0.0
    """The smallest p that samples of these sizes can give: 0.10 of a permutation of 3 and 3."""
    effect: float | None = None
    """The difference in units of the spread, corrected for small samples (Hedges' g)."""
    adjusted: float | None = None
    """p adjusted for the other tests of the family; None if it was not."""
    error: float | None = None
    """The standard error of the difference."""
    correlation: float | None = None
    """Of the two samples over shared seeds, where they are paired."""
    family: str = ""
    """The tests that are read together, such as those on one backbone; empty for one on its own."""

    @property
    def significant(self) -> bool:
        """Tell whether p, adjusted if it was, is below ALPHA."""
        return (self.p if self.adjusted is None else self.adjusted) < ALPHA

    @property
    def possible(self) -> bool:
        """Tell whether samples of these sizes could give a p below ALPHA at all."""
        return self.smallest_p < ALPHA


@dataclass(frozen=True)
class Undefined:
    """A test that cannot be made, or must not be, and why."""

    reason: str
    withheld: bool = False
    """Whether it could be computed and would mislead: seeds are missing, other items were asked."""

    def __str__(self) -> str:
        """Write it as tables do.

        >>> str(Undefined("no spread over seeds")), str(Undefined("seeds are missing", True))
        ('undefined: no spread over seeds', 'withheld: seeds are missing')
        """
        return f"{'withheld' if self.withheld else 'undefined'}: {self.reason}"
