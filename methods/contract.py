"""The contract of a method: what a file in this folder offers as `method` on its last line."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import peft
from peft import PeftConfig, PeftModel
from peft.tuners.tuners_utils import BaseTuner, BaseTunerLayer
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.training.hooks import Plan, StepHooks
from methods.training.layer_selection import LayerSelection

NOT_HYPERPARAMETERS = {field.name for field in fields(PeftConfig)}
"""Fields that every PEFT configuration has and that say nothing of the method."""


@dataclass(frozen=True, eq=False)
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
        variants: Named fields: ablations by what they leave out, configurations by the paper that
            used them (`rosa-paper`), and `small` where the defaults need layers larger than those
            of a test model. `dls` may be among the fields: see `layer_selection`.
        starts_at_base: Whether the model computes before the first step what it computed without
            the adapter, with the default fields, or with those of `small` where it has one.
        check: Raises a ValueError that names layer, value and limit where a configuration does not
            fit the bare model and PEFT would not say so.
        notes: Says of an adapted model what PEFT adjusted, one line each.
        auxiliary_loss: What is added to the mean loss of each training batch, called right after
            its forward pass.
        hooks: What is done at each step besides following the gradient.
        zero_safe: Whether it is the same method under DeepSpeed ZeRO-1, whose optimizer keeps its
            own copy of the parameters and skips none: not where hooks change parameters, or take
            a gradient away so that the optimizer leaves a parameter alone.
        dls: Settings of dynamic layer selection (RoSA, section "Dynamic Layer Selection"), a part
            of training that any method can take; None for all layers always.
    """

    title: str
    paper: str
    config: type[PeftConfig]
    parameters: Callable[[Any, PreTrainedModel], int] | None
    mergeable: bool
    defaults: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    starts_at_base: bool = True
    check: Callable[[Any, PreTrainedModel], None] | None = None
    notes: Callable[[PeftModel], list[str]] | None = None
    auxiliary_loss: Callable[[PeftModel], Tensor] | None = None
    hooks: Callable[[PeftModel, Plan], StepHooks] | None = None
    zero_safe: bool = True
    dls: LayerSelection | None = None

    def configure(self, **overrides: Any) -> PeftConfig:
        """Build the configuration from the defaults and `overrides`; `dls` is no part of it."""
        chosen = {**self.defaults, **overrides}
        chosen.pop("dls", None)
        return self.config(task_type="CAUSAL_LM", **chosen)

    def layer_selection(self, values: Mapping[str, Any]) -> LayerSelection | None:
        """Read the field `dls`: true and false switch it, an object sets its settings.

        Raises:
            ValueError: A setting does not exist, or is out of its bounds.
        """
        chosen = values.get("dls", self.dls is not None)
        if not isinstance(chosen, Mapping):
            return (self.dls or LayerSelection()) if chosen else None
        known = [field.name for field in fields(LayerSelection)]
        if unknown := sorted(chosen.keys() - set(known)):
            raise ValueError(f"dls has no setting {unknown[0]!r}. Known: {', '.join(known)}")
        return LayerSelection(**chosen)

    def adapt(self, model: PreTrainedModel, config: PeftConfig) -> PeftModel:
        """Freeze `model` and put the adapter into it, in place.

        Whatever requires a gradient afterwards is what the harness trains, counts and saves. The
        adapter's parameters are float32, also over a base in bfloat16.

        Raises:
            ValueError: The configuration does not fit the model.
        """
        if self.check:
            self.check(config, model)
        with warnings.catch_warnings():
            # PEFT 0.21 reads a property that transformers 5.23 has deprecated.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return peft.get_peft_model(model, config)

    def load(self, model: PreTrainedModel, folder: str) -> PeftModel:
        """Put a saved adapter of this method on `model`, to train on or to evaluate.

        Raises:
            ValueError: The folder holds an adapter of another method, or of another backbone.
        """
        config = PeftConfig.from_pretrained(folder)
        if type(config) is not self.config:
            raise ValueError(
                f"{folder} holds a {type(config).__name__}, not a {self.config.__name__}: it is an "
                "adapter of another method."
            )
        trained_on = config.base_model_name_or_path or ""
        # A folder may have moved; its last name is what a hub's commit or the user called it.
        if Path(trained_on).name != Path(model.name_or_path or "").name:
            raise ValueError(
                f"{folder} was trained on {trained_on}, not on {model.name_or_path}: load it on "
                "the backbone it belongs to."
            )
        return PeftModel.from_pretrained(model, folder, is_trainable=True)


@dataclass(frozen=True)
class Size:
    """Parameters of an adapted model.

    Attributes:
        trainable: Those that train.
        total: Those of the base and those that the adapter adds; a trained copy takes the place
            of what it copies and adds nothing.
    """

    trainable: int
    total: int

    @cached_property
    def percent(self) -> float:
        """Share of the parameters that train: the papers' column."""
        return 100 * self.trainable / self.total


def size(model: PeftModel) -> Size:
    """Count the parameters of an adapted model."""
    trainable, total = model.get_nb_trainable_parameters()
    return Size(trainable, total - _replaced(model))


def _replaced(model: PeftModel) -> int:
    """Count the frozen parameters in whose place a trained copy computes."""
    originals = {
        id(parameter): parameter.numel()
        for layer in model.modules()
        if isinstance(layer, BaseTunerLayer) and getattr(type(layer), "trains_a_copy", False)
        for parameter in layer.get_base_layer().parameters()
    }
    return sum(originals.values())


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


def of_peft(kind: str) -> Method:
    """Make a method, on all linear layers, of a tuner that PEFT ships and that has no file here.

    Raises:
        ValueError: There is no such type, or it puts tokens before the prompt instead of adapting
            layers, which the training loop here does not know.
    """
    configs = {
        str(name.value): peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING[name]
        for name in peft.PeftType
        if name in peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING
    }
    usable = [
        name
        for name, one in configs.items()
        if "target_modules" in {field.name for field in fields(one)}
    ]
    if kind not in usable:
        near = get_close_matches(kind.upper(), usable, n=1)
        meant = f" Did you mean peft:{near[0]}?" if near else ""
        raise ValueError(
            f"'peft:{kind}' is not a tuner of PEFT {peft.__version__} that adapts layers.{meant}\n"
            f"  Known: {', '.join(sorted(usable))}"
        )
    return Method(
        title=kind,
        paper="https://huggingface.co/docs/peft",
        config=configs[kind],
        parameters=None,
        mergeable=False,
        defaults={"target_modules": "all-linear"},
    )


def require(config: Any, limit: str, holds: Callable[[Any], bool], *names: str) -> None:
    """Check fields of a configuration.

    Raises:
        ValueError: A field is not finite, or `holds` is false of it; names field, value and limit.
    """
    for name in names:
        value = getattr(config, name)
        if not math.isfinite(value) or not holds(value):
            raise ValueError(f"{name} must be {limit}, not {value}.")


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
