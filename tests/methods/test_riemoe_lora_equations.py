"""RieMoE-LoRA against its equations, written out expert by expert and token by token.

Sun et al., ICML 2025, arXiv 2502.15828, and its official code (reference, 5.16). With
c = alpha / r, v_e = B_e A_e x, G the gradient of the output and a_e = c G . v_e, the chain
rule gives for one token

    dA_e = c w_e (B_e^T G) x^T                      w_e = g_e, or sqrt(g_e) with gate rescaling
    dB_e = c w_e G (A_e x)^T
    d score_e = g_e (a_e - sum_k g_k a_k)           of the gate, with either

since the softmax over all experts, cut to top_k and renormalised, is the softmax over the chosen.
"""

import itertools
import math
import re
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import PeftModel
from torch import Tensor, nn

from methods.conformance.models import build
from methods.riemoe_lora import RieMoELoRA, method
from methods.training.hooks import TrainingAhead
from tests.methods.models import logits_as_a_token_changes
from tests.methods.tensors import assert_close, generator, random, randomise, token_ids

IN, OUT, EXPERTS, RANK, TOP, ALPHA = 6, 5, 5, 2, 3, 3.0
SCALE = ALPHA / RANK
DAMPING = 1e-6
PLAN = TrainingAhead(steps=10, warmup_steps=2, seed=0)

every_shape = pytest.mark.parametrize("shape", [(), (4,), (2, 4)], ids=str)
with_and_without_rescaling = pytest.mark.parametrize("rescaling", [True, False])


def fields(**chosen: Any) -> dict[str, Any]:
    sizes = {"experts": EXPERTS, "r": RANK, "top_k": TOP, "alpha": ALPHA, "dropout": 0.0}
    return {**sizes, **chosen}


def trained(**chosen: Any) -> Any:
    config = method.configure(**fields(**chosen))
    return randomise(RieMoELoRA(nn.Linear(IN, OUT), config).double())


def weights_by_hand(adapter: Any, x: Tensor, top_k: int) -> list[float]:
    """Take the softmax over all experts, keep the top_k largest, divide by their sum."""
    scores = [float(row @ x) for row in adapter.gate.weight.detach()]
    exponentials = [math.exp(score - max(scores)) for score in scores]
    softmax = [one / sum(exponentials) for one in exponentials]
    chosen = sorted(range(len(softmax)), key=softmax.__getitem__)[-top_k:]
    kept = [g if expert in chosen else 0.0 for expert, g in enumerate(softmax)]
    return [g / sum(kept) for g in kept]


def added_by_hand(adapter: Any, x: Tensor, top_k: int) -> Tensor:
    added = torch.zeros(OUT, dtype=torch.float64)
    for expert, weight in enumerate(weights_by_hand(adapter, x, top_k)):
        added += SCALE * weight * (adapter.B[:, expert] @ (adapter.A[expert] @ x))
    return added


def gradients_by_hand(
    adapter: Any, tokens: Tensor, upstream: Tensor, rescaling: bool
) -> dict[str, Tensor]:
    a, b, gate = (p.detach() for p in (adapter.A, adapter.B, adapter.gate.weight))
    found = {name: torch.zeros_like(p) for name, p in (("A", a), ("B", b), ("gate", gate))}
    found["x"] = torch.zeros_like(tokens)
    for t, (x, gradient) in enumerate(zip(tokens, upstream, strict=True)):
        weights = weights_by_hand(adapter, x, TOP)
        gains = [SCALE * float(gradient @ b[:, e] @ a[e] @ x) for e in range(EXPERTS)]
        mean = sum(g * gain for g, gain in zip(weights, gains, strict=True))
        for e, g in enumerate(weights):
            weight = SCALE * (math.sqrt(g) if rescaling else g)
            found["A"][e] += weight * torch.outer(b[:, e].T @ gradient, x)
            found["B"][:, e] += weight * torch.outer(gradient, a[e] @ x)
            found["gate"][e] += g * (gains[e] - mean) * x
            found["x"][t] += weight * (a[e].T @ b[:, e].T @ gradient)
            found["x"][t] += g * (gains[e] - mean) * gate[e]
    return found


