"""Likelihoods of options beside answers, apart from them, and as full texts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.planning.plan import plan
from harness.planning.request import Request
from harness.worker import rows
from harness.worker.decoding.answers import Answering
from harness.worker.decoding.likelihood import likelihoods
from harness.worker.encode import Example, pad_token, prompt_ids
from harness.worker.journal import Journal
from harness.worker.model import adapted, load
from results.runfolder import partial
from results.runfolder.folder import RunFolder
from results.runfolder.values import OptionLikelihoods, PartialAnswer, PartialLikelihood
from tasks.boolq import benchmark
from tasks.contract import Row

NAME = "boolq"

Make = Callable[..., tuple[Answering, list[Row]]]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Make a model at its start, with what its evaluation needs, and its questions."""
    journal = Journal(Path(tmp_path_factory.mktemp("run"), "events.jsonl"))

    def made(method: str = "base", *settings: str) -> tuple[Answering, list[Row]]:
        asked = ["protocol.max_new_tokens=4", *settings]
        (planned,) = plan(Request(methods=method, tasks=NAME, limit=12, settings=asked))
        tokenizer, base = load(planned)
        folder = RunFolder(tmp_path_factory.mktemp("run"))
        answering = Answering(planned, adapted(planned, base, None), tokenizer, journal, folder)
        return answering, list(rows.load(planned).tests[NAME])

    with journal:
        yield made


def answered(answering: Answering, asked: list[Row], weighed: list[str]) -> Any:
    ((_, *found),) = answering.generations({NAME: asked}, [], weighed)
    return found


def close(found: list[OptionLikelihoods], expected: list[OptionLikelihoods]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.id == other.id
        assert one.options == pytest.approx(other.options, rel=1e-5)


def as_texts(answering: Answering, asked: list[Row]) -> list[OptionLikelihoods]:
    """Score each option as a text with its prompt, one at a time."""
    tokenizer, protocol = answering.tokenizer, answering.planned.spec.protocol
    assert benchmark.options is not None

    def scored(prompt: list[int], option: str) -> float:
        ids = tokenizer(option, add_special_tokens=False)["input_ids"]
        text = Example([*prompt, *ids], len(prompt))
        pad = pad_token(tokenizer)
        ((one,),) = (found.values() for found in likelihoods(answering.model, [text], pad, 1))
        return -one.answer

    return [
        OptionLikelihoods(
            id=row.id,
            options={gold: scored(prompt, text) for gold, text in benchmark.options(row).items()},
        )
        for row, prompt in zip(asked, prompt_ids(asked, tokenizer, protocol), strict=True)
    ]


def test_options_are_scored_alike_beside_answers_apart_from_them_and_as_texts(make: Make) -> None:
    answering, asked = make()
    _, beside = answered(answering, asked, [NAME])
    close(beside, as_texts(answering, asked))
    close(answering.options(NAME, asked), as_texts(answering, asked))


def test_answers_are_the_same_with_options_beside_them(make: Make) -> None:
    answering, asked = make()
    with_options, _ = answered(answering, asked, [NAME])
    answering, _ = make()  # where nothing is kept of the first answers
    without, none = answered(answering, asked, [])
    assert with_options == without
    assert none == []


@pytest.mark.parametrize(
    ("method", "settings"),
    [("cascade:prefix-pooling[K_dct=200,K_wav=100,r=8]", []), ("base", ["generate.slots=false"])],
)
def test_where_a_method_or_the_plan_takes_no_branches_beside_answers_options_follow_them(
    method: str, settings: list[str], make: Make
) -> None:
    answering, asked = make(method, *settings)
    _, beside = answered(answering, asked, [NAME])
    assert beside == []
    close(answering.options(NAME, asked), as_texts(answering, asked))


def drawn(answering: Answering, asked: list[Row]) -> tuple[Any, list[OptionLikelihoods]]:
    return answered(answering, asked, [NAME])[0], answering.options(NAME, asked)


def test_a_method_that_draws_noise_answers_alike_wherever_an_earlier_attempt_stopped(
    make: Make, tmp_path: Path
) -> None:
    answering, asked = make("hycam:code", "generate.batch_size=5")
    with torch.no_grad():
        for one in answering.model.parameters():
            one.add_(one.requires_grad * 0.1 * torch.randn_like(one))
    answers, options = drawn(answering, asked)
    torch.manual_seed(1)  # as another attempt finds it
    cut = replace(answering, folder=RunFolder(tmp_path))
    with partial.answers(tmp_path, NAME) as kept:
        kept.append(
            PartialAnswer(id=one.id, tokens=(), ended=True, options={}) for one in answers[:7]
        )
    with partial.likelihoods(tmp_path, NAME, PartialLikelihood) as weighed:
        weighed.append(
            PartialLikelihood(place=n, answer=0.0, answer_tokens=1, text=0.0, text_tokens=2)
            for n in range(9)
        )
    assert drawn(cut, asked) == (answers, options)


def test_answers_of_an_earlier_attempt_without_options_leave_these_for_later(make: Make) -> None:
    answering, asked = make()
    whole, _ = answered(answering, asked, [])
    again, beside = answered(answering, asked, [NAME])
    assert (again, beside) == (whole, [])
    close(answering.options(NAME, asked), as_texts(answering, asked))
