"""MultiLoRA against its equation, y = W x + sum_i s_i * (B_i A_i x), written out by hand.

Wang et al. 2023, arXiv 2311.11501: n LoRA modules in parallel, their scaling factors learnt and
zero at the start, A and B uniform as Kaiming. The gradients follow by the product rule: with G
the gradient of the output, summed over tokens,

    dA_i = B_i^T (s_i * G) x^T      dB_i = (s_i * G) (A_i x)^T      ds_i = G * (B_i A_i x)
"""

import math
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn

from methods.conformance.models import build
from methods.multilora import MultiLoRA, method
from tests.methods.models import logits_as_a_token_changes
from tests.methods.tensors import difference, random, randomise, token_ids

IN, OUT, MODULES, RANK = 7, 5, 3, 2

every_shape = pytest.mark.parametrize("shape", [(), (4,), (2, 4), (2, 1, 4)], ids=str)


def fresh(n: int = MODULES, r: int = RANK) -> Any:
    return MultiLoRA(nn.Linear(IN, OUT), method.configure(n=n, r=r)).double()


def trained(n: int = MODULES, r: int = RANK) -> Any:
    return randomise(fresh(n, r))


def entry_by_entry(adapter: Any, x: Tensor) -> list[float]:
    """Compute what is added to the output for one token, from numbers."""
    a, b, s = (parameter.tolist() for parameter in (adapter.A, adapter.B, adapter.s))
    token = x.tolist()
    added = [0.0] * len(b)
    for i in range(len(a)):
        low = [sum(w * v for w, v in zip(row, token, strict=True)) for row in a[i]]
        for feature in range(len(b)):
            high = sum(w * v for w, v in zip(b[feature][i], low, strict=True))
            added[feature] += s[feature][i] * high
    return added


def adapt(name: str) -> PeftModel:
    adapted = method.adapt(build(name).double(), method.configure(n=2, r=3))
    return randomise(adapted.double().eval())


def texts() -> Tensor:
    return token_ids(2, 9)


@every_shape
@pytest.mark.parametrize(("n", "r"), [(1, 1), (1, 4), (3, 2), (6, 5)])
@torch.no_grad()
def test_a_layer_adds_the_scaled_output_of_every_module(
    n: int, r: int, shape: tuple[int, ...]
) -> None:
    adapter, x = trained(n, r), random(*shape, IN)
    added = adapter(x)
    assert added.shape == (*shape, OUT)
    rows = zip(x.reshape(-1, IN), added.reshape(-1, OUT), strict=True)
    for token, row in rows:
        expected = torch.tensor(entry_by_entry(adapter, token), dtype=torch.float64)
        assert difference(row, expected) <= 1e-11


@torch.no_grad()
def test_the_update_of_the_weight_is_the_sum_of_the_scaled_products() -> None:
    adapter = trained()
    expected = torch.zeros(OUT, IN, dtype=torch.float64)
    for i in range(MODULES):
        expected += torch.diag(adapter.s[:, i]) @ adapter.B[:, i] @ adapter.A[i]
    assert difference(adapter.weight_update(), expected) <= 1e-12
    assert torch.linalg.matrix_rank(expected) == min(MODULES * RANK, OUT)


@torch.no_grad()
def test_each_factor_scales_one_output_feature_of_one_module() -> None:
    adapter, x = trained(), random(6, IN)
    before = adapter(x)
    old = float(adapter.s[3, 1])
    adapter.s[3, 1] = 0.0
    others = [f for f in range(OUT) if f != 3]
    assert torch.equal(adapter(x)[:, others], before[:, others])
    lost = torch.stack([adapter.B[3, 1] @ adapter.A[1] @ token for token in x]) * old
    assert difference(before[:, 3] - adapter(x)[:, 3], lost) <= 1e-12
    assert float(lost.abs().min()) > 1e-4


@torch.no_grad()
def test_the_modules_may_stand_in_any_order() -> None:
    adapter, x = trained(), random(6, IN)
    before, order = adapter(x), [2, 0, 1]
    adapter.A.copy_(adapter.A[order])
    adapter.B.copy_(adapter.B[:, order])
    adapter.s.copy_(adapter.s[:, order])
    assert difference(adapter(x), before) <= 1e-12


@every_shape
def test_gradients_are_those_of_the_product_rule(shape: tuple[int, ...]) -> None:
    adapter = trained()
    x, upstream = random(*shape, IN).requires_grad_(), random(*shape, OUT, seed=4)
    adapter(x).backward(upstream)
    a, b, s = (parameter.detach() for parameter in (adapter.A, adapter.B, adapter.s))
    by_hand = {name: torch.zeros_like(p) for name, p in (("A", a), ("B", b), ("s", s))}
    into_x = []
    tokens = x.detach().reshape(-1, IN)
    for token, gradient in zip(tokens, upstream.reshape(-1, OUT), strict=True):
        reached = torch.zeros(IN, dtype=torch.float64)
        for i in range(MODULES):
            scaled = s[:, i] * gradient
            by_hand["A"][i] += torch.outer(b[:, i].T @ scaled, token)
            by_hand["B"][:, i] += torch.outer(scaled, a[i] @ token)
            by_hand["s"][:, i] += gradient * (b[:, i] @ (a[i] @ token))
            reached += a[i].T @ (b[:, i].T @ scaled)
        into_x.append(reached)
    for name, expected in by_hand.items():
        assert difference(getattr(adapter, name).grad, expected) <= 1e-11
    assert x.grad is not None
    assert difference(x.grad.reshape(-1, IN), torch.stack(into_x)) <= 1e-11


