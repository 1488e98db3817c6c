"""The linear layers that a configuration targets."""

from typing import Any

from peft.tuners.tuners_utils import BaseTuner
from torch import nn
from transformers import PreTrainedModel


def linear_layers(model: PreTrainedModel) -> dict[str, nn.Linear]:
    """Find what PEFT's `target_modules="all-linear"` targets: all but the output embedding."""
    head = model.get_output_embeddings()
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and module is not head
    }


def targeted(config: Any, model: PreTrainedModel) -> dict[str, nn.Linear]:
    """Find the linear layers that `config.target_modules` names, as PEFT matches them."""
    if config.target_modules == "all-linear":
        return linear_layers(model)
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and BaseTuner._check_target_module_exists(config, name)
    }


def fits_rank(config: Any, model: PreTrainedModel, rank: str = "r") -> None:
    """Check that a rank is not larger than the layers.

    Raises:
        ValueError: Names the first layer whose smaller side is below the rank.
    """
    value = getattr(config, rank)
    for name, layer in targeted(config, model).items():
        limit = min(layer.in_features, layer.out_features)
        if value > limit:
            raise ValueError(
                f"{name} is {layer.out_features} x {layer.in_features}: {rank} may be at most "
                f"{limit} there, not {value}."
            )
