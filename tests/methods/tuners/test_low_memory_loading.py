"""An adapter loaded by PEFT's `low_cpu_mem_usage` is the adapter that loading makes without it.

Adapters are then made without values and filled by assignment, on the device of the file.
"""

from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from harness import plugins
from methods.conformance.models import SHAPE, VOCABULARY, build
from methods.contract import size
from methods.tuners.adapter import NativeTuner


def is_native(name: str) -> bool:
    config: Any = plugins.method(name).config  # None for the bare base model
    kind = getattr(config, "peft_type", None)
    tuners: dict[Any, Any] = peft.mapping.PEFT_TYPE_TO_TUNER_MAPPING
    return kind in tuners and issubclass(tuners[kind], NativeTuner)


NATIVE = [name for name in plugins.names("methods") if is_native(name)]
MODEL = "llama-gqa"


def base(dtype: torch.dtype) -> Any:
    model: Any = build(MODEL)
    return model.to(dtype)


def save(name: str, dtype: torch.dtype, folder: Path) -> None:
    """Save an adapter whose parameters are no numbers of bfloat16."""
    method = plugins.method(name)
    adapted = method.adapt(base(dtype), method.configure(**method.variants.get("small", {})))
    draw = torch.Generator().manual_seed(1)
    for parameter in adapted.parameters():
        if parameter.requires_grad:
            nn.init.normal_(parameter, std=0.1, generator=draw)
    adapted.save_pretrained(str(folder))


def tensors(model: PeftModel) -> dict[str, Tensor]:
    """List parameters and buffers of the adapter, also those that are not saved."""
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: tensor for name, tensor in named if "adapter_modules" in name}


@torch.no_grad()
def logits(model: Any) -> Tensor:
    ids = torch.randint(3, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(3))
    found: Tensor = model.eval()(input_ids=ids).logits
    return found


def test_the_papers_methods_are_native() -> None:
    assert {"dypam", "rosa", "cascade", "hycam", "smoa", "flylora", "loca", "full"} <= set(NATIVE)


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_values_precisions_and_outputs_are_those_of_a_plain_load(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    save(name, dtype, tmp_path)
    plain = PeftModel.from_pretrained(base(dtype), tmp_path)
    low = PeftModel.from_pretrained(base(dtype), tmp_path, low_cpu_mem_usage=True)
    expected, found = tensors(plain), tensors(low)
    assert found.keys() == expected.keys()
    for key, tensor in found.items():
        assert tensor.device.type == "cpu", key
        assert tensor.dtype == expected[key].dtype, key
        assert torch.equal(tensor, expected[key]), key
    # A tensor that lies in the file's memory is not aligned as one of torch's, and sums over it can
    # take another order.
    torch.testing.assert_close(logits(low), logits(plain))


@pytest.mark.parametrize("name", NATIVE)
def test_a_loaded_adapter_moves_to_the_device_of_its_layer(name: str, tmp_path: Path) -> None:
    # The device without values stands for a GPU: loading onto it, all of the adapter goes there.
    save(name, torch.float32, tmp_path)
    model = base(torch.float32).to("meta")
    loaded = PeftModel.from_pretrained(model, tmp_path, low_cpu_mem_usage=True, torch_device="cpu")
    assert {key for key, tensor in tensors(loaded).items() if not tensor.is_meta} == set()


def test_tied_embeddings_that_are_fully_trained_stay_one_parameter(tmp_path: Path) -> None:
    method = plugins.method("full")
    tied = LlamaConfig(num_key_value_heads=2, tie_word_embeddings=True, **SHAPE)
    method.adapt(LlamaForCausalLM(tied), method.configure()).save_pretrained(str(tmp_path))
    model: Any = LlamaForCausalLM(tied)
    count = sum(parameter.numel() for parameter in model.parameters())
    loaded: Any = PeftModel.from_pretrained(
        model, tmp_path, low_cpu_mem_usage=True, is_trainable=True
    )
    assert size(loaded).trainable == count
    ends = loaded.base_model.model.model.embed_tokens, loaded.base_model.model.lm_head
    copies = [end.adapter_modules["default"].weight for end in ends]
    assert copies[0] is copies[1]
    assert copies[0].requires_grad
