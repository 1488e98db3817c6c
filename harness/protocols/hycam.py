"""HyCAM's released code: nothing between `### Response:` and the output, loss over all tokens.

It has no code that generates; greedy decoding of 256 tokens is our choice. Its third template, for
rows that hold a whole dialogue, is left out: it puts the answer into the prompt.
"""

from typing import Any

from harness.protocols import paper
from harness.spec.protocol import Protocol

PROMPT = paper.ALPACA.rstrip("\n")
PROMPT_WITH_INPUT = paper.ALPACA_WITH_INPUT.rstrip("\n")

protocol = Protocol(
    id="hycam",
    version=1,
    training_prompt=PROMPT,
    training_prompt_with_input=PROMPT_WITH_INPUT,
    prompt=PROMPT,
    prompt_with_input=PROMPT_WITH_INPUT,
    strip=False,
    joint=True,
    loss="all",
    max_length=1200,
    max_prompt_length=2048,
    beams=1,
    max_new_tokens=256,
    extractor="llm-adapters",
)


def of_group(name: str, max_length: int | None) -> dict[str, Any]:
    """Change nothing: one setting for all groups."""
    return {}
