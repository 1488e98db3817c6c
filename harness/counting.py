"""Trainable parameters of methods on a backbone, without weights."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from harness import backbones, plugins


def parameters(names: Sequence[str], backbone: str) -> dict[str, dict[str, Any]]:
    """Count trainable parameters, all parameters, and percent, on the meta device."""
    place = backbones.fetch(backbones.locate(backbone))
    config = AutoConfig.from_pretrained(place, trust_remote_code=False)
    return {name: _count(name, config) for name in names}


def _count(name: str, config: Any) -> dict[str, Any]:
    method = plugins.method(name)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
        adapted = method.adapt(model, method.configure())
    trainable, total = adapted.get_nb_trainable_parameters()
    return {"trainable": trainable, "total": total, "percent": round(100 * trainable / total, 4)}
