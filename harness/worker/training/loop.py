"""The training loop: the only one, for every method and both engines."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor
from transformers import get_scheduler

from harness.spec.recipe import Recipe
from harness.worker import stopping
from harness.worker.encode import Example, collate, concatenate
from harness.worker.journal import Journal
from harness.worker.ranks import Rank
from harness.worker.training.batches import Training
from harness.worker.training.best import Best
from harness.worker.training.checkpoint import (
    Checkpoints,
    State,
    randomness,
    restore_randomness,
)
from harness.worker.training.divergence import require_finite
from harness.worker.training.engine import Engine
from harness.worker.training.extras import NO_EXTRAS, Extras
from harness.worker.training.losses import Losses
from harness.worker.training.objective import token_loss, validation_loss
from methods.training.packing import row_by_row

PHASES = ("train", "validate", "checkpoint")
"""In which a training spends its time."""


@dataclass(frozen=True)
class Trained:
    """What a training came to: steps and tokens, and which state was kept at which loss."""

    steps: int
    tokens: int
    best_step: int
    best_validation_loss: float


def fit(
    model: PeftModel,
    training: Training,
    journal: Journal,
    extras: Extras = NO_EXTRAS,
    evaluating: Callable[[], AbstractContextManager[None]] = nullcontext,
    checkpoints: Checkpoints | None = None,
) -> Trained:
    """Train the adapter of `model` and leave it at the state of lowest validation loss.

    Where there is a checkpoint, the training goes on from it as if it had never been cut.

    Args:
        model: An adapted model.
        training: What it is trained on, and how.
        journal: Gets losses and phases.
        extras: What the method adds.
        evaluating: Makes the block in which a validation computes.
        checkpoints: Of this training; none are read or written without them.

    Raises:
        DivergedError: A loss is NaN or infinite; the model is left as it is then.
        Interrupted: The process was asked to stop; the step is finished, and in a checkpoint.
    """
    recipe = training.recipe
    with journal.phase("adapt"):
        engine = Engine(recipe, extras, training.adapter, training.rank)
        adamw = optimizer(model, recipe)
        schedule = get_scheduler(recipe.schedule, adamw, training.warmup_steps, training.steps)
        wrapped = engine.prepare(model, adamw)
    loop = Loop(model, wrapped, engine, training, extras)
    course = Course(loop, schedule, Best(model, engine), journal, evaluating)
    if checkpoints and (found := checkpoints.newest()):
        with journal.phase("load"):
            course.restore(*found)
    wrapped.train()
    with Losses(journal) as losses:
        course.run(losses, checkpoints)
    course.best.put_back()
    journal.take_most(PHASES, training.rank.most)
    engine.close()
    return Trained(course.step, course.tokens, course.best.step, course.best.loss)


class Course:
    """A training between its first step and its last.

    Attributes:
        step: The last one that was taken.
        tokens: Seen so far.
    """

    def __init__(
        self,
        loop: "Loop",
        schedule: Any,
        best: Best,
        journal: Journal,
        evaluating: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.loop, self.schedule, self.best = loop, schedule, best
        self.journal, self.evaluating = journal, evaluating
        self.step = self.tokens = 0

    def run(self, losses: Losses, checkpoints: Checkpoints | None) -> None:
        """Take the steps that are left.

        A checkpoint is of the end of a step, before the validation that may be due: so that is
        what comes first where one was read.
        """
        batches = islice(self.loop.training.batches(), self.step, None)
        while not self._is_over(losses) and (passes := next(batches, None)):
            self._take(passes, losses)
            asked = stopping.asked()  # which rank 0 alone can be
            if checkpoints and self._rank.told(asked or checkpoints.due):
                losses.read()
                with self.journal.phase("checkpoint"):
                    checkpoints.write(self.step, self.state())
            if asked:
                raise stopping.Interrupted

    def _take(self, passes: Sequence[Sequence[Example]], losses: Losses) -> None:
        self.step += 1
        found, count = self.loop.step(self.step, passes)
        self.schedule.step()
        self.tokens += count
        steps, rate = self.loop.training.steps, _rate(self.schedule)
        if self._rank.number == 0:  # which alone ends the training where it must
            losses.add(found, step=self.step, of=steps, tokens=self.tokens, lr=rate)

    def _is_over(self, losses: Losses) -> bool:
        """Validate if that is due; say whether patience has run out."""
        training, patience = self.loop.training, self.loop.training.recipe.patience
        if self.step not in training.validation_steps:
            return False
        losses.read()
        with self.journal.phase("validate"), self.evaluating():
            value = validation_loss(self.loop.wrapped, training)
        self.journal.write(step=self.step, validation_loss=value)
        require_finite(self.step, validation_loss=value)
        self.best.offer(self.step, value)
        return bool(patience) and self.best.rejected >= patience

    @property
    def _rank(self) -> Rank:
        return self.loop.training.rank

    def state(self) -> State:
        """Return all that the rest of the training depends on, and what was spent so far.

        Of another rank than 0, what it has of its own.
        """
        own = {
            "hooks": [hook.state() for hook in self.loop.extras.hooks],
            "random": randomness(),
            "spent": self.journal.spent(PHASES),
        }
        alike = {
            "tokens": self.tokens,
            "best": self.best.state(),
            "schedule": self.schedule.state_dict(),
        }
        engine = self.loop.engine
        (own if engine.sharded else alike)["engine"] = engine.state()
        return own if self._rank.number else alike | own

    def restore(self, step: int, state: State) -> None:
        """Go on from the state after a step."""
        self.step, self.tokens = step, state["tokens"]
        self.best.restore(state["best"])
        self.loop.engine.restore(state["engine"])
        self.schedule.load_state_dict(state["schedule"])
        for hook, kept in zip(self.loop.extras.hooks, state["hooks"], strict=True):
            hook.restore(kept)
        restore_randomness(state["random"])
        self.journal.go_on(state["spent"])


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

        The ranks take the passes in turns. The losses are left on the device, so that nobody waits
        for what the step asked of it.
        """
        rank = self.training.rank
        kind, examples = self.training.loss, [example for rows in passes for example in rows]
        own = passes[rank.number :: rank.of]
        scored = sum(example.scored(kind) for example in examples)
        sums = torch.zeros(2, device=next(self.model.parameters()).device)
        for hook in self.extras.hooks:
            hook.before_forward(number)
        for place, rows in enumerate(own, 1):
            with self._attention():
                loss = token_loss(self.wrapped, self._laid_out(rows))
                # The engine takes the mean of the passes; that of the loss is over all tokens.
                objective = loss * len(passes) / scored
                if self.extras.auxiliary_loss:
                    added = self.extras.auxiliary_loss(self.model)
                    objective = objective + added
                    sums[1] += added.detach() / len(passes)
                self.engine.backward(self.wrapped, objective, len(passes), last=place == len(own))
            sums[0] += loss.detach()
        self.engine.step(self.wrapped, number)
        total, auxiliary = rank.sum(sums).double().unbind()
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
