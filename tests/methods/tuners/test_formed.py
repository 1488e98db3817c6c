"""What is formed of parameters: equal to what PEFT computes, and kept only while it is true."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from peft.tuners.fourierft import model as fourierft_model
from peft.tuners.fourierft.layer import FourierFTLinear
from peft.tuners.lora import variants
from peft.tuners.lora.dora import DoraLinearLayer
from peft.tuners.shira import layer as shira_layer
from peft.tuners.shira import model as shira_model
from torch import Tensor, nn

from harness import plugins
from methods.conformance.models import build
from methods.conformance.probes import (
    assert_close,
    assert_same,
    learnt,
    logits,
    prompts,
    randomise,
)
from methods.shira import SparseLinear
from methods.tuners.formed import Formed

IDS = prompts(2, 7)
PATCHED: dict[str, tuple[Any, str, Any]] = {
    "fourierft": (fourierft_model, "FourierFTLinear", FourierFTLinear),
    "shira": (shira_model, "Linear", shira_layer.Linear),
    "dora": (variants, "DoraLinearLayer", DoraLinearLayer),
}
"""Where each method puts a layer of its own, and PEFT's."""


def adapted(name: str, dtype: torch.dtype) -> Any:
    method = plugins.method(name)
    model: Any = build("qwen2-gqa").to(dtype)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = method.adapt(model, method.configure(**method.variants.get("small", {})))
    randomise(model, seed=2)
    return model.eval()


def as_peft(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Adapt with PEFT's own tuner."""
    plugins.method(name)  # which puts its own layer there when it is imported
    with monkeypatch.context() as patch:
        patch.setattr(*PATCHED[name])
        return adapted(name, dtype)


@pytest.mark.parametrize("name", PATCHED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_outputs_and_gradients_are_those_of_peft(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = as_peft(name, dtype, monkeypatch), adapted(name, dtype)
    assert {type(m) for m in ours.modules()} != {type(m) for m in theirs.modules()}
    assert_same(logits(ours, IDS), logits(theirs, IDS))
    method = plugins.method(name)
    expected, found = learnt(method, theirs.train()), learnt(method, ours.train())
    assert found.keys() == expected.keys()
    for key, gradient in expected.items():
        assert_close(found[key], gradient)
    assert ours.state_dict().keys() == theirs.state_dict().keys()


class Square(nn.Module):
    """Multiplies by the square of a number, and counts how often it takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.number = nn.Parameter(torch.tensor([[3.0]]))
        self.formed = Formed()
        self.taken = 0

    def forward(self, x: Tensor) -> Tensor:
        return self.formed.product(x, self._square, self.number)

    def _square(self, number: Tensor) -> Tensor:
        self.taken += 1
        return number.square()


ONE = torch.ones(1, 1)


def evaluated() -> Square:
    square = Square().eval()
    with torch.inference_mode():
        square(ONE)
        square(ONE)
    return square


def test_in_evaluation_it_is_formed_once_and_again_when_a_part_has_changed() -> None:
    square = evaluated()
    assert square.taken == 1
    with torch.no_grad():
        square.number.fill_(5.0)
        assert square(ONE).item() == 25
        square.number.data = torch.tensor([[2.0]])
        assert square(ONE).item() == 4
        square.load_state_dict({"number": torch.tensor([[7.0]])})
        assert square(ONE).item() == 49


def test_what_is_kept_is_dropped_when_training_goes_on_and_is_not_copied_or_saved() -> None:
    square = evaluated()
    assert square.formed._kept
    assert not deepcopy(square).formed._kept
    assert list(square.state_dict()) == ["number"]
    square.train()
    assert not square.formed._kept


def test_while_gradients_are_recorded_nothing_is_kept() -> None:
    square = evaluated()
    square(ONE).backward()
    assert square.number.grad is not None
    assert square.number.grad.item() == 6
    assert not square.formed._kept


def test_a_frozen_part_gets_no_gradient_and_the_input_gets_one() -> None:
    square, x = Square(), torch.full((1, 1), 2.0, requires_grad=True)
    square.number.requires_grad_(False)
    square(x).backward()
    assert x.grad is not None
    assert x.grad.item() == 9
    assert square.number.grad is None


@pytest.mark.parametrize("name", ["boft", "dora", "fourierft", "shira", "smoa"])
def test_decoding_after_another_step_uses_the_new_parameters(name: str) -> None:
    model = adapted(name, torch.float32)
    with torch.inference_mode():
        before = model(input_ids=IDS).logits
    randomise(model, seed=6)
    fresh = deepcopy(model)
    assert_same(logits(model, IDS), logits(fresh, IDS))
    assert not torch.equal(logits(model, IDS), before)


def test_decoding_after_another_scale_uses_it() -> None:
    model = adapted("shira", torch.float32)
    before = logits(model, IDS)
    for layer in model.modules():
        if isinstance(layer, SparseLinear):
            layer.set_scale("default", 0.5)
    assert not torch.equal(logits(model, IDS), before)
