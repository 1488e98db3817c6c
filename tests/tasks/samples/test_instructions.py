"""The samples of instructions and dialogues: every answer is worked out again from the question."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib import import_module
from itertools import pairwise
from random import Random
from typing import Literal

import pytest

from tasks import prompts
from tasks.form import Form, Problem
from tasks.samples import facts

# Things of both sides of each comparison, from encyclopaedias: see also `test_choices.py`.
RISING = ("feather", "egg", "brick", "piano", "elephant")

LISTS: dict[str, Callable[[list[int]], object]] = {
    "sorts": sorted,
    "reverses": lambda numbers: [numbers[2], numbers[1], numbers[0]],
    "finds the largest": lambda numbers: sorted(numbers)[2],
    "adds up": lambda numbers: numbers[0] + numbers[1] + numbers[2],
}


def drawn(name: str, split: Literal["train", "test"] = "test") -> Iterator[Problem]:
    """Draw 100 problems of a benchmark's sample form."""
    form: Form = import_module(f"tasks.{name}").benchmark.sample[0][0]
    rng = Random(name)
    return (form.draw(split, rng) for _ in range(100))


def asked(name: str, start: str) -> list[Problem]:
    found = [problem for problem in drawn(name) if problem.question.startswith(start)]
    assert len(found) > 10
    return found


@pytest.mark.parametrize(
    "name", ["auto_cot", "icliniq", "dolly", "codealpaca", "webgpt", "convai2"]
)
def test_the_worked_answer_is_the_gold_answer_and_no_text_is_in_both_splits(name: str) -> None:
    train, test = list(drawn(name, "train")), list(drawn(name))
    assert all(problem.worked == problem.answer for problem in train + test)
    texts = {(problem.question, problem.context) for problem in train}
    assert not texts & {(problem.question, problem.context) for problem in test}


def test_steps_of_auto_cot_follow_from_the_question_and_each_other() -> None:
    for problem in drawn("auto_cot"):
        known = set(re.findall(r"\d+", problem.question))
        first, *steps, last = problem.worked.split("\n")
        assert first == "Let's think step by step."
        for step in steps:
            left, sign, right, said = re.findall(r"^(\d+) ([-+*/]) (\d+) = (\d+)\.$", step)[0]
            assert {left, right} <= known
            x, y = int(left), int(right)
            inverse = {"+": int(said) - y == x, "-": int(said) + y == x, "*": int(said) == x * y}
            assert inverse.get(sign, int(said) * y == x)
            known.add(said)
        assert last == f"Therefore, the answer is {said}."


def test_advice_is_that_for_the_complaint_and_names_a_doctor_at_once_from_a_week_on() -> None:
    for problem in drawn("icliniq"):
        complaint, days = re.findall(r"have had (.*) for (\d+) days", problem.question)[0]
        assert facts.COMPLAINTS[complaint] in problem.worked
        assert ("please see a doctor too" in problem.worked) == (int(days) >= 7)
        assert ("if it is not better" in problem.worked.lower()) == (int(days) < 7)


def test_the_odd_one_out_alone_is_not_of_the_class() -> None:
    for problem in asked("dolly", "Which of these is not"):
        kind, words = re.findall(r"is not (.*): (.*)\?", problem.question)[0]
        (odd,) = set(words.split(", ")) - set(facts.CLASSES[kind])
        (other,) = [other for other, things in facts.CLASSES.items() if odd in things]
        assert problem.worked == f"{odd.capitalize()} is not {kind}, but {other}."


def test_comparisons_of_dolly_keep_to_the_weights() -> None:
    compared = 0
    for problem in drawn("dolly"):
        found = re.fullmatch(r"An? (\w+) is heavier than an? (\w+)\.", problem.worked)
        things = [thing for thing in found.groups() if thing in RISING] if found else []
        if len(things) == 2:
            compared += 1
            assert RISING.index(things[0]) > RISING.index(things[1])
    assert compared > 0


