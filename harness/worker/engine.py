"""Accelerate, over plain torch or DeepSpeed ZeRO-1."""

import os
import socket
from typing import Any

import torch
from accelerate import Accelerator, DeepSpeedPlugin

from harness.spec import Recipe


def accelerator(recipe: Recipe) -> Accelerator:
    """Set up the engine of the recipe for this one process."""
    steps = recipe.accumulation_steps
    if recipe.engine == "torch":
        return Accelerator(gradient_accumulation_steps=steps, cpu=not torch.cuda.is_available())
    return Accelerator(gradient_accumulation_steps=steps, deepspeed_plugin=_zero_one(recipe))


def _zero_one(recipe: Recipe) -> DeepSpeedPlugin:
    # DeepSpeed asks for a launcher's variables even where one process is all there is, and
    # Accelerate ignores it without the first one.
    os.environ.setdefault("ACCELERATE_USE_DEEPSPEED", "true")
    launcher = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
    for name, value in {**launcher, "MASTER_PORT": str(_free_port())}.items():
        os.environ.setdefault(name, value)
    config: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": recipe.batch_size,
        "gradient_accumulation_steps": recipe.accumulation_steps,
        "gradient_clipping": recipe.max_grad_norm,
        "zero_optimization": {"stage": 1},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": torch.cuda.is_available()},
    }
    return DeepSpeedPlugin(hf_ds_config=config)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
