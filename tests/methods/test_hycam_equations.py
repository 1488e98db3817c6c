"""CAM and HyCAM against their paper (CIKM 2025, eq. 1 to 14), written out a second time by hand."""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.conformance.models import BUILDERS, VOCABULARY, build
from methods.hycam import method
from methods.training.hooks import TrainingAhead

WIDTH, LAYERS = 32, 2
R, MODULES, TAU, BALANCE = 5, 3, 0.7, 0.3
SMALL = {"r": R, "modules": MODULES, "tau": TAU, "lambda_balance": BALANCE}


@dataclass(frozen=True)
class Claim:
    """What the name of a configuration promises, apart from the fields that it sets."""

    fields: Mapping[str, Any]
    shared: str = "full"
    specialised: str = "low-rank"
    scale: float = 1.0
    biases: bool = False
    hard: bool = False
    noise_at_evaluation: bool = False
    residual: bool = False
    train_norms: bool = False
    router_trains: bool = True
    balance: float = BALANCE


VARIANTS = {
    "hycam": Claim({}),
    "shared-only": Claim(method.variants["shared-only"], specialised="none"),
    "full-spec": Claim(method.variants["full-spec"], specialised="full"),
    "spec-only": Claim(method.variants["spec-only"], shared="none"),
    "inverse-peft": Claim(method.variants["inverse-peft"], shared="low-rank", specialised="full"),
    "code": Claim(
        method.variants["code"],
        scale=32 / 64,
        biases=True,
        hard=True,
        noise_at_evaluation=True,
        residual=True,
        train_norms=True,
        router_trains=False,
        balance=0.0,
    ),
}
CLAIMS = {
    **VARIANTS,
    "hard": Claim({"routing": "hard"}, hard=True),
    "noisy": Claim({"noise_at_evaluation": True}, noise_at_evaluation=True),
    "residual": Claim({"residual": True}, residual=True),
    "normed": Claim({"train_norms": True}, train_norms=True),
    "biased": Claim({"biases": True, "scale": 0.7}, biases=True, scale=0.7),
    "biased-inverse-peft": Claim(
        {"shared": "low-rank", "specialised": "full", "biases": True, "scale": 0.7},
        shared="low-rank",
        specialised="full",
        biases=True,
        scale=0.7,
    ),
}
# All on one model, and on the others those that differ in where they touch it.
EVERYWHERE = ["hycam", "inverse-peft", "code", "normed"]
FITTING = [("llama-gqa", case) for case in CLAIMS] + [
    (name, case)
    for name in ("qwen3-gqa", "mistral-gqa", "gemma3-gqa")
    for case in EVERYWHERE
    if not (name.startswith("gemma") and CLAIMS[case].residual)
]
every_fitting = pytest.mark.parametrize(("name", "case"), FITTING)
every_variant = pytest.mark.parametrize("case", VARIANTS)


def silu(values: Tensor) -> Tensor:
    return values / (1 + torch.exp(-values))


def rms_norm(states: Tensor, weight: Tensor) -> Tensor:
    return states / torch.sqrt((states * states).mean(-1, keepdim=True) + 1e-6) * weight


def modulation_by_hand(
    states: Tensor, weights: Mapping[str, Tensor], part: str, k: int, scale: float
) -> Tensor:
    """Compute module k of a part: eq. 5 or eq. 6 and 7."""
    own = {key.removeprefix(f"{part}."): value[k] for key, value in weights.items() if part in key}
    if "W" in own:
        return silu(states @ own["W"].T + own.get("W_bias", 0))
    low = states @ own["A"].T + own.get("A_bias", 0)
    inner = low @ own["N"].T + own.get("N_bias", 0)
    return silu(scale * (inner @ own["B"].T + own.get("B_bias", 0)))


def gumbel_noise(*shape: int) -> Tensor:
    """Draw -log E with E ~ Exp(1), which is Gumbel(0, 1)."""
    return -torch.empty(*shape, dtype=torch.float64).exponential_().log()


