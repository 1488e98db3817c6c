"""Prompts, loss mask, length limits, decoding and answer extraction; shared by all methods."""

from collections.abc import Sequence
from random import Random
from string import Formatter
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from harness.spec.value import Value, later
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
        chat: What the templates give is the message of a user, which the tokenizer's own chat
            template turns into a prompt.
        system: The system message before it; none if empty.
        shots: Training rows that stand solved before each question of evaluation. A model may go
            on with another example after its answer: see `stop`.
        shots_seed: Which ones are drawn; they are the same for all questions, methods and seeds.
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
    chat: bool = later(False)
    system: str = later("")
    shots: int = later(0, ge=0)
    shots_seed: int = later(0, ge=0)

    @field_validator("system")
    @classmethod
    def _is_a_message(cls, system: str, info: ValidationInfo) -> str:
        if system and not info.data.get("chat"):
            raise ValueError("only a chat has a system message: take --protocol chat")
        return system

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

    def draw(self, train: Sequence[Row]) -> list[Row]:
        """Draw the examples that stand before each question; `train` has at least as many rows."""
        return Random(f"{self.shots_seed}/shots").sample(train, self.shots)

    def solved(self, examples: Sequence[Row]) -> list[tuple[str, str]]:
        """Write examples as prompts of evaluation with their outputs."""
        return [(self.ask(row), self._stripped(row.output)) for row in examples]

    def text(self, prompt: str, solved: Sequence[tuple[str, str]] = ()) -> str:
        """Write a prompt with solved ones before it, as one text."""
        return "\n\n".join([*(f"{asked}{output}" for asked, output in solved), prompt])

    def messages(self, prompt: str, solved: Sequence[tuple[str, str]] = ()) -> list[dict[str, str]]:
        """Write a prompt as the last message of a chat in which others were solved."""
        said = [("system", self.system)] if self.system else []
        for asked, output in solved:
            said += [("user", asked), ("assistant", output)]
        said.append(("user", prompt))
        return [{"role": role, "content": content} for role, content in said]

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
