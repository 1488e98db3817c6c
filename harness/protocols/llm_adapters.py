"""The code of LLM-Adapters, commit 8166572, to the last space.

Its templates are indented texts that keep their indentation, and those of training and evaluation
differ. It asks one prompt at a time, or several without an attention mask; here prompts are batched
with one, which gives the same answers as one at a time in float32; for bfloat16 set
`generate.batch_size=1`. Its optimizer settings are no part of a protocol: see `--set train.`.
"""

from typing import Any

from harness.spec.protocol import Protocol

COMMONSENSE_ANSWER = 32
"""New tokens in `commonsense_evaluate.py` of LLM-Adapters."""

_TASK = "Below is an instruction that describes a task"
_PAIRED = ", paired with an input that provides further context"
_WRITE = ". Write a response that appropriately completes the request."
_INDENT = 16 * " "
_SECTIONS = {
    name: f"{_INDENT}### {name}:\n{_INDENT}{content}"
    for name, content in {
        "Instruction": "{instruction}",
        "Input": "{input}",
        "Response": "",
    }.items()
}


def _indented(head: str, between: str, *names: str) -> str:
    return f"{head}\n\n{between.join(_SECTIONS[name] for name in names)}"


_LINE = f"\n{_INDENT}\n"
_BLANK = "\n\n"

protocol = Protocol(
    id="llm-adapters",
    version=1,
    training_prompt=_indented(f"{_TASK}{_WRITE}  ", _LINE, "Instruction", "Response"),
    training_prompt_with_input=_indented(
        f"{_TASK}{_PAIRED}{_WRITE} ", _LINE, "Instruction", "Input", "Response"
    ),
    prompt=_indented(f"{_TASK}{_WRITE} ", _BLANK, "Instruction", "Response"),
    prompt_with_input=_indented(
        f"{_TASK}{_PAIRED}{_WRITE}", _BLANK, "Instruction", "Input", "Response"
    ),
    strip=False,
    joint=True,
    loss="all",
    max_length=256,
    max_prompt_length=2048,
    beams=4,
    max_new_tokens=256,
    stop="### Response:",
    extractor="llm-adapters",
)


def of_group(name: str, max_length: int | None) -> dict[str, Any]:
    """Shorten the answers of commonsense, as that repository's script for it does."""
    return {"max_new_tokens": COMMONSENSE_ANSWER} if name == "commonsense" else {}