class PlainLayer(nn.Module):
    """A decoder layer with HyCAM on its attention output: norm, attend, modulate, add, MLP."""

    weights: dict[str, Tensor]
    norms: dict[str, Tensor]
    p: Tensor

    def __init__(self, base: Any, leaves: Mapping[str, Tensor], claim: Claim) -> None:
        super().__init__()
        self.base, self.claim = base, claim
        own, norm = "self_attn.adapter_modules.default.", ".adapter_modules.default.weight"
        self.weights = {k.removeprefix(own): v for k, v in leaves.items() if k.startswith(own)}
        bare = {k: m.weight for k, m in base.named_children() if k.endswith("layernorm")}
        self.norms = {key: leaves.get(f"{key}{norm}", weight) for key, weight in bare.items()}
        self.balance = torch.zeros((), dtype=torch.float64)

    def route(self, states: Tensor) -> Tensor:
        """Compute eq. 8, 9 and 10."""
        logits = states @ self.weights["router.weight"].T + self.weights.get("router.bias", 0)
        noisy = self.training or self.claim.noise_at_evaluation
        noise = gumbel_noise(*logits.shape) if noisy else torch.zeros_like(logits)
        scores = torch.exp((logits + noise) / TAU)
        soft = scores / scores.sum(-1, keepdim=True)
        if self.claim.hard:
            one_hot = (soft == soft.max(-1, keepdim=True).values).double()
            soft = one_hot + soft - soft.detach()
        self.p = soft
        plain = torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True)
        products = [soft[..., k].mean() * plain[..., k].mean() for k in range(MODULES)]
        self.balance = torch.stack(products).sum()
        return soft

    def modulation(self, states: Tensor) -> Tensor:
        """Compute eq. 11."""
        fused = torch.zeros_like(states)
        if self.claim.shared != "none":
            fused = modulation_by_hand(states, self.weights, "shared", 0, self.claim.scale)
        if self.claim.specialised != "none":
            p = self.route(states)
            for k in range(MODULES):
                one = modulation_by_hand(states, self.weights, "specialised", k, self.claim.scale)
                fused = fused + p[..., k, None] * one
        return fused

    def forward(self, hidden_states: Tensor, **others: Any) -> Tensor:
        base, norms, stream = self.base, self.norms, hidden_states
        normed = rms_norm(stream, norms["input_layernorm"])  # eq. 1
        attended = base.self_attn(hidden_states=normed, **others)[0]  # eq. 3
        modulated = stream + attended if self.claim.residual else attended
        out = attended + modulated * self.modulation(normed)  # eq. 12
        if "pre_feedforward_layernorm" in norms:  # Gemma
            stream = stream + rms_norm(out, norms["post_attention_layernorm"])
            within = base.mlp(rms_norm(stream, norms["pre_feedforward_layernorm"]))
            return stream + rms_norm(within, norms["post_feedforward_layernorm"])
        stream = stream + out
        return stream + base.mlp(rms_norm(stream, norms["post_attention_layernorm"]))


def in_double(name: str) -> PreTrainedModel:
    """Build the model with float64 norms: its own round to float32, whatever the dtype."""
    model = build(name).double()
    for key in [key for key, _ in model.named_modules() if key.endswith("norm")]:
        weight: Any = model.get_submodule(key).weight
        norm = nn.RMSNorm(len(weight), eps=1e-6, dtype=torch.float64)
        # Gemma stores it less 1. Rounded, since an adapter's own copy starts in float32.
        norm.weight.data = (weight.data + int(name.startswith("gemma3"))).float().double()
        model.set_submodule(key, norm)
    return model


def configure(claim: Claim, **fields: Any) -> Any:
    return method.configure(**{**SMALL, **claim.fields, **fields})


def fresh(name: str, claim: Claim) -> PeftModel:
    return method.adapt(in_double(name), configure(claim)).double().eval()


def tensors(model: PeftModel) -> dict[str, Tensor]:
    """Find the tensors of the adapter, a frozen router too, by their name within the decoder."""
    prefix = "base_model.model.model.layers."
    return {
        key.removeprefix(prefix): value
        for key, value in (*model.named_parameters(), *model.named_buffers())
        if "adapter_modules" in key
    }


