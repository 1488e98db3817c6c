"""Scores of items that two equally good methods get, over seeds and items that are both drawn."""

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.validity.noise import Numbers
from results.statistics.items.verdicts import Answers, Items
from results.statistics.test import Test, Undefined

Shape = tuple[int, ...]
World = Callable[[Generator, int, int], Numbers]
"""Given how many seeds and items, the scores of two methods, (2, seeds, items)."""
PairTest = Callable[[Answers, Answers], Test | Undefined]


def normal(rng: Generator, shape: Shape) -> Numbers:
    """Give effects of mean 0, spread by 1."""
    return rng.standard_normal(shape)


def skewed(rng: Generator, shape: Shape) -> Numbers:
    """Give effects of mean 0, spread by 1, of skewness -2."""
    return 1 - rng.standard_exponential(shape)


def scores(effect: Callable[[Generator, Shape], Numbers], of_seed: float) -> World:
    """Add effects of the seed, the item, the item under a method, and of what is left."""

    def drawn(rng: Generator, seeds: int, items: int) -> Numbers:
        return (
            of_seed * effect(rng, (2, seeds, 1))
            + effect(rng, (1, 1, items))
            + effect(rng, (2, 1, items)) / 2
            + effect(rng, (2, seeds, items))
        )

    return drawn


def verdicts(of_seed: float) -> World:
    """Right or wrong: items differ in difficulty by 2 logits (SD), seeds by `of_seed`."""

    def drawn(rng: Generator, seeds: int, items: int) -> Numbers:
        logits = (
            1
            + 2 * rng.standard_normal((1, 1, items))
            + rng.standard_normal((2, 1, items)) / 2
            + of_seed * rng.standard_normal((2, seeds, 1))
        )
        return np.asarray(rng.random((2, seeds, items)) < expit(logits), float)

    return drawn


PASSAGE = 4
"""Items that share a passage, where some do."""


def passages(rng: Generator, seeds: int, items: int) -> Numbers:
    """Right or wrong: each method reads some passages better than others."""
    read = rng.standard_normal((2, 1, items // PASSAGE + 1)).repeat(PASSAGE, axis=2)[..., :items]
    logits = 1 + rng.standard_normal((1, 1, items)) + 1.5 * read
    return np.asarray(rng.random((2, seeds, items)) < expit(logits), float)


def losses(rng: Generator, seeds: int, items: int) -> Numbers:
    """Loss and number of tokens of each row, (2, seeds, items, 2): long rows are easier."""
    tokens = 1.0 + rng.poisson(rng.gamma(2, 10, items))
    of_token = 2 + scores(skewed, 0)(rng, seeds, items) / 4 - tokens / 200
    return np.stack([of_token * tokens, np.broadcast_to(tokens, of_token.shape)], axis=-1)


def mean_loss(sums: Numbers) -> Numbers:
    """Divide the loss by the tokens: the logarithm of perplexity."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def answers(values: Numbers, sizes: Sequence[int], passage: int = 1) -> Answers:
    """Divide items into benchmarks of these sizes; `passage` in a row share a passage."""
    seeds = tuple(range(len(values)))
    parts = np.split(values, list(accumulate(sizes))[:-1], axis=1)
    return {
        f"benchmark {number}": Items(seeds, part, _clusters(part.shape[1], passage))
        for number, part in enumerate(parts)
    }


def _clusters(items: int, passage: int) -> NDArray[np.int64] | None:
    return None if passage == 1 else np.arange(items) // passage
