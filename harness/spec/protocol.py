"""Prompts, loss mask, length limits, decoding and answer extraction; shared by all methods."""

from string import Formatter
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from harness.spec.value import Value
from tasks.contract import Row


class Protocol(Value):
    """Everything of an evaluation that is the same for all methods; part of every spec.

    Attributes:
        id: Its name. Runs of different protocols never share a table.
        version: Raised when anything below changes.
        training_prompt: Around `{instruction}` in training; `{input}` too where a row has one.
        training_prompt_with_input: The same for rows with an input.
        prompt: Around `{instruction}` in evaluation.
        prompt_with_input: The same for rows with an input.
        strip: Whether instruction, input and output lose their outer white space.
        bos: The start token is what the tokenizer itself puts, if it puts one.
        joint: In training, prompt and output are encoded as one text; else apart, so that training
            sees the very tokens that generation starts from.
        loss: Over `all` tokens of a training row, or over those of the `answer` only.
        max_length: Tokens of a training row; a longer one is cut, one cut before its answer is
            dropped.
        max_prompt_length: Tokens of a prompt in evaluation; longer ones are counted, not cut.
        beams: 1 is greedy decoding.
        max_new_tokens: Decoding ends there or at the end token.
        stop: An answer ends before this text; empty for none.
        extractor: Which of a benchmark's extractors gives the headline score.
    """

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

        >>> Protocol.model_construct(stop="### Response:").heard("It is 7. ### Response: 12")
        'It is 7. '
        """
        return completion.split(self.stop, maxsplit=1)[0] if self.stop else completion

    def _filled(self, row: Row, plain: str, with_input: str) -> str:
        instruction, context = self._stripped(row.instruction), self._stripped(row.input)
        template = with_input if context else plain
        return template.format(instruction=instruction, input=context)

    def _stripped(self, text: str) -> str:
        return text.strip() if self.strip else text