def randomise(model: PeftModel) -> PeftModel:
    """Move every tensor of the adapter away from its start, a frozen router too."""
    generator = torch.Generator().manual_seed(1)
    for value in tensors(model).values():
        nn.init.normal_(value, std=0.4, generator=generator)
    return model


def adapt(name: str, case: str) -> PeftModel:
    return randomise(fresh(name, CLAIMS[case]))


def plain(name: str, adapted: PeftModel, claim: Claim) -> tuple[Any, dict[str, Tensor]]:
    """Build the bare model with our own layers, over copies of the adapter's tensors."""
    model: Any = in_double(name).requires_grad_(False)
    leaves = {
        key: value.detach().clone().requires_grad_(value.requires_grad)
        for key, value in tensors(adapted).items()
    }
    for number, base in enumerate(model.model.layers):
        prefix = f"{number}."
        own = {k.removeprefix(prefix): v for k, v in leaves.items() if k.startswith(prefix)}
        model.model.layers[number] = PlainLayer(base, own, claim)
    return model.eval(), leaves


def attentions(model: PeftModel) -> list[Any]:
    base: Any = model.get_base_model()
    return [layer.self_attn for layer in base.model.layers]


def weights_of(model: PeftModel) -> list[Any]:
    return [layer.adapter_modules["default"] for layer in attentions(model)]


def tokens(*shape: int) -> Tensor:
    return torch.randint(VOCABULARY, shape, generator=torch.Generator().manual_seed(3))


def run(model: Any, text: Tensor, **others: Any) -> Tensor:
    """Compute logits, with the same noise at each call."""
    torch.manual_seed(4)
    logits: Tensor = model(input_ids=text, use_cache=False, **others).logits
    return logits


def a_loss(logits: Tensor) -> Tensor:
    weights = torch.randn(
        logits.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64
    )
    return (logits * weights).mean()


def auxiliary(model: PeftModel) -> Tensor:
    assert method.auxiliary_loss
    added = method.auxiliary_loss(model)
    assert added.shape == ()
    return added


def plain_auxiliary(model: Any, claim: Claim) -> Tensor:
    """Compute lambda times eq. 10, as the mean over the layers."""
    total: Tensor = claim.balance * sum(layer.balance for layer in model.model.layers) / LAYERS
    return total


def equal(left: Any, right: Any) -> None:
    torch.testing.assert_close(left, right, rtol=1e-11, atol=1e-11)


@every_fitting
def test_logits_losses_and_gradients_equal_those_of_a_plain_implementation(
    name: str, case: str
) -> None:
    claim, text = CLAIMS[case], tokens(2, 13)
    adapted = adapt(name, case)
    ours, leaves = plain(name, adapted, claim)
    with torch.no_grad():
        logits = run(adapted, text)
        equal(logits, run(ours, text))
        assert (logits - run(in_double(name), text)).abs().max() > 1e-2
    logits, expected = run(adapted.train(), text), run(ours.train(), text)
    equal(logits, expected)
    balance, expected_balance = auxiliary(adapted), plain_auxiliary(ours, claim)
    equal(balance.double(), expected_balance)
    (a_loss(logits) + balance).backward()
    (a_loss(expected) + expected_balance).backward()
    for key, value in tensors(adapted).items():
        equal(value.grad, leaves[key].grad)
        assert (value.grad is not None) == value.requires_grad, key


@every_variant
@torch.no_grad()
def test_as_many_texts_and_tokens_as_modules_give_the_plain_logits_too(case: str) -> None:
    # So that no shape error tells the axes apart.
    adapted, text = adapt("llama-mha", case), tokens(MODULES, MODULES)
    ours, _ = plain("llama-mha", adapted, CLAIMS[case])
    for training in (False, True):
        equal(run(adapted.train(training), text), run(ours.train(training), text))


def test_the_balance_loss_takes_its_means_over_all_tokens_and_padding_is_one() -> None:
    claim, text, mask = CLAIMS["hycam"], tokens(2, 13), torch.ones(2, 13, dtype=torch.long)
    mask[0, :6] = 0
    adapted = adapt("llama-gqa", "hycam").train()
    ours, _ = plain("llama-gqa", adapted, claim)
    equal(run(adapted, text, attention_mask=mask), run(ours.train(), text, attention_mask=mask))
    equal(auxiliary(adapted), plain_auxiliary(ours, claim))


