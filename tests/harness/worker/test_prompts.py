"""Prompts as the model sees them: chats by the tokenizer's template, and solved examples before."""

from collections.abc import Sequence
from typing import Any

import pytest
from transformers import AutoTokenizer

from harness.backbones import TINY
from harness.protocols import chat, paper
from harness.spec.protocol import Protocol
from harness.worker.encode import encoded, prompt_ids, prompts
from tasks.contract import Row

TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
ROW = Row(0, " 2 + 3? ", "It is 5.", "5")
WITH_INPUT = Row(1, "Add.", "It is 5.", "5", input="2 and 3")
EXAMPLES = [Row(n, f"{n} + 1?", f" It is {n + 1}.", str(n + 1)) for n in range(20)]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Load the tokenizer of `tiny` with a chat template, and a start token that it puts itself."""
    found: Any = AutoTokenizer.from_pretrained(TINY)
    found.chat_template = TEMPLATE
    return found


def told(**changes: Any) -> Protocol:
    return chat.protocol.model_copy(update=changes)


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        (ROW, "<user>2 + 3?<end><assistant>"),
        (WITH_INPUT, "<user>Add.\n\n2 and 3<end><assistant>"),
    ],
)
def test_a_chat_prompt_is_the_question_in_the_tokenizers_own_template(
    row: Row, prompt: str, tokenizer: Any
) -> None:
    assert prompts([row], tokenizer, chat.protocol) == [prompt]


def test_a_system_message_comes_first(tokenizer: Any) -> None:
    (prompt,) = prompts([ROW], tokenizer, told(system="Be brief."))
    assert prompt == "<system>Be brief.<end><user>2 + 3?<end><assistant>"


def test_training_teaches_the_answer_after_the_very_tokens_that_generation_starts_from(
    tokenizer: Any,
) -> None:
    (asked,), (taught,) = (
        prompt_ids([ROW], tokenizer, told(system="Be brief.")),
        encoded([ROW], tokenizer, told(system="Be brief.")),
    )
    assert [*taught.ids[: taught.prompt_tokens]] == asked
    answer = tokenizer("It is 5.", add_special_tokens=False)["input_ids"]
    assert [*taught.ids[taught.prompt_tokens :]] == [*answer, tokenizer.eos_token_id]
    assert chat.protocol.loss == "answer"


def test_all_special_tokens_of_a_chat_are_those_of_its_template(tokenizer: Any) -> None:
    plain = tokenizer("<user>2 + 3?<end><assistant>", add_special_tokens=False)["input_ids"]
    assert prompt_ids([ROW], tokenizer, chat.protocol) == [plain]


def test_without_a_template_a_chat_fails_in_one_sentence() -> None:
    bare = AutoTokenizer.from_pretrained(TINY)
    with pytest.raises(ValueError, match="has no chat template"):
        prompts([ROW], bare, chat.protocol)


def test_examples_of_a_chat_are_its_past(tokenizer: Any) -> None:
    (prompt,) = prompts([ROW], tokenizer, chat.protocol, EXAMPLES[:2])
    past = "<user>0 + 1?<end><assistant>It is 1.<end><user>1 + 1?<end><assistant>It is 2.<end>"
    assert prompt == f"{past}<user>2 + 3?<end><assistant>"


def test_examples_of_a_text_are_solved_prompts_with_a_blank_line_between(tokenizer: Any) -> None:
    (prompt,) = prompts([ROW], tokenizer, paper.protocol, EXAMPLES[:2])
    first, second, last = (paper.protocol.ask(row) for row in (*EXAMPLES[:2], ROW))
    assert prompt == f"{first}It is 1.\n\n{second}It is 2.\n\n{last}"


def test_training_has_no_examples(tokenizer: Any) -> None:
    shots = paper.protocol.model_copy(update={"shots": 3})
    assert encoded([ROW], tokenizer, shots) == encoded([ROW], tokenizer, paper.protocol)


def drawn(shots: int, seed: int, rows: Sequence[Row] = EXAMPLES) -> list[Row]:
    return told(shots=shots, shots_seed=seed).draw(rows)


def test_examples_are_distinct_training_rows_by_the_seed_of_the_protocol() -> None:
    assert drawn(0, 0) == []
    assert len({row.id for row in drawn(5, 0)}) == 5
    assert set(drawn(5, 0)) <= set(EXAMPLES)
    assert drawn(5, 0) == drawn(5, 0) != drawn(5, 1)
    assert {row.id for row in drawn(20, 0)} == set(range(20))
