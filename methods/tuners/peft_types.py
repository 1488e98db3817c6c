"""The types of adapters that PEFT knows: adding one of ours, and taking one of PEFT's own."""

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


def of_peft(kind: str) -> Method:
    """Make a method, on all linear layers, of a tuner that PEFT ships and that has no file here.

    Raises:
        ValueError: There is no such type, or it puts tokens before the prompt instead of adapting
            layers, which the training loop here does not know.
    """
    configs = {
        str(name.value): peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING[name]
        for name in peft.PeftType
        if name in peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING
    }
    usable = [
        name
        for name, one in configs.items()
        if "target_modules" in {field.name for field in fields(one)}
    ]
    if kind not in usable:
        near = get_close_matches(kind.upper(), usable, n=1)
        meant = f" Did you mean peft:{near[0]}?" if near else ""
        raise ValueError(
            f"'peft:{kind}' is not a tuner of PEFT {peft.__version__} that adapts layers.{meant}\n"
            f"  Known: {', '.join(sorted(usable))}"
        )
    return Method(
        title=kind,
        paper="https://huggingface.co/docs/peft",
        config=configs[kind],
        parameters=None,
        mergeable=False,
        defaults={"target_modules": "all-linear"},
    )
