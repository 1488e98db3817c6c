"""What the files of a run folder hold, as values; the README beside this shows them as a table."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from results.record import PeakMemory, Score

FORMAT = 2
"""Raised when a file, a key or the meaning of a key changes."""


FailureKind = Literal["memory", "disk", "vanished", "stalled", "exception", "refused"]
"""`memory`: there was too little. `disk`: it was full, or a quota used up. `vanished`: a signal or
the loss of the machine ended the process. `stalled`: it was ended since it did nothing.
`exception`: an error that comes again. `refused`: what was planned is not what is there."""


class FileValue(BaseModel):
    """One JSON object of a run folder; numbers that are not finite are texts such as "NaN"."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", use_attribute_docstrings=True
    )


class Head(FileValue):
    """What names a run, and what a reader must know of it before its numbers."""

    format: int
    """The version of the layout of the folder."""
    run_id: str
    """16 hex digits, the hash of the spec."""
    group: str
    """The benchmarks that it was planned for together, such as "math"."""
    method: str
    """The label on the command line, such as "lora" or "lora[r=64]"."""
    backbone: str
    """The name of the language model."""
    seed: int
    """Of the start values of the adapter."""
    fold: int | None
    """Which fold was tested; null without cross-validation."""
    marks: tuple[str, ...]
    """Sentences that stand beside every number of the run."""
    setting: str
    """The hash of what must agree in every comparison."""
    recipe: str
    """The hash of how the method was trained."""
    series: str
    """The hash of what must agree to be averaged over seeds and folds."""
    protocol: str
    """Id and version of the protocol, such as "paper/2"."""
    provenance: Mapping[str, Any]
    """How the recipe was chosen, of how many tries, and the command line that asked for the run."""
    conditions: Mapping[str, Mapping[str, Any]] | None = None
    """Fields that are not the default, by part: "recipe", "batches"; null where the spec tells."""
    folds: int | None = None
    """How many folds were planned; null without cross-validation, and in folders of before."""


class Environment(FileValue):
    """The stack that a run ran on."""

    packages: Mapping[str, str]
    """Versions by distribution."""
    python: str
    """Its version."""
    torch: str
    """Its version with the build, such as "2.13.0+cpu"."""
    device: str
    """The GPU, or the processor where there is none."""
    driver: str | None = None
    """The version of the GPU's driver; null without a GPU."""
    machine: Mapping[str, Any]
    """Host and threads."""
    harness: Mapping[str, Any]
    """Version, commit ("unknown" where nothing tells), and whether the files differed from it."""
    memory: Mapping[str, Any] = {}
    """What traded memory for time and changed no digit."""
    determinism: Mapping[str, str] = {}
    """By part of the run: "strict" where a kernel that is not deterministic ends it, or "warn"."""
    begun: str | None = None
    """Other environments in which earlier attempts made what this one went on with."""

    @property
    def identity(self) -> str:
        """Hash what may move a number: packages, minor version of Python, torch, device, driver.

        Runs of different identities never share a table, and a run that was begun in another
        environment is of neither of the two. Host, commit and threads are recorded only: a change
        of the harness that moves a score raises the version of recipe or protocol.
        """
        parts = self.model_dump(include={"packages", "torch", "device", "driver"})
        parts["python"] = ".".join(self.python.split(".")[:2])
        if self.begun:
            parts["begun"] = self.begun
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def facts(self) -> dict[str, Any]:
        """All that is recorded, one level deep, such as "packages.torch"."""
        facts: dict[str, Any] = {}
        for name, value in self.model_dump(mode="json").items():
            nested = isinstance(value, dict)
            facts |= (
                {f"{name}.{key}": one for key, one in value.items()} if nested else {name: value}
            )
        return facts


class ClusterJob(FileValue):
    """The job of a cluster that runs a folder."""

    name: str
    """What the cluster calls it, such as "1234_5"."""
    exit_status: int | None = None
    """That of the process of the run, or minus the signal that ended it; null until it ends."""


