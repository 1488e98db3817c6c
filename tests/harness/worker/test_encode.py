"""Rows in tokens. The tokenizer here has a token for each character, so that tokens are counted."""

import string
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, processors
from transformers import PreTrainedTokenizerFast

from harness.protocols import paper
from harness.spec.protocol import Protocol
from harness.worker.encode import PIECE, encoded, examples, prompt_ids
from tasks.contract import Row

START, END = "<s>", "</s>"
FIRST = 2  # The characters come after start and end token.

ROW = Row(0, "ab", "cde", "")
SHORT = paper.protocol.model_copy(
    update={
        "training_prompt": "[{instruction}]",
        "prompt": "[{instruction}]",
        "joint": False,
    }
)
"""A prompt of two characters more than its instruction."""


def characters(text: str) -> list[int]:
    return [FIRST + string.printable.index(character) for character in text]


@pytest.fixture(scope="module")
def tokenizer() -> Callable[..., PreTrainedTokenizerFast]:
    def make(template: str = "$A", *merges: tuple[str, str]) -> PreTrainedTokenizerFast:
        vocabulary = {START: 0, END: 1}
        vocabulary |= {one: FIRST + place for place, one in enumerate(string.printable)}
        vocabulary |= {"".join(pair): len(vocabulary) + n for n, pair in enumerate(merges)}
        model = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
        model.add_special_tokens([AddedToken(START), AddedToken(END)])
        model.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[(START, 0), (END, 1)]
        )
        model.decoder = decoders.Fuse()
        return PreTrainedTokenizerFast(tokenizer_object=model, bos_token=START, eos_token=END)

    return make


@pytest.mark.parametrize(
    ("template", "head"),
    [("$A", []), (f"{START} $A", [0]), (f"$A {END}", []), (f"{START} $A {END}", [0])],
)
@pytest.mark.parametrize("joint", [False, True])
def test_the_start_token_is_the_tokenizers_own_and_the_only_end_token_the_last(
    template: str, head: list[int], joint: bool, tokenizer: Callable[..., Any]
) -> None:
    protocol = SHORT.model_copy(update={"joint": joint})
    prompt = [*head, *characters("[ab]")]
    assert prompt_ids([ROW], tokenizer(template), protocol) == [prompt]
    (taught,) = encoded([ROW], tokenizer(template), protocol)
    assert [*taught.ids] == [*prompt, *characters("cde"), 1]
    assert taught.prompt_tokens == len(prompt)


def test_apart_training_sees_the_tokens_that_generation_starts_from_and_joint_those_of_the_text(
    tokenizer: Callable[..., Any],
) -> None:
    merging = tokenizer("$A", ("]", "c"))  # a token across the border of prompt and output
    apart, joint = (
        encoded([ROW], merging, SHORT.model_copy(update={"joint": how}))[0] for how in (False, True)
    )
    prompt = prompt_ids([ROW], merging, SHORT)[0]
    assert [*apart.ids] == [*prompt, *characters("cde"), 1]
    assert [*joint.ids] == [*characters("[ab"), merging.vocab["]c"], *characters("de"), 1]
    assert apart.prompt_tokens == joint.prompt_tokens == len(prompt)


@pytest.mark.parametrize(
    ("max_length", "ids", "counts"),
    [
        (9, 8, {"rows": 1, "cut": 0, "dropped": 0}),
        (8, 8, {"rows": 1, "cut": 0, "dropped": 0}),
        (7, 7, {"rows": 1, "cut": 1, "dropped": 0}),
        (5, 5, {"rows": 1, "cut": 1, "dropped": 0}),
        (4, None, {"rows": 0, "cut": 0, "dropped": 1}),
        (3, None, {"rows": 0, "cut": 0, "dropped": 1}),
    ],
)
def test_a_row_cut_before_its_answer_is_dropped_and_one_cut_within_it_is_counted(
    max_length: int, ids: int | None, counts: dict[str, int], tokenizer: Callable[..., Any]
) -> None:
    # 4 tokens of the prompt, 3 of the answer, the end token.
    whole = [*characters("[ab]cde"), 1]
    found, counted = examples([ROW], tokenizer(), SHORT, max_length)
    assert counted == counts
    assert [[*one.ids] for one in found] == ([] if ids is None else [whole[:ids]])


def test_of_many_rows_each_is_kept_cut_or_dropped_on_its_own(tokenizer: Callable[..., Any]) -> None:
    rows = [Row(n, "a" * n, "b" * 3, "") for n in range(1, 8)]  # prompts of 3 to 9, rows of 7 to 13
    found, counted = examples(rows, tokenizer(), SHORT, 8)
    assert counted == {"rows": 5, "cut": 3, "dropped": 2}
    assert [len(one.ids) for one in found] == [7, 8, 8, 8, 8]
    assert [one.prompt_tokens for one in found] == [3, 4, 5, 6, 7]


def test_no_rows_are_no_tokens(tokenizer: Callable[..., Any]) -> None:
    assert prompt_ids([], tokenizer(), SHORT) == []


def test_training_and_evaluation_each_have_their_own_prompt(tokenizer: Callable[..., Any]) -> None:
    protocol: Protocol = SHORT.model_copy(update={"prompt": "({instruction})"})
    assert prompt_ids([ROW], tokenizer(), protocol) == [characters("(ab)")]
    (taught,) = encoded([ROW], tokenizer(), protocol)
    assert [*taught.ids[: taught.prompt_tokens]] == characters("[ab]")


def test_rows_are_encoded_a_piece_at_a_time_and_kept_in_four_bytes_a_token(
    tokenizer: Callable[..., Any],
) -> None:
    rows = [Row(n, "ab" * (n % 5), "cd", "") for n in range(2 * PIECE + 1)]
    found = encoded(rows, tokenizer(), SHORT)
    alone = [encoded([row], tokenizer(), SHORT)[0] for row in rows[:: PIECE // 4]]
    assert found[:: PIECE // 4] == alone
    assert len(found) == len(rows)
    assert {memoryview(one.ids).itemsize for one in found} == {4}
