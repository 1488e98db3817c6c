"""The checks: each takes a method and what builds a model, and fails by an assertion that says why.

The same builder gives the same weights each time. A method is checked with its default fields, or
with those of its variant `small` where it has one.

Trained means here: every trainable parameter moved away from its start by a random step, since a
check on an adapter that still is the identity would prove nothing.
"""

import copy
import tempfile
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from peft import PeftConfig, PeftModel
from torch import Tensor
from transformers import PreTrainedModel

from methods.conformance.models import VOCABULARY
from methods.contract import Method

PADDING, END = 0, 2
ROUNDING = 1e-4
"""What the order of float32 sums may change, on logits of scale 10."""

FOLDING = 1e-5
"""What merging may change, relative to the largest logit."""

Build = Callable[[], PreTrainedModel]
Check = Callable[[Method, Build], None]


def something_trains(method: Method, build: Build) -> None:
    """The adapter has trainable parameters, all of them in float32."""
    trained = _trainable(_adapted(method, build))
    assert trained, "no parameter requires a gradient"
    assert all(p.dtype == torch.float32 for p in trained.values())


def starts_as_the_base(method: Method, build: Build) -> None:
    """Before the first step the output is that of the bare model, or the method says that not."""
    ids = _prompts(4, 9)
    start, base = _logits(_adapted(method, build), ids), _base(build, ids)
    if method.starts_at_base:
        _assert_close(start, base)
    else:
        assert not torch.allclose(start, base, rtol=ROUNDING, atol=ROUNDING), "starts at the base"


def disabling_gives_the_base(method: Method, build: Build) -> None:
    """`disable_adapter` gives the bare model's output to the bit, after training too."""
    ids = _prompts(4, 9)
    adapted = _trained(method, build)
    assert not torch.equal(_logits(adapted, ids), _base(build, ids)), "training changed nothing"
    with adapted.disable_adapter():
        _assert_same(_logits(adapted, ids), _base(build, ids))


def unloading_gives_the_base(method: Method, build: Build) -> None:
    """`unload` leaves the bare model, to the bit."""
    ids = _prompts(4, 9)
    bare = _trained(method, build).unload()
    _assert_same(_logits(bare, ids), _base(build, ids))


def reloads_bit_equal(method: Method, build: Build) -> None:
    """A saved adapter on a fresh base, under another name, gives the same output to the bit."""
    ids = _prompts(4, 9)
    adapted = _trained(method, build)
    with tempfile.TemporaryDirectory() as folder:
        adapted.save_pretrained(folder)
        reloaded = PeftModel.from_pretrained(build(), folder, adapter_name="reloaded").eval()
    _assert_same(_logits(reloaded, ids), _logits(adapted, ids))


def cached_equals_uncached(method: Method, build: Build) -> None:
    """Greedy decoding writes the same tokens with and without the key-value cache."""
    adapted, ids = _trained(method, build), _prompts(2, 9)
    cached = _greedy(adapted, ids, torch.ones_like(ids), use_cache=True)
    uncached = _greedy(adapted, ids, torch.ones_like(ids), use_cache=False)
    assert torch.equal(cached, uncached)


def padding_changes_nothing(method: Method, build: Build) -> None:
    """A prompt decodes to the same tokens alone and left-padded in a batch."""
    adapted = _trained(method, build)
    short, long = _prompts(1, 4), _prompts(3, 11)
    padded = torch.cat([torch.full((1, 7), PADDING), short], dim=1)
    ids = torch.cat([padded, long])
    mask = torch.ones_like(ids)
    mask[0, :7] = 0
    alone = _greedy(adapted, short, torch.ones_like(short))[:, 4:]
    in_batch = _greedy(adapted, ids, mask)[:1, 11:]
    assert torch.equal(alone, in_batch)


def batch_size_changes_nothing(method: Method, build: Build) -> None:
    """Prompts decode to the same tokens one by one and all at once."""
    adapted, ids = _trained(method, build), _prompts(3, 4)
    singly = [_greedy(adapted, part, torch.ones_like(part)) for part in torch.split(ids, 1)]
    assert torch.equal(torch.cat(singly), _greedy(adapted, ids, torch.ones_like(ids)))


def every_parameter_gets_a_gradient(method: Method, build: Build) -> None:
    """After a first step away from the start, no trainable tensor is left without a gradient."""
    adapted, ids = _trained(method, build).train(), _prompts(4, 9)
    adapted(input_ids=ids, labels=ids).loss.backward()
    idle = [n for n, p in _trainable(adapted).items() if p.grad is None or not p.grad.any()]
    assert not idle, f"no gradient reaches {idle}"


def the_base_stays_frozen(method: Method, build: Build) -> None:
    """No gradient is computed for a weight that the adapter did not bring."""
    adapted, ids = _trained(method, build).train(), _prompts(4, 9)
    adapted(input_ids=ids, labels=ids).loss.backward()
    trained = _trainable(adapted)
    moved = [n for n, p in adapted.named_parameters() if p.grad is not None and n not in trained]
    assert not moved, f"the base would train: {moved}"


