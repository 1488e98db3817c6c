"""Training steps and decoded tokens relative to LoRA, on small Llama models of two widths."""

from benchmarks.methods import Shape, decoded_token, training_step
from benchmarks.ratios import ratios

ROUNDS = 7
TARGETS = {
    width: {"cascade": 1.6, "loca": 1.4, "smoa": 1.3, "riemoe_lora": 1.1, "hycam": 1.1}
    for width in (512, 2048)
}
"""The most that a training step may take, LoRA's being 1, by width and method."""

TOKEN_TARGETS = {1: {"cascade": 2.0}, 32: {"cascade": 1.5}}
"""The most that a decoded token may take, by the rows of the batch and method."""


def report() -> None:
    """Print the training step and the decoded token of each method beside its target."""
    print("\nRelative to LoRA (r = 24, all linear layers), two layers, 2 x 128 tokens:\n")
    print("| width | method | training step | target |\n| ---: | :--- | ---: | ---: |")
    for width, targets in TARGETS.items():
        ways = {name: training_step(name, shape(width)) for name in ("lora", *targets)}
        for name, ratio in ratios(ways, "lora", ROUNDS).items():
            if name in targets:
                print(f"| {width} | {name} | {ratio} | {targets[name]:.2f} |")
    print("\n| width | batch | method | decoded token | target |")
    print("| ---: | ---: | :--- | ---: | ---: |")
    for width in TARGETS:
        for rows, targets in TOKEN_TARGETS.items():
            names = ("lora", *targets)
            ways = {name: decoded_token(name, shape(width), rows=rows) for name in names}
            for name, ratio in ratios(ways, "lora", 3 * ROUNDS).items():
                if name in targets:
                    print(f"| {width} | {rows} | {name} | {ratio} | {targets[name]:.2f} |")


def shape(width: int) -> Shape:
    """Return a Llama of some width whose sides have the proportions of Llama-2-7B."""
    return {
        "hidden_size": width,
        "intermediate_size": width * 43 // 16,
        "num_hidden_layers": 2,
        "num_attention_heads": width // 64,
        "num_key_value_heads": width // 64,
        "head_dim": 64,
        "vocab_size": 1024,
    }