def test_a_question_about_a_text_is_answered_by_the_text() -> None:
    with_text = [problem for problem in drawn("dolly") if problem.context]
    assert len(with_text) > 10
    for problem in with_text:
        (name,) = re.findall(r"does (\w+)", problem.question)
        (sentence,) = [s for s in problem.context.split(". ") if s.startswith(name)]
        words = problem.worked.rstrip(".").removeprefix(f"{name} ")
        assert words in sentence
        assert problem.worked.startswith(name)
        assert ("lives" in words) == ("live?" in problem.question)


def test_functions_of_codealpaca_compute_what_is_asked() -> None:
    for problem in asked("codealpaca", "Write a Python function"):
        scope: dict[str, Callable[[int], int]] = {}
        exec(problem.worked, scope)
        result = 1000
        for verb, number in re.findall(
            r"(multiplies|adds|subtracts)[a-z ]*? (\d+)", problem.question
        ):
            n = int(number)
            result = {"multiplies": result * n, "adds": result + n, "subtracts": result - n}[verb]
        assert scope["calculate"](1000) == result


def test_scripts_of_codealpaca_print_what_is_asked() -> None:
    for problem in asked("codealpaca", "Write a Python script"):
        assert problem.worked.startswith(f"{problem.context}\n")
        numbers = [int(number) for number in re.findall(r"\d+", problem.context)]
        (expected,) = [of(numbers) for task, of in LISTS.items() if f" {task} " in problem.question]
        with redirect_stdout(io.StringIO()) as printed:
            exec(problem.worked, {})
        assert printed.getvalue() == f"{expected}\n"


def test_an_explanation_defines_both_things_in_the_order_of_the_question() -> None:
    for problem in drawn("webgpt"):
        named = [x for x in facts.DEFINITIONS if re.search(rf"\b{x}\b", problem.question)]
        x, y = sorted(named, key=lambda thing: problem.question.index(f" {thing}"))
        said = problem.worked.split(". ")
        assert [s.startswith(t.capitalize()) for s, t in zip(said, (x, y), strict=True)] == [
            True
        ] * 2


def test_a_reply_tells_a_fact_of_the_persona_that_was_asked_for() -> None:
    subjects = {"living": "work as", "where": "live", "pets": "have", "drink": "drink",
                "fun": "hobby", "color": "color"}  # fmt: skip
    for problem in drawn("convai2"):
        *_, question, _, _ = problem.question.split("\n")
        (subject,) = [fact for word, fact in subjects.items() if word in question.split()]
        (fact,) = re.findall(rf"- (.*\b{subject}\b.*)\.", problem.question)
        told = [
            value
            for values in (facts.JOBS, facts.PLACES, *others())
            for value in values
            if fact.endswith(f" {value}") and re.search(rf"\b{value}\b", problem.worked)
        ]
        assert len(told) == 1


def others() -> list[tuple[str, ...]]:
    return list(import_module("tasks.samples.chats").OTHERS.values())


def test_speakers_take_turns_and_the_other_one_speaks_last() -> None:
    for problem in drawn("convai2"):
        speakers = re.findall(r"^(They|You): ", problem.question, re.MULTILINE)
        assert speakers[-1] == "They"
        assert all(before != after for before, after in pairwise(speakers))


def test_no_persona_of_a_test_dialogue_has_job_and_place_of_a_training_one() -> None:
    train, test = (
        {
            tuple(
                re.findall(
                    r"^- i (?:work as|live) (.*)\.$",
                    "\n".join(sorted(p.question.split("\n"))),
                    re.M,
                )
            )
            for p in drawn("convai2", split)
        }
        for split in ("train", "test")
    )
    assert all(len(pair) == 2 for pair in train | test)
    assert not train & test


def test_the_one_who_opens_a_dialogue_is_told_so() -> None:
    assert prompts.dialogue(["i bake bread."], []) == (
        "Your persona:\n- i bake bread.\n\nNobody has spoken yet.\n\nReply as You."
    )
