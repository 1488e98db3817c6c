"""Accelerate, over plain torch or DeepSpeed: where the two differ in a step.

Several processes share the passes of a step. Plain torch adds their gradients up once, when those
of the step are there, so that no parameter needs to have one in every pass, as in torch's
`DistributedDataParallel`. DeepSpeed does it by itself, and divides what `zero` says among them:
Rajbhandari et al., 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from accelerate import Accelerator, DeepSpeedPlugin
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from harness.spec.recipe import Recipe
from harness.spec.spec import Precision
from harness.worker.ranks import ALONE, Rank
from harness.worker.training.extras import NO_EXTRAS, Extras


class Engine:
    """Takes backward passes and optimizer steps, and shows the gradients to the hooks.

    Args:
        recipe: Says which engine it is.
        extras: Has the hooks that see the gradients.
        adapter: The precision of what trains under DeepSpeed; plain torch takes it as it is.
        rank: Which of the processes this one is.
    """

    def __init__(
        self,
        recipe: Recipe,
        extras: Extras = NO_EXTRAS,
        adapter: Precision = "float32",
        rank: Rank = ALONE,
    ) -> None:
        self.extras, self.max_grad_norm = extras, recipe.max_grad_norm
        self.accumulation_steps = recipe.accumulation_steps
        self.partitioned, self.rank = recipe.partitioned, rank
        self.accelerator = _accelerator(recipe, adapter, rank)
        self.model = nn.Module()
        self.parameters: list[nn.Parameter] = []
        self.optimizer: Any = None
        self._adamw: Any = None

    def prepare(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        """Hand model and optimizer over; return the model to call from now on."""
        self.model, self.parameters = model, _trained(model)
        self._adamw = optimizer
        if not self.sharded:
            # Around plain torch, Accelerate's optimizer only looks for packages, in every step.
            self.optimizer = optimizer
            # The model has its place; moved, it would have other buffers than the hooks know.
            return self.accelerator.prepare_model(
                model, device_placement=False, evaluation_mode=True
            )
        wrapped, self.optimizer = self.accelerator.prepare(model, optimizer)
        return wrapped

    def state(self) -> dict[str, Any]:
        """Return what the optimizer keeps of earlier steps: its moments and rates.

        Under DeepSpeed also the float32 numbers of this process of which the parameters are a copy.
        """
        with self._stepping():
            found = self._adamw.state_dict()
        # A parameter that no gradient has reached yet has no moments.
        state = {str(place): kept for place, kept in found["state"].items()}
        numbers = [p.detach() for p in self._stepped()] if self.sharded else []
        return {"state": state, "param_groups": found["param_groups"], "numbers": numbers}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned; the parameters themselves are not the engine's."""
        kept = {int(place): kept for place, kept in state["state"].items()}
        with self._stepping():
            self._adamw.load_state_dict({"state": kept, "param_groups": state["param_groups"]})
        if self.sharded:
            with torch.no_grad():
                for number, saved in zip(self._stepped(), state["numbers"], strict=True):
                    number.copy_(saved)

    def _stepped(self) -> list[Tensor]:
        """List what the optimizer moves: under DeepSpeed no parameters, but what they copy."""
        if self.partitioned:
            numbers: list[Tensor] = self.optimizer.optimizer.fp32_partitioned_groups_flat
            return numbers
        return [p for group in self._adamw.param_groups for p in group["params"]]

    @contextmanager
    def _stepping(self) -> Iterator[None]:
        """Have in this block in AdamW what it moves, which ZeRO-3 puts there for a step only."""
        if self.partitioned:
            self._adamw.param_groups[0]["params"] = self._stepped()
        yield
        if self.partitioned:
            self._adamw.param_groups[0]["params"] = []

    @property
    def sharded(self) -> bool:
        """Whether each rank keeps a part of its own, as DeepSpeed has it."""
        return bool(self.accelerator.distributed_type == "DEEPSPEED")

    @contextmanager
    def whole(self, parameters: Sequence[nn.Parameter], *, written: bool = False) -> Iterator[None]:
        """Have these parameters whole on every rank in this block, where ZeRO-3 divides them.

        All ranks enter it.

        Args:
            parameters: All that are used in the block.
            written: Whether they take what rank 0 writes into them in the block; else it is lost.
        """
        if not self.partitioned:
            yield
            return
        from deepspeed import zero  # noqa: PLC0415 (seconds)

        with zero.GatheredParameters(list(parameters), 0 if written else None):
            yield

    def gather(self, parameters: Sequence[nn.Parameter]) -> None:
        """Make these parameters whole for good, once the last step is taken; all ranks do."""
        if self.partitioned and parameters:
            first: Any = parameters[0]
            first.all_gather(param_list=list(parameters))

    def close(self) -> None:
        """Let go of the model, and of the other ranks; what trains stays as `gather` left it."""
        self.accelerator.free_memory()
        unset_hf_deepspeed_config()  # by which transformers would divide what it loads next
        self.rank.leave()

    def backward(self, model: Any, loss: Tensor, passes: int, *, last: bool) -> None:
        """Add the gradients of one pass; those of a step are of the mean loss of its passes.

        Args:
            model: What `prepare` returned.
            loss: Of the pass.
            passes: How many the step has, on all ranks together.
            last: Whether the gradients of the step are whole with this one.
        """
        if self.sharded:
            # Accelerate would take the optimizer step too, before a hook could see the gradients.
            model.set_gradient_accumulation_boundary(is_boundary=last)
            # DeepSpeed divides by the batches of a padded step and by the ranks; a packed one has
            # other passes.
            model.backward(loss * (self.accumulation_steps / passes))
        else:
            (loss / passes).backward()

    def step(self, model: Any, number: int) -> None:
        """Let the hooks see the gradients, clip them, and move the parameters."""
        for count in self.extras.counts:
            self.rank.sum(count)
        if self.sharded:
            self._show_gradients(number)
            model.step()
            return
        self._sum_gradients(_trained(self.model))
        for hook in self.extras.hooks:
            hook.after_backward(number)
        nn.utils.clip_grad_norm_(self.parameters, self.max_grad_norm)
        self.optimizer.step()
        for hook in self.extras.hooks:
            hook.after_step(number)
        self.optimizer.zero_grad()

    def _sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Add the gradients of the ranks up; where none has one, there is none."""
        if self.rank.of == 1 or not parameters:
            return
        has = torch.tensor([p.grad is not None for p in parameters], device=parameters[0].device)
        somewhere = self.rank.sum(has.int()).tolist()
        for parameter in [p for p, ranks in zip(parameters, somewhere, strict=True) if ranks]:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            self.rank.sum(parameter.grad)

    def _show_gradients(self, number: int) -> None:
        """Copy DeepSpeed's own gradients, in float32, to where hooks look for them, and back."""
        if not self.extras.hooks:
            return
        from deepspeed.utils import (  # noqa: PLC0415 (seconds)
            safe_get_full_grad,
            safe_set_full_grad,
        )

        # A hook may have asked for those of others, which DeepSpeed does not know, nor average.
        known = set(self.parameters)
        others = [p for p in _trained(self.model) if p not in known]
        self._sum_gradients(others)
        for gradient in [p.grad for p in others if p.grad is not None]:
            gradient.div_(self.rank.of)
        found = {p: safe_get_full_grad(p) for p in self.parameters}
        reached = {p: gradient for p, gradient in found.items() if gradient is not None}
        with self.whole(self.parameters):
            for parameter, gradient in reached.items():
                # Of a parameter in bfloat16, torch would take no other gradient.
                parameter.grad, parameter.grad_dtype = None, gradient.dtype
                parameter.grad = gradient
            for hook in self.extras.hooks:
                hook.after_backward(number)
            seen = {p: p.grad for p in reached}
            for parameter in reached:
                parameter.grad, parameter.grad_dtype = None, parameter.dtype
        for parameter, gradient in reached.items():
            shown = seen[parameter]
            set_to = torch.zeros_like(gradient) if shown is None else shown
            safe_set_full_grad(parameter, self._padded(set_to))

    def _padded(self, gradient: Tensor) -> Tensor:
        """Fill the last rank's part of a gradient up: ZeRO-3 gives all ranks parts of one size."""
        missing = -gradient.numel() % self.rank.of if self.partitioned else 0
        return pad(gradient.flatten(), (0, missing)) if missing else gradient


