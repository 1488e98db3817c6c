"""How a model is asked and heard: the prompt, the longest answer, and the extractor that counts."""

from pydantic import BaseModel, ConfigDict


class Protocol(BaseModel):
    """Everything of an evaluation that is the same for all methods; part of every spec.

    Attributes:
        id: Its name. Runs of different protocols never share a table.
        version: Raised when anything below changes.
        template: The prompt around `{instruction}`.
        extractor: The one of a benchmark's extractors that gives the headline score.
        max_new_tokens: Greedy decoding ends there or at the end token.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    version: int
    template: str
    extractor: str
    max_new_tokens: int

    def prompt(self, instruction: str) -> str:
        """Put an instruction into the template, without its outer white space."""
        return self.template.format(instruction=instruction.strip())


PAPER = Protocol(
    id="paper",
    version=1,
    template=(
        "Below is an instruction that describes a task. "
        "Write a response that appropriately completes the request.\n\n"
        "### Instruction:\n{instruction}\n\n### Response:\n"
    ),
    extractor="llm-adapters",
    max_new_tokens=256,
)
"""The clean Alpaca template of the DyPAM, RoSA and CASCADE papers; greedy, 256 new tokens."""
