"""How runs were made where it was not the default; for runs that do not say so themselves.

A run folder names its own conditions since they are a field of its head. For earlier ones they are
worked out here, from the spec and the defaults of that time, which are frozen.
"""

from collections.abc import Mapping
from typing import Any

PARTS = {"recipe": "train", "batches": "generate"}
"""What a reader calls a part of the spec, and its key there."""

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "train": {
        "version": 2,
        "lr": 1e-3,
        "betas": [0.9, 0.999],
        "weight_decay": 0.0,
        "schedule": "cosine",
        "warmup_ratio": 0.05,
        "epochs": 3,
        "batch_size": 2,
        "accumulation_steps": 2,
        "max_grad_norm": 1.0,
        "validation_rows": 300,
        "validations_per_epoch": 2,
        "patience": 0,
        "engine": "torch",
    },
    "generate": {"batch_size": 32, "round_tokens": 64},
}


def of_spec(spec: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Name the fields of recipe and batch plan that were not the default.

    >>> of_spec({"train": {"lr": 1e-4, "epochs": 3}, "generate": {"batch_size": 8}})
    {'recipe': {'lr': 0.0001}, 'batches': {'batch_size': 8}}
    """
    found = {}
    for part, key in PARTS.items():
        usual = DEFAULTS[key]
        unusual = {name: v for name, v in spec.get(key, {}).items() if v != usual.get(name)}
        if unusual:
            found[part] = unusual
    return found
