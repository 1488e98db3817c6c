"""What layers make of one input is made once for a pass, and never serves another one."""

import copy

import torch
from torch import Tensor, nn

from methods.conformance.models import build
from methods.loca import LoCA, method
from methods.tuners.shared import Shared
from tests.methods.tensors import random, token_ids


class Doubling:
    """Doubles, and counts how often."""

    calls = 0

    def __call__(self, x: Tensor) -> Tensor:
        self.calls += 1
        return 2 * x


def test_layers_that_are_given_one_tensor_share_what_is_made_of_it() -> None:
    shared, double, x = Shared(), Doubling(), random(3)
    first, second = (shared.get(nn.Identity(), x, double) for _ in range(2))
    assert first is second
    assert double.calls == 1


def test_an_equal_tensor_and_a_tensor_that_has_changed_are_others() -> None:
    shared, double, x = Shared(), Doubling(), random(3)
    shared.get(nn.Identity(), x, double)
    shared.get(nn.Identity(), x.clone(), double)
    shared.get(nn.Identity(), x, double)
    x.add_(1)
    assert torch.equal(shared.get(nn.Identity(), x, double), 2 * x)
    assert double.calls == 4


def test_a_layer_that_asks_again_gets_a_graph_of_its_own() -> None:
    shared, double, layer = Shared(), Doubling(), nn.Identity()
    x = random(3).requires_grad_()
    for _ in range(2):
        shared.get(layer, x, double).square().sum().backward()
    assert double.calls == 2


def test_nothing_is_shared_between_passes_with_and_without_a_graph() -> None:
    shared, double, x = Shared(), Doubling(), random(3).requires_grad_()
    with torch.no_grad():
        assert not shared.get(nn.Identity(), x, double).requires_grad
    assert shared.get(nn.Identity(), x, double).requires_grad


def test_the_adapters_of_a_model_share_and_those_of_its_copy_share_among_themselves() -> None:
    model = method.adapt(build("llama-gqa"), method.configure(n=12))
    found = []
    for one in (model, copy.deepcopy(model)):
        slots = {id(layer.shared) for layer in one.modules() if isinstance(layer, LoCA)}
        assert len(slots) == 1
        found.append(slots)
    assert found[0] != found[1]


def test_nothing_is_held_of_a_pass_that_has_ended() -> None:
    model = method.adapt(build("llama-gqa"), method.configure(n=12))
    model(input_ids=token_ids(2, 6))
    shared = next(layer.shared for layer in model.modules() if isinstance(layer, LoCA))
    assert vars(shared) == vars(Shared())
