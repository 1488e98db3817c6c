"""The contract of a form: it draws the problems of a sample, as many as are asked for.

Pairs of numbers or words decide which split a problem belongs to, so that no problem is in both.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Literal, Protocol

Split = Literal["train", "test"]

TEST_BYTES = 64  # Of the 256 values of a byte: a quarter.


@dataclass(frozen=True)
class Problem:
    """One problem: what is asked, what a good answer looks like, and the gold answer.

    Attributes:
        question: The text put to the model.
        worked: The answer to learn from.
        answer: The gold answer; in benchmarks without one right answer, the worked one again.
        context: What the question is about, where the benchmark gives it in a field of its own.
    """

    question: str
    worked: str
    answer: str
    context: str = ""


class Form(Protocol):
    """How the problems of a benchmark look. It is hashable, as a frozen dataclass is."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw one problem of a split."""


def distinct(form: Form, split: Split, rng: random.Random) -> Iterator[Problem]:
    """Draw problems without end, each one once."""
    seen = set()
    while True:
        problem = form.draw(split, rng)
        if (problem.question, problem.context) not in seen:
            seen.add((problem.question, problem.context))
            yield problem


@cache
def split_of(pair: tuple[str, str]) -> Split:
    """Assign an unordered pair of numbers or words to a split: a quarter of all pairs to test."""
    digest = sha256(" ".join(sorted(pair)).encode()).digest()
    return "test" if digest[0] < TEST_BYTES else "train"


def draw_pair(
    first: Sequence[str], second: Sequence[str], split: Split, rng: random.Random
) -> tuple[str, str]:
    """Draw two different words, one of each list, whose pair belongs to `split`.

    >>> {draw_pair(["x"], ["x", "y", "z"], "train", random.Random(n)) for n in range(20)}
    {('x', 'y')}
    """
    pairs = [(x, y) for x in first for y in second if x != y and split_of((x, y)) == split]
    return rng.choice(pairs)