class Event(FileValue):
    """A moment of a run, appended at once, or with later steps; only what it is about is there."""

    time: float
    """Seconds since the epoch."""
    phase: str | None = None
    """The phase that begins here; "finished" and "diverged" end the run."""
    benchmark: str | None = None
    """The benchmark whose answers are generated, or whose likelihoods are taken."""
    step: int | None = None
    """Optimizer steps done."""
    done: int | None = None
    """Answers or likelihoods done."""
    of: int | None = None
    """Steps, answers or likelihoods in all."""
    loss: float | None = None
    """Mean per token of the step, in nats."""
    auxiliary_loss: float | None = None
    """What the method adds to it, mean over the batches of the step."""
    validation_loss: float | None = None
    """Mean per token of the validation rows, in nats."""
    tokens: int | None = None
    """Tokens trained on so far, padding excluded."""
    lr: float | None = None
    """The learning rate of the next step."""
    recomputed: bool | None = None
    """True where memory was short of what an evaluation keeps, so that its passes computed it."""


class TrainRecord(FileValue):
    """What the training came to; written when the adapter is saved."""

    rows: int
    """Training rows with an answer within the limit of tokens, before some are held out."""
    cut: int
    """Rows that were cut at the limit of tokens."""
    dropped: int
    """Rows that were left out, since the limit left nothing of their answer."""
    steps: int
    """Optimizer steps taken."""
    tokens: int
    """Tokens trained on, padding excluded."""
    best_step: int
    """The step after which the validation loss was lowest; the adapter of that step is saved."""
    best_validation_loss: float
    """Mean per token, in nats."""
    tokens_per_second: float
    """Speed of the training phase."""
    peak_memory: PeakMemory = {}
    """Most bytes on the GPU by phase, "allocated" in tensors and "reserved"; empty without one."""
    trained_rows: int | None = None
    """Rows trained on; null in folders of before it was kept."""
    validated_rows: int | None = None
    """Rows that the validation loss is of; null in folders of before it was kept."""
    halvings: int = 0
    """How often the rows of a forward pass were halved, since there was too little memory."""
    seconds: Mapping[str, float] = {}
    """Of each phase of the training, in all attempts, as far as its steps count."""


class Generation(FileValue):
    """A prompt with its answer, and what is needed to judge it without the data file.

    In folders of format 1 only `id`, `ended`, `long` and `text` are known; the rest is empty.
    """

    id: int
    """Place of the row in its file, from 0."""
    prompt: str = ""
    """As the model saw it, before tokenisation."""
    answer: str = ""
    """The gold answer; empty where there is no single right one."""
    reference: str = ""
    """The text to compare with; empty where the answer is judged."""
    in_training: bool = False
    """Whether the training set holds the question, after normalisation."""
    tokens: tuple[int, ...] = ()
    """Ids of the generated tokens, the end token included."""
    ended: bool
    """Whether the model ended the text, or the limit did."""
    long: bool
    """Whether the prompt exceeds the limit of tokens; it was not cut."""
    text: str
    """The generated tokens as text, special tokens left out."""


class PartialAnswer(FileValue):
    """An answer as far as it is written, of a benchmark whose answers are not all there yet.

    A later line of the same row stands for an earlier one.
    """

    id: int
    """Place of the row in its file, from 0."""
    tokens: tuple[int, ...]
    """Ids of the tokens so far, the end token included."""
    ended: bool
    """Whether the model ended the text."""
    options: Mapping[str, float] = {}
    """As in `OptionLikelihoods`, where options are scored while the prompts are read."""


class OptionLikelihoods(FileValue):
    """How likely the model finds each option of a row."""

    id: int
    """Place of the row in its file, from 0."""
    options: Mapping[str, float]
    """Log-likelihood in nats, by the gold answer that the option stands for."""


