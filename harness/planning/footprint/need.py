"""The memory that a method needs on a backbone, phase by phase."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.planning.footprint.simulation import Setting, measure
from harness.planning.settings import Settings
from harness.spec.recipe import VALIDATION_ROWS, VALIDATION_TOKENS, Recipe
from harness.spec.spec import MethodSpec
from tasks.contract import Row

CHARACTERS = 2
"""Of a text for each token, at least: English has about four, program text three."""


@dataclass(frozen=True)
class Need:
    """Bytes at the peak of each phase, weights and adapter included."""

    training: int
    validation: int
    generation: int

    @property
    def peak(self) -> int:
        """The most of all phases."""
        return max(self.training, self.validation, self.generation)

    @property
    def phase(self) -> str:
        """Where the peak is."""
        return max(vars(self), key=lambda phase: int(vars(self)[phase]))


@dataclass(frozen=True)
class Texts:
    """The longest texts of a request, in characters."""

    taught: int
    asked: int

    @classmethod
    def of(cls, train: Sequence[Row], tests: Sequence[Row], settings: Settings) -> "Texts":
        """Write all rows as the protocol does."""
        protocol = settings.protocol
        solved = protocol.solved(protocol.draw(train))
        return cls(
            taught=max(sum(map(len, protocol.teach(row))) for row in train),
            asked=max(len(protocol.text(protocol.ask(row), solved)) for row in tests),
        )


def setting(
    config: Any, recipe: Recipe, settings: Settings, texts: Texts, weights: torch.dtype
) -> Setting:
    """Say how large the batches of a run get; lengths are bounded, since no text is encoded."""
    positions = int(config.max_position_embeddings)
    protocol, batches = settings.protocol, settings.batches
    tokens = min(protocol.max_length, positions, texts.taught // CHARACTERS)
    asked = min(positions, texts.asked // CHARACTERS + protocol.max_new_tokens)
    validated = max(1, min(VALIDATION_ROWS, VALIDATION_TOKENS // tokens))
    return Setting(
        weights=weights,
        rows=recipe.batch_size,
        tokens=tokens,
        checkpointing=settings.memory.gradient_checkpointing,
        validated=(validated, tokens),
        decoded=(batches.batch_size * protocol.beams, asked),
    )


def need(method: MethodSpec, config: Any, setting: Setting) -> Need:
    """Work out what a method needs on the model that a configuration describes.

    AdamW keeps two numbers for each trained one, and the state of the lowest validation loss is a
    third; gradients are among what training makes.
    """
    found = measure(method, config, setting)
    loaded = found.frozen + found.trained
    kept = loaded + 3 * found.trained
    return Need(
        training=round(kept + found.training),
        validation=round(kept + found.validation),
        generation=round(loaded + found.generation),
    )
