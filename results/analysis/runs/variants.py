"""The runs of a method and of its variants: `rosa`, `rosa:roae-only`, `rosa[r=4]`."""

import re
from collections.abc import Iterable

from results.analysis.runs.recipes import without_recipe
from results.record import Run

_NAME = re.compile(r"(?:peft:)?[^:\[@]+")


def with_variants(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Collect the runs of each method that was run both in full and as a variant."""
    families: dict[str, list[Run]] = {}
    for run in runs:
        families.setdefault(full(run.method), []).append(run)
    labels = {name: {without_recipe(run.method) for run in own} for name, own in families.items()}
    return {
        name: own
        for name, own in families.items()
        if name in labels[name] and len(labels[name]) > 1
    }


def full(method: str) -> str:
    """Name the method that a label is of.

    >>> [full(label) for label in ("rosa:roae-only", "lora[r=64]", "peft:WAVEFT", "dypam@9f3c1a2b")]
    ['rosa', 'lora', 'peft:WAVEFT', 'dypam']
    """
    found = _NAME.match(method)
    return found[0] if found else method
