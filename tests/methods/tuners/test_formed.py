"""What is formed of parameters: equal to what PEFT computes, and kept for an evaluation."""

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
from methods.tuners.formed import Formed
from methods.tuners.kept import keeping
from methods.tuners.room import Room

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


@torch.no_grad()
def test_in_an_evaluation_it_is_formed_once_and_after_it_in_each_pass() -> None:
    square = Square()
    square.formed.keep_in(Room())
    assert [square(ONE).item() for _ in range(3)] == [9, 9, 9]
    assert square.taken == 1
    square.formed.keep_in(None)
    square.number.fill_(5.0)
    assert [square(ONE).item() for _ in range(2)] == [25, 25]
    assert square.taken == 3


@torch.no_grad()
def test_each_set_of_parts_is_formed_by_itself() -> None:
    formed, room = Formed(), Room()
    one, two = torch.tensor([3.0]), torch.tensor([4.0])
    formed.keep_in(room)
    assert [formed(torch.square, part).item() for part in (one, two, one)] == [9, 16, 9]
    assert room.kept == 8


@torch.no_grad()
def test_what_does_not_fit_is_formed_in_each_pass() -> None:
    square, room = Square(), Room(free=3)
    square.formed.keep_in(room)
    assert [square(ONE).item() for _ in range(2)] == [9, 9]
    assert square.taken == 2
    assert room.short


def test_while_gradients_are_recorded_nothing_is_kept() -> None:
    square = Square()
    square.formed.keep_in(Room())
    for _ in range(2):
        square(ONE).backward()
    assert square.number.grad is not None
    assert square.number.grad.item() == 12


def test_a_frozen_part_gets_no_gradient_and_the_input_gets_one() -> None:
    square, x = Square(), torch.full((1, 1), 2.0, requires_grad=True)
    square.number.requires_grad_(False)
    square(x).backward()
    assert x.grad is not None
    assert x.grad.item() == 9
    assert square.number.grad is None


@pytest.mark.parametrize("name", ["boft", "dora", "fourierft", "shira", "smoa"])
def test_over_bfloat16_an_evaluation_keeps_what_is_formed_and_the_next_one_forms_it_anew(
    name: str,
) -> None:
    model, method, room = adapted(name, torch.bfloat16), plugins.method(name), Room()
    for seed in (6, 7):
        plain = logits(model, IDS)
        with keeping(model, method, room=room):
            for _ in range(2):
                assert_same(logits(model, IDS), plain)
        randomise(model, seed)
    assert room.kept > 0
