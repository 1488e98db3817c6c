"""The training loop: the only one, for every method and both engines."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor
from transformers import get_scheduler

from harness.spec.recipe import Recipe
from harness.worker.encode import Example, collate, concatenate
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.best import Best
from harness.worker.training.divergence import require_finite
from harness.worker.training.engine import Engine
from harness.worker.training.extras import NO_EXTRAS, Extras
from harness.worker.training.losses import Losses
from harness.worker.training.objective import token_loss, validation_loss
from methods.training.packing import row_by_row


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
    with journal.phase("adapt"):
        engine = Engine(recipe, extras.hooks, training.adapter)
        adamw = optimizer(model, recipe)
        schedule = get_scheduler(recipe.schedule, adamw, training.warmup_steps, training.steps)
        wrapped = engine.prepare(model, adamw)
    loop = Loop(model, wrapped, engine, training, extras)
    best = Best(model)
    tokens, validation_steps = 0, training.validation_steps
    wrapped.train()
    with Losses(journal) as losses:
        for step, passes in enumerate(training.batches(), 1):
            found, count = loop.step(step, passes)
            schedule.step()
            tokens += count
            losses.add(found, step=step, of=training.steps, tokens=tokens, lr=_rate(schedule))
            if step in validation_steps:
                losses.read()
                with journal.phase("validate"):
                    value = validation_loss(wrapped, training)
                journal.write(step=step, validation_loss=value)
                require_finite(step, validation_loss=value)
                best.offer(step, value)
                if recipe.patience and best.rejected >= recipe.patience:
                    break
    best.restore()
    return Trained(step, tokens, best.step, best.loss)


def optimizer(model: PeftModel, recipe: Recipe) -> torch.optim.AdamW:
    """Make AdamW over what trains; on a GPU the fused one, which needs no memory of its own."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.AdamW(
        parameters,
        lr=recipe.lr,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
        fused=parameters[0].is_cuda or None,
    )


@dataclass(frozen=True)
class Loop:
    """What the steps of one training have in common."""

    model: PeftModel
    wrapped: Any
    engine: Engine
    training: Training
    extras: Extras

    def step(
        self, number: int, passes: Sequence[Sequence[Example]]
    ) -> tuple[dict[str, Tensor], int]:
        """Take one optimizer step on the mean loss per token; return losses and tokens seen.

        The losses are left on the device, so that nobody waits for what the step asked of it.
        """
        kind, examples = self.training.loss, [example for rows in passes for example in rows]
        scored = sum(example.scored(kind) for example in examples)
        sums = torch.zeros(2, device=next(self.model.parameters()).device)
        for hook in self.extras.hooks:
            hook.before_forward(number)
        for place, rows in enumerate(passes, 1):
            with self._attention():
                loss = token_loss(self.wrapped, self._laid_out(rows))
                # The engine takes the mean of the passes; that of the loss is over all tokens.
                objective = loss * len(passes) / scored
                if self.extras.auxiliary_loss:
                    added = self.extras.auxiliary_loss(self.model)
                    objective = objective + added
                    sums[1] += added.detach() / len(passes)
                self.engine.backward(
                    self.wrapped, objective, len(passes), last=place == len(passes)
                )
            sums[0] += loss.detach()
        self.engine.step(self.wrapped, number)
        total, auxiliary = sums.double().unbind()
        losses = {"loss": total / scored}
        if self.extras.auxiliary_loss:
            losses["auxiliary_loss"] = auxiliary
        return losses, sum(len(example.ids) for example in examples)

    def _attention(self) -> AbstractContextManager[None]:
        return row_by_row(self.model) if self.training.recipe.packed else nullcontext()

    def _laid_out(self, rows: Sequence[Example]) -> dict[str, Any]:
        if self.training.recipe.packed:
            return concatenate(rows, self.training.loss)
        return collate(rows, self.training.pad, self.training.loss)


def _rate(schedule: Any) -> float:
    rate: float = schedule.get_last_lr()[0]
    return rate
