"""AdaLoRA against its paper (ICLR 2023): scores (section 3.2) and budget (3.3) by hand."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn

from harness.worker.training.loop import token_loss
from methods.adalora import method
from methods.conformance.models import VOCABULARY, build
from methods.training.hooks import TrainingAhead

STEPS, INITIAL_RANK, TARGET_RANK, LAYERS = 12, 8, 4, 2 * 7
BETA = 0.85  # of sensitivity and of uncertainty, PEFT's default for both
TEXT = torch.randint(3, VOCABULARY, (4, 9), generator=torch.Generator().manual_seed(1))
UNREACHED = "layers.0.self_attn.q_proj."

hooks: Any = method.hooks
regulariser: Any = method.auxiliary_loss


def fresh(dtype: torch.dtype = torch.float32, **fields: Any) -> Any:
    config = method.configure(**{**method.variants["small"], **fields})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model: Any = build("llama-gqa")
        return method.adapt(model.to(dtype), config)


def random(dtype: torch.dtype = torch.float32, **fields: Any) -> Any:
    model, draw = fresh(dtype, **fields).eval(), torch.Generator().manual_seed(3)
    for parameter in trainable(model).values():
        nn.init.normal_(parameter, std=0.3, generator=draw)
    return model


def trainable(model: Any, part: str = "") -> dict[str, nn.Parameter]:
    return {n: p for n, p in model.named_parameters() if p.requires_grad and f"lora_{part}" in n}


def by_rank(name: str, numbers: Tensor) -> Tensor:
    """Turn A, B and E, all of them, so that each singular value has its row."""
    return numbers.T if "lora_B" in name else numbers


@pytest.fixture(scope="module", params=[torch.float32, torch.bfloat16, torch.float64], ids=str)
def trained(request: pytest.FixtureRequest) -> Any:
    """Train for twelve steps; the result is what is asserted on."""
    model = fresh(request.param).train()
    pruning = hooks(model, TrainingAhead(STEPS, warmup_steps=1, seed=0))
    adamw = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for step in range(1, STEPS + 1):
        logits = model(input_ids=TEXT).logits[:, :-1].flatten(0, 1).float()
        loss = nn.functional.cross_entropy(logits, TEXT[:, 1:].flatten())
        (loss + regulariser(model)).backward()
        adamw.step()
        pruning.after_step(step)
        adamw.zero_grad()
    return request.param, model.eval(), pruning.record()["ranks"]


def test_training_ends_with_exactly_the_target_of_ranks_over_all_layers(trained: Any) -> None:
    _, model, recorded = trained
    ranks = [int((e != 0).sum()) for e in trainable(model, "E").values()]
    assert len(ranks) == LAYERS
    assert sum(ranks) == TARGET_RANK * LAYERS
    assert len(set(ranks)) > 1  # shared out among the layers, not the same for each
    assert list(recorded.values()) == ranks


@torch.no_grad()
@pytest.mark.parametrize("load", [PeftModel.from_pretrained, method.load])
def test_a_pruned_adapter_reloads_bit_equal_and_its_scale_never_trains(
    trained: Any, load: Any, tmp_path: Path
) -> None:
    dtype, model, _ = trained
    model.save_pretrained(tmp_path)
    reloaded = load(build("llama-gqa").to(dtype), str(tmp_path)).eval()
    assert torch.equal(reloaded(input_ids=TEXT).logits, model(input_ids=TEXT).logits)
    for one in (model, reloaded):
        scales = [p for name, p in one.named_parameters() if "ranknum" in name]
        assert [(float(p), p.requires_grad) for p in scales] == [(8.0, False)] * LAYERS


def best(scores: Tensor, left: Fraction) -> Tensor:
    """Mark the largest scores, as many as the budget with this share of the way left has."""
    ranks = math.floor((TARGET_RANK + (INITIAL_RANK - TARGET_RANK) * left**3) * LAYERS)
    marks = torch.zeros(LAYERS * INITIAL_RANK)
    marks[scores.flatten().argsort(descending=True)[:ranks]] = 1
    return marks.view(LAYERS, INITIAL_RANK)


@torch.no_grad()
@pytest.mark.parametrize(("tinit", "tfinal", "every"), [(0, 0, 1), (2, 3, 2), (6, 5, 1)])
def test_after_each_step_the_singular_values_of_the_largest_scores_are_left(
    tinit: int, tfinal: int, every: int
) -> None:
    model = fresh(torch.float64, tinit=tinit, tfinal=tfinal, deltaT=every)
    pruning, last = hooks(model, TrainingAhead(STEPS, warmup_steps=1, seed=0)), STEPS - tfinal
    parameters, values = trainable(model), trainable(model, "E")
    mean: dict[str, Any] = dict.fromkeys(parameters, 0)
    deviation: dict[str, Any] = dict.fromkeys(parameters, 0)
    kept, draw = torch.ones(LAYERS, INITIAL_RANK), torch.Generator().manual_seed(4)
    for step in range(1, STEPS + 1):
        scores: dict[str, Any] = {}
        for name, p in parameters.items():
            p.add_(0.1 * torch.randn(p.shape, generator=draw))  # stands for the optimizer's step
            gradient = torch.randn(p.shape, generator=draw, dtype=torch.float64)
            p.grad = None if UNREACHED in name else gradient
            if step < last:  # in the reference, too, the pruning at T - tfinal is by older scores
                now = (p * gradient).abs() * (UNREACHED not in name)
                mean[name] = BETA * mean[name] + (1 - BETA) * now
                far = (now - mean[name]).abs()
                deviation[name] = BETA * deviation[name] + (1 - BETA) * far
            s: Any = mean[name] * deviation[name]
            layer = name.partition(".lora_")[0]
            scores[layer] = scores.get(layer, 0) + by_rank(name, s).mean(1)
        before = {name: p.clone() for name, p in parameters.items()}
        pruning.after_step(step)
        if step == last or (tinit < step < last and step % every == 0):
            left = Fraction(last - step, last - tinit)
            kept = best(torch.stack(list(scores.values())), left)
        elif step < last:
            kept = torch.ones(LAYERS, INITIAL_RANK)
        for name, mask in zip(values, kept, strict=True):
            before[name] *= mask[:, None]
        assert all(torch.equal(p, before[name]) for name, p in parameters.items()), step
    assert kept.sum() == TARGET_RANK * LAYERS


@torch.no_grad()
def test_a_layer_equals_its_equation() -> None:
    layer = random(torch.float64).base_model.model.model.layers[0].self_attn.q_proj
    a, b, e = (getattr(layer, f"lora_{part}")["default"] for part in "ABE")
    update = sum(e[i] * torch.outer(b[:, i], a[i]) for i in range(8)) * 8 / (8 + 1e-5)
    x = torch.randn(5, 32, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    torch.testing.assert_close(layer(x), x @ (layer.weight + update).T, rtol=1e-11, atol=1e-11)


@torch.no_grad()
@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_the_regulariser_is_the_mean_distance_from_orthogonality(weight: float) -> None:
    model = random(torch.float64, orth_reg_weight=weight)
    sides = {**trainable(model, "A"), **trainable(model, "B")}
    rows = [by_rank(name, q).numpy() for name, q in sides.items()]
    distances = [np.sqrt(((q @ q.T - np.eye(INITIAL_RANK)) ** 2).sum()) for q in rows]
    assert len(distances) == 2 * LAYERS
    assert float(regulariser(model)) == pytest.approx(weight * np.mean(distances), rel=1e-12)


@torch.no_grad()
def test_the_regulariser_never_enters_validation() -> None:
    batch = {"input_ids": TEXT, "attention_mask": torch.ones_like(TEXT), "labels": TEXT}
    for weight in (0.0, 0.5, 100.0):
        model = random(orth_reg_weight=weight)
        assert model(input_ids=TEXT).loss is None  # PEFT adds it to a loss, which needs labels
        likely = model(input_ids=TEXT).logits.double().log_softmax(-1)[:, :-1]
        plain = -float(likely.gather(2, TEXT[:, 1:, None]).sum())
        assert float(token_loss(model, batch)) == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"total_step": 7}, "total_step is 7, but the training has 12 steps"),
        ({"tinit": 12}, "tinit = 12 and tfinal = 0 leave no step.* 12 steps"),
        ({"tinit": 7, "tfinal": 5}, "tinit = 7 and tfinal = 5 leave no step.* 12 steps"),
        ({"target_r": 8}, "target_r must be at least 1 and below init_r = 8, not 8"),
        ({"init_r": 33}, "q_proj is 64 x 32: init_r may be at most 32 there, not 33"),
    ],
)
def test_what_does_not_fit_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hooks(fresh(**fields), TrainingAhead(STEPS, warmup_steps=1, seed=0))