def counts_by_the_formula(method: Method, build: Build) -> None:
    """The number of trainable parameters is the method's formula."""
    config = _config(method)
    if method.parameters is None:
        return
    expected = method.parameters(config, build())
    counted, _ = method.adapt(build(), config).get_nb_trainable_parameters()
    assert counted == expected, f"{counted} trainable parameters, {expected} by the formula"


def merges_or_says_that_it_cannot(method: Method, build: Build) -> None:
    """Merged equals unmerged in float32, or merging is refused with a reason."""
    adapted, ids = _trained(method, build), _prompts(4, 9)
    if method.mergeable:
        unmerged = _logits(adapted, ids)
        merged = _logits(adapted.merge_and_unload(), ids)
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
    ids = _prompts(4, 9)
    both = _trained(method, build)
    first = _logits(both, ids)
    second = _config(method)
    second.inference_mode = True  # PEFT trains one AdaLoRA adapter at a time
    both.add_adapter("second", second)
    _assert_same(_logits(both, ids), first)
    both.set_adapter("second")
    _randomise(both, seed=5)
    assert not torch.equal(_logits(both, ids), first), "the second computes what the first does"
    both.set_adapter("default")
    _assert_same(_logits(both, ids), first)


def gradient_checkpointing_changes_nothing(method: Method, build: Build) -> None:
    """Gradients are the same with activations kept and with activations computed again."""
    adapted = _trained(method, build).train()
    kept = _gradients(adapted)
    with warnings.catch_warnings():
        # transformers renames it in version 6.
        warnings.filterwarnings("ignore", "`gradient_checkpointing_enable`", FutureWarning)
        adapted.gradient_checkpointing_enable({"use_reentrant": False})
    again = _gradients(adapted)
    for name, gradient in kept.items():
        torch.testing.assert_close(again[name], gradient, rtol=ROUNDING, atol=ROUNDING)


def trains_over_a_base_in_bfloat16(method: Method, build: Build) -> None:
    """Over bfloat16 weights the adapter stays float32, and loss and gradients are finite."""

    def build_in_bfloat16() -> PreTrainedModel:
        model: Any = build()
        half: PreTrainedModel = model.to(torch.bfloat16)
        return half

    adapted = _trained(method, build_in_bfloat16).train()
    trained = _trainable(adapted)
    assert all(p.dtype == torch.float32 for p in trained.values()), "the adapter is not float32"
    ids = _prompts(4, 9)
    output = adapted(input_ids=ids, labels=ids)
    output.loss.backward()
    assert output.logits.dtype == torch.bfloat16, f"the logits are {output.logits.dtype}"
    assert output.loss.isfinite(), "the loss is not finite"
    assert all(p.grad is not None and p.grad.isfinite().all() for p in trained.values())


CHECKS: tuple[Check, ...] = (
    something_trains,
    starts_as_the_base,
    disabling_gives_the_base,
    unloading_gives_the_base,
    reloads_bit_equal,
    cached_equals_uncached,
    padding_changes_nothing,
    batch_size_changes_nothing,
    every_parameter_gets_a_gradient,
    the_base_stays_frozen,
    counts_by_the_formula,
    merges_or_says_that_it_cannot,
    two_adapters_do_not_mix,
    gradient_checkpointing_changes_nothing,
    trains_over_a_base_in_bfloat16,
)


def _assert_same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0.0, atol=0.0)


def _assert_close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=ROUNDING, atol=ROUNDING)


def _adapted(method: Method, build: Build) -> PeftModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return method.adapt(build(), _config(method)).eval()


def _config(method: Method) -> PeftConfig:
    return method.configure(**method.variants.get("small", {}))


def _trained(method: Method, build: Build) -> PeftModel:
    return copy.deepcopy(_trained_once(method, build))


@lru_cache(maxsize=4)
def _trained_once(method: Method, build: Build) -> PeftModel:
    adapted = _adapted(method, build)
    _randomise(adapted, seed=2)
    return adapted


def _randomise(adapted: PeftModel, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in _trainable(adapted).values():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))


def _gradients(adapted: PeftModel) -> dict[str, Tensor]:
    ids = _prompts(4, 9)
    adapted.zero_grad()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)  # for dropout and routing noise
        adapted(input_ids=ids, labels=ids).loss.backward()
    return {n: p.grad.clone() for n, p in _trainable(adapted).items() if p.grad is not None}


def _trainable(adapted: PeftModel) -> dict[str, torch.nn.Parameter]:
    return {n: p for n, p in adapted.named_parameters() if p.requires_grad}


def _prompts(rows: int, tokens: int) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(END + 1, VOCABULARY, (rows, tokens), generator=generator)


def _logits(model: Any, ids: Tensor) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model(input_ids=ids).logits
    return logits


def _base(build: Build, ids: Tensor) -> Tensor:
    return _logits(build(), ids)


def _greedy(adapted: PeftModel, ids: Tensor, mask: Tensor, use_cache: bool = True) -> Tensor:
    with torch.no_grad():
        output: Tensor = adapted.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=False,
            max_new_tokens=6,
            min_new_tokens=6,
            use_cache=use_cache,
        )
    return output
