"""The checks over a backbone in 4 or 8 bits, which the caller builds.

Merging and unloading are left out: PEFT rounds merged weights again, and refuses both for some
methods. So are the checks of decoding: in 8 bits what is an outlier depends on the batch.
"""

from typing import Any

import torch
from transformers import PreTrainedModel

from methods.conformance.checks import (
    Check,
    disabling_gives_the_base,
    every_parameter_gets_a_gradient,
    gradient_checkpointing_changes_nothing,
    reloads_bit_equal,
    something_trains,
    starts_as_the_base,
    the_base_stays_frozen,
)
from methods.conformance.probes import (
    ROUNDING,
    Build,
    adapt,
    learnt,
    prompts,
    train,
    trainable,
)
from methods.contract import Method

STEPS = 10


def learns_as_over_plain_weights(method: Method, build: Build) -> None:
    """Losses and gradients are those over the weights that the codes stand for, in float32."""

    def plain() -> PreTrainedModel:
        model: Any = build()
        weights: PreTrainedModel = model.dequantize()
        return weights

    found = learnt(method, train(method, build).train())
    expected = learnt(method, train(method, plain).train())
    assert found.keys() == expected.keys(), f"no gradient for {expected.keys() - found.keys()}"
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=ROUNDING, atol=ROUNDING)


def training_lowers_the_loss(method: Method, build: Build) -> None:
    """Ten steps of AdamW lower the loss of the batch that they are taken on."""
    adapted, ids = adapt(method, build).train(), prompts(4, 9)
    adamw = torch.optim.AdamW(trainable(adapted).values(), lr=1e-2)
    losses = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)  # for dropout and routing noise
        for _ in range(STEPS):
            loss = adapted(input_ids=ids, labels=ids).loss
            adamw.zero_grad()
            loss.backward()
            adamw.step()
            losses.append(float(loss.detach()))
    assert losses[-1] < losses[0], f"the losses are {losses}"


QUANTIZED_CHECKS: tuple[Check, ...] = (
    something_trains,
    starts_as_the_base,
    disabling_gives_the_base,
    reloads_bit_equal,
    every_parameter_gets_a_gradient,
    the_base_stays_frozen,
    gradient_checkpointing_changes_nothing,
    learns_as_over_plain_weights,
    training_lowers_the_loss,
)
