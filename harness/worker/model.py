"""Tokenizer, frozen backbone and adapter of a run."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from harness import backbones, plugins
from harness.backbones.quantized import keep_as_loaded, quantization
from harness.spec.planned import PlannedRun
from harness.worker.kept import stamps


def load(planned: PlannedRun, *, to_train: bool = False) -> tuple[PreTrainedTokenizerBase, Any]:
    """Load tokenizer and frozen model, in the precision of the spec.

    On a GPU the weights go straight to it: eight workers need no eight copies in host memory.
    """
    place = backbones.fetch(planned.located)
    model: Any = AutoModelForCausalLM.from_pretrained(
        place,
        use_safetensors=True,
        trust_remote_code=False,
        **weights(planned, to_train=to_train),
    )
    keep_as_loaded(model)
    return tokenizer(place), model


def tokenizer(place: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a backbone, or take it as loaded while the folder is unchanged."""
    return _tokenizer(place, stamps(sorted(place.iterdir())))


@lru_cache(4)
def _tokenizer(place: Path, stamped: tuple[object, ...]) -> PreTrainedTokenizerBase:
    found: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    return found


def weights(planned: PlannedRun, *, to_train: bool = False) -> dict[str, Any]:
    """Say to `from_pretrained` how the frozen weights are stored, and where.

    Args:
        planned: The run.
        to_train: Whether they are loaded for a training, or with an adapter that was trained.
    """
    precision = getattr(torch, planned.spec.weights)
    options: dict[str, Any] = {"dtype": precision}
    partitioned, spread = planned.spec.train.partitioned, planned.memory.device_map
    if torch.cuda.is_available() and not spread:
        # ZeRO-3 divides among the GPUs what lies in the host's memory, mapped from the files. To be
        # evaluated, what one GPU may not hold is spread over all that the run has.
        spread = "auto" if partitioned else "cuda"
    # Where transformers quantizes weights, it puts them in their place itself.
    if (
        spread
        and not (partitioned and to_train)
        and not (spread == "cuda" and planned.spec.quantize)
    ):
        options["device_map"] = spread
    if planned.spec.quantize:
        options["quantization_config"] = quantization(planned.spec.quantize, precision)
    return options


def adapted(planned: PlannedRun, base: Any, trained: Path | None) -> Any:
    """Put the method on the model: at its start, or as an earlier attempt trained it."""
    spec = planned.spec
    method = plugins.method(spec.method.name)
    torch.manual_seed(spec.seeds.init)
    own = set(base.buffers())
    if trained:
        model = method.load(base, str(trained))
    else:
        model = method.adapt(base, method.configure(**spec.method.fields))
    if method.trains and spec.adapter != "float32":
        _cast(model, own, getattr(torch, spec.adapter))
    return model


def _cast(model: Any, own: set[Tensor], dtype: torch.dtype) -> None:
    """Cast parameters and buffers as DeepSpeed needs them, in place.

    It casts parameters alone, and loading casts none. The backbone's own buffers stay: rotary
    frequencies need float32.
    """
    for tensor in (*model.parameters(), *(one for one in model.buffers() if one not in own)):
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(dtype)


def save(planned: PlannedRun, model: Any, folder: Path) -> None:
    """Save the adapter; it names its backbone as other machines do."""
    method, backbone = plugins.method(planned.spec.method.name), planned.spec.backbone
    if backbone.on_the_hub:
        method.save(model, str(folder), backbone.name, backbone.revision)
    else:
        method.save(model, str(folder), Path(planned.backbone_place).name)
