"""LN-Tuning: train the layer norms, and nothing else.

    y = w' * norm(x)

w' is a trained copy of the frozen weight w of a norm, of shape (d,), and starts as w. d parameters
a norm.

Zhao et al., 2023. Tuning LayerNorm in Attention: Towards Efficient Multi-Modal LLM Finetuning,
section 3. The tuner is PEFT's, with what is said below. Which norms the papers train is what PEFT
knows by architecture: in Llama and Gemma all norms of each decoder layer and the final norm, in
Qwen only the norm before the feed-forward part, half of what "LN-Tuning" says. Here all of them
are trained on every architecture. The norms of single heads (QK-norm in Qwen3 and Gemma 3) are none
of the layer's, and nobody's count includes them. Of PEFT:

- A copy has the precision of its original. In bfloat16, a step of 0.001 on a weight of 1 is
  rounded away. Importing this file makes the copies float32, as other adapters are, for PEFT's
  configuration too.
- The multimodal Gemma 3 is not among PEFT's architectures; it gets the norms of its language model.
- A copy takes the place of its original, so it adds nothing to the size of the model.

Variants: `dypam-paper` and `rosa-paper`, the norms that PEFT knows for the architecture.
"""

import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

from peft import LNTuningConfig, LNTuningModel, PeftModel, PeftType
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from peft.tuners.ln_tuning.layer import LNTuningLayer
from peft.tuners.tuners_utils import BaseTuner
from peft.utils import TRANSFORMERS_MODELS_TO_LNTUNING_TARGET_MODULES_MAPPING as KNOWN
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method

NORMS = [
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
    "norm",
]
"""The norms of a decoder layer, two or four of these, and the final one."""

KNOWN.setdefault("gemma3", KNOWN["gemma3_text"])


class Norm(LNTuningLayer):
    """PEFT's layer, with copies in float32 over a base of any precision."""

    trains_a_copy = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            # PEFT looks for inputs and outputs, which a norm has not.
            warnings.filterwarnings("ignore", "Unsupported layer type")
            super().__init__(*args, **kwargs)

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Normalise (..., d)."""
        y: Tensor = super().forward(x, *args, **kwargs)
        return y.to(x.dtype)

    def merge(self, *args: Any, **kwargs: Any) -> None:
        """Put the copy in the place of the original, in its precision."""
        dtype = next(self.base_layer.parameters()).dtype
        super().merge(*args, **kwargs)
        self.base_layer.to(dtype)


class NormModel(LNTuningModel):
    """PEFT's tuner over `Norm`."""

    def _create_new_module(
        self, peft_config: Any, target: nn.Module, adapter_name: str
    ) -> nn.Module:
        return Norm(target, adapter_name, config=peft_config)

    def _cast_adapter_dtype(self, adapter_name: str, autocast_adapter_dtype: bool = True) -> None:
        BaseTuner._cast_adapter_dtype(self, adapter_name, autocast_adapter_dtype)


PEFT_TYPE_TO_TUNER_MAPPING[PeftType.LN_TUNING] = NormModel


def norms(config: LNTuningConfig, model: PreTrainedModel) -> list[nn.Module]:
    """Find the norms that are trained."""
    named = replace(config, target_modules=config.target_modules or KNOWN[model.config.model_type])
    return [
        module
        for name, module in model.named_modules()
        if BaseTuner._check_target_module_exists(named, name)
    ]


def check(config: LNTuningConfig, model: PreTrainedModel) -> None:
    """Check that PEFT knows the norms of the architecture, if none are named.

    Raises:
        ValueError: It does not.
    """
    if not config.target_modules and model.config.model_type not in KNOWN:
        raise ValueError(
            f"PEFT does not know which norms of {model.config.model_type} to train: name them in "
            "target_modules."
        )


def adjustments(model: PeftModel) -> list[str]:
    """Say which norms of the layers are not trained."""
    named = ((name.rpartition(".")[2], module) for name, module in model.named_modules())
    frozen = Counter(
        name for name, module in named if name in NORMS and not isinstance(module, LNTuningLayer)
    )
    listed = ", ".join(f"{count} {name}" for name, count in sorted(frozen.items()))
    return [f"Of the norms, these are not trained: {listed}."] if listed else []


def parameters(config: LNTuningConfig, model: PreTrainedModel) -> int:
    """Count the weights of the trained norms."""
    return sum(p.numel() for norm in norms(config, model) for p in norm.parameters())


method = Method(
    title="LN-Tuning",
    paper="https://arxiv.org/abs/2312.11420",
    config=LNTuningConfig,
    defaults={"target_modules": NORMS},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    adjustments=adjustments,
    variants={
        "dypam-paper": {"target_modules": None},
        "rosa-paper": {"target_modules": None},
    },
)
