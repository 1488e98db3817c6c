"""What mixtures of experts share: the loss made of a pass's weights, and their record."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor, nn

from methods.training.hooks import StepHooks, TrainingAhead
from methods.tuners.adapter import NativeTuner


class Routed(nn.Module):
    """A module that weighs experts by the token.

    Attributes:
        watched: Whether a pass in training fills the others.
        kept: What the auxiliary loss of the last pass is made of, with its graph.
        differentiable: Whether that pass recorded a graph.
        routed: Sum of the weights over tokens, (E,); in float64, however many tokens there are.
    """

    watched = False
    kept: Tensor | None = None
    differentiable = False
    routed: Tensor | float = 0.0

    def keep(self, weights: Tensor, kept: Tensor | None) -> None:
        """Keep the sum of the weights (tokens, E), and what the auxiliary loss is made of.

        Both must be computed in every pass, watched or not, since a checkpointed layer has to save
        the same tensors each time.
        """
        if self.watched:
            self.kept, self.differentiable = kept, torch.is_grad_enabled()
            self.routed = self.routed + weights.detach().double().sum(0)

    def collect(self) -> Tensor | None:
        """Return the auxiliary loss of the last pass in training, once."""
        kept, self.kept = self.kept, None
        return kept

    def mean_weights(self) -> list[float]:
        """Divide the sums of the weights by the tokens, which is what the weights add up to."""
        sums = torch.as_tensor(self.routed)
        means: list[float] = (sums / sums.sum()).tolist()
        return means


class RoutedTuner(NativeTuner):
    """A tuner whose adapters route, and which collects their auxiliary loss."""

    differentiable = False

    def routers(self) -> dict[str, Routed]:
        """List what routes in the active adapters, by the name of its layer."""
        raise NotImplementedError

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output, and in training what `auxiliary_loss` collects.

        Only of this pass: gradient checkpointing repeats the layers within the backward pass, and
        what was kept then would hold their activations.
        """
        routers = self.routers().values()
        self.differentiable = torch.is_grad_enabled()
        for router in routers:
            router.watched, router.kept = True, None
        try:
            return super().forward(*args, **kwargs)
        finally:
            for router in routers:
                router.watched = False

    def auxiliary_loss(self) -> Tensor:
        """Return the auxiliary loss of the last pass in training, the mean of the layers.

        It can be collected once. Zero if there was none.

        Raises:
            RuntimeError: The layers were checkpointed by the reentrant implementation, whose first
                pass records no graph, so that the loss would have no gradient.
        """
        keeping = [router for router in self.routers().values() if router.kept is not None]
        if self.differentiable and not all(router.differentiable for router in keeping):
            raise RuntimeError(
                f"{type(self).__name__}: the auxiliary loss has no gradient under reentrant "
                'gradient checkpointing. Enable checkpointing with {"use_reentrant": False}.'
            )
        losses = [loss for router in keeping if (loss := router.collect()) is not None]
        if not losses:
            return torch.zeros((), device=next(self.model.parameters()).device)
        return torch.stack(losses).mean()


def auxiliary_loss(model: PeftModel) -> Tensor:
    """Return the auxiliary loss of the last pass in training, times its factors."""
    tuner: Any = model.base_model
    loss: Tensor = tuner.auxiliary_loss()
    return loss


@dataclass
class RouterWeights(StepHooks):
    """Records how the tokens of the last tenth of the steps, rounded up, were routed."""

    model: PeftModel
    ahead: TrainingAhead

    def before_forward(self, step: int) -> None:
        """Forget what came before, at the first of these steps."""
        if step == self.ahead.steps - math.ceil(self.ahead.steps / 10) + 1:
            for router in self._routers().values():
                router.routed = 0.0

    def state(self) -> dict[str, Any]:
        """Return what is added up so far, by layer."""
        return {name: torch.as_tensor(router.routed) for name, router in self._routers().items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on adding up."""
        device = next(self.model.parameters()).device
        for name, router in self._routers().items():
            router.routed = state[name].to(device)

    def record(self) -> dict[str, Any]:
        """Return the mean weight of each expert over the tokens of those steps, by layer."""
        means = {
            name: router.mean_weights()
            for name, router in self._routers().items()
            if torch.as_tensor(router.routed).any()
        }
        return {"router_weights": means} if means else {}

    def _routers(self) -> dict[str, Routed]:
        tuner: Any = self.model.base_model
        routers: dict[str, Routed] = tuner.routers()
        return routers
