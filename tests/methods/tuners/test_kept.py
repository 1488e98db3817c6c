"""What an evaluation keeps: which layers give their place, to what, and that all comes back."""

from collections.abc import Iterator
from typing import Any

import peft
import pytest
import torch
from peft import LoraConfig
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from methods.conformance.models import SHAPE, build
from methods.conformance.probes import assert_close, assert_same, logits, prompts, randomise
from methods.lora import method as lora
from methods.rosa import method as rosa
from methods.tuners.kept import keeping
from methods.tuners.room import Room

IDS = prompts(2, 7)
PATH = "base_model.model.model.layers.1.mlp.up_proj"


def adapted(dtype: torch.dtype = torch.float32, **fields: Any) -> Any:
    model: Any = lora.adapt(build("qwen2-gqa").to(dtype), lora.configure(r=4, **fields))
    randomise(model, seed=2)
    return model.eval()


def layers(model: nn.Module) -> int:
    return sum(isinstance(module, BaseTunerLayer) for module in model.modules())


def update(layer: Any) -> torch.Tensor:
    """Return (alpha / r) B A by the definition of LoRA, in float64."""
    a, b = (part["default"].weight.detach().double() for part in (layer.lora_A, layer.lora_B))
    return 8 / 4 * b @ a


def test_in_the_block_a_layer_is_a_plain_one_of_weight_and_update() -> None:
    model = adapted()
    layer = model.get_submodule(PATH)
    expected = layer.base_layer.weight.detach().double() + update(layer)
    with keeping(model, lora):
        plain = model.get_submodule(PATH)
        assert type(plain) is nn.Linear
        assert not plain.weight.requires_grad
        torch.testing.assert_close(plain.weight.double(), expected, rtol=1e-6, atol=1e-7)
        assert not layers(model)
    assert model.get_submodule(PATH) is layer


def test_a_method_that_cannot_be_merged_keeps_its_layers() -> None:
    model: Any = rosa.adapt(build("llama-gqa"), rosa.configure())
    before = layers(model)
    with keeping(model, rosa, rounding=True):
        assert layers(model) == before > 0


def test_over_bfloat16_nothing_is_merged_unless_asked_for_and_then_each_sum_is_rounded_once() -> (
    None
):
    model = adapted(torch.bfloat16)
    before = layers(model)
    with keeping(model, lora):
        assert layers(model) == before
    layer = model.get_submodule(PATH)
    expected = (layer.base_layer.weight.detach().double() + update(layer)).float()
    with keeping(model, lora, rounding=True):
        found = model.get_submodule(PATH).weight
        assert found.dtype == torch.bfloat16
        # Half a unit of the last of 8 binary digits, and the rounding of float32.
        torch.testing.assert_close(found.float(), expected, rtol=2**-8 + 1e-6, atol=1e-7)


@pytest.fixture
def tf32() -> Iterator[None]:
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision("highest")


@pytest.mark.usefixtures("tf32")
def test_where_products_are_rounded_nothing_is_merged() -> None:
    model = adapted()
    before = layers(model)
    with keeping(model, lora):
        assert layers(model) == before


def test_what_does_not_fit_is_computed_in_each_pass_and_said() -> None:
    model = adapted()
    plain, before, room = logits(model, IDS), layers(model), Room(free=20_000)
    with keeping(model, lora, room=room):
        assert 0 < layers(model) < before
        assert_close(logits(model, IDS), plain)
    assert room.short
    assert 0 < room.kept <= 20_000
    with keeping(model, lora, room=(enough := Room())):
        assert not layers(model)
    assert not enough.short
    frozen = [layer.base_layer for layer in model.modules() if isinstance(layer, BaseTunerLayer)]
    # Queries, keys and values have biases, which are copied too.
    assert enough.kept == sum(p.nbytes for module in frozen for p in module.parameters())


def test_asked_for_it_is_merged_whatever_room_there_is() -> None:
    model, room = adapted(), Room(free=0)
    with keeping(model, lora, rounding=True, room=room):
        assert not layers(model)
    assert not room.short


def test_disabled_adapters_are_left_out() -> None:
    model = adapted()
    with model.disable_adapter(), keeping(model, lora):
        assert_same(logits(model, IDS), logits(build("qwen2-gqa"), IDS))


def test_of_two_adapters_the_active_one_is_kept() -> None:
    model = adapted()
    model.add_adapter("second", lora.configure(r=4))
    model.set_adapter("second")
    randomise(model, seed=5)
    found = {}
    for name in ("default", "second"):
        model.set_adapter(name)
        with keeping(model, lora):
            found[name] = logits(model, IDS)
        assert_close(found[name], logits(model, IDS))
    assert not torch.allclose(found["default"], found["second"])


def test_an_embedding_that_shares_its_weight_with_the_output_does_not_change_it() -> None:
    tied = LlamaForCausalLM(LlamaConfig(num_key_value_heads=2, tie_word_embeddings=True, **SHAPE))
    config = LoraConfig(target_modules=["embed_tokens"], task_type="CAUSAL_LM")
    with pytest.warns(UserWarning, match="tie_word_embeddings"):
        model: Any = peft.get_peft_model(tied, config)
    randomise(model, seed=2)
    plain = logits(model.eval(), IDS)
    with keeping(model, lora):
        assert not layers(model)
        assert_close(logits(model, IDS), plain)
    assert tied.lm_head.weight is tied.get_input_embeddings().weight


def test_a_layer_that_stands_in_two_places_gives_both() -> None:
    model = adapted()
    first, second = model.base_model.model.model.layers
    second.mlp = first.mlp
    plain = logits(model, IDS)
    with keeping(model, lora):
        assert not layers(model)
        assert_close(logits(model, IDS), plain)
    assert second.mlp is first.mlp


def test_layers_come_back_in_the_mode_that_the_model_was_put_in_meanwhile() -> None:
    model = adapted().train()
    with keeping(model, lora):
        model.eval()
    assert not any(module.training for module in model.modules())
    with keeping(model, lora):
        model.train()
    assert all(module.training for module in model.modules())


def test_a_fault_in_the_block_leaves_the_model_as_it_was() -> None:
    model = adapted()
    before, expected = layers(model), logits(model, IDS)
    with pytest.raises(ValueError, match="no memory"), keeping(model, lora):
        raise ValueError("no memory")
    assert layers(model) == before
    assert_same(logits(model, IDS), expected)


def test_a_model_that_was_evaluated_in_inference_mode_trains_on() -> None:
    model = adapted()
    with torch.inference_mode(), keeping(model, lora):
        model(input_ids=IDS)
    model.train()(input_ids=IDS, labels=IDS).loss.backward()
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)


def test_weights_that_lie_elsewhere_until_they_are_needed_are_left_there() -> None:
    model = adapted()
    model.get_submodule(PATH).base_layer.to("meta")
    with keeping(model, lora):
        assert layers(model) == 1
