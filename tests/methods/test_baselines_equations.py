"""Tuners of PEFT, as the methods here configure them, against the equations of their papers.

Each formula is written out in float64 as the weight that the layer computes with. FourierFT, C3A
and norms compute in float32 whatever the model's precision is, and agree to its rounding.
"""

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness import plugins
from methods.conformance.models import build
from tests.methods.tensors import randomise

TEXT = torch.randint(3, 64, (2, 9), generator=torch.Generator().manual_seed(1))
EXACT, FLOAT32 = 1e-11, 5e-6
OUTPUTS, INPUTS = 64, 32  # of the queries


def fresh(name: str, model: str = "qwen2-mha", seed: int = 0, **fields: Any) -> Any:
    """Adapt a float64 model, by default one whose queries have biases."""
    method = plugins.method(name)
    config = method.configure(**{**method.variants.get("small", {}), **fields})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return method.adapt(build(model).double(), config).double().eval()


def random(name: str, model: str = "qwen2-mha", **fields: Any) -> Any:
    return randomise(fresh(name, model, **fields), std=0.4)


def layers(model: Any) -> Any:
    return model.base_model.model.model.layers


def inputs(width: int) -> Tensor:
    draw = torch.Generator().manual_seed(3)
    return torch.randn(5, width, generator=draw, dtype=torch.float64)


def dora(layer: Any, w: Tensor) -> Tensor:  # eq. 5; r = 16, alpha = 8
    a, b = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    m = layer.lora_magnitude_vector["default"].weight
    v = w + 8 / 16 * b @ a
    return torch.stack([m[o] * v[o] / math.sqrt(v[o] @ v[o]) for o in range(OUTPUTS)])


def oft(layer: Any, w: Tensor, exact: bool) -> Tensor:  # section 3
    rotations, one = [], torch.eye(16, dtype=torch.float64)
    for above in layer.oft_R["default"].weight:
        q = torch.zeros(16, 16, dtype=torch.float64)
        for value, (row, column) in zip(above, torch.triu_indices(16, 16, 1).T, strict=True):
            q[row, column], q[column, row] = value, -value
        series = (one + q) @ (one + q + q @ q + q @ q @ q)
        rotations.append((one - q) @ torch.linalg.inv(one + q) if exact else series)
    rotation: Tensor = torch.block_diag(*rotations)
    return w @ rotation.T


def bone(layer: Any, w: Tensor) -> Tensor:  # input c is number c mod r of its group
    d = layer.miss_block["default"]
    return torch.stack([w[:, c] + d[c % len(d)] for c in range(INPUTS)], dim=1)


def fourierft(layer: Any, w: Tensor) -> Tensor:  # eq. 2 to 4; alpha = 150
    p, q = torch.arange(OUTPUTS).double()[:, None], torch.arange(INPUTS).double()
    (j, k), spectrum = layer.indices["default"], layer.fourierft_spectrum["default"]
    for i in range(128):
        wave = torch.cos(2 * math.pi * (p * j[i] / OUTPUTS + q * k[i] / INPUTS))
        w = w + 150 * spectrum[i] * wave / (OUTPUTS * INPUTS)
    return w


def shira(layer: Any, w: Tensor) -> Tensor:
    w, (o, c) = w.clone(), layer.shira_indices["default"]
    for i in range(8 * (OUTPUTS + INPUTS)):
        w[o[i], c[i]] += layer.shira_weight["default"][i]
    return w


def vera(layer: Any, w: Tensor) -> Tensor:  # eq. 2
    a, b = layer.vera_A["default"][:, :INPUTS], layer.vera_B["default"][:OUTPUTS]
    scale_b, scale_d = layer.vera_lambda_b["default"], layer.vera_lambda_d["default"]
    added: Tensor = torch.diag(scale_b) @ b @ torch.diag(scale_d) @ a
    return w + added