def shapes_of_part(part: str, n: int, form: str, biases: bool) -> dict[str, tuple[int, ...]]:
    forms: dict[str, dict[str, tuple[int, ...]]] = {
        "full": {"W": (n, WIDTH, WIDTH)},
        "low-rank": {"A": (n, R, WIDTH), "N": (n, R, R), "B": (n, WIDTH, R)},
        "none": {},
    }
    shapes = {f"{part}.{key}": shape for key, shape in forms[form].items()}
    return shapes | {f"{key}_bias": shape[:-1] for key, shape in shapes.items() if biases}


def expected_shapes(claim: Claim) -> dict[str, tuple[int, ...]]:
    """List the tensors of one layer by the definition of the variants (paper, section 4.5)."""
    shapes = shapes_of_part("shared", 1, claim.shared, claim.biases)
    shapes |= shapes_of_part("specialised", MODULES, claim.specialised, claim.biases)
    if claim.specialised != "none":
        shapes["router.weight"] = (MODULES, WIDTH)
        if claim.biases and claim.router_trains:
            shapes["router.bias"] = (MODULES,)
    shapes = {f"self_attn.adapter_modules.default.{key}": shape for key, shape in shapes.items()}
    for norm in ("input_layernorm", "post_attention_layernorm"):
        if claim.train_norms:
            shapes[f"{norm}.adapter_modules.default.weight"] = (WIDTH,)
    return shapes


@pytest.mark.parametrize("case", CLAIMS)
def test_a_variant_has_the_tensors_of_its_name_and_no_others_and_all_but_its_router_train(
    case: str,
) -> None:
    claim = CLAIMS[case]
    adapted = fresh("qwen3-gqa", claim)
    expected = {
        f"{layer}.{key}": shape
        for layer in range(LAYERS)
        for key, shape in expected_shapes(claim).items()
    }
    found = tensors(adapted)
    assert {key: tuple(value.shape) for key, value in found.items()} == expected
    frozen = {key for key, value in found.items() if not value.requires_grad}
    assert frozen == {key for key in expected if "router" in key and not claim.router_trains}
    trained = sum(math.prod(shape) for key, shape in expected.items() if key not in frozen)
    assert adapted.get_nb_trainable_parameters()[0] == trained
    assert method.parameters
    assert method.parameters(configure(claim), build("qwen3-gqa")) == trained


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *(("qwen3-gqa", case) for case in CLAIMS),
        ("gemma3-gqa", "full-spec"),
        ("gemma3-gqa", "normed"),
    ],
)
@torch.no_grad()
def test_every_variant_starts_as_the_base_whatever_the_noise(name: str, case: str) -> None:
    text, adapted = tokens(2, 13), fresh(name, CLAIMS[case])
    bare = run(in_double(name), text)
    for training in (False, True):
        assert torch.equal(run(adapted.train(training), text), bare)


@pytest.mark.parametrize("case", ["code", "biased-inverse-peft"])
def test_start_values_are_zeros_uniform_as_kaiming_and_a_small_normal_router(case: str) -> None:
    # Kaiming uniform with a = sqrt 5 of a matrix with f inputs (SLoRA): between -1 and 1 over
    # sqrt f, of standard deviation 1 / sqrt(3 f). All layers together, for numbers enough.
    adapted = method.adapt(build("llama-gqa"), configure(CLAIMS[case], r=16, modules=8))
    layers = weights_of(adapted)
    for key in [key for key, _ in layers[0].named_parameters()]:
        values = torch.stack([layer.get_parameter(key).detach() for layer in layers])
        if key.endswith((".A", ".N")):
            bound = 1 / math.sqrt(WIDTH if key.endswith("A") else 16)
            assert 0.95 * bound < values.abs().max() <= bound, key
            assert float(values.std()) == pytest.approx(bound / math.sqrt(3), rel=0.05), key
            assert len(values.unique()) > 0.99 * values.numel(), key
        elif key == "router.weight":
            assert float(values.std()) == pytest.approx(0.02, rel=0.15)
            assert abs(float(values.mean())) < 0.004
        else:
            assert not values.any(), key