def gradients(adapter: Any, x: Tensor, upstream: Tensor) -> dict[str, Tensor]:
    x = x.clone().requires_grad_()
    adapter.zero_grad()
    adapter(x).backward(upstream)
    assert x.grad is not None
    found = {"A": adapter.A.grad, "B": adapter.B.grad, "gate": adapter.gate.weight.grad}
    return {**{name: one.clone() for name, one in found.items()}, "x": x.grad}


def adapt(**chosen: Any) -> PeftModel:
    config = method.configure(**fields(**chosen))
    return randomise(method.adapt(build("llama-gqa").double(), config).double().eval())


def experts_of(adapted: PeftModel) -> list[Any]:
    return [module for module in adapted.modules() if isinstance(module, RieMoELoRA)]


def put_gradients(adapted: PeftModel) -> None:
    draw = generator(5)
    for parameter in adapted.parameters():
        if parameter.requires_grad:
            shape = parameter.shape
            parameter.grad = torch.randn(shape, generator=draw, dtype=torch.float64)


def after_backward(adapted: PeftModel, step: int = 1) -> None:
    assert method.hooks is not None
    method.hooks(adapted, PLAN).after_backward(step)


def copies(adapter: Any) -> list[Tensor]:
    return [p.grad.clone() for p in (adapter.A, adapter.B, adapter.gate.weight)]


def damped_inverse(left: Tensor, right: Tensor) -> Tensor:
    return torch.linalg.inv(left @ right + DAMPING * torch.eye(len(left), dtype=torch.float64))


@every_shape
@with_and_without_rescaling
@pytest.mark.parametrize("top_k", [2, 3, EXPERTS])
@torch.no_grad()
def test_a_layer_adds_the_experts_by_their_renormalised_weights(
    top_k: int, rescaling: bool, shape: tuple[int, ...]
) -> None:
    adapter, x = trained(top_k=top_k, gate_rescaling=rescaling), random(*shape, IN)
    added = adapter(x)
    assert added.shape == (*shape, OUT)
    for token, row in zip(x.reshape(-1, IN), added.reshape(-1, OUT), strict=True):
        assert_close(row, added_by_hand(adapter, token, top_k))


@every_shape
@with_and_without_rescaling
def test_gradients_are_those_of_the_chain_rule_with_the_weight_of_an_expert_rescaled(
    rescaling: bool, shape: tuple[int, ...]
) -> None:
    adapter = trained(gate_rescaling=rescaling)
    x, upstream = random(*shape, IN), random(*shape, OUT, seed=4)
    found = gradients(adapter, x, upstream)
    by_hand = gradients_by_hand(adapter, x.reshape(-1, IN), upstream.reshape(-1, OUT), rescaling)
    for name, expected in by_hand.items():
        assert_close(found[name].reshape(expected.shape), expected)


def test_gate_rescaling_moves_the_gradients_of_experts_and_input_but_not_of_the_gate() -> None:
    x, upstream = random(8, IN), random(8, OUT, seed=4)
    rescaled = gradients(trained(gate_rescaling=True), x, upstream)
    plain = gradients(trained(gate_rescaling=False), x, upstream)
    assert_close(rescaled["gate"], plain["gate"])
    for name in ("A", "B", "x"):
        assert float((rescaled[name] - plain[name]).abs().max()) > 0.01


def test_two_experts_of_equal_weight_get_the_root_of_two_times_the_plain_gradient() -> None:
    found = {}
    for rescaling in (True, False):
        adapter = trained(experts=2, top_k=2, gate_rescaling=rescaling)
        nn.init.zeros_(adapter.gate.weight)
        found[rescaling] = gradients(adapter, random(8, IN), random(8, OUT, seed=4))
    for name in ("A", "B"):  # sqrt(1/2) over 1/2
        assert_close(found[True][name], math.sqrt(2) * found[False][name])


@with_and_without_rescaling
def test_an_expert_that_no_token_chose_gets_no_gradient(rescaling: bool) -> None:
    adapter, x = trained(gate_rescaling=rescaling), random(IN)
    weights = weights_by_hand(adapter, x, TOP)
    found = gradients(adapter, x, random(OUT, seed=4))
    for expert, weight in enumerate(weights):
        for one in (found["A"][expert], found["B"][:, expert], found["gate"][expert]):
            assert bool(one.any()) == (weight > 0)
    assert weights.count(0.0) == EXPERTS - TOP


