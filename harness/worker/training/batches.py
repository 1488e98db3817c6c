"""What is trained on, in which order, and when the validation loss is taken."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from harness.spec.recipe import PACKED_TOKENS, Recipe, micro_batch
from harness.spec.spec import Precision
from harness.worker.encode import Example


@dataclass(frozen=True)
class Training:
    """What is trained on, and how.

    Attributes:
        loss: Over all tokens, or over those of the answer.
        adapter: The precision in which the engine keeps what trains.
        halvings: How often the rows of a forward pass are halved; those of a step stay.
    """

    train: list[Example]
    validation: list[Example]
    recipe: Recipe
    order_seed: int
    pad: int
    loss: Literal["all", "answer"] = "all"
    adapter: Precision = "float32"
    halvings: int = 0

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
        rows = self._rows(random.Random(f"{self.order_seed}/order"))
        for _ in range(self.steps):
            step = sorted(islice(rows, self.rows_per_step), key=lambda e: len(e.ids))
            yield packed(step, self.halvings) if self.recipe.packed else self._padded(step)

    def _padded(self, step: list[Example]) -> list[list[Example]]:
        size = micro_batch(self.recipe, self.halvings)
        return [step[start : start + size] for start in range(0, len(step), size)]

    def _rows(self, rng: random.Random) -> Iterator[Example]:
        while True:
            yield from rng.sample(self.train, len(self.train))


def packed(step: list[Example], halvings: int = 0) -> list[list[Example]]:
    """Divide the rows of a step into as few passes as `PACKED_TOKENS` asks for, in their order.

    Args:
        step: The rows.
        halvings: How often the tokens of a pass are halved.
    """
    passes: list[list[Example]] = []
    room = 0
    for example in step:
        if not passes or len(example.ids) > room:
            passes.append([])
            room = PACKED_TOKENS >> halvings
        passes[-1].append(example)
        room -= len(example.ids)
    return passes
