"""`harness methods --backbone B --memory`: what each method takes, and which GPU holds it."""

from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any

import torch

from harness import plugins
from harness.commands.report import Report, table
from harness.errors import UserError
from harness.planning.footprint.cards import Card
from harness.planning.footprint.need import need
from harness.planning.footprint.parameters import shapes
from harness.planning.footprint.simulation import Setting, measure
from harness.planning.footprint.speed import H200
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.planned import Need
from harness.spec.recipe import BatchPlan, Recipe
from harness.spec.spec import MethodSpec
from results.reports.costs import size

PROMPT, ANSWER = 512, 256
"""Tokens."""

CARDS = (
    Card("24 GB", 25_250_000_000),
    Card("80 GB", 84_900_000_000),
    Card("141 GB", 150_000_000_000),
)
"""As torch reports an RTX 4090, an A100 or H100, and an H200."""

COLUMNS = ("training", "checkpointing", "validation", "generation", "GPU", "pass, H200")

USUAL = Setting(
    weights=torch.bfloat16,
    rows=Recipe.model_validate({}).batch_size,
    tokens=PROMPT,
    checkpointing=False,
    validated=(8, PROMPT),
    decoded=(BatchPlan.model_validate({}).batch_size, PROMPT + ANSWER),
)


@dataclass(frozen=True)
class Both:
    """What a method needs with and without gradient checkpointing.

    Attributes:
        seconds: Of a training pass on an H200, without checkpointing, at best.
    """

    plain: Need
    frugal: Need
    seconds: float

    @property
    def holder(self) -> str:
        """Name the smallest of `CARDS` that holds it."""
        for card in CARDS:
            if card.holds(self.plain.peak):
                return card.name
            if card.holds(self.frugal.peak):
                return f"{card.name}, checkpointing"
        return "none"


def memory(named: str | None, backbone: str | None) -> Report:
    """Work out what methods need on the shapes of a backbone in bfloat16, at `USUAL` batches.

    Args:
        named: A method, such as "lora[r=64]" or "my/tanh_lora.py"; all that train if None.
        backbone: As `harness methods --backbone` takes it.

    Raises:
        UserError: There is no such method or backbone.
    """
    if backbone is None:
        raise UserError("--memory needs a backbone: add --backbone llama-3.2-3b, or another.")
    config, *_ = shapes(backbone).values()
    trained = (name for name in plugins.names("methods") if plugins.method(name).trains)
    specs = [complete(parse_method(text)) for text in ([named] if named else trained)]
    found = [(spec.label, _both(spec, config)) for spec in specs]
    how = (
        f"{backbone} in bfloat16, training on {USUAL.rows} x {USUAL.tokens} tokens, generation of "
        f"{USUAL.decoded[0]} answers of {ANSWER} tokens to prompts of {PROMPT}; the GPU is the "
        "smallest of 24, 80 and 141 GB that holds it. A pass, forward and backward, is at the "
        "rates of the data sheet, with an assumed 6 microseconds a kernel."
    )
    text = table([_row(label, both) for label, both in found])
    return Report(f"{text}\n\n{fill(how, 100)}", [_value(label, both) for label, both in found])


def _both(spec: MethodSpec, config: Any) -> Both | None:
    """Work out both needs; None where the method does not fit the backbone, or reads numbers."""
    try:
        plain = measure(spec, config, USUAL)
        frugal = measure(spec, config, replace(USUAL, checkpointing=True))
        return Both(need(plain), need(frugal), H200.seconds(plain.work))
    except Exception:  # as it may in any way where there are shapes alone
        return None


def _row(method: str, both: Both | None) -> dict[str, str | None]:
    if both is None:
        return {"method": method, **dict.fromkeys(COLUMNS)}
    plain, frugal = both.plain, both.frugal
    peaks = (plain.training, frugal.training, plain.validation, plain.generation)
    shown = (*map(size, peaks), both.holder, f"{1000 * both.seconds:.0f} ms")
    return {"method": method, **dict(zip(COLUMNS, shown, strict=True))}


def _value(method: str, both: Both | None) -> dict[str, Any]:
    """Give the same in bytes."""
    return {
        "method": method,
        "need": both.plain.model_dump() if both else None,
        "need_with_checkpointing": both.frugal.model_dump() if both else None,
        "gpu": both.holder if both else None,
        "pass_seconds_h200": both.seconds if both else None,
    }