@with_and_without_rescaling
def test_a_chosen_expert_whose_weight_vanishes_leaves_all_gradients_finite(rescaling: bool) -> None:
    adapter, x = trained(gate_rescaling=rescaling), random(4, IN)
    with torch.no_grad():
        adapter.gate.weight *= 1e4
    found = gradients(adapter, x, random(4, OUT, seed=4))
    assert all(one.isfinite().all() for one in found.values())
    assert sorted(weights_by_hand(adapter, x[0], TOP)) == [0.0] * (EXPERTS - 1) + [1.0]


@torch.no_grad()
def test_each_token_is_routed_by_itself() -> None:
    adapter, x = trained(), random(2, 5, IN)
    together = adapter(x)
    routes = {tuple(weights_by_hand(adapter, token, TOP)) for token in x.reshape(-1, IN)}
    assert len(routes) == 10
    for text, token in itertools.product(range(2), range(5)):
        assert_close(adapter(x[text, token]), together[text, token])


@torch.no_grad()
def test_a_later_token_changes_no_earlier_logit() -> None:
    old, new = logits_as_a_token_changes(adapt(), token_ids(2, 9), at=5)
    assert_close(new[:, :5], old[:, :5])
    assert float((new[:, 5:] - old[:, 5:]).abs().max()) > 1e-3


@torch.no_grad()
def test_at_the_start_a_layer_adds_exactly_nothing_and_gate_and_experts_are_drawn() -> None:
    config = method.configure(experts=6, r=16, top_k=2)
    adapter: Any = RieMoELoRA(nn.Linear(96, 64), config).eval()
    added = adapter(torch.randn(5, 96, generator=generator(2)))
    assert torch.equal(added, torch.zeros_like(added))
    assert not adapter.B.any()
    bound = math.sqrt(2 / (1 + 5)) * math.sqrt(3 / 96)  # Kaiming uniform, a = sqrt(5)
    for index, matrix in enumerate(adapter.A):
        assert 0.98 * bound < matrix.abs().max() <= bound
        assert all(not torch.equal(matrix, other) for other in adapter.A[:index])
    assert 0.98 * bound < adapter.gate.weight.abs().max() <= bound


@torch.no_grad()
def test_dropout_draws_one_mask_for_all_experts_of_a_token_and_none_for_the_gate() -> None:
    drop, draws = 0.25, 2000
    config = method.configure(**fields(experts=3, top_k=3, r=1, dropout=drop))
    adapter: Any = RieMoELoRA(nn.Linear(1, OUT), config).double().train()
    randomise(adapter)
    x = random(1)
    kept = torch.zeros(OUT, dtype=torch.float64)
    for expert, weight in enumerate(weights_by_hand(adapter, x, 3)):
        kept += ALPHA * weight * (adapter.B[:, expert] @ (adapter.A[expert] @ x))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(6)
        drawn = adapter(x.expand(draws, 1))
    # With one input feature, either all experts see it, at 1 / (1 - drop), or none does.
    seen = drawn.any(dim=1)
    assert_close(drawn[seen], (kept / (1 - drop)).expand(int(seen.sum()), OUT))
    assert abs(int(seen.sum()) / draws - (1 - drop)) < 0.05
    assert_close(adapter.eval()(x), kept)


@pytest.mark.parametrize("step", [1, 7, 10])
@torch.no_grad()
def test_the_hook_preconditions_both_gradients_by_the_parameters_of_before(step: int) -> None:
    adapted = adapt()
    put_gradients(adapted)
    before = [(copies(one), one.A.clone(), one.B.clone()) for one in experts_of(adapted)]
    after_backward(adapted, step)
    assert len(before) == 2 * 4
    for adapter, ((grad_a, grad_b, grad_gate), a, b) in zip(
        experts_of(adapted), before, strict=True
    ):
        for e in range(EXPERTS):
            assert_close(adapter.A.grad[e], damped_inverse(b[:, e].T, b[:, e]) @ grad_a[e], 1e-9)
            assert_close(adapter.B.grad[:, e], grad_b[:, e] @ damped_inverse(a[e], a[e].T), 1e-9)
        assert torch.equal(adapter.gate.weight.grad, grad_gate)
        assert torch.equal(adapter.A, a)
        assert torch.equal(adapter.B, b)


