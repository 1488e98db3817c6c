"""What a sample is drawn from: forms, which draw problems of either split for ever.

A split is decided by pairs of numbers or words, so that no problem of one is in the other.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Literal, Protocol

Split = Literal["train", "test"]


@dataclass(frozen=True)
class Problem:
    """One problem: what is asked, what a good answer looks like, and the gold answer.

    Attributes:
        question: The text put to the model.
        worked: The answer to learn from.
        answer: The gold answer; of benchmarks without one right answer, the worked one again.
        context: What the question is about, where the benchmark gives it apart.
    """

    question: str
    worked: str
    answer: str
    context: str = ""


class Form(Protocol):
    """How the problems of a benchmark look."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw one problem of a split."""


def distinct(form: Form, split: Split, rng: random.Random) -> Iterator[Problem]:
    """Draw problems for ever, none that came before."""
    seen = set()
    while True:
        problem = form.draw(split, rng)
        if (problem.question, problem.context) not in seen:
            seen.add((problem.question, problem.context))
            yield problem


@cache
def split_of(pair: tuple[str, str]) -> Split:
    """Assign an unordered pair of numbers or words to a split: a quarter of all to the test."""
    digest = sha256(" ".join(sorted(pair)).encode()).digest()
    return "test" if digest[0] < 64 else "train"


def draw_pair(
    first: Sequence[str], second: Sequence[str], split: Split, rng: random.Random
) -> tuple[str, str]:
    """Draw a word of each list, not the same one, of which the pair belongs to `split`.

    >>> {draw_pair(["x"], ["x", "y", "z"], "train", random.Random(n)) for n in range(20)}
    {('x', 'y')}
    """
    pairs = [(x, y) for x in first for y in second if x != y and split_of((x, y)) == split]
    return rng.choice(pairs)
