"""A training ends by the next validation; its end is named after the first broken loss."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel

from harness.spec.recipe import Recipe
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.divergence import DivergedError
from harness.worker.training.extras import Extras
from harness.worker.training.loop import fit
from methods.conformance.models import VOCABULARY, build
from methods.lora import method

ROW = Example(list(range(3, 12)), prompt_tokens=4)
PLAN = Training([ROW] * 40, [ROW] * 4, Recipe(epochs=1), order_seed=1, pad=0)
"""10 steps, validated after the fifth and the tenth."""


def adapted() -> PeftModel:
    torch.manual_seed(0)
    assert max(ROW.ids) < VOCABULARY
    return method.adapt(build("llama-gqa"), method.configure())


def ended(model: PeftModel, extras: Extras, folder: Path) -> tuple[DivergedError, list[Any]]:
    events = folder / "events.jsonl"
    with Journal(events) as journal, pytest.raises(DivergedError) as error:
        fit(model, PLAN, journal, extras)
    return error.value, [json.loads(line) for line in events.read_text().splitlines()]


class Breaks:
    """Puts a number into a weight of the adapter before the forward pass of a step."""

    def __init__(self, model: PeftModel, at: int, number: float) -> None:
        # Of the last layer of the MLP: attention on a CPU can hide a NaN of queries or keys.
        *_, self.weight = (p for p in model.parameters() if p.requires_grad)
        self.at, self.number = at, number

    def before_forward(self, step: int) -> None:
        if step == self.at:
            self.weight.data.fill_(self.number)

    def after_backward(self, step: int) -> None:
        pass

    def after_step(self, step: int) -> None:
        if step == -self.at:
            self.weight.data.fill_(self.number)

    def record(self) -> dict[str, Any]:
        return {}


def test_a_loss_that_is_not_finite_ends_the_training_before_any_validation(tmp_path: Path) -> None:
    model = adapted()
    error, events = ended(model, Extras([Breaks(model, 3, float("nan"))]), tmp_path)
    assert (error.step, error.reason) == (3, "the loss is nan")
    assert [event["step"] for event in events if "step" in event] == [1, 2, 3]
    assert not any(event.get("phase") == "validate" for event in events)
    assert events[-1]["loss"] == "NaN"  # as run folders write it, in strict JSON


def test_a_validation_loss_that_is_not_finite_ends_it_too(tmp_path: Path) -> None:
    model = adapted()
    broken_after_the_fifth = Breaks(model, -5, float("nan"))
    error, events = ended(model, Extras([broken_after_the_fifth]), tmp_path)
    assert (error.step, error.reason) == (5, "the validation loss is nan")
    assert events[-1]["validation_loss"] == "NaN"
    assert max(event.get("step", 0) for event in events) == 5


def test_an_infinite_auxiliary_loss_is_named_as_such(tmp_path: Path) -> None:
    extras = Extras(auxiliary_loss=lambda _: torch.tensor(float("inf"), requires_grad=True))
    error, _ = ended(adapted(), extras, tmp_path)
    assert (error.step, error.reason) == (1, "the auxiliary loss is inf")
