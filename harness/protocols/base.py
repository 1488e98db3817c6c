"""How a model is trained to answer, asked and heard: the choices that decide published numbers.

Three protocols are known. `paper` is the default. A field that the user sets makes another
protocol, named after it, such as `paper[loss=answer]`.
"""

from hashlib import sha256
from string import Formatter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from tasks.contract import Row


class Protocol(BaseModel):
    """Everything of an evaluation that is the same for all methods; part of every spec.

    Attributes:
        id: Its name. Runs of different protocols never share a table.
        version: Raised when anything below changes.
        training_prompt: Around `{instruction}` in training; `{input}` too where a row has one.
        training_prompt_with_input: The same for rows with an input.
        prompt: Around `{instruction}` in evaluation.
        prompt_with_input: The same for rows with an input.
        strip: Whether instruction, input and output lose their outer white space.
        bos: The start token is the one that the tokenizer itself puts, if it puts one.
        joint: In training, prompt and output are encoded as one text; else apart, so that training
            sees the very tokens that generation starts from.
        loss: Over `all` tokens of a training row, or over those of the `answer` only.
        max_length: Tokens of a training row; a longer one is cut, one cut before its answer is
            dropped.
        max_prompt_length: Tokens of a prompt in evaluation; longer ones are counted, not cut.
        beams: 1 is greedy decoding.
        max_new_tokens: Decoding ends there or at the end token.
        stop: What follows this text is not part of an answer; empty for none.
        extractor: The one of a benchmark's extractors that gives the headline score.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    version: int
    training_prompt: str
    training_prompt_with_input: str
    prompt: str
    prompt_with_input: str
    strip: bool
    bos: Literal["tokenizer"] = "tokenizer"
    joint: bool
    loss: Literal["all", "answer"]
    max_length: int = Field(ge=16)
    max_prompt_length: int = Field(ge=16)
    beams: int = Field(ge=1)
    max_new_tokens: int = Field(ge=1)
    stop: str = ""
    extractor: str

    @field_validator("training_prompt", "prompt", "training_prompt_with_input", "prompt_with_input")
    @classmethod
    def _has_its_fields(cls, template: str, info: ValidationInfo) -> str:
        expected = (
            {"instruction", "input"} if "with_input" in str(info.field_name) else {"instruction"}
        )
        found = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
        if found != expected:
            listed = " and ".join(f"{{{name}}}" for name in sorted(expected))
            raise ValueError(f"the template must hold {listed} and no other field")
        return template

    def ask(self, row: Row) -> str:
        """Put a row into the template of evaluation."""
        return self._filled(row, self.prompt, self.prompt_with_input)

    def teach(self, row: Row) -> tuple[str, str]:
        """Put a row into the template of training; return prompt and output."""
        prompt = self._filled(row, self.training_prompt, self.training_prompt_with_input)
        return prompt, self._stripped(row.output)

    def heard(self, completion: str) -> str:
        """Cut a completion where its answer ends.

        >>> LLM_ADAPTERS.heard("It is 7. ### Response: 12")
        'It is 7. '
        """
        return completion.split(self.stop, maxsplit=1)[0] if self.stop else completion

    def _filled(self, row: Row, plain: str, with_input: str) -> str:
        instruction, context = self._stripped(row.instruction), self._stripped(row.input)
        template = with_input if context else plain
        return template.format(instruction=instruction, input=context)

    def _stripped(self, text: str) -> str:
        return text.strip() if self.strip else text


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

PAPER = Protocol(
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
"""The clean Alpaca template of the DyPAM, RoSA and CASCADE papers; greedy, 256 new tokens."""

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

LLM_ADAPTERS = Protocol(
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
"""The code of LLM-Adapters, commit 8166572, to the last space.

Its templates are indented texts that keep their indentation, and those of training and evaluation
differ. It asks one prompt at a time, or several without an attention mask; here prompts are batched
with one, which gives the same answers as one at a time in float32; for bfloat16 set
`generate.batch_size=1`. Its optimizer settings are no part of a
protocol: see `--set train.`.
"""

HYCAM = PAPER.model_copy(
    update={
        "id": "hycam",
        "version": 1,
        "training_prompt": ALPACA.rstrip("\n"),
        "training_prompt_with_input": ALPACA_WITH_INPUT.rstrip("\n"),
        "prompt": ALPACA.rstrip("\n"),
        "prompt_with_input": ALPACA_WITH_INPUT.rstrip("\n"),
        "strip": False,
        "joint": True,
        "max_length": 1200,
    }
)
"""HyCAM's released code: nothing between `### Response:` and the output, loss over all tokens.

It has no code that generates; greedy decoding of 256 tokens is our choice. Its third template, for
rows that hold a whole dialogue, is left out: it puts the answer into the prompt.
"""

COMMONSENSE_ANSWER = 32
"""New tokens in `commonsense_evaluate.py` of LLM-Adapters."""

LONGEST_NAMED = 20
"""Characters of a value in the name of a protocol."""

PROTOCOLS = {protocol.id: protocol for protocol in (PAPER, LLM_ADAPTERS, HYCAM)}


def resolve(name: str, group: str, settings: dict[str, Any], limit: int | None) -> Protocol:
    """Return a protocol as it is for a group, with the user's settings.

    Args:
        name: One of `PROTOCOLS`.
        group: The name of the group.
        settings: Fields that the user set.
        limit: Tokens of a training row, where the group's papers have another limit than usual.

    Raises:
        pydantic.ValidationError: A field is unknown or has no such value.
    """
    values = PROTOCOLS[name].model_dump()
    if name == PAPER.id and limit:
        values["max_length"] = limit
    if name == LLM_ADAPTERS.id and group == "commonsense":
        values["max_new_tokens"] = COMMONSENSE_ANSWER
    changed = {key: value for key, value in sorted(settings.items()) if value != values[key]}
    if changed:
        listed = ",".join(f"{key}={_brief(value)}" for key, value in changed.items())
        values |= {"id": f"{name}[{listed}]", **changed}
    return Protocol(**values)


def _brief(value: Any) -> str:
    """Write a value for a name: a text that is a whole template as its hash."""
    text = str(value)
    return text if len(text) <= LONGEST_NAMED else sha256(text.encode()).hexdigest()[:8]
