"""The checks: each takes a method and what builds a model, and fails by an assertion that says why.

The same builder gives the same weights each time. A method is checked with its default fields, or
with those of its variant `small` where it has one.

Trained means here: every trainable parameter moved away from its start by a random step, since a
check on an adapter that still is the identity would prove nothing.
"""

import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor
from transformers import PreTrainedModel

from methods.conformance.branches import branches_do_not_mix
from methods.conformance.kept import KEPT_CHECKS
from methods.conformance.packed import packed, rounded
from methods.conformance.packing import packed_equals_padded
from methods.conformance.probes import (
    PADDING,
    ROUNDING,
    Build,
    adapt,
    assert_close,
    assert_same,
    base_logits,
    configure,
    greedy,
    learnt,
    logits,
    prompts,
    randomise,
    train,
    trainable,
)
from methods.contract import Method, size

FOLDING = 1e-5
"""What merging may change, relative to the largest logit."""

Check = Callable[[Method, Build], None]


def something_trains(method: Method, build: Build) -> None:
    """The adapter has trainable parameters, all of them in float32."""
    trained = trainable(adapt(method, build))
    assert trained, "no parameter requires a gradient"
    _assert_float32(trained)


def nothing_trains(method: Method, build: Build) -> None:
    """No parameter requires a gradient, and the count of those that train is 0."""
    model = adapt(method, build)
    assert not (names := list(trainable(model))), f"{names} require a gradient"
    assert size(model).trainable == 0, f"{size(model).trainable} parameters are counted"


def starts_as_the_base(method: Method, build: Build) -> None:
    """The adapted model initially equals the base model, unless `starts_at_base=False`."""
    ids = prompts(4, 9)
    start, base = logits(adapt(method, build), ids), base_logits(build, ids)
    if method.starts_at_base:
        assert_close(start, base)
    else:
        assert not torch.allclose(start, base, rtol=ROUNDING, atol=ROUNDING), "starts at the base"


def disabling_gives_the_base(method: Method, build: Build) -> None:
    """`disable_adapter` gives the bare model's output to the bit, after training too."""
    ids = prompts(4, 9)
    adapted = train(method, build)
    assert not torch.equal(logits(adapted, ids), base_logits(build, ids)), (
        "training changed nothing"
    )
    with adapted.disable_adapter():
        assert_same(logits(adapted, ids), base_logits(build, ids))


def unloading_gives_the_base(method: Method, build: Build) -> None:
    """`unload` leaves the bare model, to the bit."""
    ids = prompts(4, 9)
    bare = train(method, build).unload()
    assert_same(logits(bare, ids), base_logits(build, ids))


def reloads_bit_equal(method: Method, build: Build) -> None:
    """A saved adapter on a fresh base, under another name, gives the same output to the bit."""
    ids = prompts(4, 9)
    adapted = train(method, build)
    with tempfile.TemporaryDirectory() as folder:
        adapted.save_pretrained(folder)
        reloaded = PeftModel.from_pretrained(build(), folder, adapter_name="reloaded").eval()
    assert_same(logits(reloaded, ids), logits(adapted, ids))


def cached_equals_uncached(method: Method, build: Build) -> None:
    """Greedy decoding writes the same tokens with and without the key-value cache."""
    adapted, ids = train(method, build), prompts(2, 9)
    cached = greedy(adapted, ids, torch.ones_like(ids), use_cache=True)
    uncached = greedy(adapted, ids, torch.ones_like(ids), use_cache=False)
    _assert_same_tokens(cached, uncached, "with the cache and without it")


def padding_changes_nothing(method: Method, build: Build) -> None:
    """A prompt decodes to the same tokens alone and left-padded in a batch."""
    adapted = train(method, build)
    short, long = prompts(1, 4), prompts(3, 11)
    padded = torch.cat([torch.full((1, 7), PADDING), short], dim=1)
    ids = torch.cat([padded, long])
    mask = torch.ones_like(ids)
    mask[0, :7] = 0
    alone = greedy(adapted, short, torch.ones_like(short))[:, 4:]
    in_batch = greedy(adapted, ids, mask)[:1, 11:]
    _assert_same_tokens(alone, in_batch, "alone and left-padded in a batch")


def batch_size_changes_nothing(method: Method, build: Build) -> None:
    """Prompts decode to the same tokens one by one and all at once."""
    adapted, ids = train(method, build), prompts(3, 4)
    singly = [greedy(adapted, part, torch.ones_like(part)) for part in torch.split(ids, 1)]
    together = greedy(adapted, ids, torch.ones_like(ids))
    _assert_same_tokens(torch.cat(singly), together, "one by one and all at once")


def every_parameter_gets_a_gradient(method: Method, build: Build) -> None:
    """After a first step away from the start, no trainable tensor is left without a gradient."""
    adapted, ids = train(method, build).train(), prompts(4, 9)
    adapted(input_ids=ids, labels=ids).loss.backward()
    idle = [n for n, p in trainable(adapted).items() if p.grad is None or not p.grad.any()]
    assert not idle, f"no gradient reaches {idle}"


def the_base_stays_frozen(method: Method, build: Build) -> None:
    """No gradient is computed for a weight that the adapter did not bring."""
    adapted, ids = train(method, build).train(), prompts(4, 9)
    adapted(input_ids=ids, labels=ids).loss.backward()
    trained = trainable(adapted)
    moved = [n for n, p in adapted.named_parameters() if p.grad is not None and n not in trained]
    assert not moved, f"the base would train: {moved}"


