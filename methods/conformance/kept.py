"""The checks of an evaluation that keeps what depends on parameters alone (`tuners/kept.py`)."""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from methods.conformance.probes import (
    Build,
    assert_same,
    greedy,
    learnt,
    logits,
    prompts,
    train,
    trainable,
)
from methods.contract import Method
from methods.tuners.kept import keeping

KEEPING = 1e-6
"""What keeping may change in float32, relative to the largest logit: the order of sums."""

STEPS = 3


def keeping_changes_no_output(method: Method, build: Build) -> None:
    """Logits with what is kept are those without it, within 1e-6 of the largest; tokens the same.

    Over bfloat16, where nothing is merged unless asked for, they are the same to the bit.
    """
    adapted, ids = train(method, build), prompts(4, 9)
    plain, tokens = logits(adapted, ids), greedy(adapted, ids, torch.ones_like(ids))
    with keeping(adapted, method):
        kept, again = logits(adapted, ids), greedy(adapted, ids, torch.ones_like(ids))
    atol = KEEPING * float(plain.abs().max())
    torch.testing.assert_close(kept, plain, rtol=0.0, atol=atol)
    assert torch.equal(again, tokens), f"it decodes to {again.tolist()}, not {tokens.tolist()}"

    def build_in_bfloat16() -> PreTrainedModel:
        model: Any = build()
        half: PreTrainedModel = model.to(torch.bfloat16)
        return half

    adapted = train(method, build_in_bfloat16)
    plain = logits(adapted, ids)
    with keeping(adapted, method):
        assert_same(logits(adapted, ids), plain)


def keeping_gives_all_back(method: Method, build: Build) -> None:
    """After it, and after an error in it, every tensor is the same one with the same bits."""
    adapted, ids = train(method, build), prompts(4, 9)
    plain, before = logits(adapted, ids), _tensors(adapted)
    bits = {name: tensor.clone() for name, tensor in before.items()}
    for rounding in (False, True):
        try:
            with keeping(adapted, method, rounding=rounding):
                logits(adapted, ids)
                raise InterruptedError
        except InterruptedError:
            pass
        after = _tensors(adapted)
        assert after.keys() == before.keys(), f"{after.keys() ^ before.keys()} are not both there"
        moved = [name for name, tensor in after.items() if tensor is not before[name]]
        assert not moved, f"{moved} are other tensors"
        for name, tensor in after.items():
            assert_same(tensor, bits[name])
        assert_same(logits(adapted, ids), plain)


def training_goes_on_after_keeping(method: Method, build: Build) -> None:
    """Steps between which the model is evaluated have the losses and gradients of steps alone."""
    found, expected = _trained(method, build, evaluate=True), _trained(method, build)
    for name, value in expected.items():
        assert_same(found[name], value)


def _tensors(adapted: Any) -> dict[str, Tensor]:
    return {**dict(adapted.named_parameters()), **dict(adapted.named_buffers())}


def _trained(method: Method, build: Build, *, evaluate: bool = False) -> dict[str, Tensor]:
    """Take steps of AdamW, and return losses and gradients of the last one."""
    adapted = train(method, build).train()
    adamw = torch.optim.AdamW(trainable(adapted).values(), lr=1e-3)
    for _ in range(STEPS):
        found = learnt(method, adapted)
        adamw.step()
        if evaluate:
            with keeping(adapted, method):
                logits(adapted.eval(), prompts(2, 5))
                adapted.train()
    return found


KEPT_CHECKS = (keeping_changes_no_output, keeping_gives_all_back, training_goes_on_after_keeping)
