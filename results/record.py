"""One run as plain frozen values: what goes into the store and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Status = Literal["finished", "failed"]


@dataclass(frozen=True)
class Score:
    """One benchmark of one run, its answers read by one extractor.

    Only headline scores enter tables and tests; the others are there to be looked at.
    """

    benchmark: str
    extractor: str
    headline: bool
    correct: int
    n: int

    @property
    def accuracy(self) -> float:
        """Give the share of correct answers, in [0, 1]."""
        return self.correct / self.n


@dataclass(frozen=True)
class Run:
    """One attempt at one spec; a failed one has zeros and empty values for what it did not reach.

    The JSON-like fields (`seconds`, `spec`, `environment`) hold what `json` gives back unchanged.
    The top-level texts and numbers of `environment` are its summary in captions; what is nested
    there, such as a list of packages, shows only where one run is shown in full.
    """

    run_id: str
    """16 hex digits, the hash of the spec; several attempts may share it."""
    status: Status
    reason: str
    """Why it failed; empty for a finished run."""
    started: datetime
    """Aware; the store gives it back in UTC."""
    seconds: Mapping[str, float]
    """Wall-clock seconds of each phase, and of the whole under "wall"."""
    group: str
    method: str
    """The label on the command line, such as "lora" or "lora[r=64]"."""
    backbone: str
    seed: int
    marks: tuple[str, ...]
    """What a reader must know of the data: "sample data", "limit 50 rows per benchmark"."""
    setting: str
    """The hash of the spec without method, backbone and seed: what must agree to be compared."""
    series: str
    """The hash of the spec without the seed: what must agree to be averaged."""
    protocol: str
    spec: Mapping[str, Any]
    environment: Mapping[str, Any]
    environment_id: str
    trainable_parameters: int
    total_parameters: int
    adapter_bytes: int
    peak_memory_bytes: int
    train_tokens_per_second: float
    folder: str
    scores: tuple[Score, ...]

    @property
    def headline(self) -> dict[str, Score]:
        """Give the scores that enter tables, by benchmark, in the order of the run."""
        return {score.benchmark: score for score in self.scores if score.headline}
