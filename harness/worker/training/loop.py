"""The training loop: the only one, for every method and both engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from transformers import get_scheduler

from harness.worker.encode import IGNORED, Example, collate
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.best import Best
from harness.worker.training.divergence import require_finite
from harness.worker.training.engine import Engine
from harness.worker.training.extras import NO_EXTRAS, Extras
from harness.worker.training.objective import token_loss, validation_loss


@dataclass(frozen=True)
class Trained:
    """What a training came to: steps and tokens, and which state was kept at which loss."""

    steps: int
    tokens: int
    best_step: int
    best_validation_loss: float


def fit(
    model: PeftModel, training: Training, journal: Journal, extras: Extras = NO_EXTRAS
) -> Trained:
    """Train the adapter of `model` and leave it at the state of lowest validation loss.

    Raises:
        DivergedError: A loss is NaN or infinite; the model is left as it is then.
    """
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
        require_finite(step, **losses)
        if step in training.validation_steps:
            with journal.phase("validate"):
                value = validation_loss(wrapped, training)
            journal.write(step=step, validation_loss=value)
            require_finite(step, validation_loss=value)
            best.offer(step, value)
            if recipe.patience and best.rejected >= recipe.patience:
                break
    best.restore()
    return Trained(step, tokens, best.step, best.loss)


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
