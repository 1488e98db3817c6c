"""Native methods train under autocast, as transformers' Trainer with bf16=True runs them."""

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from harness import plugins
from harness.backbones import TINY
from methods.tuners.config import NativeConfig

NATIVE = [
    name
    for name in plugins.names("methods")
    if issubclass(plugins.method(name).config or object, NativeConfig)
]
CASES = [
    *((name, {}) for name in NATIVE),
    *(("cascade", fields) for fields in plugins.method("cascade").variants.values()),
]
IDS = torch.randint(3, 600, (2, 11), generator=torch.Generator().manual_seed(1))


def loss_and_gradients(name: str, fields: dict[str, Any], autocast: bool) -> tuple[Tensor, Tensor]:
    """Take one pass, and its backward pass within autocast too, as some training loops do."""
    method = plugins.method(name)
    fields = {**method.variants.get("small", {}), **fields}
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(TINY)
    model: Any = method.adapt(base, method.configure(**fields)).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with torch.no_grad():
        for parameter in trained:
            parameter.add_(0.02 * torch.randn(parameter.shape))
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = model(input_ids=IDS, labels=IDS).loss
        if method.auxiliary_loss:
            loss = loss + method.auxiliary_loss(model)
        loss.backward()
    return loss, torch.cat([p.grad.flatten() for p in trained if p.grad is not None])


@pytest.mark.parametrize(("name", "fields"), CASES, ids=str)
def test_autocast_changes_loss_and_gradients_by_no_more_than_bfloat16_rounds(
    name: str, fields: dict[str, Any]
) -> None:
    loss, gradients = loss_and_gradients(name, fields, autocast=False)
    rounded_loss, rounded = loss_and_gradients(name, fields, autocast=True)
    # bfloat16 has 8 bits, so one rounding is 0.4 %; errors of many parts are independent.
    assert rounded_loss.item() == pytest.approx(loss.item(), rel=0.01)
    assert rounded.dtype == torch.float32
    assert (rounded - gradients).norm() < 0.05 * gradients.norm()
