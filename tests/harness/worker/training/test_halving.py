"""Half the rows of a forward pass: the same step, but for the order of a sum."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from harness import plugins
from harness.scoring import flags
from harness.spec.recipe import Recipe
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.conformance.models import VOCABULARY, build
from results.runfolder.values import TrainRecord


def rows(count: int) -> list[Example]:
    draw = random.Random(0)
    sizes = [5 + n % 11 for n in range(count)]
    return [Example([draw.randrange(3, VOCABULARY) for _ in range(n)], 2) for n in sizes]


ROWS = rows(20)
RECIPE = Recipe(epochs=1, lr=1e-2, batch_size=4, accumulation_steps=2)
PLAN = Training(ROWS[4:], ROWS[:4], RECIPE, order_seed=1, pad=0)
"""2 steps of eight rows."""


class Seen:
    """Keeps the gradients of every step."""

    def __init__(self, model: nn.Module) -> None:
        self.model, self.gradients = model, list[torch.Tensor]()

    def before_forward(self, step: int) -> None:
        """Nothing is to be seen yet."""

    def after_backward(self, step: int) -> None:
        found = [p.grad for p in self.model.parameters() if p.grad is not None]
        self.gradients.append(torch.cat([one.flatten().clone() for one in found]))

    def after_step(self, step: int) -> None:
        """The gradients were seen before it."""


def gradients(plan: Training, folder: Path) -> torch.Tensor:
    """Train LoRA without dropout; return the gradients of all steps."""
    folder.mkdir()
    plugin = plugins.method("lora")
    torch.manual_seed(0)
    model: Any = plugin.adapt(build("llama-gqa"), plugin.configure())
    added = extras(plugin, None, model, plan, seed=1)
    seen: Any = Seen(model)
    with Journal(folder / "events.jsonl") as journal:
        fit(model, plan, journal, replace(added, hooks=[*added.hooks, seen]))
    return torch.stack(seen.gradients)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("halvings", [pytest.param(1, marks=pytest.mark.parts), 2])
def test_gradients_of_halved_passes_are_those_of_whole_ones(
    packed: bool, halvings: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that the tokens of a step fill several passes when they are halved.
    monkeypatch.setattr("harness.worker.training.batches.PACKED_TOKENS", 100)
    plan = replace(PLAN, recipe=RECIPE.model_copy(update={"packed": packed}))
    halved = replace(plan, halvings=halvings)
    assert passes(halved) > passes(plan)
    whole, parts = gradients(plan, tmp_path / "whole"), gradients(halved, tmp_path / "halved")
    # In float32 the first step differs by the order of its sums alone.
    assert torch.allclose(whole, parts, rtol=1e-4, atol=1e-6)
    assert whole.abs().max() > 1e-3


def passes(plan: Training) -> int:
    return sum(map(len, plan.batches()))


@pytest.mark.parametrize("packed", [False, True])
def test_halved_steps_have_the_rows_of_whole_ones(packed: bool) -> None:
    plan = replace(PLAN, recipe=RECIPE.model_copy(update={"packed": packed}))
    for halvings in range(4):
        steps = replace(plan, halvings=halvings).batches()
        found = [[row for one in step for row in one] for step in steps]
        assert found == [[row for one in step for row in one] for step in plan.batches()]


def test_rows_of_a_pass_are_halved_down_to_one() -> None:
    most = [
        max(len(one) for step in replace(PLAN, halvings=halvings).batches() for one in step)
        for halvings in range(5)
    ]
    assert most == [4, 2, 1, 1, 1]


def test_a_run_that_was_halved_is_flagged(train_record: TrainRecord) -> None:
    halved = train_record.model_copy(update={"halvings": 2})
    (flag,) = set(flags.of_training(halved)) - set(flags.of_training(train_record))
    assert "halved 2 times" in flag