def test_the_field_seed_decides_the_start_of_a_frozen_router_and_torch_all_else() -> None:
    starts = []
    for seed_of_torch, seed in ((0, 0), (1, 0), (0, 1)):
        torch.manual_seed(seed_of_torch)
        config = method.configure(**SMALL, seed=seed, train_router=False)
        layers = weights_of(method.adapt(build("llama-gqa"), config))
        starts.append([(layer.router.weight, layer.specialised.A) for layer in layers])
    first, under_torch, under_field = starts
    for number in range(LAYERS):
        assert torch.equal(first[number][0], under_torch[number][0])
        assert not torch.isclose(first[number][1], under_torch[number][1]).any()
        assert not torch.isclose(first[number][0], under_field[number][0]).any()
        assert torch.equal(first[number][1], under_field[number][1])
    assert not torch.isclose(*(weights[0] for weights in first)).any()  # each layer has its own


def last_layer_by_hand(adapted: PeftModel, text: Tensor) -> dict[str, Tensor]:
    """Run a training step and keep what enters and leaves the last attention module."""
    seen: dict[str, Tensor] = {}

    def keep_inner(_: Any, args: Any, kwargs: Any, output: Any) -> None:
        seen["h"] = (args[0] if args else kwargs["hidden_states"]).detach()
        seen["h_att"] = output[0].detach()

    def keep_outer(_: Any, __: Any, output: Any) -> None:
        output[0].retain_grad()
        seen["h_out"] = output[0]

    layer = attentions(adapted)[-1]
    handles = [
        layer.get_base_layer().register_forward_hook(keep_inner, with_kwargs=True),
        layer.register_forward_hook(keep_outer),
    ]
    a_loss(run(adapted.train(), text)).backward()
    for handle in handles:
        handle.remove()
    torch.manual_seed(4)
    shape = (*text.shape, MODULES)
    _, seen["noise"] = gumbel_noise(*shape), gumbel_noise(*shape)  # the second layer draws second
    return seen


def test_hard_routing_takes_one_module_forward_and_the_soft_weights_backward() -> None:
    # dL/dlogit_k = p_k (a_k - sum_j p_j a_j) / tau with a_k = dL/dA . A_k and soft p, by the
    # derivative of the softmax, though the forward pass took the one-hot weights.
    adapted = adapt("llama-gqa", "hard")
    seen, weights = last_layer_by_hand(adapted, tokens(2, 13)), weights_of(adapted)[-1]
    named = {key: value.detach() for key, value in weights.named_parameters()}
    h, h_att, grad = seen["h"], seen["h_att"], seen["h_out"].grad
    assert grad is not None
    by_router, used = torch.zeros(MODULES, WIDTH, dtype=torch.float64), set()
    for text, token in torch.cartesian_prod(*map(torch.arange, h.shape[:2])).tolist():
        here = h[text, token]
        logits = named["router.weight"] @ here
        p = ((logits + seen["noise"][text, token]) / TAU).softmax(-1).tolist()
        chosen = p.index(max(p))
        used.add(chosen)
        spec = [modulation_by_hand(here, named, "specialised", k, 1.0) for k in range(MODULES)]
        fused = modulation_by_hand(here, named, "shared", 0, 1.0) + spec[chosen]
        equal(seen["h_out"][text, token].detach(), h_att[text, token] * (1 + fused))
        a = [float(grad[text, token] * h_att[text, token] @ one) for one in spec]
        mean = sum(p_k * a_k for p_k, a_k in zip(p, a, strict=True))
        for k in range(MODULES):
            by_router[k] += p[k] * (a[k] - mean) / TAU * here
    assert len(used) == MODULES
    assert by_router.abs().max() > 1e-5
    equal(weights.router.weight.grad, by_router)


