"""The work of a training pass against torch's own count, and the time that follows from it."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForCausalLM

from harness import backbones, plugins
from harness.planning.footprint.simulation import Setting, measure
from harness.planning.footprint.speed import H200, LAUNCH, Speed, Work
from harness.planning.methods import complete
from harness.planning.parse import parse_method

TOKENS = 32


@pytest.mark.parametrize("text", ["lora", "dypam"])
def test_the_operations_of_a_pass_are_those_that_torch_counts_on_a_real_one(text: str) -> None:
    spec = complete(parse_method(text))
    plugin = plugins.method(spec.name)
    base = AutoModelForCausalLM.from_pretrained(backbones.TINY, attn_implementation="eager")
    model: Any = plugin.adapt(base, plugin.configure(**spec.fields))
    with FlopCounterMode(display=False) as counter:
        ids = torch.zeros(2, TOKENS, dtype=torch.long)
        logits = model(input_ids=ids).logits
        torch.autograd.backward(logits, torch.ones_like(logits))
    # The simulation counts no attention: scores and values, twice each in the backward pass.
    config = base.config
    heads, layers = config.num_attention_heads, config.num_hidden_layers
    attention = 3 * 2 * 2 * 2 * layers * heads * TOKENS**2 * config.head_dim
    setting = Setting(torch.float32, 2, TOKENS, False, (1, 2), (1, 2))
    work = measure(spec, AutoConfig.from_pretrained(backbones.TINY), setting).work
    assert work.low == 0
    assert work.full == pytest.approx(counter.get_total_flops() - attention, rel=0.01)


def test_time_is_that_of_the_slower_of_python_and_gpu() -> None:
    speed = Speed(bfloat16=100, tf32=50, float32=10, memory=1000)
    work = Work(kernels=1, low=200, full=20, moved=3000)
    assert speed.seconds(work) == 2 + 2 + 3
    assert speed.seconds(work, "high") == pytest.approx(2 + 0.4 + 3)
    assert speed.seconds(Work(1e9, 200, 20, 3000)) == 1e9 * LAUNCH
    assert H200.bfloat16 > H200.tf32 > H200.float32
