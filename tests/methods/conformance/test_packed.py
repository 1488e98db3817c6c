"""The stand-in for quantized layers is a linear layer over rounded weights, and hides them."""

import torch
from torch import nn

from methods.conformance.models import BUILDS
from methods.conformance.packed import PackedLinear, packed, rounded
from methods.conformance.probes import logits, prompts


def test_a_weight_takes_half_a_byte_and_is_off_by_half_a_step_at_most() -> None:
    torch.manual_seed(0)
    dense = nn.Linear(6, 4)
    layer = PackedLinear(dense)
    assert (layer.weight.dtype, layer.weight.shape) == (torch.uint8, (12, 1))
    found = layer(torch.eye(6)) - dense.bias
    step = dense.weight.detach().abs().amax(dim=1) / 7
    assert ((found.T - dense.weight.detach()).abs() <= step[:, None] / 2 + 1e-6).all()


def test_a_packed_model_computes_what_the_rounded_one_does_and_not_what_the_dense_one_does() -> (
    None
):
    build, ids = BUILDS["llama-gqa"], prompts(2, 5)
    found = logits(packed(build), ids)
    torch.testing.assert_close(found, logits(rounded(build), ids))
    assert not torch.allclose(found, logits(build(), ids))


def test_all_linear_layers_but_the_head_are_packed() -> None:
    model = packed(BUILDS["qwen2-mha"])
    kinds = {name: type(one) for name, one in model.named_modules() if isinstance(one, nn.Linear)}
    assert kinds.pop("lm_head") is nn.Linear
    assert set(kinds.values()) == {PackedLinear}
    assert len(kinds) == 2 * 7  # two layers of four projections and three of the MLP
