"""The training loop: the only one, for every method."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import torch
from peft import PeftModel
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import get_scheduler

from harness.spec.spec import Recipe, Seeds
from harness.worker.encode import IGNORED, Example, collate
from harness.worker.journal import Journal
from harness.worker.training.engine import Engine
from methods.contract import Method
from methods.training.hooks import Plan, StepHooks
from methods.training.layer_selection import DynamicLayerSelection, LayerSelection

VALIDATION_BATCH = 8


@dataclass(frozen=True)
class Training:
    """What is trained on, and how; the loss is over all tokens, or over those of the answer."""

    train: list[Example]
    validation: list[Example]
    recipe: Recipe
    order_seed: int
    pad: int
    loss: Literal["all", "answer"] = "all"

    @property
    def rows_per_step(self) -> int:
        """Rows between two optimizer steps."""
        return self.recipe.batch_size * self.recipe.accumulation_steps

    @property
    def steps(self) -> int:
        """Optimizer steps in all."""
        return self.recipe.epochs * len(self.train) // self.rows_per_step

    @property
    def warmup_steps(self) -> int:
        """Optimizer steps over which the learning rate rises."""
        return round(self.recipe.warmup_ratio * self.steps)

    @property
    def validation_steps(self) -> set[int]:
        """The steps after which the validation loss is taken; the last is one of them."""
        times = self.recipe.epochs * self.recipe.validations_per_epoch
        return {max(1, round(self.steps * n / times)) for n in range(1, times + 1)}

    def batches(self) -> Iterator[list[list[Example]]]:
        """Draw the rows of each optimizer step, as batches of one forward pass each.

        Epochs are chained, so that a step may span two and no row is left out in between. Within a
        step rows are sorted by length, which changes padding but not the gradient.
        """
        rng, size = random.Random(f"{self.order_seed}/order"), self.recipe.batch_size
        rows = self._rows(rng)
        for _ in range(self.steps):
            step = sorted(islice(rows, self.rows_per_step), key=lambda e: len(e.ids))
            yield [step[start : start + size] for start in range(0, len(step), size)]

    def _rows(self, rng: random.Random) -> Iterator[Example]:
        while True:
            yield from rng.sample(self.train, len(self.train))


def split(
    rows: Sequence[Example], recipe: Recipe, seeds: Seeds
) -> tuple[list[Example], list[Example]]:
    """Set aside validation rows, drawn at random; return training and validation rows."""
    count = recipe.validation_rows if len(rows) >= 10 * recipe.validation_rows else len(rows) // 10
    rng = random.Random(f"{seeds.split}/split")
    chosen = set(rng.sample(range(len(rows)), count))
    validation = [row for number, row in enumerate(rows) if number in chosen]
    train = [row for number, row in enumerate(rows) if number not in chosen]
    return train, validation


@dataclass(frozen=True)
class Extras:
    """What a method adds to following the gradient of the mean loss per token.

    Attributes:
        hooks: Called at the moments of each step.
        auxiliary_loss: Added to the loss of each batch; None adds nothing.
    """

    hooks: Sequence[StepHooks] = ()
    auxiliary_loss: Callable[[PeftModel], Tensor] | None = None


def extras(
    method: Method,
    selection: LayerSelection | None,
    model: PeftModel,
    training: Training,
    seed: int,
) -> Extras:
    """Set up the hooks of a method and its layer selection for a training."""
    plan = Plan(training.steps, training.warmup_steps, seed)
    hooks = [method.hooks(model, plan)] if method.hooks else []
    if selection:
        hooks.append(DynamicLayerSelection(model, selection, plan))
    return Extras(hooks, method.auxiliary_loss)


def fit(
    model: PeftModel, training: Training, journal: Journal, extras: Extras = Extras()
) -> dict[str, Any]:
    """Train the adapter of `model` and leave it at the state of lowest validation loss."""
    recipe = training.recipe
    engine = Engine(recipe, extras.hooks)
    parameters = [p for p in model.parameters() if p.requires_grad]
    adamw = torch.optim.AdamW(
        parameters, lr=recipe.lr, betas=recipe.betas, weight_decay=recipe.weight_decay
    )
    schedule = get_scheduler(recipe.schedule, adamw, training.warmup_steps, training.steps)
    wrapped = engine.prepare(model, adamw)
    loop = Loop(model, wrapped, engine, training, extras)
    best = Best(model)
    tokens = 0
    for step, batches in enumerate(training.batches(), 1):
        losses, count = loop.step(step, batches)
        schedule.step()
        tokens += count
        journal.write(step=step, of=training.steps, **losses, tokens=tokens, lr=_rate(schedule))
        if step in training.validation_steps:
            with journal.phase("validate"):
                value = validation_loss(wrapped, training)
            journal.write(step=step, validation_loss=value)
            best.offer(step, value)
            if recipe.patience and best.rejected >= recipe.patience:
                break
    best.restore()
    return {"steps": step, "tokens": tokens, **best.record()}


class Best:
    """Keeps the adapter, all that is saved of it, at the lowest validation loss.

    Attributes:
        rejected: States in a row that were offered since and were no better.
    """

    def __init__(self, model: PeftModel) -> None:
        trained = {name for name, p in model.named_parameters() if p.requires_grad}
        prefix = str(model.base_model.prefix)
        self.live = {n: t for n, t in model.state_dict().items() if n in trained or prefix in n}
        self.state: dict[str, Tensor] = {}
        self.step, self.loss, self.rejected = 0, float("inf"), 0

    def offer(self, step: int, loss: float) -> None:
        """Keep the present state if its loss is the lowest; the first is kept in any case."""
        self.rejected += 1
        if loss < self.loss or not self.state:
            self.step, self.loss, self.rejected = step, loss, 0
            self.state = {name: tensor.clone() for name, tensor in self.live.items()}

    def restore(self) -> None:
        """Put the kept state back."""
        with torch.no_grad():
            for name, tensor in self.live.items():
                tensor.copy_(self.state[name])

    def record(self) -> dict[str, Any]:
        """Say which state was kept."""
        return {"best_step": self.step, "best_validation_loss": self.loss}


@torch.no_grad()
def validation_loss(model: Any, training: Training) -> float:
    """Average the loss over the tokens of the validation rows."""
    model.eval()
    rows = sorted(training.validation, key=lambda example: len(example.ids))
    total, count = 0.0, 0
    for start in range(0, len(rows), VALIDATION_BATCH):
        batch = rows[start : start + VALIDATION_BATCH]
        loss, tokens = token_loss(model, collate(batch, training.pad, training.loss))
        total, count = total + float(loss), count + tokens
    model.train()
    return total / count


def token_loss(model: Any, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
    """Return the sum of the next-token losses in float32, and how many there are."""
    device = next(model.parameters()).device
    labels = batch["labels"][:, 1:].to(device)
    inputs = {key: batch[key].to(device) for key in ("input_ids", "attention_mask")}
    logits = model(**inputs, use_cache=False).logits[:, :-1]
    loss = cross_entropy(
        logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum"
    )
    return loss, int((labels != IGNORED).sum())


@dataclass(frozen=True)
class Loop:
    """What the steps of one training have in common."""

    model: PeftModel
    wrapped: Any
    engine: Engine
    training: Training
    extras: Extras

    def step(
        self, number: int, batches: Sequence[Sequence[Example]]
    ) -> tuple[dict[str, float], int]:
        """Take one optimizer step on the mean loss per token; return losses and tokens seen."""
        collated = [collate(batch, self.training.pad, self.training.loss) for batch in batches]
        scored = sum(int((batch["labels"][:, 1:] != IGNORED).sum()) for batch in collated)
        total, auxiliary = torch.zeros(()), torch.zeros(())
        self.wrapped.train()
        for hook in self.extras.hooks:
            hook.before_forward(number)
        for batch in collated:
            with self.engine.accelerator.accumulate(self.wrapped):
                loss, _ = token_loss(self.wrapped, batch)
                # The engine divides by the number of batches; the mean is over the step's tokens.
                objective = loss * len(collated) / scored
                if self.extras.auxiliary_loss:
                    added = self.extras.auxiliary_loss(self.model)
                    objective = objective + added
                    auxiliary = auxiliary + added.detach().cpu() / len(collated)
                if self.engine.backward(self.wrapped, objective):
                    self.engine.step(self.wrapped, number)
            total = total + loss.detach().cpu()
        losses = {"loss": float(total) / scored}
        if self.extras.auxiliary_loss:
            losses["auxiliary_loss"] = float(auxiliary)
        return losses, sum(int(batch["attention_mask"].sum()) for batch in collated)


def _rate(schedule: Any) -> float:
    rate: float = schedule.get_last_lr()[0]
    return rate
