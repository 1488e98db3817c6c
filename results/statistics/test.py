"""The outcome of a test of a difference, whichever test it is."""

from dataclasses import dataclass

ALPHA = 0.05
"""The level of every test; intervals cover 1 - ALPHA."""


@dataclass(frozen=True)
class Test:
    """A two-sided test of a difference of means, first minus second."""

    # Not a class of tests, as pytest would conclude from the name.
    __test__ = False

    name: str
    """As a caption names it, such as "Welch's two-sided t-test"."""
    difference: float
    interval: tuple[float, float]
    """Of the difference, at the level 1 - ALPHA."""
    statistic: float
    df: float
    p: float
    n: tuple[int, int]
    """Sizes of the two samples."""
    adjusted: float | None = None
    """p adjusted for the other tests of the family; None if it was not."""
    family: str = ""
    """The tests that are read together, such as those on one backbone; empty for one on its own."""

    @property
    def significant(self) -> bool:
        """Tell whether p, adjusted if it was, is below ALPHA."""
        return (self.p if self.adjusted is None else self.adjusted) < ALPHA


@dataclass(frozen=True)
class Undefined:
    """A test that cannot be made, or must not be, and why."""

    reason: str
