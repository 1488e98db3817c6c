"""Word problems drawn from the stories, deterministically and with no number pair in two splits.

>>> word_problem(Arithmetic("ONE_STEP"), "test", random.Random(1)).steps
('15 + 5 = 20',)
"""

import random
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from tasks.form import Problem, Split, split_of
from tasks.samples import stories

Stories = Literal["ADD_SUB", "ONE_STEP", "DISTRACTED", "TWO_STEPS", "THREE_STEPS", "BELOW_ZERO"]

LETTERS = "ABCDE"
LARGEST = 99


@dataclass(frozen=True)
class Arithmetic:
    """How the word problems of one benchmark look.

    Attributes:
        kind: The table in `stories.py` to draw from.
        decimals: Numbers have one decimal; for kinds without products only.
        spaced: Punctuation stands apart, as in tokenised text.
        padded: The text has outer spaces.
        options: Five options follow the question and the answer is a letter.
        pointed: The gold answer is written `15.0` where it is 15.
    """

    kind: Stories
    decimals: bool = False
    spaced: bool = False
    padded: bool = False
    options: bool = False
    pointed: bool = False

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw one problem; all pairs of its numbers belong to `split`."""
        found = word_problem(self, split, rng)
        answer = str(float(found.answer)) if self.pointed else found.answer
        return Problem(found.question, found.worked, answer)


@dataclass(frozen=True)
class WordProblem:
    """One word problem: its text, the steps of its solution, its answer and its numbers."""

    question: str
    steps: tuple[str, ...]
    answer: str
    numbers: tuple[str, ...]

    @property
    def worked(self) -> str:
        """Write the solution as the sample training set does."""
        return f"{'. '.join(self.steps)}. The answer is {self.answer}."


def word_problem(form: Arithmetic, split: Split, rng: random.Random) -> WordProblem:
    """Draw one problem; all pairs of its numbers belong to `split`."""
    table: dict[str, tuple[str, ...]] = getattr(stories, form.kind)
    expression = rng.choice(sorted(table))
    text = rng.choice(table[expression])
    names = [name for name in "abc" if f"{{{name}}}" in text]
    while True:
        values = {name: _number(form, rng) for name in names}
        numbers = tuple(_write(value, form) for value in values.values())
        apart = len(set(numbers)) == len(numbers)
        if apart and all(split_of(pair) == split for pair in combinations(numbers, 2)):
            steps = _solve(expression, values, form)
            if steps:
                return _phrase(form, text, dict(zip(names, numbers, strict=True)), steps, rng)


def _number(form: Arithmetic, rng: random.Random) -> int:
    """Draw a number, in tenths where the form has decimals."""
    if form.decimals:
        return rng.randrange(11, 10 * LARGEST // 2)
    # Half of the numbers are small, so that products stay below `LARGEST` often enough.
    return rng.randrange(2, 13 if rng.random() < 0.5 else 70)


def _solve(expression: str, numbers: dict[str, int], form: Arithmetic) -> tuple[str, ...]:
    """Write out the steps; empty where one leaves the tables or the numbers of two digits."""
    steps, values = [], dict(numbers)
    largest = LARGEST * (10 if form.decimals else 1)
    for step in expression.split("; "):
        left, sign, right = step.split()
        x, y = (values[name] if name in values else int(name) for name in (left, right))
        if sign == "/" and x % y:
            return ()
        result = {"+": x + y, "-": x - y, "*": x * y, "/": x // y}[sign]
        known = sign in "+-" or 2 in (x, y) or (y <= 12 and min(x, result) <= 12)
        size = -result if form.kind == "BELOW_ZERO" else result
        if not (known and 0 < size <= largest):
            return ()
        steps.append(f"{_write(x, form)} {sign} {_write(y, form)} = {_write(result, form)}")
        values["r"] = result
    return tuple(steps)


def _phrase(
    form: Arithmetic,
    text: str,
    numbers: dict[str, str],
    steps: tuple[str, ...],
    rng: random.Random,
) -> WordProblem:
    name, other = rng.sample(stories.NAMES, 2)
    question = text.format(n=name, m=other, t=rng.choice(stories.THINGS), **numbers)
    answer = steps[-1].split(" = ")[1]
    if form.options:
        options = _options(int(answer), rng)
        answer = LETTERS[options.index(int(answer))]
        listed = " ".join(f"({k}) {v}" for k, v in zip(LETTERS, options, strict=True))
        question = f"{question} Answer Choices: {listed}"
    if form.spaced:
        question = question.replace(". ", " . ").replace("?", " ?")
    if form.padded:
        question = f" {question} "
    return WordProblem(question, steps, answer, tuple(numbers.values()))


def _options(answer: int, rng: random.Random) -> list[int]:
    near = [n for n in range(max(1, answer - 12), answer + 13) if n != answer]
    options = [answer, *rng.sample(near, 4)]
    rng.shuffle(options)
    return options


def _write(number: int, form: Arithmetic) -> str:
    if not form.decimals or number % 10 == 0:
        return str(number // 10 if form.decimals else number)
    return f"{number // 10}.{number % 10}"
