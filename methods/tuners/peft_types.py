"""The types of adapters that PEFT knows: adding one of ours, and taking one of PEFT's own."""

from collections.abc import Collection
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

import peft
from peft import PeftConfig
from peft.tuners.tuners_utils import BaseTuner

from methods.contract import Method


def register(config: type[PeftConfig], tuner: type[BaseTuner]) -> None:
    """Make PEFT know a method that it does not ship, under `config.peft_type`.

    `peft.utils.register_peft_method` only takes names that are in PEFT's own enumeration.
    """
    name: Any = config.peft_type
    peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING[name] = config
    peft.mapping.PEFT_TYPE_TO_TUNER_MAPPING[name] = tuner
    peft.mapping.PEFT_TYPE_TO_PREFIX_MAPPING[name] = tuner.prefix


UNUSABLE = {
    "ADAMSS": "it needs scikit-learn, which the harness does not install",
    "ADAPTION_PROMPT": "it puts prompts into attention and needs their number of layers",
    "FROD": "it reads the weights while it is put in, which counting without weights cannot give",
    "POLY": "it needs a task for each row, which no benchmark here states",
    "SHADOW": "it wraps decoder blocks and no linear layer",
    "TRAINABLE_TOKENS": "it trains chosen rows of the embedding, and no linear layer",
    "UNILORA": "it counts entries while it is put in, which shapes without weights cannot give",
}
"""Types of PEFT 0.21 that name target modules but cannot be trained here, and why."""


def of_peft(kind: str, taken: Collection[str] = ()) -> Method:
    """Make a method, on all linear layers, of a tuner that PEFT ships and that has no file here.

    Args:
        kind: PEFT's name of the type.
        taken: Types, in lower case, that have a file here.

    Raises:
        ValueError: There is no such type, or it cannot be trained here: it puts tokens before the
            prompt instead of adapting layers, or it is one of `UNUSABLE`.
    """
    known = usable(taken)
    if kind not in known:
        near = get_close_matches(kind.upper(), known, n=1)
        meant = f" Did you mean peft:{near[0]}?" if near else ""
        why = f": {UNUSABLE[kind]}" if kind in UNUSABLE else ""
        raise ValueError(
            f"'peft:{kind}' is not a tuner of PEFT {peft.__version__} that can be trained "
            f"here{why}.{meant}\n  Known: {', '.join(known)}"
        )
    return Method(
        title=kind,
        paper="https://huggingface.co/docs/peft",
        config=_configs()[kind],
        parameters=None,
        mergeable=False,
        defaults={"target_modules": "all-linear"},
        by_token=lambda _: False,
        unpacked="the conformance checks were not run on it",
    )


def usable(taken: Collection[str] = ()) -> list[str]:
    """List the types of PEFT that adapt layers, can be trained here and are not taken."""
    return sorted(
        name
        for name, config in _configs().items()
        if "target_modules" in {field.name for field in fields(config)}
        if name not in UNUSABLE and name.lower() not in taken
    )


def _configs() -> dict[str, type[PeftConfig]]:
    known = peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING
    return {str(name.value): known[name] for name in peft.PeftType if name in known}