def c3a(layer: Any, w: Tensor) -> Tensor:
    kernels, w = layer.c3a_kernel["default"], w.clone()
    for o in range(OUTPUTS):
        for c in range(INPUTS):
            w[o, c] += kernels[o // 16, c // 16, (c - o) % 16] / INPUTS
    return w


CASES = [
    ("dora", {}, dora, EXACT),
    ("oft", {}, partial(oft, exact=False), EXACT),
    ("oft", {"use_cayley_neumann": False}, partial(oft, exact=True), EXACT),
    ("bone", {}, bone, EXACT),
    ("bone", {"r": 12}, bone, EXACT),  # the last group is shorter
    ("fourierft", {}, fourierft, FLOAT32),
    ("shira", {}, shira, EXACT),
    ("vera", {}, vera, EXACT),
    ("c3a", {}, c3a, FLOAT32),
]


@torch.no_grad()
@pytest.mark.parametrize(("name", "fields", "formula", "tolerance"), CASES)
def test_a_linear_layer_computes_with_the_weight_of_the_equation(
    name: str, fields: dict[str, Any], formula: Any, tolerance: float
) -> None:
    layer, x = layers(random(name, **fields))[0].self_attn.q_proj, inputs(INPUTS)
    base = layer.get_base_layer()
    expected = x @ formula(layer, base.weight).T + base.bias
    torch.testing.assert_close(layer(x), expected, rtol=tolerance, atol=tolerance)
    assert (expected - base(x)).abs().max() > 0.1


@torch.no_grad()
def test_ia3_scales_outputs_and_in_its_paper_the_inner_activation() -> None:
    query, x = layers(random("ia3"))[0].self_attn.q_proj, inputs(INPUTS)
    factors = query.ia3_l["default"].flatten()
    close = partial(torch.testing.assert_close, rtol=EXACT, atol=EXACT)
    close(query(x), factors * (x @ query.weight.T + query.bias))
    block, x = layers(random("ia3", **plugins.method("ia3").variants["ia3-paper"]))[0], inputs(48)
    down, key = block.mlp.down_proj, block.self_attn.k_proj
    close(down(x), (down.ia3_l["default"].flatten() * x) @ down.weight.T)
    close(key(x[:, :32]), key.ia3_l["default"].flatten() * (x[:, :32] @ key.weight.T + key.bias))
    assert type(block.self_attn.q_proj) is type(block.mlp.up_proj) is nn.Linear


@torch.no_grad()
def test_exact_oft_rotates_and_keeps_all_angles_between_rows_but_the_series_does_not() -> None:
    change = []
    for variant in ({}, plugins.method("oft").variants["exact"]):
        layer = layers(random("oft", **variant, oft_block_size=16))[0].self_attn.q_proj
        w = (layer(torch.eye(INPUTS, dtype=torch.float64)) - layer.bias).T
        change.append(float((w @ w.T - layer.weight @ layer.weight.T).abs().max()))
    assert change[1] < EXACT < 1e-3 < change[0]


def test_fourierft_starts_at_the_base_in_small_and_away_from_it_in_the_papers_fields() -> None:
    method = plugins.method("fourierft")
    papers, small = (method.configure(**method.variants[v]) for v in ("dypam-paper", "small"))
    assert (papers.init_weights, papers.scaling) == (False, 150)
    assert (small.init_weights, small.scaling) == (True, 150)
    assert torch.equal(
        fresh("fourierft")(input_ids=TEXT).logits,
        build("qwen2-mha").double()(input_ids=TEXT).logits,
    )


@torch.no_grad()
@pytest.mark.parametrize(("name", "start"), [("fourierft", {"init_weights": False}), ("c3a", {})])
def test_the_default_starts_away_from_the_base_and_zero_start_at_it(
    name: str, start: dict[str, Any]
) -> None:
    base = build("qwen2-mha").double()(input_ids=TEXT).logits
    assert (fresh(name, **start)(input_ids=TEXT).logits - base).abs().max() > 1e-3
    zero = fresh(name, **plugins.method(name).variants["zero-start"])
    assert torch.equal(zero(input_ids=TEXT).logits, base)


@torch.no_grad()
def test_shira_has_the_places_of_its_own_seed_each_time_and_after_a_reload(tmp_path: Path) -> None:
    made = [random("shira", seed=seed) for seed in (5, 6)]
    made[0].save_pretrained(tmp_path)
    made.append(plugins.method("shira").load(build("qwen2-mha").double(), str(tmp_path)).eval())
    of_shape: dict[torch.Size, list[Tensor]] = {}
    for module in (module for model in made for module in model.modules()):
        if hasattr(module, "shira_indices"):
            of_shape.setdefault(module.weight.shape, []).append(module.shira_indices["default"])
    for (m, n), (first, *others) in of_shape.items():
        assert len({tuple(place) for place in first.T.tolist()}) == 8 * (m + n)
        assert all(torch.equal(first, other) for other in others)
    assert len(of_shape) == 4  # 64 x 32, 32 x 64, 48 x 32, 32 x 48
    assert torch.equal(made[2](input_ids=TEXT).logits, made[0](input_ids=TEXT).logits)
    other = layers(fresh("shira", random_seed=1))[0].self_attn.q_proj.shira_indices["default"]
    assert not torch.equal(other, of_shape[torch.Size((OUTPUTS, INPUTS))][0])


@torch.no_grad()
def test_a_trained_norm_equals_its_equation() -> None:
    norm, x = layers(random("ln_tuning"))[1].input_layernorm, inputs(INPUTS)
    weight = norm.ln_tuning_layers["default"].weight
    expected = torch.stack([weight * row / math.sqrt(row @ row / INPUTS + 1e-6) for row in x])
    torch.testing.assert_close(norm(x), expected, rtol=FLOAT32, atol=FLOAT32)


def test_a_small_step_on_a_norm_over_bfloat16_is_not_lost(tmp_path: Path) -> None:
    method, base = plugins.method("ln_tuning"), build("qwen3-gqa")
    for name, parameter in base.named_parameters():
        if name.endswith("norm.weight"):
            nn.init.ones_(parameter)
    model: Any = method.adapt(base.bfloat16(), method.configure())
    copies = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert {copy.dtype for copy in copies} == {torch.float32}
    model(input_ids=TEXT, labels=TEXT).loss.backward()
    torch.optim.AdamW(copies, lr=1e-3, weight_decay=0).step()
    assert all((((copy - 1).abs() - 1e-3).abs() < 1e-5).all() for copy in copies)
    model.save_pretrained(tmp_path)
    reloaded = method.load(build("qwen3-gqa").bfloat16(), str(tmp_path))
    again = [parameter for parameter in reloaded.parameters() if parameter.requires_grad]
    assert all(torch.equal(one, copy) for one, copy in zip(again, copies, strict=True))
    norm = layers(model)[0].input_layernorm
    assert norm(torch.ones(1, INPUTS, dtype=torch.bfloat16)).dtype == torch.bfloat16


BOTH = {f"layers.{i}.{norm}_layernorm" for i in (0, 1) for norm in ("input", "post_attention")}


@pytest.mark.parametrize(
    ("model", "variant", "expected"),
    [
        ("qwen3-gqa", {}, {*BOTH, "norm"}),
        ("qwen3-gqa", "dypam-paper", {f"layers.{i}.post_attention_layernorm" for i in (0, 1)}),
        ("llama-gqa", "dypam-paper", {*BOTH, "norm"}),
    ],
)
def test_ln_tuning_trains_the_norms_that_it_names(
    model: str, variant: Any, expected: set[str]
) -> None:
    fields = plugins.method("ln_tuning").variants[variant] if variant else {}
    names = [
        n for n, p in fresh("ln_tuning", model, **fields).named_parameters() if p.requires_grad
    ]
    assert {n.split(".model.model.")[1].split(".ln_tuning")[0] for n in names} == expected