def test_residual_modulation_multiplies_the_stream_and_attention_by_one_plus_the_modulation() -> (
    None
):
    adapted, streams = adapt("llama-gqa", "residual"), []
    layer: Any = adapted.get_base_model().model.layers[-1]  # type: ignore[union-attr]
    layer.input_layernorm.register_forward_hook(lambda _, args, __: streams.append(args[0]))
    layer.post_attention_layernorm.register_forward_hook(
        lambda _, args, __: streams.append(args[0])
    )
    seen = last_layer_by_hand(adapted, tokens(2, 13))
    named = {key: value.detach() for key, value in weights_of(adapted)[-1].named_parameters()}
    p = ((seen["h"] @ named["router.weight"].T + seen["noise"]) / TAU).softmax(-1)
    fused = modulation_by_hand(seen["h"], named, "shared", 0, 1.0)
    for k in range(MODULES):
        one = modulation_by_hand(seen["h"], named, "specialised", k, 1.0)
        fused = fused + p[..., k, None] * one
    before, after = (stream.detach() for stream in streams)
    equal(after, (before + seen["h_att"]) * (1 + fused))


def test_the_balance_loss_of_a_router_without_preference_is_lambda_over_the_modules() -> None:
    # softmax(0)_k = 1 / N_s, and the mean weights sum to one, whatever the noise.
    for case in ("hycam", "hard", "spec-only", "full-spec"):
        adapted = adapt("llama-gqa", case).train()
        for weights in weights_of(adapted):
            weights.router.weight.data.zero_()
        run(adapted, tokens(2, 13))
        assert auxiliary(adapted).item() == pytest.approx(BALANCE / MODULES, rel=1e-12)


def test_the_balance_loss_of_a_router_with_one_choice_is_lambda() -> None:
    # All tokens take module 1 of N_s, by weight and by probability: 1 * 1.
    adapted = adapt("llama-gqa", "biased").train()
    for weights in weights_of(adapted):
        weights.router.weight.data.zero_()
        weights.router.bias.data.copy_(torch.tensor([0.0, 1e3, 0.0]))
    run(adapted, tokens(2, 13))
    assert auxiliary(adapted).item() == pytest.approx(BALANCE, rel=1e-12)


def test_the_balance_loss_is_that_of_the_last_training_forward_and_zero_at_evaluation() -> None:
    adapted = adapt("llama-gqa", "hycam").train()
    run(adapted, tokens(3, 7))
    run(adapted, tokens(2, 13))
    after_another = auxiliary(adapted).item()
    alone = adapt("llama-gqa", "hycam").train()
    run(alone, tokens(2, 13))
    assert after_another == pytest.approx(auxiliary(alone).item(), rel=1e-12)
    run(adapted.eval(), tokens(2, 13))
    assert auxiliary(adapted).item() == 0


@pytest.mark.parametrize("case", ["shared-only", "code"])
def test_without_specialised_modules_or_as_in_the_code_there_is_no_balance_loss(case: str) -> None:
    adapted = adapt("llama-gqa", case).train()
    run(adapted, tokens(2, 13))
    assert auxiliary(adapted).item() == 0


def test_the_balance_loss_alone_moves_every_router_and_not_the_modules_of_the_last_layer() -> None:
    claim = CLAIMS["hycam"]
    adapted = adapt("llama-gqa", "hycam").train()
    ours, leaves = plain("llama-gqa", adapted, claim)
    run(adapted, tokens(2, 13))
    auxiliary(adapted).backward()
    run(ours.train(), tokens(2, 13))
    plain_auxiliary(ours, claim).backward()
    for key, value in tensors(adapted).items():
        if "router" in key or key.startswith("0."):
            assert value.grad is not None, key
            assert value.grad.abs().max() > 1e-9, key
            equal(value.grad, leaves[key].grad)
        else:
            assert value.grad is None or not value.grad.any(), key


def test_gradient_checkpointing_changes_no_gradient_of_either_loss() -> None:
    gradients = []
    for checkpointing in (False, True):
        adapted = adapt("llama-gqa", "hycam").train()
        if checkpointing:
            base: Any = adapted.get_base_model()
            base.activation_checkpointing_enable({"use_reentrant": False})
        logits = run(adapted, tokens(2, 13))
        (a_loss(logits) + auxiliary(adapted)).backward()
        gradients.append([value.grad for value in tensors(adapted).values()])
    equal(*gradients)


