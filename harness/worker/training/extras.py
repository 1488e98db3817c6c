"""What a method does in training besides following the gradient of the mean loss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from peft import PeftModel
from torch import Tensor

from harness.worker.training.batches import Training
from methods.contract import Method
from methods.training.hooks import StepHooks, TrainingAhead
from methods.training.layer_selection import DynamicLayerSelection, LayerSelection


@dataclass(frozen=True)
class Extras:
    """What a method adds to following the gradient of the mean loss per token.

    Attributes:
        hooks: Called at the moments of each step.
        auxiliary_loss: Added to the loss of each batch; None adds nothing.
        counts: Buffers that passes add to, summed over the ranks before the hooks see gradients.
    """

    hooks: Sequence[StepHooks] = ()
    auxiliary_loss: Callable[[PeftModel], Tensor] | None = None
    counts: Sequence[Tensor] = ()


NO_EXTRAS = Extras()


def extras(
    method: Method,
    selection: LayerSelection | None,
    model: PeftModel,
    training: Training,
    seed: int,
) -> Extras:
    """Set up the hooks of a method and its layer selection for a training."""
    ahead = TrainingAhead(training.steps, training.warmup_steps, seed)
    hooks = [method.hooks(model, ahead)] if method.hooks else []
    if selection:
        hooks.append(DynamicLayerSelection(model, selection, ahead))
    counts = [
        one for name, one in model.named_buffers() if name.rpartition(".")[2] in method.counts
    ]
    return Extras(hooks, method.auxiliary_loss, counts)
