"""Instructions with answers that follow from them by a rule, for the multi-task sets.

>>> task = Code().draw("test", random.Random(1))
>>> task.question
'Write a Python script that sorts the list and prints the result.'
>>> print(task.worked)
numbers = [6, 22, 10]
print(sorted(numbers))
"""

import random
from dataclasses import dataclass

from tasks.form import Problem, Split, draw_pair
from tasks.samples import facts
from tasks.samples.problems import Arithmetic, word_problem
from tasks.samples.stories import NAMES

NUMBERS = tuple(str(number) for number in range(2, 30))
DAYS = tuple(str(number) for number in range(2, 15))
ENOUGH_DAYS = 7

FUNCTIONS = {
    "multiplies a number by {a} and then adds {b}": "x * {a} + {b}",
    "adds {b} to a number and then multiplies by {a}": "(x + {b}) * {a}",
    "subtracts {b} from a number and then multiplies by {a}": "(x - {b}) * {a}",
}
SCRIPTS = {
    "sorts the list": "sorted(numbers)",
    "reverses the list": "numbers[::-1]",
    "finds the largest number of the list": "max(numbers)",
    "adds up the list": "sum(numbers)",
}
DIFFERENCES = (
    "What is the difference between {} and {}?",
    "How do {} and {} differ?",
    "Explain how one can tell {} from {}.",
)


@dataclass(frozen=True)
class ChainOfThought:
    """Auto-CoT: a word problem of two steps, solved step by step."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a problem; all pairs of its numbers belong to `split`."""
        found = word_problem(Arithmetic("TWO_STEPS"), split, rng)
        steps = "".join(f"{step}.\n" for step in found.steps)
        return _problem(
            found.question,
            f"Let's think step by step.\n{steps}Therefore, the answer is {found.answer}.",
        )


@dataclass(frozen=True)
class Advice:
    """iCliniq: a patient's complaint, and what a doctor says to it."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a complaint; none lasts for the same time in both splits."""
        complaint, days = draw_pair(list(facts.COMPLAINTS), DAYS, split, rng)
        later = (
            "If it is not better after a week, please see a doctor."
            if int(days) < ENOUGH_DAYS
            else f"As it has lasted {days} days, please see a doctor too."
        )
        return _problem(
            f"Hi doctor, I am {rng.randint(20, 69)} years old and have had {complaint} "
            f"for {days} days. What should I do?",
            f"Hello. {facts.COMPLAINTS[complaint]} {later}",
        )


@dataclass(frozen=True)
class Instruction:
    """Dolly: the odd one out, a comparison, or a question about a text that comes with it."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw an instruction; its two things or people belong to `split`."""
        return rng.choice([_odd_one_out, _comparison, _closed_question])(split, rng)


def _odd_one_out(split: Split, rng: random.Random) -> Problem:
    kind, other = rng.sample(list(facts.CLASSES), 2)
    first, odd = draw_pair(facts.CLASSES[kind], facts.CLASSES[other], split, rng)
    second = rng.choice([thing for thing in facts.CLASSES[kind] if thing != first])
    words = rng.sample([first, second, odd], 3)
    return _problem(
        f"Which of these is not {kind}: {', '.join(words)}?",
        f"{odd.capitalize()} is not {kind}, but {other}.",
    )


def _comparison(split: Split, rng: random.Random) -> Problem:
    order = rng.choice(facts.ORDERS)
    things = draw_pair(order.things, order.things, split, rng)
    lower, upper = sorted(things, key=order.things.index)
    asked = rng.choice(["Which is {}: {} or {}?", "Tell me which is {}: {} or {}."])
    return _problem(
        asked.format(order.more, *things), f"{upper} is {order.more} than {lower}.".capitalize()
    )


def _closed_question(split: Split, rng: random.Random) -> Problem:
    name, other = draw_pair(NAMES, NAMES, split, rng)
    job, other_job = rng.sample(facts.JOBS, 2)
    place, other_place = rng.sample(facts.PLACES, 2)
    text = f"{name} is {job} and lives {place}. {other} is {other_job} and lives {other_place}."
    question, answer = rng.choice(
        [
            (f"Where does {name} live?", f"{name} lives {place}."),
            (f"What does {name} do for a living?", f"{name} is {job}."),
            (f"Where does {other} live?", f"{other} lives {other_place}."),
            (f"What does {other} do for a living?", f"{other} is {other_job}."),
        ]
    )
    return _problem(question, answer, text)


@dataclass(frozen=True)
class Code:
    """CodeAlpaca: a function of one line, or a script for the list that comes with it."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a task; its first two numbers belong to `split`."""
        a, b = draw_pair(NUMBERS, NUMBERS, split, rng)
        if rng.random() < 0.5:
            task, formula = rng.choice(list(FUNCTIONS.items()))
            return _problem(
                f"Write a Python function that {task.format(a=a, b=b)}.",
                f"def calculate(x):\n    return {formula.format(a=a, b=b)}",
            )
        task, expression = rng.choice(list(SCRIPTS.items()))
        given = f"numbers = [{a}, {b}, {rng.choice(NUMBERS)}]"
        script = f"{given}\nprint({expression})"
        return _problem(f"Write a Python script that {task} and prints the result.", script, given)


@dataclass(frozen=True)
class Explanation:
    """WebGPT: what the difference between two things is."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; no two things are set side by side in both splits."""
        x, y = draw_pair(list(facts.DEFINITIONS), list(facts.DEFINITIONS), split, rng)
        return _problem(
            rng.choice(DIFFERENCES).format(x, y), f"{facts.DEFINITIONS[x]} {facts.DEFINITIONS[y]}"
        )


def _problem(instruction: str, output: str, context: str = "") -> Problem:
    return Problem(instruction, worked=output, answer=output, context=context)