@pytest.mark.parametrize("name", ["llama-gqa", "mistral-gqa"])
@pytest.mark.parametrize("case", ["hycam", "code"])
@torch.no_grad()
def test_a_later_token_changes_no_earlier_output(name: str, case: str) -> None:
    adapted, text = adapt(name, case), tokens(2, 13)
    changed = text.clone()
    changed[:, 9] = (changed[:, 9] + 1) % VOCABULARY
    for training in (False, True):
        before, after = (run(adapted.train(training), one) for one in (text, changed))
        equal(after[:, :9], before[:, :9])
        assert (after[:, 9:] - before[:, 9:]).abs().max() > 1e-3


@pytest.mark.parametrize("case", [case for case in VARIANTS if case != "code"])
@torch.no_grad()
def test_evaluation_draws_no_noise_and_training_draws_new_noise_each_time(case: str) -> None:
    adapted, text = adapt("llama-gqa", case), tokens(2, 13)
    torch.manual_seed(0)
    state = torch.get_rng_state()
    first, second = (adapted(input_ids=text).logits for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), state)
    first, second = (adapted.train()(input_ids=text).logits for _ in range(2))
    assert torch.equal(first, second) == (case == "shared-only")


@torch.no_grad()
def test_the_code_variant_answers_at_random_and_again_the_same_under_the_same_seed() -> None:
    adapted, text = adapt("llama-gqa", "code"), tokens(2, 13)
    first = run(adapted, text)
    assert not torch.allclose(adapted(input_ids=text).logits, first)
    assert torch.equal(run(adapted, text), first)


def test_a_frozen_router_stays_where_it_is_while_everything_else_trains() -> None:
    adapted = adapt("llama-gqa", "code").train()
    start = {key: value.detach().clone() for key, value in tensors(adapted).items()}
    # As the harness does: only what requires a gradient goes to the optimizer.
    trained = [value for value in adapted.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=0.1, weight_decay=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        a_loss(run(adapted, tokens(4, 13))).backward()
        optimizer.step()
    stayed = {key for key, value in tensors(adapted).items() if torch.equal(value, start[key])}
    assert stayed == {f"{i}.self_attn.adapter_modules.default.router.weight" for i in range(LAYERS)}


@every_variant
@torch.no_grad()
def test_every_tensor_is_saved_and_reloaded_bit_equal_a_frozen_router_too(
    case: str, tmp_path: Path
) -> None:
    adapted = randomise(method.adapt(build("llama-gqa"), configure(VARIANTS[case]))).eval()
    adapted.save_pretrained(tmp_path)
    torch.manual_seed(6)
    reloaded = method.load(build("llama-gqa"), str(tmp_path)).eval()
    before, after = tensors(adapted), tensors(reloaded)
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert torch.equal(value, after[key]), key
        assert value.requires_grad == after[key].requires_grad, key
    assert torch.equal(run(adapted, tokens(2, 13)), run(reloaded, tokens(2, 13)))


@pytest.mark.parametrize("name", [name for name in BUILDERS if "gqa" in name])
@torch.no_grad()
def test_trained_norms_compute_what_the_models_own_norms_compute_with_those_weights(
    name: str,
) -> None:
    # At B = 0 and W = 0 nothing but the norms differs from the base.
    adapted = method.adapt(build(name), configure(CLAIMS["normed"])).eval()
    bare, expected = build(name), set()
    generator = torch.Generator().manual_seed(7)
    for key, parameter in bare.named_parameters():
        if "layernorm" in key:  # not the final norm, nor those of queries and keys
            nn.init.normal_(parameter, std=0.4, generator=generator)
            norm = key.removeprefix("model.layers.").removesuffix(".weight")
            expected.add(f"{norm}.adapter_modules.default.weight")
            tensors(adapted)[f"{norm}.adapter_modules.default.weight"].copy_(parameter)
    norms = {key for key in tensors(adapted) if "self_attn" not in key}
    assert norms == expected
    assert torch.equal(run(adapted, tokens(2, 13)), run(bare, tokens(2, 13)))


@pytest.mark.parametrize("name", ["gemma2-gqa", "gemma3-mha"])
@pytest.mark.parametrize("case", ["residual", "code"])
def test_gemma_refuses_residual_modulation_since_a_norm_stands_in_between(
    name: str, case: str
) -> None:
    bare = build(name)
    before = copy.deepcopy(bare.state_dict())
    with pytest.raises(ValueError, match=r"residual.*norm in between") as error:
        method.adapt(bare, configure(CLAIMS[case]))
    assert "model.layers.0" in str(error.value)
    assert "\n" not in str(error.value)
    assert bare.state_dict().keys() == before.keys()


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [
        ("modules", 0, "at least 1"),
        ("r", 0, "at least 1"),
        ("tau", 0.0, "above 0"),
        ("tau", math.nan, "above 0"),
        ("scale", 0.0, "above 0"),
        ("scale", math.inf, "above 0"),
        ("lambda_balance", -0.1, "at least 0"),
        ("seed", -1, "at least 0"),
        ("shared", "half", "full, low-rank, none"),
        ("specialised", "half", "full, low-rank, none"),
        ("routing", "top", "soft, hard"),
    ],
)
def test_a_field_out_of_bounds_is_refused_by_name_value_and_limit(
    field: str, value: Any, limit: str
) -> None:
    with pytest.raises(ValueError, match=rf"{field} must be .*{limit}.* not {value}"):
        method.adapt(build("llama-gqa"), method.configure(**{field: value}))


