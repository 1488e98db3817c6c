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
from tasks.contract import Benchmark, Row
from tasks.data.sets import DataSet
from tasks.form import Split
from tasks.groups.commonsense import group as commonsense
from tasks.groups.math import group as mathematics
from tasks.samples.problems import Arithmetic, word_problem

OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
NUMBER = r"-?\d+(?:\.\d+)?"
STEP = re.compile(rf"({NUMBER}) ([-+*/]) ({NUMBER}) = ({NUMBER})\. ")
FORMS = {
    form
    for name in mathematics.benchmarks
    for form, _ in import_module(f"tasks.{name}").benchmark.sample
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
    """Whether every extractor finds the gold answer in the worked one."""
    found = [extract(row.output) for extract in benchmark.extractors.values()]
    return bool(found) and all(benchmark.judge(answer, row.answer) for answer in found)


of_mathematics = pytest.mark.parametrize("name", mathematics.benchmarks, indirect=True)
with_one_answer = pytest.mark.parametrize(
    "name", mathematics.benchmarks + commonsense.benchmarks, indirect=True
)


@pytest.mark.parametrize("drawn_set", ["math", "metamath", *mathematics.benchmarks], indirect=True)
def test_every_worked_answer_reaches_the_gold_answer(drawn_set: DataSet) -> None:
    assert all(is_right(row) for row in drawn_set.rows)


@with_one_answer
def test_a_benchmark_accepts_its_own_worked_answers(benchmark: Benchmark, sample: DataSet) -> None:
    assert all(accepts(benchmark, row) for row in sample.rows)


@pytest.mark.parametrize("trained", ["math"], indirect=True)
def test_the_worked_answers_of_the_training_set_are_accepted(training: DataSet) -> None:
    lettered = [row for row in training.rows if row.answer in "ABCDE"]
    assert len(training.rows) > len(lettered) > 0
    assert all(accepts(aqua.benchmark, row) for row in lettered)
    assert all(accepts(gsm8k.benchmark, row) for row in set(training.rows) - set(lettered))


@with_one_answer
def test_no_benchmark_accepts_the_answer_of_the_next_problem(
    benchmark: Benchmark, sample: DataSet
) -> None:
    pairs = zip(sample.rows, sample.rows[1:], strict=False)
    differing = [(row, after) for row, after in pairs if row.answer != after.answer]
    verdicts = {
        benchmark.judge(extract(row.output), after.answer)
        for row, after in differing
        for extract in benchmark.extractors.values()
    }
    assert verdicts == {False}


def example(name: str) -> tuple[str, str]:
    """Read the question and the answer with which a benchmark's file opens."""
    text = import_module(f"tasks.{name}").__doc__ or ""
    found = re.search(r"Question: (.*?)\nAnswer: (.*?)\n\n", text, re.DOTALL)
    assert found
    return found[1], found[2]


@of_mathematics
def test_the_example_that_a_benchmark_opens_with_is_true(name: str, benchmark: Benchmark) -> None:
    question, answer = example(name)
    assert accepts(benchmark, Row(0, question, answer, result(question, answer)))


@pytest.mark.parametrize("name", commonsense.benchmarks, indirect=True)
def test_the_example_that_a_benchmark_opens_with_answers_by_an_option(
    name: str, benchmark: Benchmark
) -> None:
    question, answer = example(name)
    offered = re.findall(r"(\w+\d):", question.lower()) or ["true", "false"]
    stated = answer.removeprefix("the correct answer is ")
    assert stated in offered
    assert accepts(benchmark, Row(0, question, answer, stated))


@pytest.mark.parametrize("split", ["train", "test"])
@settings(max_examples=100)
@given(form=st.sampled_from(sorted(FORMS, key=repr)), seed=st.integers(0, 2**32))
def test_every_problem_that_can_be_drawn_is_solved_rightly(
    split: Split, form: Arithmetic, seed: int
) -> None:
    problem = word_problem(form, split, Random(seed))
    assert result(problem.question, problem.worked) == problem.answer
    assert word_problem(form, split, Random(seed)) == problem
