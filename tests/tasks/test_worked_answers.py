"""Worked answers are true: every step is worked out again from the text, with fractions."""

import operator
import re
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks import aqua, gsm8k
from tasks.base import Benchmark, Row
from tasks.data.sets import DataSet
from tasks.groups.math import group
from tasks.samples.problems import Form, Split, draw

OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
NUMBER = r"-?\d+(?:\.\d+)?"
STEP = re.compile(rf"({NUMBER}) ([-+*/]) ({NUMBER}) = ({NUMBER})\. ")
FORMS = {
    form for name in group.benchmarks for form, _ in import_module(f"tasks.{name}").benchmark.sample
}


def result(problem: str, worked: str) -> str:
    """Follow a worked answer to its result, checking each step; a letter where there are options.

    A step may use what the problem gives, the 2 of "twice" and "half", and earlier results.
    """
    question, _, options = problem.partition("Answer Choices:")
    known = {Fraction(number) for number in re.findall(NUMBER, question)}
    known |= {Fraction(2)} if re.search("twice|half", question) else set()
    steps = STEP.findall(worked)
    for left, sign, right, said in steps:
        assert {Fraction(left), Fraction(right)} <= known
        assert OPERATIONS[sign](Fraction(left), Fraction(right)) == Fraction(said)
        known.add(Fraction(said))
    said = steps[-1][3]
    stated = next((k for k, v in re.findall(r"\(([A-E])\) (\S+)", options) if v == said), said)
    assert STEP.sub("", worked) == f"The answer is {stated}."
    return str(stated)


def is_right(row: Row) -> bool:
    """Whether the result of the worked answer is the gold answer."""
    reached = result(row.instruction, row.output)
    return reached == row.answer or Fraction(reached) == Fraction(row.answer)


def accepts(benchmark: Benchmark, row: Row) -> bool:
    return benchmark.judge(benchmark.extractors["llm-adapters"](row.output), row.answer)


def test_every_worked_answer_reaches_the_gold_answer(drawn_set: DataSet) -> None:
    assert all(is_right(row) for row in drawn_set.rows)


def test_a_benchmark_accepts_its_own_worked_answers(benchmark: Benchmark, sample: DataSet) -> None:
    assert all(accepts(benchmark, row) for row in sample.rows)


def test_the_worked_answers_of_the_training_set_are_accepted(training: DataSet) -> None:
    lettered = [row for row in training.rows if row.answer in "ABCDE"]
    assert len(training.rows) > len(lettered) > 0
    assert all(accepts(aqua.benchmark, row) for row in lettered)
    assert all(accepts(gsm8k.benchmark, row) for row in set(training.rows) - set(lettered))


def test_no_benchmark_accepts_the_answer_of_the_next_problem(
    benchmark: Benchmark, sample: DataSet
) -> None:
    pairs = zip(sample.rows, sample.rows[1:], strict=False)
    differing = [(row, after) for row, after in pairs if row.answer != after.answer]
    verdicts = {
        benchmark.judge(benchmark.extractors["llm-adapters"](row.output), after.answer)
        for row, after in differing
    }
    assert verdicts == {False}


def test_the_example_that_a_benchmark_opens_with_is_true(name: str, benchmark: Benchmark) -> None:
    text = import_module(f"tasks.{name}").__doc__ or ""
    found = re.search(r"Question: (.*?)\nAnswer: (.*?)\n\n", text, re.DOTALL)
    assert found
    question, answer = found.groups()
    assert accepts(benchmark, Row(0, question, answer, result(question, answer)))


@pytest.mark.parametrize("split", ["train", "test"])
@settings(deadline=None, max_examples=100)
@given(form=st.sampled_from(sorted(FORMS, key=repr)), seed=st.integers(0, 2**32))
def test_every_problem_that_can_be_drawn_is_solved_rightly(
    split: Split, form: Form, seed: int
) -> None:
    problem = draw(form, split, Random(seed))
    assert result(problem.question, problem.worked) == problem.answer
    assert draw(form, split, Random(seed)) == problem
