"""Noise of scores over seeds: three shapes, all with the mean `TRUTH`."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

TRUTH = 80.0
ITEMS = 238
"""Of the smallest benchmark of the papers, MAWPS."""

Numbers = NDArray[np.float64]
Noise = Callable[[Generator, tuple[int, ...]], Numbers]


def normal(rng: Generator, shape: tuple[int, ...]) -> Numbers:
    """Spread by 1 point."""
    return TRUTH + rng.standard_normal(shape)


def skewed(rng: Generator, shape: tuple[int, ...]) -> Numbers:
    """Spread by 1 point, skewness -2: most runs are near the top, a few fall far below."""
    return TRUTH + 1 - rng.standard_exponential(shape)


def binomial(rng: Generator, shape: tuple[int, ...]) -> Numbers:
    """Percent of `ITEMS` answers, each right with the same chance: ties are common."""
    return 100 * rng.binomial(ITEMS, TRUTH / 100, shape) / ITEMS


NOISES: dict[str, Noise] = {"normal": normal, "skewed": skewed, "binomial": binomial}
