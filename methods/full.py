"""Full fine-tuning: train every parameter of the model.

    W <- W + dW        for every weight, bias, norm and embedding of the model

All parameters of the model are trained, once each: output and input embedding that are tied count
once and stay tied. It is what parameter-efficient methods are compared with.

Each module that owns parameters is replaced by a layer with the frozen module and a trained copy
of it (`tuners/copies.py`), which starts equal to it. So the model starts at the base,
`disable_adapter` and `unload` give it back, and what is saved is an adapter like any other, as
large as the model in float32, and larger by the second of two tied embeddings. `merge_and_unload`
puts the copies in the place of the frozen weights, `merge_adapter` does so until `unmerge_adapter`.
A module that owns parameters beside modules within it, as Mamba's mixer does, is copied as a whole.

The copies are float32 and are cast to the precision of the base where they compute. Kept in
bfloat16, they would lose small steps: next to a weight of 0.02 it has no number nearer than 1.2e-4,
and AdamW moves a weight by about the learning rate.

Memory, in bytes per parameter over a base in bfloat16: 2 for the frozen model, 4 for the copy, 4
for its gradient, 8 for AdamW's moments, 4 for the best state that the harness keeps, and 2 for the
weights that are cast in a forward pass with gradients. That is 24, and the activations. Over a base
in float32 it is 24 too: 4 for the frozen model and none for a cast. This is with the fused AdamW,
which the harness takes on a GPU. torch's own choice there, `foreach`, adds 4 in its step, when the
cast weights are gone: 26 over bfloat16, 28 over float32.

The learning rate of the recipe, 1e-3, is one for adapters and far too high for a large model, whose
weights it would move by a twentieth in each step. PEFT's comparison of methods trains full
fine-tuning at 1e-5; set `train.lr`, and say so beside the table.
"""

from dataclasses import dataclass
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import NativeTuner
from methods.tuners.config import NativeConfig
from methods.tuners.copies import CopyLayer, share_again
from methods.tuners.peft_types import register


@dataclass
class FullConfig(NativeConfig):
    """Full fine-tuning has no hyperparameters.

    Attributes:
        target_modules: Nothing: every module is trained. PEFT asks for the field.
    """

    peft_type = "FULL"

    target_modules: set[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target_modules:
            raise ValueError(
                f"target_modules must be left out, not {self.target_modules}: full fine-tuning "
                "trains every module."
            )


def owners(model: nn.Module) -> list[str]:
    """Name the outermost modules that own parameters themselves, or that already have a copy.

    Raises:
        ValueError: The model itself owns parameters, and nothing is around it that could hold
            another in its place.
    """
    own = [name for name, _ in model.named_parameters(recurse=False)]
    if own:
        raise ValueError(f"{type(model).__name__} owns {own} itself, outside of any module.")
    found: list[str] = []
    for name, module in model.named_modules():
        inside = found and name.startswith(f"{found[-1]}.")
        if not inside and (isinstance(module, CopyLayer) or [*module.parameters(recurse=False)]):
            found.append(name)
    return found


class FullModel(NativeTuner):
    """Puts a trained copy in the place of every module that owns parameters."""

    tuner_layer_cls = CopyLayer

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        after_loading: Any = self.register_load_state_dict_post_hook
        after_loading(lambda tuner, _: share_again(tuner))

    def inject_adapter(self, model: nn.Module, *args: Any, **kwargs: Any) -> None:
        """Copy every module; parameters that are shared stay shared among the copies."""
        self.owners, self.copied = set(owners(model)), dict[int, Any]()
        super().inject_adapter(model, *args, **kwargs)
        self.copied.clear()

    def _prepare_adapter_config(self, peft_config: Any, model_config: Any) -> Any:
        return peft_config

    def _check_target_module_exists(self, peft_config: Any, key: str) -> bool:  # type: ignore[override]
        return key in self.owners

    def _create_and_replace(  # noqa: PLR0913, PLR0917 (the signature is PEFT's)
        self,
        peft_config: Any,
        adapter_name: str,
        target: nn.Module,
        target_name: str,
        parent: nn.Module,
        current_key: str,
        parameter_name: str | None = None,
    ) -> None:
        CopyLayer.put(adapter_name, target, target_name, parent, self.copied)

    def _replace_module(
        self, parent: nn.Module, child_name: str, new_module: nn.Module, child: nn.Module
    ) -> None:
        setattr(parent, child_name, new_module)

    def _check_merge_allowed(self) -> None:
        """Allow it: tied weights have one copy, so PEFT's warning of them does not apply."""


register(FullConfig, FullModel)


def parameters(config: FullConfig, model: PreTrainedModel) -> int:
    """Count all parameters of the model, each once."""
    return sum(parameter.numel() for parameter in model.parameters())


method = Method(
    title="Full fine-tuning",
    paper="https://github.com/huggingface/peft/tree/main/method_comparison",
    config=FullConfig,
    parameters=parameters,
    mergeable=True,
)
