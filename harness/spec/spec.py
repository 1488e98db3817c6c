"""Everything that can change a number of a run, as one value whose hash is the run id."""

import json
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.protocols.base import Protocol
from tasks.contract import Kind

Precision = Literal["float32", "bfloat16"]
Decay = Annotated[float, Field(ge=0, lt=1)]


class Value(BaseModel):
    """An immutable value; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Recipe(Value):
    """How every method is trained; the same for all methods of a table.

    The defaults are those of the DyPAM and RoSA papers. Where these are silent (epochs, loss mask,
    clipping, how often the validation loss is taken), the README of this folder gives the reason.

    Attributes:
        version: Raised when the code below it changes a score.
        lr: Peak learning rate of AdamW.
        betas: AdamW's averaging coefficients.
        weight_decay: AdamW's.
        schedule: Shape of the learning rate after warm-up.
        warmup_ratio: Share of the steps over which the rate rises from 0.
        epochs: Passes over the training rows.
        batch_size: Rows per forward pass.
        accumulation_steps: Forward passes per optimizer step.
        max_grad_norm: Gradients are clipped to this norm.
        validation_rows: Drawn from the training rows; a tenth of them where there are fewer than
            ten times as many.
        validations_per_epoch: How often the validation loss is taken; the adapter of the lowest
            is the one that is evaluated.
        patience: Training ends when so many validations in a row bring no lower loss; 0 for never.
        engine: Plain torch, or DeepSpeed ZeRO-1.
    """

    version: Literal[2] = 2
    lr: float = Field(1e-3, gt=0, allow_inf_nan=False)
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    weight_decay: float = Field(0.0, ge=0, allow_inf_nan=False)
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup_ratio: float = Field(0.05, ge=0, le=1)
    epochs: int = Field(3, ge=1)
    batch_size: int = Field(2, ge=1)
    accumulation_steps: int = Field(2, ge=1)
    max_grad_norm: float = Field(1.0, gt=0)
    validation_rows: int = Field(300, ge=1)
    validations_per_epoch: int = Field(2, ge=1)
    patience: int = Field(0, ge=0)
    engine: Literal["torch", "deepspeed"] = "torch"


class BatchPlan(Value):
    """How prompts are batched for generation: in bfloat16 it moves scores.

    Attributes:
        batch_size: Prompts per batch, longest first.
        round_tokens: After so many new tokens the unfinished prompts are batched anew, so that one
            long answer does not hold up its batch.
    """

    batch_size: int = Field(32, ge=1)
    round_tokens: int = Field(64, ge=1)


class MethodSpec(Value):
    """A method with all its fields, defaults included, and the hash of its source.

    The label is how people call it, and no part of what a run is named by.
    """

    name: str
    label: str
    fields: dict[str, Any]
    source: str


class Backbone(Value):
    """A language model by name and content: a hub commit, or the hash of a folder's files."""

    name: str
    revision: str


class Data(Value):
    """A data set by content."""

    title: str
    kind: Kind
    sha256: str
    verified: bool
    rows: int


class Seeds(Value):
    """The sources of chance, apart: start values, order of rows, and the validation split."""

    init: int
    order: int
    split: int


class Spec(Value):
    """One run.

    Attributes:
        fold: Which fold is tested, from 0; None where tests are files of their own.
        limit: Only so many rows of each benchmark, from the first on; all if None.
        train_limit: Only so many training rows, from the first on; all if None.
        weights: Precision of the frozen weights.
        adapter: Precision of the trained parameters.
    """

    method: MethodSpec
    backbone: Backbone
    group: str
    train_data: Data
    tests: dict[str, Data]
    fold: int | None = None
    limit: int | None
    train_limit: int | None
    train: Recipe
    generate: BatchPlan
    protocol: Protocol
    weights: Precision
    adapter: Precision
    seeds: Seeds

    @property
    def run_id(self) -> str:
        """Name the run by its content: the same spec is never run twice."""
        return self._hash_without({})

    @property
    def setting(self) -> str:
        """Name what the runs of a table share: all but method, backbone, seeds and fold."""
        return self._hash_without({"method": True, "backbone": True, "seeds": True, "fold": True})

    @property
    def series(self) -> str:
        """Name what the seeds and folds of one row have in common."""
        return self._hash_without({"seeds": True, "fold": True})

    @property
    def marks(self) -> tuple[str, ...]:
        """List what a reader must know of the data before the numbers."""
        data = [self.train_data, *self.tests.values()]
        sample = any(one.kind == "sample" for one in data)
        train, tests = self.train_data, self.tests.values()
        facts = {
            "SAMPLE DATA generated by the harness, not the published benchmarks": sample,
            f"trained on the {train.title}": train.kind == "substitute" and self.fold is None,
            f"trained on {train.title}, a file of the user's": train.kind == "own",
            **{f"tested on the {one.title}": one.kind == "substitute" for one in tests},
            **{f"{one.title} not verified: no hash on record": not one.verified for one in tests},
            f"{train.title} not verified: no hash on record": not train.verified,
            f"first {self.limit} rows of each benchmark": self.limit is not None,
            f"first {self.train_limit} training rows": self.train_limit is not None,
        }
        return tuple(fact for fact, holds in facts.items() if holds)

    def _hash_without(self, exclude: dict[str, Any]) -> str:
        # What things are called does not change a number.
        names = {
            "method": {"label"},
            "train_data": {"title"},
            "tests": {name: {"title"} for name in self.tests},
        }
        value = self.model_dump(mode="json", exclude=names | exclude)
        canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
        return sha256(canonical.encode()).hexdigest()[:16]
