"""The contract of a method: what a file in this folder offers as `method` on its last line."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import peft
from peft import PeftConfig, PeftModel
from peft.tuners.tuners_utils import BaseTuner
from torch import nn
from transformers import PreTrainedModel

NOT_HYPERPARAMETERS = {field.name for field in fields(PeftConfig)}
"""Fields that every PEFT configuration has and that say nothing of the method."""


@dataclass(frozen=True)
class Method:
    """A parameter-efficient fine-tuning method over its PEFT configuration class.

    Attributes:
        title: As tables print it.
        paper: Where it is defined.
        config: Its configuration class; the fields are its hyperparameters.
        defaults: Fields that differ from the defaults of the class, with the paper that sets them
            in the method's docstring.
        parameters: The number of trainable parameters by formula, from a configuration and the
            bare model; the conformance suite holds the real number against it.
        mergeable: Whether the adapter can be folded into the weights.
    """

    title: str
    paper: str
    config: type[PeftConfig]
    defaults: Mapping[str, Any]
    parameters: Callable[[Any, PreTrainedModel], int]
    mergeable: bool

    def configure(self, **overrides: Any) -> PeftConfig:
        """Build the configuration from the defaults and `overrides`."""
        return self.config(task_type="CAUSAL_LM", **{**self.defaults, **overrides})

    def adapt(self, model: PreTrainedModel, config: PeftConfig) -> PeftModel:
        """Freeze `model` and put the adapter into it, in place.

        Whatever requires a gradient afterwards is what the harness trains, counts and saves. The
        adapter's parameters are float32, also over a base in bfloat16.
        """
        with warnings.catch_warnings():
            # PEFT 0.21 reads a property that transformers 5.23 has deprecated.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return peft.get_peft_model(model, config)


def hyperparameters(config: PeftConfig) -> dict[str, Any]:
    """List all fields of a configuration that can change a number, defaults included."""
    values = config.to_dict()
    return {key: values[key] for key in sorted(values) if key not in NOT_HYPERPARAMETERS}


def register(config: type[PeftConfig], tuner: type[BaseTuner]) -> None:
    """Make PEFT know a method that it does not ship, under `config.peft_type`.

    `peft.utils.register_peft_method` only takes names that are in PEFT's own enumeration.
    """
    name: Any = config.peft_type
    peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING[name] = config
    peft.mapping.PEFT_TYPE_TO_TUNER_MAPPING[name] = tuner
    peft.mapping.PEFT_TYPE_TO_PREFIX_MAPPING[name] = tuner.prefix


def linear_layers(model: PreTrainedModel) -> list[nn.Linear]:
    """Find what PEFT's `target_modules="all-linear"` targets: all but the output embedding."""
    head = model.get_output_embeddings()
    return [m for m in model.modules() if isinstance(m, nn.Linear) and m is not head]
