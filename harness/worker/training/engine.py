"""Accelerate, over plain torch or DeepSpeed ZeRO-1: where the two differ in a step."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from accelerate import Accelerator, DeepSpeedPlugin
from torch import Tensor, distributed, nn

from harness.spec.recipe import Recipe
from harness.spec.spec import Precision
from methods.training.hooks import StepHooks

ALONE = {"ACCELERATE_USE_DEEPSPEED": "true", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
"""DeepSpeed asks for a launcher's variables even where one process is all there is, and Accelerate
ignores it without the first one."""


class Engine:
    """Takes backward passes and optimizer steps, and shows the gradients to the hooks.

    Args:
        recipe: Says which engine it is.
        hooks: What sees the gradients.
        adapter: The precision of what trains under DeepSpeed; plain torch takes it as it is.
    """

    def __init__(
        self, recipe: Recipe, hooks: Sequence[StepHooks], adapter: Precision = "float32"
    ) -> None:
        self.hooks, self.max_grad_norm = hooks, recipe.max_grad_norm
        self.accumulation_steps = recipe.accumulation_steps
        self.accelerator = _accelerator(recipe, adapter)
        self.parameters: list[nn.Parameter] = []
        self.optimizer: Any = None
        self._adamw: Any = None

    def prepare(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        """Hand model and optimizer over; return the model to call from now on."""
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        wrapped, stepping = self.accelerator.prepare(model, optimizer)
        # Around plain torch, Accelerate's optimizer only looks for packages, in every step.
        self.optimizer = stepping if self._sharded else optimizer
        self._adamw = optimizer
        return wrapped

    def state(self) -> dict[str, Any]:
        """Return what the optimizer keeps of earlier steps: its moments and rates.

        Under DeepSpeed also the float32 numbers of this process of which the parameters are a copy.
        """
        found = self._adamw.state_dict()
        # A parameter that no gradient has reached yet has no moments.
        state = {str(place): kept for place, kept in found["state"].items()}
        numbers = [p.detach() for p in self._stepped()] if self._sharded else []
        return {"state": state, "param_groups": found["param_groups"], "numbers": numbers}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned; the parameters themselves are not the engine's."""
        kept = {int(place): kept for place, kept in state["state"].items()}
        self._adamw.load_state_dict({"state": kept, "param_groups": state["param_groups"]})
        if self._sharded:
            with torch.no_grad():
                for number, saved in zip(self._stepped(), state["numbers"], strict=True):
                    number.copy_(saved)

    def _stepped(self) -> list[Tensor]:
        """List what the optimizer moves: under DeepSpeed no parameters, but what they copy."""
        return [p for group in self._adamw.param_groups for p in group["params"]]

    @property
    def _sharded(self) -> bool:
        return bool(self.accelerator.distributed_type == "DEEPSPEED")

    def backward(self, model: Any, loss: Tensor, passes: int, *, last: bool) -> None:
        """Add the gradients of one pass; those of a step are of the mean loss of its passes.

        Args:
            model: What `prepare` returned.
            loss: Of the pass.
            passes: How many the step has.
            last: Whether the gradients of the step are whole with this one.
        """
        if self._sharded:
            # Accelerate would take the optimizer step too, before a hook could see the gradients.
            model.set_gradient_accumulation_boundary(is_boundary=last)
            # DeepSpeed divides by the batches of a padded step; a packed one has other passes.
            model.backward(loss * (self.accumulation_steps / passes))
        else:
            (loss / passes).backward()

    def step(self, model: Any, number: int) -> None:
        """Let the hooks see the gradients, clip them, and move the parameters."""
        if self._sharded:
            self._show_gradients(number)
            model.step()
            return
        for hook in self.hooks:
            hook.after_backward(number)
        nn.utils.clip_grad_norm_(self.parameters, self.max_grad_norm)
        self.optimizer.step()
        for hook in self.hooks:
            hook.after_step(number)
        self.optimizer.zero_grad()

    def _show_gradients(self, number: int) -> None:
        """Copy DeepSpeed's own gradients, in float32, to where hooks look for them, and back."""
        if not self.hooks:
            return
        from deepspeed.utils import (  # noqa: PLC0415 (seconds)
            safe_get_full_grad,
            safe_set_full_grad,
        )

        found = {p: safe_get_full_grad(p) for p in self.parameters}
        reached = {p: gradient for p, gradient in found.items() if gradient is not None}
        for parameter, gradient in reached.items():
            # Of a parameter in bfloat16, torch would take no other gradient.
            parameter.grad, parameter.grad_dtype = None, gradient.dtype
            parameter.grad = gradient
        for hook in self.hooks:
            hook.after_backward(number)
        for parameter, gradient in reached.items():
            seen, parameter.grad = parameter.grad, None
            parameter.grad_dtype = parameter.dtype
            safe_set_full_grad(parameter, torch.zeros_like(gradient) if seen is None else seen)


def _accelerator(recipe: Recipe, adapter: Precision) -> Accelerator:
    """Set up the engine of the recipe for this one process."""
    if recipe.engine == "torch":
        return Accelerator(cpu=not torch.cuda.is_available())
    from harness.worker.machine import compiling  # noqa: PLC0415 (it imports setuptools)

    compiling.install()
    return Accelerator(
        gradient_accumulation_steps=recipe.accumulation_steps,
        deepspeed_plugin=_zero_one(recipe, adapter),
    )


def _zero_one(recipe: Recipe, adapter: Precision) -> DeepSpeedPlugin:
    os.environ |= ALONE
    if not distributed.is_initialized():
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        # A store within this process: no port that another run could take.
        store = distributed.HashStore()  # type: ignore[attr-defined]
        distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    config: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": recipe.batch_size,
        "gradient_accumulation_steps": recipe.accumulation_steps,
        "gradient_clipping": recipe.max_grad_norm,
        "zero_optimization": {"stage": 1},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": adapter == "bfloat16"},
        # In bfloat16, gradients of later batches would be lost in the sum. Without the second
        # line the sum itself is rounded, though one process has nobody to send it to.
        "data_types": {"grad_accum_dtype": "fp32"},
        "communication_data_type": "fp32",
    }
    return DeepSpeedPlugin(hf_ds_config=config)