def _trained(model: nn.Module) -> list[nn.Parameter]:
    return [p for p in model.parameters() if p.requires_grad]


def _accelerator(recipe: Recipe, adapter: Precision, rank: Rank) -> Accelerator:
    """Set up the engine of the recipe for this process."""
    if recipe.engine == "torch":
        if rank.of > 1:
            rank.join()
        return Accelerator(cpu=not torch.cuda.is_available())
    rank.join()
    # Accelerate ignores DeepSpeed without it.
    os.environ["ACCELERATE_USE_DEEPSPEED"] = "true"
    from harness.worker.machine import compiling  # noqa: PLC0415 (it imports setuptools)

    compiling.install()
    return Accelerator(
        gradient_accumulation_steps=recipe.accumulation_steps // rank.of,
        deepspeed_plugin=_plugin(recipe, adapter, rank),
    )


def _plugin(recipe: Recipe, adapter: Precision, rank: Rank) -> DeepSpeedPlugin:
    config: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": recipe.batch_size,
        "gradient_accumulation_steps": recipe.accumulation_steps // rank.of,
        "gradient_clipping": recipe.max_grad_norm,
        "zero_optimization": {"stage": recipe.zero},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": adapter == "bfloat16"},
        # In bfloat16, gradients of later batches would be lost in the sum. Without the second
        # line the sum itself is rounded, though one process has nobody to send it to.
        "data_types": {"grad_accum_dtype": "fp32"},
        "communication_data_type": "fp32",
    }
    return DeepSpeedPlugin(hf_ds_config=config)
