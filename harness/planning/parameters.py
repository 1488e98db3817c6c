"""Trainable parameters of methods on a backbone, without weights."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from harness import backbones, plugins
from harness.errors import UserError
from harness.spec.planned import Located
from harness.spec.spec import MethodSpec
from methods.contract import size


@dataclass(frozen=True)
class Count:
    """Parameters after adapting, the share of those that train, and what PEFT adjusted."""

    trainable: int
    total: int
    percent: float
    adjustments: tuple[str, ...] = ()


def count(method: MethodSpec, located: Located) -> Count:
    """Put a method on a backbone on the meta device and count.

    Raises:
        UserError: The method cannot be put on this backbone with these fields.
    """
    return count_on(method, located.backbone.name, _config(located))


def count_on(method: MethodSpec, backbone: str, config: Any) -> Count:
    """Count on the model that a configuration of transformers describes.

    Raises:
        UserError: The method cannot be put on this model with these fields.
    """
    plugin = plugins.method(method.name)
    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
            adapted: Any = plugin.adapt(model, plugin.configure(**method.fields))
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{method.label} on {backbone}: {error}") from error
    found = size(adapted)
    adjusted: list[str] = plugin.adjustments(adapted) if plugin.adjustments else []
    return Count(found.trainable, found.total, round(found.percent, 4), tuple(adjusted))


def shapes(name: str) -> dict[str, Any]:
    """Return the configurations that a backbone's name stands for, by what they are called.

    One of `SHAPES`, which needs no network and no weights, or else a backbone as `harness run`
    takes it. A multimodal model has two: all of it, and its language model alone.

    Raises:
        UserError: There is no such backbone.
    """
    known = json.loads(SHAPES.read_text())
    if name in known:
        config = AutoConfig.for_model(**known[name])
    else:
        config = _config(backbones.locate(name))
    text = config.get_text_config()
    return {name: config} if text is config else {name: config, f"{name} (text only)": text}


SHAPES = Path(__file__).parent / "shapes.json"
"""The configurations of the backbones that the papers use, as far as they decide shapes."""


@cache
def _config(located: Located) -> Any:
    local = Path(located.place).is_dir()
    revision = None if local else located.backbone.revision
    try:
        return AutoConfig.from_pretrained(located.place, revision=revision, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise UserError(f"{located.backbone.name}: {error}") from error
