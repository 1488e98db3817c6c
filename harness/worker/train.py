"""The training loop: the only one, for every method."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from accelerate import Accelerator
from peft import PeftModel
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import get_scheduler

from harness.spec import Recipe, Seeds
from harness.worker.encode import IGNORED, Example, collate
from harness.worker.engine import accelerator
from harness.worker.journal import Journal

VALIDATION_BATCH = 8


@dataclass(frozen=True)
class Training:
    """What is trained on, and how."""

    train: list[Example]
    validation: list[Example]
    recipe: Recipe
    order_seed: int
    pad: int

    @property
    def rows_per_step(self) -> int:
        """Rows between two optimizer steps."""
        return self.recipe.batch_size * self.recipe.accumulation_steps

    @property
    def steps(self) -> int:
        """Optimizer steps in all."""
        return self.recipe.epochs * len(self.train) // self.rows_per_step

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


def split(rows: list[Example], recipe: Recipe, seeds: Seeds, pad: int) -> Training:
    """Set aside the validation rows, drawn at random."""
    count = recipe.validation_rows if len(rows) >= 10 * recipe.validation_rows else len(rows) // 10
    rng = random.Random(f"{seeds.split}/split")
    chosen = set(rng.sample(range(len(rows)), count))
    validation = [row for number, row in enumerate(rows) if number in chosen]
    train = [row for number, row in enumerate(rows) if number not in chosen]
    return Training(train, validation, recipe, seeds.order, pad)


def fit(model: PeftModel, training: Training, journal: Journal) -> dict[str, Any]:
    """Train the adapter of `model` and leave it at the state of lowest validation loss."""
    recipe = training.recipe
    engine = accelerator(recipe)
    parameters = [p for p in model.parameters() if p.requires_grad]
    adamw = torch.optim.AdamW(
        parameters, lr=recipe.lr, betas=recipe.betas, weight_decay=recipe.weight_decay
    )
    schedule = get_scheduler(
        recipe.schedule, adamw, round(recipe.warmup_ratio * training.steps), training.steps
    )
    wrapped, optimizer = engine.prepare(model, adamw)
    best = Best(model)
    tokens = 0
    for step, batches in enumerate(training.batches(), 1):
        loss, count = _step(engine, wrapped, optimizer, batches, training)
        schedule.step()
        tokens += count
        journal.write(step=step, of=training.steps, loss=loss, tokens=tokens, lr=_rate(schedule))
        if step in training.validation_steps:
            with journal.phase("validate"):
                value = validation_loss(wrapped, training)
            journal.write(step=step, validation_loss=value)
            best.offer(step, value)
    best.restore()
    return {"steps": training.steps, "tokens": tokens, **best.record()}


class Best:
    """Keeps the trained parameters at the lowest validation loss."""

    def __init__(self, model: PeftModel) -> None:
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.state: dict[str, Tensor] = {}
        self.step, self.loss = 0, float("inf")

    def offer(self, step: int, loss: float) -> None:
        """Keep the present state if its loss is the lowest; the first is kept in any case."""
        if loss < self.loss or not self.state:
            self.step, self.loss = step, loss
            self.state = {n: p.detach().clone() for n, p in self.parameters.items()}

    def restore(self) -> None:
        """Put the kept state back."""
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(self.state[name])

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
        loss, tokens = token_loss(model, collate(batch, training.pad, training.recipe.loss))
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


def _step(
    engine: Accelerator,
    model: Any,
    optimizer: Any,
    batches: Sequence[Sequence[Example]],
    training: Training,
) -> tuple[float, int]:
    """Take one optimizer step on the mean loss per token of its batches; return it and tokens."""
    collated = [collate(batch, training.pad, training.recipe.loss) for batch in batches]
    scored = sum(int((batch["labels"][:, 1:] != IGNORED).sum()) for batch in collated)
    total = torch.zeros(())
    model.train()
    for batch in collated:
        with engine.accumulate(model):
            loss, _ = token_loss(model, batch)
            # The engine divides by the number of batches; the mean is over the tokens of the step.
            engine.backward(loss * len(collated) / scored)
            if engine.sync_gradients:
                engine.clip_grad_norm_(model.parameters(), training.recipe.max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
        total = total + loss.detach().cpu()
    seen = sum(int(batch["attention_mask"].sum()) for batch in collated)
    return float(total) / scored, seen


def _rate(schedule: Any) -> float:
    rate: float = schedule.get_last_lr()[0]
    return rate
