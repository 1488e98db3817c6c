"""Trainable parameters of methods on a backbone, without weights."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from harness import plugins
from harness.backbones import Located
from harness.errors import UserError
from harness.spec import MethodSpec


@dataclass(frozen=True)
class Count:
    """Parameters after adapting, and the share of those that train."""

    trainable: int
    total: int
    percent: float


def count(method: MethodSpec, located: Located) -> Count:
    """Put a method on a backbone on the meta device and count.

    Raises:
        UserError: The method cannot be put on this backbone with these fields.
    """
    plugin = plugins.method(method.name)
    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(_config(located))
            adapted = plugin.adapt(model, plugin.configure(**method.fields))
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{method.label} on {located.backbone.name}: {error}") from error
    trainable, total = adapted.get_nb_trainable_parameters()
    return Count(trainable, total, round(100 * trainable / total, 4))


@cache
def _config(located: Located) -> Any:
    local = Path(located.place).is_dir()
    revision = None if local else located.backbone.revision
    return AutoConfig.from_pretrained(located.place, revision=revision, trust_remote_code=False)
