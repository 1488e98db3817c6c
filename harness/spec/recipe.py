"""How a method is trained, and how prompts are batched."""

from typing import Annotated, Literal

from pydantic import Field

from harness.spec.value import Value, later

Decay = Annotated[float, Field(ge=0, lt=1)]

SHARED = ("version", "validation_rows", "engine")
"""Fields of a recipe that no method sets for itself: what is compared must agree in them."""


FEWEST_TRAINING_ROWS = 10
"""A tenth of the rows validates; of fewer rows that would be none."""

VALIDATION_ROWS, VALIDATION_TOKENS = 8, 8192
"""The most rows of a validation batch, and the most tokens of one of several rows, with padding."""

PACKED_TOKENS = 4096
"""The most tokens of a packed pass of several rows: by default a padded batch has no more either,
two rows of 2,048."""


class Recipe(Value):
    """How a method is trained; by default all methods of a table have the same.

    The defaults are those of the DyPAM and RoSA papers. Where these are silent (epochs, clipping,
    how often the validation loss is taken), the README of `harness` gives the reason.

    Attributes:
        version: Raised when the code below it changes a score.
        lr: Peak learning rate of AdamW.
        betas: AdamW's averaging coefficients.
        weight_decay: Weight decay of AdamW.
        schedule: Shape of the learning rate after warm-up.
        warmup_ratio: Share of the steps over which the rate rises from 0.
        epochs: Passes over the training rows.
        batch_size: Rows per forward pass.
        accumulation_steps: Forward passes per optimizer step.
        max_grad_norm: Gradients are clipped to this norm.
        validation_rows: Drawn from the training rows; a tenth of them where there are fewer than
            ten times as many.
        validations_per_epoch: How often the validation loss is taken; the adapter of the lowest
            loss is evaluated.
        patience: Training ends after this many validations in a row without a lower loss; 0
            for never.
        engine: Plain torch, or DeepSpeed ZeRO-1.
        packed: Whether the rows of a step are one sequence, or as many as `PACKED_TOKENS` asks for,
            without padding, instead of padded batches. Losses and gradients are the same up to
            rounding; dropout draws other numbers.
    """

    version: Literal[2] = 2
    lr: float = Field(1e-3, gt=0, allow_inf_nan=False)
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    weight_decay: float = Field(0.0, ge=0, allow_inf_nan=False)
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup_ratio: float = Field(0.05, ge=0, le=1)
    epochs: int = Field(3, ge=1)
    batch_size: int = Field(2, ge=1)
    accumulation_steps: int = Field(2, ge=1)
    max_grad_norm: float = Field(1.0, gt=0, allow_inf_nan=False)
    validation_rows: int = Field(300, ge=1)
    validations_per_epoch: int = Field(2, ge=1)
    patience: int = Field(0, ge=0)
    engine: Literal["torch", "deepspeed"] = "torch"
    packed: bool = later(False)


def micro_batch(recipe: Recipe, halvings: int) -> int:
    """Count the rows of a forward pass that were halved so often; one at least.

    >>> [micro_batch(Recipe(batch_size=6), halvings) for halvings in range(4)]
    [6, 3, 2, 1]
    """
    return -(-recipe.batch_size >> halvings)


class BatchPlan(Value):
    """How prompts are batched for generation: in bfloat16 it moves scores.

    Attributes:
        batch_size: Prompts per batch, longest first; or the number of slots.
        round_tokens: After so many new tokens the unfinished prompts form new batches, so that one
            long answer does not hold up its batch. Slots have no rounds.
        slots: Whether an answer that has ended leaves its slot to the next prompt at once. Beams,
            and models that cannot do so, decode in rounds all the same.
        merge: Whether answers and likelihoods are those of weights into which the adapter is merged
            and rounded. Over float32 weights that is done anyway, and rounds nothing.
    """

    batch_size: int = Field(32, ge=1)
    round_tokens: int = Field(64, ge=1)
    slots: bool = later(False)
    merge: bool = later(False)


USUAL_BATCHES = BatchPlan.model_validate({"slots": True})
"""The batch plan of runs that are planned today."""
