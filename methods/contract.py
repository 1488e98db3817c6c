"""The contract of a method: what a file in this folder offers as `method` on its last line."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import peft
from peft import PeftConfig, PeftModel
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils import CONFIG_NAME
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.training.hooks import StepHooks, TrainingAhead
from methods.training.layer_selection import LayerSelection

NOT_HYPERPARAMETERS = {field.name for field in fields(PeftConfig)}
"""Fields that every PEFT configuration has and that say nothing of the method."""


def _always(config: PeftConfig | None) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Method:
    """A parameter-efficient fine-tuning method over its PEFT configuration class.

    Attributes:
        title: As tables print it.
        paper: Where it is defined.
        config: Its configuration class; the fields are its hyperparameters. None for the bare
            backbone: nothing is adapted and nothing trains.
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
        adjustments: Says of an adapted model what PEFT adjusted, one line each.
        auxiliary_loss: What is added to the mean loss of each training batch, called right after
            its forward pass.
        hooks: What is done at each step besides following the gradient.
        counts: Names of the adapter's buffers to which training passes add and that hooks read:
            where several processes share the passes of a step, their sums are taken before.
        zero_safe: Whether it is the same method under DeepSpeed, whose optimizer keeps its own copy
            of the parameters and skips none: not where hooks change parameters, or take a gradient
            away so that the optimizer leaves a parameter alone.
        quantized: In which formats of bitsandbytes ("nf4", "int8") the backbone's weights may be
            stored: those over which the checks of `conformance/quantized.py` have passed.
        by_token: Whether, by a configuration, what is computed for a token depends on that token
            alone, attention aside, and is the same each time. If not, options are scored as whole
            texts, and not as branches of one sequence.
        unpacked: Why training cannot put its rows into one sequence, where more than rounding would
            change: the check `packed_equals_padded` does not hold. Empty where it does.
        dls: Settings of dynamic layer selection (RoSA, section "Dynamic Layer Selection"), a part
            of training that any method can take; None for all layers always.
    """

    title: str
    paper: str
    config: type[PeftConfig] | None
    parameters: Callable[[Any, PreTrainedModel], int] | None
    mergeable: bool
    defaults: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    starts_at_base: bool = True
    check: Callable[[Any, PreTrainedModel], None] | None = None
    adjustments: Callable[[PeftModel], list[str]] | None = None
    auxiliary_loss: Callable[[PeftModel], Tensor] | None = None
    hooks: Callable[[PeftModel, TrainingAhead], StepHooks] | None = None
    counts: tuple[str, ...] = ()
    zero_safe: bool = True
    quantized: tuple[str, ...] = ()
    by_token: Callable[[Any], bool] = _always
    unpacked: str = ""
    dls: LayerSelection | None = None

    @property
    def trains(self) -> bool:
        """Whether there is anything to train."""
        return self.config is not None

    def configure(self, **overrides: Any) -> PeftConfig | None:
        """Build the configuration from the defaults and `overrides`; `dls` is no part of it."""
        if self.config is None:
            return None
        chosen = {**self.defaults, **overrides}
        chosen.pop("dls", None)
        return self.config(task_type="CAUSAL_LM", **chosen)

    def layer_selection(self, values: Mapping[str, Any]) -> LayerSelection | None:
        """Read the field `dls`: true and false switch it, an object sets its settings.

        Raises:
            ValueError: A setting does not exist or is out of its bounds, or no layer trains.
        """
        chosen = values.get("dls", self.dls is not None)
        if chosen and not self.trains:
            raise ValueError(f"dls selects layers that train, and nothing of {self.title} trains.")
        if not isinstance(chosen, Mapping):
            return (self.dls or LayerSelection()) if chosen else None
        known = [field.name for field in fields(LayerSelection)]
        if unknown := sorted(chosen.keys() - set(known)):
            raise ValueError(f"dls has no setting {unknown[0]!r}. Known: {', '.join(known)}")
        return LayerSelection(**chosen)

    def adapt(
        self, model: PreTrainedModel, config: PeftConfig | None
    ) -> PeftModel | PreTrainedModel:
        """Freeze `model` and put the adapter into it, in place; without a configuration, none.

        Whatever requires a gradient afterwards is what the harness trains, counts and saves. The
        adapter's parameters are float32, also over a base in bfloat16.

        Raises:
            ValueError: The configuration does not fit the model.
        """
        if config is None:
            return _frozen(model)
        if self.check:
            self.check(config, model)
        with warnings.catch_warnings():
            # PEFT 0.21 reads a property that transformers 5.23 has deprecated.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return peft.get_peft_model(model, config)

    def load(self, model: PreTrainedModel, folder: str) -> PeftModel | PreTrainedModel:
        """Put a saved adapter of this method on `model`, to train on or to evaluate.

        Where nothing trains there is none: `folder` is not read, and `model` only frozen.

        Raises:
            ValueError: The folder holds an adapter of another method, or of another backbone.
        """
        if self.config is None:
            return _frozen(model)
        import_module("methods.register")  # `peft_type` may hold its advice
        config = PeftConfig.from_pretrained(folder)
        if type(config) is not self.config:
            raise ValueError(
                f"{folder} holds a {type(config).__name__}, not a {self.config.__name__}: it is an "
                "adapter of another method."
            )
        trained_on = config.base_model_name_or_path or ""
        # A folder may have moved; its last name is what the user called it, or a hub's commit.
        if Path(model.name_or_path or "").name not in (Path(trained_on).name, config.revision):
            raise ValueError(
                f"{folder} was trained on {trained_on}, not on {model.name_or_path}: load it on "
                "the backbone it belongs to."
            )
        return PeftModel.from_pretrained(model, folder, is_trainable=True)

    def save(
        self, model: PeftModel, folder: str, backbone: str, revision: str | None = None
    ) -> None:
        """Save the adapter so that PEFT and transformers load it on any machine.

        Args:
            model: What `adapt` or `load` returned.
            folder: Where to.
            backbone: What it was trained on: a repository of the hub, or the name of a folder.
            revision: The commit of the repository; None for a folder.
        """
        register: Any = import_module("methods.register")
        model.save_pretrained(folder)
        # PEFT's card says nothing but the path of the backbone on this machine.
        (Path(folder) / "README.md").unlink()
        register.rename(Path(folder) / CONFIG_NAME, backbone, revision)


def _frozen(model: PreTrainedModel) -> PreTrainedModel:
    model.requires_grad_(False)
    return model


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


def size(model: PeftModel | PreTrainedModel) -> Size:
    """Count the parameters of an adapted model, or of a bare one, of which none may train."""
    if not isinstance(model, PeftModel):
        return Size(model.num_parameters(only_trainable=True), model.num_parameters())
    trainable, total = model.get_nb_trainable_parameters()
    return Size(trainable, total - replaced(model))


def replaced(model: nn.Module) -> int:
    """Count the frozen parameters in whose place a trained copy computes."""
    originals = {
        id(parameter): parameter.numel()
        for layer in model.modules()
        if isinstance(layer, BaseTunerLayer) and getattr(type(layer), "trains_a_copy", False)
        for parameter in layer.get_base_layer().parameters()
    }
    return sum(originals.values())


def hyperparameters(config: PeftConfig | None) -> dict[str, Any]:
    """List all fields of a configuration that can change a number, defaults included."""
    values = config.to_dict() if config else {}
    return {key: values[key] for key in sorted(values) if key not in NOT_HYPERPARAMETERS}
