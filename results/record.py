"""One run as plain frozen values: what goes into the store and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Status = Literal["finished", "diverged", "failed"]
"""`diverged`: the training came to a loss that is NaN or infinite, as it would again."""


PeakMemory = Mapping[str, Mapping[str, int]]
"""Most bytes on the GPU by phase and kind: "allocated" in tensors, "reserved" by the process."""

POOLED = "all"
"""The benchmark of a score over the rows of all benchmarks of the run together."""


@dataclass(frozen=True)
class Score:
    """One metric of one benchmark of one run, its answers read by one extractor.

    Only headline scores enter tables and tests; the others are there to be looked at.
    """

    benchmark: str
    """Its name, or `POOLED`."""
    metric: str
    """Its name; `results.analysis.metrics` says what is known of it."""
    extractor: str
    """Empty for a metric that extracts nothing."""
    headline: bool
    """True for at most one score of each benchmark and metric."""
    value: float
    """Shares in [0, 1]; BLEU, ROUGE-L and METEOR in percent; a perplexity as it is.

    Finite: a perplexity that is not is left out, and tables show the gap.
    """
    n: int
    """Rows; of a perplexity, tokens."""
    unparsed: int = 0
    """Answers in which the extractor found nothing."""
    signature: str = ""
    """What the metric says of its own version and settings, such as sacreBLEU's signature."""
    extractor_version: int = 1
    """Raised when the extractor reads an answer differently; 1 for scores of before."""

    @property
    def read_by(self) -> str:
        """Name the extractor with its version, such as "strict/2"; empty without one."""
        return f"{self.extractor}/{self.extractor_version}" if self.extractor else ""


@dataclass(frozen=True)
class Verdicts:
    """Which rows of a benchmark a run answered right, as its headline extractor read the answers.

    One bit a row, in the order of the row ids: the first row is the highest bit of the first byte,
    as `numpy.packbits` packs them; the last byte is filled with zeros.
    """

    benchmark: str
    rows: str
    """The hash of the data file and of the row ids: equal for two runs that answered the same."""
    n: int
    """How many rows."""
    right: bytes
    clusters: tuple[int, ...] | None
    """A number per row, equal for rows of the same prompt; None where no prompt is known twice."""


@dataclass(frozen=True)
class Kind:
    """What the names of a user select runs by; many runs are of one kind."""

    group: str
    method: str
    """The label on the command line, such as "lora" or "lora[r=64]"."""
    backbone: str
    backbone_place: str
    backbone_identity: tuple[str, str]
    benchmarks: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """What a user wrote on a run."""

    written: datetime
    """Aware."""
    text: str


@dataclass(frozen=True)
class Run:
    """One attempt at one spec, with zeros and empty values for what it did not reach.

    The JSON-like fields (`seconds`, `spec`, `environment`, `provenance`) hold what `json` gives
    back unchanged. The top-level texts and numbers of `environment` are its summary in captions;
    what is nested there, such as a list of packages, shows only where one run is shown in full.
    """

    run_id: str
    """16 hex digits, the hash of the spec; several attempts may share it."""
    status: Status
    reason: str
    """Why it failed, or at which step it diverged and how; empty for a finished run."""
    started: datetime
    """Aware; the store gives it back in UTC."""
    seconds: Mapping[str, float]
    """Wall-clock seconds of each phase, and of the whole under "wall"."""
    group: str
    method: str
    """The label on the command line, such as "lora" or "lora[r=64]"."""
    backbone: str
    seed: int
    fold: int | None
    """Which part of a cross-validation was tested; None without one."""
    marks: tuple[str, ...]
    """What a reader must know before the numbers: "first 50 rows of each benchmark"."""
    flags: tuple[str, ...]
    """What is suspicious of the answers: "boolq: always the same answer: true (100 %)"."""
    setting: str
    """The hash of what must agree in every comparison: data, validation rows, protocol,
    precision, batch plan."""
    recipe: str
    """The hash of how the method was trained: what agrees too, unless each method has its own."""
    series: str
    """The hash of the spec without seed and fold: what must agree to be averaged."""
    protocol: str
    spec: Mapping[str, Any]
    provenance: Mapping[str, Any]
    """How the recipe was chosen, of how many tries, and by which command; it changes no number."""
    environment: Mapping[str, Any]
    environment_id: str
    trainable_parameters: int
    total_parameters: int
    adapter_bytes: int
    peak_memory_bytes: int
    train_tokens_per_second: float
    folder: str
    scores: tuple[Score, ...]
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was not the default, by part: {"recipe": {"lr": 0.0001}, "batches": {...}}."""
    backbone_place: str = ""
    """The folder or hub repository of the backbone: it tells two of one name apart."""
    validation_loss: float | None = None
    """Lowest of the training, mean per token in nats; recipes are chosen by it."""
    peak_memory: PeakMemory = field(default_factory=dict)
    """Empty without a GPU, and for runs of before it was kept."""
    nondeterministic_kernels: tuple[str, ...] = ()
    """Kernels that it used and that torch has in no deterministic form."""
    folds: int | None = None
    """How many were planned; None without cross-validation, and for runs of before it was kept."""
    trained_rows: int | None = None
    """Rows trained on, without those held out; None without training, and for runs of before."""
    forgotten: str = ""
    """Why the user left it out of all tables; empty for a run that counts."""

    tags: tuple[str, ...] = ()
    """Words by which a user finds it; of all attempts at it, as the notes are."""
    notes: tuple[Note, ...] = ()
    """The oldest first."""

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Name the benchmarks that it was planned for."""
        scored = (score.benchmark for score in self.scores if score.benchmark != POOLED)
        return tuple(self.spec.get("tests") or dict.fromkeys(scored))

    @property
    def backbone_identity(self) -> tuple[str, str]:
        """Tell its backbone by name and content, whatever a user called it."""
        known = self.spec.get("backbone", {})
        return known.get("name", self.backbone), known.get("revision", "")

    @property
    def kind(self) -> Kind:
        """Give what names select it by."""
        return Kind(
            self.group,
            self.method,
            self.backbone,
            self.backbone_place,
            self.backbone_identity,
            self.benchmarks,
        )

    @property
    def ended(self) -> bool:
        """Whether the run came to its end, finished or diverged; a failed one is run again."""
        return self.status != "failed"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Name the metrics that have headline scores, in the order of the run."""
        return tuple(dict.fromkeys(score.metric for score in self.scores if score.headline))

    @property
    def extraction(self) -> frozenset[str]:
        """Name the extractors of the headline scores, with their versions."""
        return frozenset(score.read_by for score in self.scores if score.headline) - {""}

    def headline(self, metric: str) -> dict[str, Score]:
        """Give the scores of a metric that enter tables, by benchmark, in the order of the run."""
        return {
            score.benchmark: score
            for score in self.scores
            if score.headline and score.metric == metric
        }
