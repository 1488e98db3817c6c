"""The tokenizer's own chat template around the bare question; loss on the answer, greedy decoding.

For instruction-tuned backbones. All of it is our choice: no paper here trains so. A system message
is `--set protocol.system=TEXT`. The answer ends with the end token of the tokenizer.
"""

from typing import Any

from harness.spec.protocol import Protocol

QUESTION = "{instruction}"
QUESTION_WITH_INPUT = "{instruction}\n\n{input}"

protocol = Protocol(
    id="chat",
    version=1,
    training_prompt=QUESTION,
    training_prompt_with_input=QUESTION_WITH_INPUT,
    prompt=QUESTION,
    prompt_with_input=QUESTION_WITH_INPUT,
    strip=True,
    joint=False,
    loss="answer",
    max_length=2048,
    max_prompt_length=2048,
    beams=1,
    max_new_tokens=256,
    extractor="strict",
    chat=True,
)


def of_group(name: str, max_length: int | None) -> dict[str, Any]:
    """Take the length of training rows that the papers of a group state, if they state one."""
    return {"max_length": max_length} if max_length else {}
