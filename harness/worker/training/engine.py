"""Accelerate, over plain torch or DeepSpeed ZeRO-1: where the two differ in a step."""

import os
import socket
from collections.abc import Sequence
from typing import Any

import torch
from accelerate import Accelerator, DeepSpeedPlugin
from torch import Tensor, nn

from harness.spec.recipe import Recipe
from methods.training.hooks import StepHooks


class Engine:
    """Takes backward passes and optimizer steps, and shows the gradients to the hooks."""

    def __init__(self, recipe: Recipe, hooks: Sequence[StepHooks]) -> None:
        self.hooks, self.max_grad_norm = hooks, recipe.max_grad_norm
        self.accelerator = _accelerator(recipe)
        self.parameters: list[nn.Parameter] = []
        self.optimizer: Any = None

    def prepare(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        """Hand model and optimizer over; return the model to call from now on."""
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        wrapped, self.optimizer = self.accelerator.prepare(model, optimizer)
        return wrapped

    def backward(self, model: Any, loss: Tensor) -> bool:
        """Add the gradients of a batch; return whether those of the step are whole now."""
        whole = bool(self.accelerator.sync_gradients)
        if self.accelerator.distributed_type == "DEEPSPEED":
            # Accelerate would take the optimizer step too, before a hook could see the gradients.
            model.set_gradient_accumulation_boundary(is_boundary=whole)
            model.backward(loss)
        else:
            self.accelerator.backward(loss)
        return whole

    def step(self, model: Any, number: int) -> None:
        """Let the hooks see the gradients, clip them, and move the parameters."""
        if self.accelerator.distributed_type == "DEEPSPEED":
            self._show_gradients(number)
            model.step()
            return
        for hook in self.hooks:
            hook.after_backward(number)
        self.accelerator.clip_grad_norm_(self.parameters, self.max_grad_norm)
        self.optimizer.step()
        for hook in self.hooks:
            hook.after_step(number)
        self.optimizer.zero_grad()

    def _show_gradients(self, number: int) -> None:
        """Copy DeepSpeed's own gradients to where hooks look for them, and back."""
        if not self.hooks:
            return
        from deepspeed.utils import (  # noqa: PLC0415 (seconds)
            safe_get_full_grad,
            safe_set_full_grad,
        )

        reached = [p for p in self.parameters if safe_get_full_grad(p) is not None]
        for parameter in reached:
            parameter.grad = safe_get_full_grad(parameter).to(parameter.dtype)
        for hook in self.hooks:
            hook.after_backward(number)
        for parameter in reached:
            seen, parameter.grad = parameter.grad, None
            safe_set_full_grad(parameter, torch.zeros_like(parameter) if seen is None else seen)


def _accelerator(recipe: Recipe) -> Accelerator:
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