def counts_by_the_formula(method: Method, build: Build) -> None:
    """The number of trainable parameters is the method's formula."""
    config = configure(method)
    if method.parameters is None:
        return
    expected = method.parameters(config, build())
    counted = size(method.adapt(build(), config)).trainable
    assert counted == expected, (
        f"{counted} trainable parameters, {expected} by the formula: correct `parameters` of the "
        "method, or what it trains"
    )


def merges_or_says_that_it_cannot(method: Method, build: Build) -> None:
    """Merged equals unmerged in float32, or merging is refused with a reason."""
    adapted, ids = train(method, build), prompts(4, 9)
    if method.mergeable:
        unmerged = logits(adapted, ids)
        merged = logits(adapted.merge_and_unload(), ids)
        torch.testing.assert_close(
            merged, unmerged, rtol=0.0, atol=FOLDING * float(unmerged.abs().max())
        )
        return
    reason = ""
    try:
        adapted.merge_and_unload()
    except (ValueError, NotImplementedError) as error:
        reason = str(error)
    assert "cannot be merged" in reason, "merging was not refused with a reason"


def two_adapters_do_not_mix(method: Method, build: Build) -> None:
    """A second adapter, not trained, leaves the first as it was, and computes something else."""
    ids = prompts(4, 9)
    both = train(method, build)
    first = logits(both, ids)
    second = configure(method)
    second.inference_mode = True  # PEFT trains one AdaLoRA adapter at a time
    both.add_adapter("second", second)
    assert_same(logits(both, ids), first)
    both.set_adapter("second")
    randomise(both, seed=5)
    assert not torch.equal(logits(both, ids), first), "the second computes what the first does"
    both.set_adapter("default")
    assert_same(logits(both, ids), first)


def gradient_checkpointing_changes_nothing(method: Method, build: Build) -> None:
    """Losses and gradients are the same with activations kept and with activations computed again.

    Twice in a row, since a loss that is counted in the backward pass would come out in the next.
    """
    adapted = train(method, build).train()
    kept = learnt(method, adapted)
    with warnings.catch_warnings():
        # transformers renames it in version 6.
        warnings.filterwarnings("ignore", "`gradient_checkpointing_enable`", FutureWarning)
        adapted.gradient_checkpointing_enable({"use_reentrant": False})
    for again in (learnt(method, adapted), learnt(method, adapted)):
        for name, value in kept.items():
            assert_same(again[name], value)


def trains_over_a_base_in_bfloat16(method: Method, build: Build) -> None:
    """Over bfloat16 weights the adapter stays float32, and loss and gradients are finite."""

    def build_in_bfloat16() -> PreTrainedModel:
        model: Any = build()
        half: PreTrainedModel = model.to(torch.bfloat16)
        return half

    adapted = train(method, build_in_bfloat16).train()
    trained = trainable(adapted)
    _assert_float32(trained)
    ids = prompts(4, 9)
    output = adapted(input_ids=ids, labels=ids)
    output.loss.backward()
    assert output.logits.dtype == torch.bfloat16, f"the logits are {output.logits.dtype}"
    assert output.loss.isfinite(), "the loss is not finite"
    bad = [n for n, p in trained.items() if p.grad is None or not p.grad.isfinite().all()]
    assert not bad, f"no finite gradient reaches {bad}"


def calls_the_frozen_layers(method: Method, build: Build) -> None:
    """It computes and learns over layers that hide their weights as over layers that do not."""
    over_codes = train(method, partial(packed, build)).train()
    over_weights = train(method, partial(rounded, build)).train()
    _assert_float32(trainable(over_codes))
    found, expected = learnt(method, over_codes), learnt(method, over_weights)
    assert found.keys() == expected.keys(), f"no gradient for {expected.keys() - found.keys()}"
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=ROUNDING, atol=ROUNDING)
    ids = prompts(4, 9)
    assert_close(logits(over_codes.eval(), ids), logits(over_weights.eval(), ids))


CHECKS: tuple[Check, ...] = (
    something_trains,
    starts_as_the_base,
    disabling_gives_the_base,
    unloading_gives_the_base,
    reloads_bit_equal,
    cached_equals_uncached,
    padding_changes_nothing,
    batch_size_changes_nothing,
    branches_do_not_mix,
    every_parameter_gets_a_gradient,
    the_base_stays_frozen,
    counts_by_the_formula,
    merges_or_says_that_it_cannot,
    two_adapters_do_not_mix,
    gradient_checkpointing_changes_nothing,
    trains_over_a_base_in_bfloat16,
    *KEPT_CHECKS,
)

WITHOUT_TRAINING: tuple[Check, ...] = (
    nothing_trains,
    starts_as_the_base,
    cached_equals_uncached,
    padding_changes_nothing,
    batch_size_changes_nothing,
    branches_do_not_mix,
)


def checks_of(method: Method) -> tuple[Check, ...]:
    """List the checks of a method: of one that does not train, those that ask for no training.

    That on layers that hide their weights is for those that take 8 bits, where a layer rounds its
    inputs too: they cannot do without the layers. In 4 bits PEFT reads some weights back.
    """
    if not method.trains:
        return WITHOUT_TRAINING
    found = CHECKS if method.unpacked else (*CHECKS, packed_equals_padded)
    return (*found, calls_the_frozen_layers) if "int8" in method.quantized else found


def _assert_float32(trained: dict[str, torch.nn.Parameter]) -> None:
    others = {name: p.dtype for name, p in trained.items() if p.dtype != torch.float32}
    assert not others, f"the adapter is not float32: {others}"


def _assert_same_tokens(one: Tensor, other: Tensor, how: str) -> None:
    assert torch.equal(one, other), f"{how} it decodes to {one.tolist()} and {other.tolist()}"
