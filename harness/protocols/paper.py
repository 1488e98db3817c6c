"""The clean Alpaca template of the DyPAM, RoSA and CASCADE papers; greedy, 256 new tokens."""

from typing import Any

from harness.spec.protocol import Protocol

ALPACA = (
    "Below is an instruction that describes a task. "
    "Write a response that appropriately completes the request.\n\n"
    "### Instruction:\n{instruction}\n\n### Response:\n"
)
ALPACA_WITH_INPUT = (
    "Below is an instruction that describes a task, paired with an input that provides further "
    "context. Write a response that appropriately completes the request.\n\n"
    "### Instruction:\n{instruction}\n\n### Input:\n{input}\n\n### Response:\n"
)

protocol = Protocol(
    id="paper",
    version=2,
    training_prompt=ALPACA,
    training_prompt_with_input=ALPACA_WITH_INPUT,
    prompt=ALPACA,
    prompt_with_input=ALPACA_WITH_INPUT,
    strip=True,
    joint=False,
    loss="all",
    max_length=2048,
    max_prompt_length=2048,
    beams=1,
    max_new_tokens=256,
    extractor="llm-adapters",
)


def of_group(name: str, max_length: int | None) -> dict[str, Any]:
    """Take the length of training rows that the papers of a group state, if they state one."""
    return {"max_length": max_length} if max_length else {}
