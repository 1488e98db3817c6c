"""What must hold of every method for a training that is cut; beside the checks of `methods`.

It is here since methods know nothing of the harness.
"""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor

from harness.spec.recipe import Recipe
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.checkpoint import Checkpoints
from harness.worker.training.extras import Extras
from harness.worker.training.loop import Trained, fit
from methods.conformance.probes import PADDING, Build, adapt, assert_same, prompts
from methods.contract import Method
from methods.training.hooks import StepHooks, TrainingAhead
from methods.training.layer_selection import DynamicLayerSelection

ROWS, TOKENS, PROMPT = 16, 12, 3
"""Rows, of up to so many tokens, of which the first are the prompt."""

RECIPE = Recipe.model_validate({"lr": 1e-2, "epochs": 2, "batch_size": 1, "accumulation_steps": 2})
SELECTION = 3
"""Optimizer steps between two selections of layers."""


def resumes_where_it_was_cut(method: Method, build: Build, recipe: Recipe = RECIPE) -> None:
    """A training that is cut again and again ends as one that is not, to the bit.

    It is cut in its second step, in a step drawn for the method, and in its last one; all that is
    left of it each time is a checkpoint of the step before.
    """
    with tempfile.TemporaryDirectory() as place:
        whole = _Attempt(method, build, recipe, Path(place, "whole"))
        whole.train()
        last = whole.plan.steps
        cuts = sorted({2, Random(method.title).randint(3, last - 1), last})
        for number, cut in enumerate(cuts):
            with suppress(_CutError):
                _Attempt(method, build, recipe, Path(place, "cut"), number).train(cut)
        resumed = _Attempt(method, build, recipe, Path(place, "cut"), len(cuts))
        resumed.train()
    steps = f"cut in steps {cuts} and resumed, "
    for name, tensor in whole.tensors().items():
        _same(resumed.tensors()[name], tensor, f"{steps}{name} differs")
    for what, expected in whole.told().items():
        assert resumed.told()[what] == expected, f"{steps}{what} differ"


class _CutError(Exception):
    pass


class _Watch(StepHooks):
    """Ends a training in the middle of a step; notes what other hooks keep before the last one."""

    def __init__(self, hooks: Sequence[StepHooks], last: int) -> None:
        self.hooks, self.last = hooks, last
        self.cut: int | None = None
        self.seen: Any = None

    def before_forward(self, step: int) -> None:
        if step == self.last:
            self.seen = [_plain(hook.state()) for hook in self.hooks]

    def after_backward(self, step: int) -> None:
        if step == self.cut:
            raise _CutError


class _Attempt:
    """A training in a folder, with a model and hooks of its own, as in a new process."""

    def __init__(
        self, method: Method, build: Build, recipe: Recipe, folder: Path, number: int = 0
    ) -> None:
        self.folder, self.number = folder, number
        rows = [row[: 5 + place % 8] for place, row in enumerate(prompts(ROWS, TOKENS).tolist())]
        examples = [Example(row, PROMPT) for row in rows]
        self.plan = Training(examples[3:], examples[:3], recipe, order_seed=5, pad=PADDING)
        self.model: Any = adapt(method, build)
        ahead = TrainingAhead(self.plan.steps, self.plan.warmup_steps, seed=6)
        self.hooks = [method.hooks(self.model, ahead)] if method.hooks else []
        if selection := method.layer_selection({}):
            often = replace(selection, interval=SELECTION)
            self.hooks.append(DynamicLayerSelection(self.model, often, ahead))
        self.watch = _Watch(self.hooks, self.plan.steps)
        self.auxiliary_loss = method.auxiliary_loss
        self.trained: Trained | None = None

    def train(self, cut: int | None = None) -> None:
        """Train to the end, or to the middle of a step."""
        self.folder.mkdir(exist_ok=True)
        self.watch.cut = cut
        added = Extras([*self.hooks, self.watch], self.auxiliary_loss)
        with (
            torch.random.fork_rng(devices=[]),
            Journal(self.folder / "events.jsonl") as journal,
        ):
            # Each process begins with other random numbers: those of the checkpoint must count.
            torch.manual_seed(self.number)
            checkpoints = Checkpoints(self.folder, minutes=0)
            self.trained = fit(self.model, self.plan, journal, added, checkpoints=checkpoints)

    def tensors(self) -> dict[str, Tensor]:
        """List all that the model holds, by name."""
        return {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}

    def told(self) -> dict[str, Any]:
        """Return what is kept of the training beside the adapter."""
        return {
            "the steps, the tokens or the lowest loss": self.trained,
            "the states of its hooks before the last step": self.watch.seen,
            "the records of its hooks": [hook.record() for hook in self.hooks],
        }


def _plain(value: Any) -> Any:
    """Copy a state with lists instead of its tensors."""
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _same(found: Tensor, expected: Tensor, otherwise: str) -> None:
    try:
        assert_same(found, expected)
    except AssertionError as error:
        raise AssertionError(f"{otherwise}: {error}") from None