def test_a_configuration_without_any_module_is_refused() -> None:
    with pytest.raises(ValueError, match="shared or the specialised"):
        method.adapt(build("llama-gqa"), method.configure(shared="none", specialised="none"))


def hooked(model: PeftModel, steps: int) -> Any:
    assert method.hooks
    return method.hooks(model, TrainingAhead(steps, 1, 0))


@pytest.mark.parametrize(
    ("case", "steps", "counted"),
    [("hycam", 1, 1), ("hycam", 10, 1), ("hycam", 11, 2), ("hycam", 20, 2), ("hard", 11, 2)],
)
@torch.no_grad()
def test_the_record_is_the_mean_weight_of_each_module_over_the_tokens_of_the_last_tenth_of_steps(
    case: str, steps: int, counted: int
) -> None:
    adapted = adapt("llama-gqa", case)
    ours, _ = plain("llama-gqa", adapted, CLAIMS[case])
    hook = hooked(adapted, steps)
    weights: list[list[Tensor]] = [[] for _ in range(LAYERS)]
    for step in range(1, steps + 1):
        hook.before_forward(step)
        if step < steps - 3:
            continue  # whose forwards would only cost time
        for length in (5, 9):  # accumulated
            text = (tokens(2, length) + step) % VOCABULARY
            run(adapted.train(), text)
            if step > steps - counted:
                run(ours.train(), text)
                for seen, layer in zip(weights, ours.model.layers, strict=True):
                    seen.append(layer.p.flatten(0, 1))
        run(adapted.eval(), tokens(2, 5))  # validation is no training
    record = hook.record()["router_weights"]
    means = {
        f"model.layers.{number}.self_attn": torch.cat(seen).mean(0).tolist()
        for number, seen in enumerate(weights)
    }
    assert record.keys() == means.keys()
    for key, mean in means.items():
        assert record[key] == pytest.approx(mean, rel=1e-11)


def test_a_configuration_without_a_router_records_no_weights() -> None:
    assert hooked(fresh("llama-gqa", CLAIMS["shared-only"]), 1).record() == {}


def test_the_recorded_weights_of_a_layer_sum_to_one() -> None:
    adapted = adapt("gemma3-gqa", "hycam").train()
    hook = hooked(adapted, 1)
    hook.before_forward(1)
    run(adapted, tokens(2, 13))
    for weights in hook.record()["router_weights"].values():
        assert sum(weights) == pytest.approx(1, rel=1e-6)
