"""Questions of common sense with options, in the wording of LLM-Adapters' files.

>>> print(Tool().draw("test", random.Random(1)).question)
Please choose the correct solution to the question: How do I eat soup?
<BLANKLINE>
Solution1: Use a spoon.
<BLANKLINE>
Solution2: Use a needle.
<BLANKLINE>
Answer format: solution1/solution2
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.form import Problem, Split, draw_pair, split_of
from tasks.samples import facts
from tasks.samples.stories import NAMES


@dataclass(frozen=True)
class Wording:
    """How a published set puts a question with options.

    Attributes:
        task: What is to be chosen.
        label: What an option is called.
        between: What stands between two options.
        after: What stands after the last option.
    """

    task: str
    label: str
    between: str = " "
    after: str = "\n\n"

    def problem(
        self, question: str, right: str, wrong: Sequence[str], rng: random.Random
    ) -> Problem:
        """Put a question with its options in random order."""
        options = [right, *wrong]
        rng.shuffle(options)
        names = [f"{self.label}{number}" for number in range(1, len(options) + 1)]
        listed = self.between.join(
            f"{name.capitalize()}: {option}" for name, option in zip(names, options, strict=True)
        )
        text = (
            f"Please choose the correct {self.task}: {question}\n\n"
            f"{listed}{self.after}Answer format: {'/'.join(names)}"
        )
        return answered(text, names[options.index(right)])


ANSWER = Wording("answer to the question", "answer")
SOLUTION = Wording("solution to the question", "solution", between="\n\n")
ENDING = Wording("ending to complete the given sentence", "ending")
OPTION = Wording("answer to fill in the blank to complete the given sentence", "option", after=" ")


def answered(question: str, answer: str) -> Problem:
    """Answer a question as the training set does."""
    return Problem(question, f"the correct answer is {answer}", answer)


@dataclass(frozen=True)
class Comparison:
    """BoolQ: whether one thing is heavier, bigger, faster or longer than another."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; no two things are compared in both splits."""
        order = rng.choice(facts.ORDERS)
        x, y = draw_pair(order.things, order.things, split, rng)
        word, sign = rng.choice([(order.more, 1), (order.less, -1)])
        holds = sign * (order.things.index(x) - order.things.index(y)) > 0
        asked = rng.choice(["is {x} {word} than {y}?", "is it true that {x} is {word} than {y}?"])
        return answered(
            "Please answer the following question with true or false, question: "
            f"{asked.format(x=x, y=y, word=word)}\n\nAnswer format: true/false",
            "true" if holds else "false",
        )


@dataclass(frozen=True)
class Tool:
    """PIQA: two solutions, of which one uses the fitting tool."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; no pair of tools is in both splits."""
        tools = list(facts.TOOLS)
        right, wrong = draw_pair(tools, tools, split, rng)
        asked = rng.choice(["How do I {}?", "What helps me to {}?"])
        question = asked.format(facts.TOOLS[right])
        return SOLUTION.problem(question, f"Use {right}.", [f"Use {wrong}."], rng)


@dataclass(frozen=True)
class Feeling:
    """SIQA: how somebody feels to whom something has happened."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; nothing happens to the same person in both splits."""
        feeling = rng.choice(list(facts.FEELINGS))
        name, event = draw_pair(NAMES, facts.FEELINGS[feeling], split, rng)
        asked = rng.choice(["How would {} feel afterwards?", "How would you describe {}?"])
        others = [other for other in facts.FEELINGS if other != feeling]
        question = f"{name} {event}. {asked.format(name)}"
        return ANSWER.problem(question, feeling, rng.sample(others, 2), rng)


@dataclass(frozen=True)
class Extreme:
    """ARC-Challenge: which thing is the heaviest, biggest, fastest or longest of several."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; the two things between which it is decided are of one split."""
        while True:
            order = rng.choice(facts.ORDERS)
            word, last = rng.choice([(order.most, True), (order.least, False)])
            chosen = rng.sample(order.things, number_of_options(rng))
            right, second, *others = sorted(chosen, key=order.things.index, reverse=last)
            if split_of((right, second)) == split:
                asked = rng.choice(["Which of these is the {}?", "Which one is the {}?"])
                return ANSWER.problem(asked.format(word), right, [second, *others], rng)


@dataclass(frozen=True)
class Membership:
    """ARC-Easy and OBQA: which thing belongs to a class or has a property.

    Attributes:
        kind: The table in `facts.py` to draw from.
        asked: How the class or the property, `{}`, is asked for.
        four: Whether there are always four options; else there are sometimes three or five.
    """

    kind: Literal["CLASSES", "PROPERTIES"]
    asked: tuple[str, ...]
    four: bool = False

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; no pair of a right and a wrong option is in both splits."""
        table: dict[str, tuple[str, ...]] = getattr(facts, self.kind)
        heading = rng.choice(list(table))
        right = rng.choice(table[heading])
        wrong = [
            thing
            for other, things in table.items()
            for thing in things
            if other != heading and split_of((right, thing)) == split
        ]
        number = 4 if self.four else number_of_options(rng)
        question = rng.choice(self.asked).format(heading)
        return ANSWER.problem(question, right, rng.sample(wrong, number - 1), rng)


def number_of_options(rng: random.Random) -> int:
    """Draw the number of options of an ARC question: mostly four."""
    return rng.choice((3, *9 * (4,), 5))


@dataclass(frozen=True)
class Continuation:
    """HellaSwag: how somebody who has begun to do something goes on."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; nobody does the same thing in both splits."""
        name, activity = draw_pair(NAMES, list(facts.ACTIVITIES), split, rng)
        beginnings, endings = facts.ACTIVITIES[activity]
        others = rng.sample([other for other in facts.ACTIVITIES if other != activity], 3)
        wrong = [f"{rng.choice(facts.ACTIVITIES[other][1])}." for other in others]
        question = f"{activity}: {name} {rng.choice(beginnings)}. Then {name}"
        return ENDING.problem(question, f"{rng.choice(endings)}.", wrong, rng)


@dataclass(frozen=True)
class Blank:
    """WinoGrande: who or what a gap stands for, which one word of the sentence decides."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a question; no two people and no two things meet in both splits."""
        if rng.random() < 0.5:
            twins = rng.choice(facts.PEOPLE_TWINS)
            a, b = draw_pair(NAMES, NAMES, split, rng)
        else:
            twins = rng.choice(facts.THING_TWINS)
            a, b = draw_pair(facts.CONTENTS, facts.CONTAINERS, split, rng)
        why, right, wrong = rng.choice([(twins.a, a, b), (twins.b, b, a)])
        return OPTION.problem(twins.text.format(a=a, b=b, why=why), right, [wrong], rng)
