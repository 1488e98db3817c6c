"""(IA)^3: scale each output of the frozen linear layers by a learned factor.

    y = l * (W x + bias)        l of shape (out,)
    y = W (l * x) + bias        l of shape (in,), for layers among the feed-forward modules

l is one, so that training starts at W. out parameters a layer, in for a feed-forward module.

Liu et al., 2022. Few-Shot Parameter-Efficient Fine-Tuning is Better and Cheaper than In-Context
Learning, section 3.3. The tuner is PEFT's. The paper scales keys, values and the inner activation
of the feed-forward part: variant `ia3-paper`. PEFT's own default depends on the architecture (keys
and values of Llama, queries and values of Qwen and Gemma, besides the inner activation) and is not
used here. Of PEFT: where a layer has a bias, the factor scales it too.

The configuration is that of the DyPAM paper's baseline: all linear layers by their outputs, none as
a feed-forward module, as its parameter percentages imply.

Variants: `dypam-paper`, `ia3-paper`.
"""

from peft import IA3Config
from peft.tuners.ia3 import IA3Model
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.layers import targeted


def parameters(config: IA3Config, model: PreTrainedModel) -> int:
    """Count the inputs of feed-forward modules and the outputs of the other targeted layers."""
    return sum(
        layer.in_features
        if IA3Model._check_target_module_feedforward(config, name)
        else layer.out_features
        for name, layer in targeted(config, model).items()
    )


method = Method(
    title="(IA)^3",
    paper="https://arxiv.org/abs/2205.05638",
    config=IA3Config,
    defaults={"target_modules": "all-linear", "feedforward_modules": []},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    variants={
        "dypam-paper": {},
        "ia3-paper": {
            "target_modules": ["k_proj", "v_proj", "down_proj"],
            "feedforward_modules": ["down_proj"],
        },
    },
)