def test_at_the_start_a_layer_adds_exactly_nothing_and_only_the_factors_learn() -> None:
    adapter, x = fresh(), random(6, IN)
    added = adapter(x)
    assert torch.equal(added, torch.zeros_like(added))
    added.backward(random(6, OUT, seed=4))
    assert not adapter.A.grad.any()
    assert not adapter.B.grad.any()
    assert adapter.s.grad.all()


def test_start_values_are_uniform_as_kaiming_and_differ_from_module_to_module() -> None:
    adapter: Any = MultiLoRA(nn.Linear(96, 64), method.configure(n=4, r=16))
    assert not adapter.s.any()
    # kaiming_uniform_ with a = sqrt(5) draws within gain sqrt(3 / fan_in), gain = sqrt(2 / 6).
    for matrices, fan_in in ((adapter.A, 96), (adapter.B.transpose(0, 1), 16)):
        bound = math.sqrt(2 / (1 + 5)) * math.sqrt(3 / fan_in)
        for index, matrix in enumerate(matrices.detach()):
            assert 0.98 * bound < matrix.abs().max() <= bound
            assert abs(float(matrix.var()) / (bound**2 / 3) - 1) < 0.15
            assert all(not torch.equal(matrix, other) for other in matrices[:index])


@pytest.mark.parametrize("name", ["llama-gqa", "qwen2-mha", "gemma3-gqa"])
@torch.no_grad()
def test_logits_are_those_of_the_bare_model_with_every_linear_weight_updated(name: str) -> None:
    adapted = adapt(name)
    logits = adapted(input_ids=texts()).logits
    plain: Any = build(name).double()
    changed = 0
    for key, layer in adapted.get_base_model().named_modules():
        if not hasattr(layer, "adapter_modules"):
            continue
        adapter = layer.adapter_modules["default"]
        unit = torch.eye(layer.in_features, dtype=torch.float64)
        columns = [torch.tensor(entry_by_entry(adapter, u), dtype=torch.float64) for u in unit]
        plain.get_submodule(key).weight += torch.stack(columns, dim=1)
        changed += 1
    assert changed == 2 * 7
    # The model's norms round to float32, so that sums in another order may differ by that much.
    assert difference(logits, plain(input_ids=texts()).logits) <= 1e-5
    assert difference(logits, build(name).double()(input_ids=texts()).logits) > 0.1


@torch.no_grad()
def test_merging_adds_the_updates_to_the_weights() -> None:
    adapted = adapt("llama-gqa")
    layer: Any = adapted.get_base_model().model.layers[1].mlp.down_proj
    update, weight = layer.adapter_modules["default"].weight_update(), layer.base_layer.weight
    expected = weight + update
    merged: Any = adapted.merge_and_unload()
    assert difference(merged.model.layers[1].mlp.down_proj.weight, expected) <= 1e-12


@torch.no_grad()
def test_a_later_token_changes_no_earlier_logit() -> None:
    old, new = logits_as_a_token_changes(adapt("llama-gqa"), texts(), at=5)
    assert difference(new[:, :5], old[:, :5]) <= 1e-11
    assert difference(new[:, 5:], old[:, 5:]) > 1e-3


def test_a_layer_has_n_times_the_parameters_of_lora_and_one_factor_per_feature() -> None:
    adapter = fresh()
    count = sum(p.numel() for p in adapter.parameters())
    assert count == MODULES * (RANK * (IN + OUT) + OUT)


def test_the_variant_of_hycam_has_five_modules_of_rank_64() -> None:
    config = method.configure(**method.variants["hycam-paper"])
    adapter: Any = MultiLoRA(nn.Linear(80, 72), config)
    assert adapter.A.shape == (5, 64, 80)
    assert adapter.B.shape == (72, 5, 64)
    assert adapter.s.shape == (72, 5)


@pytest.mark.parametrize(("field", "value"), [("n", 0), ("n", -2), ("r", 0), ("r", -1)])
def test_a_bad_field_is_refused_by_name_value_and_limit(field: str, value: int) -> None:
    with pytest.raises(ValueError, match=rf"^{field} must be at least 1, not {value}\.$"):
        method.configure(**{field: value})


def test_a_rank_above_the_smaller_side_of_a_layer_is_refused_by_the_name_of_the_layer() -> None:
    with pytest.raises(ValueError, match=r"layers\.0\..*r may be at most 32 .*not 33\."):
        method.adapt(build("llama-gqa"), method.configure(r=33))