class ReferenceLikelihood(FileValue):
    """How likely the model finds the reference of a row: negative log-likelihoods in nats."""

    id: int
    """Place of the row in its file, from 0."""
    cut: bool
    """Whether the text was cut where the model can read no further."""
    answer: float
    """Sum over the tokens of the reference, given the prompt."""
    answer_tokens: int
    """Tokens in that sum; 0 where the prompt left no room for the reference."""
    text: float
    """Sum over the tokens of prompt and reference, from the second token on."""
    text_tokens: int
    """Tokens in that sum."""


class PartialLikelihood(FileValue):
    """How likely the model finds one text, while those of the benchmark are not all there yet."""

    place: int
    """Of the text among all that are weighed, from 0: the options of a row follow one another."""
    answer: float
    """As in `ReferenceLikelihood`, and so what follows."""
    answer_tokens: int
    """Tokens in that sum."""
    text: float
    """Of prompt and answer."""
    text_tokens: int
    """Tokens in that sum."""


class Verdict(FileValue):
    """What each extractor found in an answer, and whether that is right."""

    id: int
    """Place of the row in its file, from 0."""
    extracted: Mapping[str, str]
    """What was found, by extractor; an empty text where it found nothing."""
    correct: Mapping[str, bool]
    """Whether that is right, by extractor."""


class Result(FileValue):
    """What a finished run came to; the file is written last."""

    started: float
    """When the last attempt began, in seconds since the epoch."""
    seconds: Mapping[str, float]
    """Of each phase and, under "wall", of the attempt; what it went on with is counted in."""
    environment_id: str
    """The hash of what may move a number in `environment.json`."""
    resumed: bool
    """Whether an earlier attempt had trained the adapter."""
    trainable_parameters: int
    """Parameters that the method trains."""
    total_parameters: int
    """Parameters of backbone and method."""
    adapter_bytes: int
    """Size of the saved weights; 0 for a method that does not train."""
    peak_memory_bytes: int
    """Most memory in use: of the GPU, or of the process where there is none; of several, the one
    that held most."""
    scores: tuple[Score, ...]
    """One for each benchmark, metric and extractor."""
    flags: tuple[str, ...]
    """What is suspicious of the answers, in sentences."""
    peak_memory: PeakMemory = {}
    """Most bytes on the GPU by phase, "allocated" in tensors and "reserved"; empty without one."""
    nondeterministic_kernels: tuple[str, ...] = ()
    """Kernels without a deterministic form that the last attempt used, by torch's names."""
    attempt: str = ""
    """The token of the attempt that wrote it; empty in folders of before."""
    sha256: Mapping[str, str] = {}
    """Of the files that it follows from, by name, and of itself; empty in folders of before."""


class Divergence(FileValue):
    """Where the training diverged: an ending like a result, but without numbers."""

    started: float
    """When the attempt began, in seconds since the epoch."""
    seconds: Mapping[str, float]
    """Of each phase and, under "wall", of the attempt; what it went on with is counted in."""
    environment_id: str
    """The hash of what may move a number in `environment.json`."""
    trainable_parameters: int
    """Parameters that the method trains."""
    total_parameters: int
    """Parameters of backbone and method."""
    peak_memory_bytes: int
    """Most memory in use: of the GPU, or of the process where there is none; of several, the one
    that held most."""
    step: int
    """The optimizer step, from 1, with or after which a loss was not finite."""
    reason: str
    """Which loss that was, and what it was instead of a number."""
    peak_memory: PeakMemory = {}
    """Most bytes on the GPU by phase, "allocated" in tensors and "reserved"; empty without one."""
    nondeterministic_kernels: tuple[str, ...] = ()
    """Kernels without a deterministic form that the attempt used, by torch's names."""
    attempt: str = ""
    """The token of the attempt that wrote it; empty in folders of before."""


class Failure(FileValue):
    """Why an attempt failed."""

    started: float
    """When it began, in seconds since the epoch."""
    seconds: Mapping[str, float]
    """Wall-clock seconds of the attempt, under "wall"."""
    reason: str
    """The error and its message, or the signal that ended the worker."""
    kind: FailureKind = "exception"
    """What sort of failure it was, which decides whether the run is run again."""
    attempt: str = ""
    """The token of the attempt that wrote it; empty in folders of before."""
