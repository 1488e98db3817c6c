"""The text that `tiny` is trained on: sums, worked problems, and instructions that it retells.

The model learns to solve a problem that is put as `Problem: ... Solution:`. To the papers'
instruction template it learns to answer by telling the story again, and now and then by solving it.
So the ability is there but not what comes out by default, and fine-tuning has to bring it forward,
as with a large language model. No problem uses a number pair of a test set; the bare sums use all
pairs.
"""

import random
from collections.abc import Iterator

from harness.protocols import paper
from tasks.contract import Row
from tasks.samples.problems import Arithmetic, WordProblem, word_problem

FORMS = (
    Arithmetic("ADD_SUB", spaced=True),
    Arithmetic("ADD_SUB", decimals=True),
    Arithmetic("ADD_SUB", decimals=True, spaced=True),
    Arithmetic("ONE_STEP"),
    Arithmetic("ONE_STEP", spaced=True),
    Arithmetic("DISTRACTED"),
    Arithmetic("TWO_STEPS"),
    *3 * (Arithmetic("TWO_STEPS", options=True),),  # the hardest, so that it is seen more often
    Arithmetic("THREE_STEPS"),
    Arithmetic("BELOW_ZERO"),
    Arithmetic("BELOW_ZERO", spaced=True),
)


def documents(seed: int, solved_share: float) -> Iterator[str]:
    """Draw documents without end; that share of the instructions is answered by solving them."""
    rng = random.Random(seed)
    while True:
        kind = rng.random()
        if kind < 0.15:
            yield sums(rng)
        else:
            problem = word_problem(rng.choice(FORMS), "train", rng)
            yield (
                solved(problem) if kind < 0.75 else instructed(problem, rng.random() < solved_share)
            )


def sums(rng: random.Random) -> str:
    """Write eight lines of arithmetic, each of one or two steps."""
    return "\n".join(_sum(rng) for _ in range(8))


def solved(problem: WordProblem) -> str:
    """Pose a problem and solve it; a letter is named as a choice."""
    steps = ". ".join(problem.steps)
    choice = f" Choice {problem.answer}." if problem.answer.isalpha() else ""
    return f"Problem: {problem.question.strip()}\nSolution: {steps}.{choice}"


def instructed(problem: WordProblem, solve: bool) -> str:
    """Put a problem by the instruction template and solve it, or only tell its story again."""
    return paper.protocol.ask(Row(0, problem.question, "", "")) + (
        problem.worked if solve else story(problem)
    )


def story(problem: WordProblem) -> str:
    """Take the sentences before the question."""
    text = problem.question.split(" Answer Choices")[0].strip()
    return text[: max(text.rfind(". "), text.rfind(" . ") + 1) + 1]


def _sum(rng: random.Random) -> str:
    sign = rng.choice("++--*/")
    if sign in "*/":
        x, y = rng.randrange(2, 13), rng.randrange(2, 50)
        x, y = (x, y) if rng.random() < 0.5 else (y, x)
        return f"{x} * {y} = {x * y}" if sign == "*" else f"{x * y} / {x} = {y}"
    unit = rng.choice((1, 1, 10))
    x, y = rng.randrange(1, 100 * unit), rng.randrange(1, 100 * unit)
    result = x + y if sign == "+" else x - y
    return f"{_tenths(x, unit)} {sign} {_tenths(y, unit)} = {_tenths(result, unit)}"


def _tenths(number: int, unit: int) -> str:
    return f"{number / unit:g}"