@torch.no_grad()
def test_in_float32_the_hook_does_what_it_does_in_float64_up_to_rounding() -> None:
    double, single = adapt(), adapt().float()
    put_gradients(double)
    wide = [p for p in double.parameters() if p.requires_grad]
    narrow = [p for p in single.parameters() if p.requires_grad]
    for parameter, other in zip(narrow, wide, strict=True):
        parameter.grad = other.grad.float()
    for adapted in (double, single):
        after_backward(adapted)
    for found, expected in zip(experts_of(single), experts_of(double), strict=True):
        for one, other in zip(copies(found), copies(expected), strict=True):
            torch.testing.assert_close(one, other.float(), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_where_b_is_zero_the_gradient_of_a_is_divided_by_the_damping() -> None:
    adapted = adapt()
    put_gradients(adapted)
    adapter = experts_of(adapted)[0]
    adapter.B.zero_()
    before = adapter.A.grad.clone()
    after_backward(adapted)
    assert_close(adapter.A.grad, before * 1e6)


@torch.no_grad()
def test_an_expert_whose_system_is_singular_keeps_its_gradient_and_holds_back_no_other() -> None:
    adapted = adapt()
    put_gradients(adapted)
    adapter = experts_of(adapted)[0]
    # 1e12 + 1e-6 is 1e12 in float64: two equal columns make a singular matrix.
    adapter.B[:, 2] = 0.0
    adapter.B[0, 2] = 1e6
    (grad_a, grad_b, _), a, b = copies(adapter), adapter.A.clone(), adapter.B.clone()
    after_backward(adapted)
    assert torch.equal(adapter.A.grad[2], grad_a[2])
    for e in range(EXPERTS):
        assert_close(adapter.B.grad[:, e], grad_b[:, e] @ damped_inverse(a[e], a[e].T), 1e-9)
        if e != 2:
            assert_close(adapter.A.grad[e], damped_inverse(b[:, e].T, b[:, e]) @ grad_a[e], 1e-9)


@torch.no_grad()
def test_the_hook_passes_over_a_layer_without_gradients() -> None:
    adapted = adapt()
    put_gradients(adapted)
    first, second = experts_of(adapted)[:2]
    first.zero_grad()
    before = second.A.grad.clone()
    after_backward(adapted)
    assert first.A.grad is None
    assert not torch.equal(second.A.grad, before)


@torch.no_grad()
def test_no_riemannian_leaves_every_gradient_as_it_is() -> None:
    adapted = adapt(**method.variants["no-riemannian"])
    put_gradients(adapted)
    before = [copies(one) for one in experts_of(adapted)]
    after_backward(adapted)
    for adapter, old in zip(experts_of(adapted), before, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(copies(adapter), old, strict=True))


def test_no_gate_rescaling_trains_by_plain_gradients_of_the_mixture_and_preconditions_them() -> (
    None
):
    variant = method.variants["no-gate-rescaling"]
    adapter, x, upstream = trained(**variant), random(8, IN), random(8, OUT, seed=4)
    by_hand = gradients_by_hand(adapter, x, upstream, rescaling=False)
    for name, found in gradients(adapter, x, upstream).items():
        assert_close(found, by_hand[name])
    adapted = adapt(**variant)
    put_gradients(adapted)
    before = experts_of(adapted)[0].A.grad.clone()
    after_backward(adapted)
    assert not torch.equal(experts_of(adapted)[0].A.grad, before)


def test_the_variant_of_hycam_has_five_experts_of_rank_64_on_all_linear_layers() -> None:
    config: Any = method.configure(**method.variants["hycam-paper"])
    adapter: Any = RieMoELoRA(nn.Linear(80, 72), config)
    assert adapter.A.shape == (5, 64, 80)
    assert adapter.B.shape == (72, 5, 64)
    assert adapter.gate.weight.shape == (5, 80)
    assert config.top_k == 2
    assert config.target_modules == "all-linear"


@cache
def one_layer() -> PeftModel:
    return adapt(experts=3, top_k=2, r=3, target_modules=["q_proj"])


def change_of_the_product(adapter: Any, e: int) -> Tensor:
    """Compute the first-order change of B_e A_e by a step along the gradients."""
    product: Tensor = adapter.B.grad[:, e] @ adapter.A[e] + adapter.B[:, e] @ adapter.A.grad[e]
    return product


def rotation(seed: int) -> Tensor:
    return torch.linalg.qr(random(3, 3, seed=seed)).Q


def put_gradients_of_the_product(adapter: Any, gradient: Tensor) -> None:
    """Set the gradients of A and B where `gradient` (out, E, in) is that of every B_e A_e."""
    adapter.A.grad = torch.stack([adapter.B[:, e].T @ gradient[:, e] for e in range(3)])
    adapter.B.grad = torch.stack([gradient[:, e] @ adapter.A[e].T for e in range(3)], dim=1)
    adapter.gate.weight.grad = torch.zeros_like(adapter.gate.weight)


@given(
    seed=st.integers(0, 10**6),
    stretches=st.lists(st.floats(0.3, 3.0), min_size=9, max_size=9),
)
@settings(max_examples=25)
@torch.no_grad()
def test_the_step_of_a_product_does_not_depend_on_how_it_is_split_into_factors(
    seed: int, stretches: list[float]
) -> None:
    adapted = one_layer()
    adapter = experts_of(adapted)[0]
    adapter.A.copy_(random(*adapter.A.shape, seed=seed))
    adapter.B.copy_(random(*adapter.B.shape, seed=seed + 1))
    gradient = random(adapter.B.shape[0], 3, adapter.A.shape[2], seed=seed + 2)

    put_gradients_of_the_product(adapter, gradient)
    after_backward(adapted)
    changes = [change_of_the_product(adapter, e) for e in range(3)]
    for e, change in enumerate(changes):
        # The gradient projected onto the columns of B and onto the rows of A (Zhang and Pilanci
        # 2024, which the paper builds on), up to the damping.
        b, a = adapter.B[:, e], adapter.A[e]
        onto_b, onto_a = b @ torch.linalg.pinv(b), torch.linalg.pinv(a) @ a
        projected = onto_b @ gradient[:, e] + gradient[:, e] @ onto_a
        torch.testing.assert_close(change, projected, rtol=1e-5, atol=1e-5)

    for e in range(3):
        stretch = torch.diag(torch.tensor(stretches[3 * e : 3 * e + 3], dtype=torch.float64))
        other = rotation(seed + e) @ stretch @ rotation(seed + 3 + e)
        adapter.B[:, e] = adapter.B[:, e] @ other
        adapter.A[e] = torch.linalg.inv(other) @ adapter.A[e]
    put_gradients_of_the_product(adapter, gradient)
    after_backward(adapted)
    for e in range(3):
        found = change_of_the_product(adapter, e)
        torch.testing.assert_close(found, changes[e], rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_the_plain_step_of_a_product_does_depend_on_how_it_is_split_into_factors() -> None:
    adapter = experts_of(one_layer())[0]
    gradient = random(adapter.B.shape[0], 3, adapter.A.shape[2])
    put_gradients_of_the_product(adapter, gradient)
    before = change_of_the_product(adapter, 0)
    adapter.B *= 2
    adapter.A /= 2
    put_gradients_of_the_product(adapter, gradient)
    assert float((change_of_the_product(adapter, 0) - before).abs().max()) > 1


def test_a_layer_has_the_parameters_of_its_experts_and_of_its_gate() -> None:
    count = sum(p.numel() for p in trained().parameters())
    assert count == EXPERTS * RANK * (IN + OUT) + EXPERTS * IN


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"r": 0}, "r must be at least 1, not 0."),
        ({"experts": 4, "top_k": 5}, "top_k must be above 1 and at most experts = 4, not 5."),
        ({"top_k": 1}, "top_k must be above 1 and at most experts = 20, not 1."),
        ({"alpha": 0.0}, "alpha must be above 0, not 0.0."),
        ({"alpha": math.nan}, "alpha must be above 0, not nan."),
        ({"alpha": math.inf}, "alpha must be above 0, not inf."),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, not 1.0."),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1, not -0.1."),
    ],
)
def test_a_bad_field_is_refused_by_name_value_and_limit(chosen: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        method.configure(**chosen)
