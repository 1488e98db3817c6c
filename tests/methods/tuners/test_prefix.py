"""CASCADE's `prefix-pooling`: causal, and the same with the key-value cache and without it."""

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from methods.cascade import method
from methods.conformance.checks import CHECKS, Check
from methods.conformance.models import BUILDS, VOCABULARY, build
from methods.tuners.prefix import Prefix

FIELDS = {**method.variants["small"], **method.variants["prefix-pooling"]}
POOLED = replace(method, defaults=FIELDS, variants={})
IDS = torch.randint(3, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(5))


def adapt() -> Any:
    torch.manual_seed(0)
    model: Any = POOLED.adapt(build("llama-gqa"), POOLED.configure())
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data += 0.2 * torch.randn(parameter.shape)
    return model.double().eval()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_prefix_pooling_conforms(check: Check) -> None:
    check(POOLED, BUILDS["gemma2-gqa"])  # asserts


class Pooling(nn.Module):
    """Pools its input, as a layer of a model that is called with ids and a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.prefix = Prefix()
        self.prefix.watch(self)

    def forward(self, x: Tensor, **ids_and_mask: Tensor) -> Tensor:
        return self.prefix.means(self, x)


def test_means_are_those_of_a_loop_over_the_tokens_that_are_no_padding() -> None:
    x = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    found = Pooling()(x=x, input_ids=mask, attention_mask=mask)
    for i in range(2):
        for t in range(4):
            text = [x[i, s] for s in range(t + 1) if mask[i, s]]
            expected = sum(text) / len(text) if text else torch.zeros(3, dtype=torch.float64)
            torch.testing.assert_close(found[i, t], expected)


@torch.no_grad()
def test_a_token_moves_its_own_and_later_logits_and_no_earlier_one() -> None:
    model, changed = adapt(), IDS.clone()
    changed[:, 4] = (changed[:, 4] + 1) % VOCABULARY
    before, after = (model(input_ids=ids).logits for ids in (IDS, changed))
    torch.testing.assert_close(after[:, :4], before[:, :4])
    assert ((after - before)[:, 4:].abs().amax((0, 2)) > 1e-4).all()


@torch.no_grad()
def test_the_router_sees_earlier_tokens_and_without_them_the_weights_differ() -> None:
    layer = next(m for m in adapt().modules() if hasattr(m, "router") and hasattr(m, "prefix"))
    x = torch.randn(1, 3, layer.n, dtype=torch.float64)
    alone, within = layer(x[:, 2:]), layer(x)[:, 2:]
    assert (alone - within).abs().max() > 1e-4


def in_pieces(model: Any, ids: Tensor, *lengths: int) -> Tensor:
    cache, logits, start = None, [], 0
    for length in lengths:
        part = ids[:, start : start + length]
        mask = torch.ones(len(ids), start + length, dtype=torch.long)
        output = model(input_ids=part, attention_mask=mask, past_key_values=cache, use_cache=True)
        cache, start = output.past_key_values, start + length
        logits.append(output.logits)
    return torch.cat(logits, dim=1)


@torch.no_grad()
def test_a_text_in_pieces_with_the_cache_has_the_logits_of_the_whole() -> None:
    model = adapt()
    whole = model(input_ids=IDS).logits
    for lengths in ((4, 5), (3, 1, 5), (1,) * 9):
        torch.testing.assert_close(in_pieces(model, IDS, *lengths), whole)


@torch.no_grad()
def test_two_caches_in_turn_do_not_mix() -> None:
    model, other = adapt(), IDS.flip(1)
    caches = [model(input_ids=ids[:, :5], use_cache=True).past_key_values for ids in (IDS, other)]
    for ids, cache in zip((IDS, other), caches, strict=True):
        found = model(input_ids=ids[:, 5:], past_key_values=cache).logits
        torch.testing.assert_close(found, model(input_ids=ids).logits[:, 5:])


@torch.no_grad()
def test_a_cache_that_was_rearranged_or_written_by_the_base_is_refused() -> None:
    model = adapt()
    cache = model(input_ids=IDS[:, :5], use_cache=True).past_key_values
    cache.reorder_cache(torch.tensor([1, 0]))
    with pytest.raises(RuntimeError, match="beam search"):
        model(input_ids=IDS[:, 5:], past_key_values=cache)
    with model.disable_adapter():
        cache = model(input_ids=IDS[:, :5], use_cache=True).past_key_values
        model(input_ids=IDS[:, 5:7], past_key_values=cache)
    with pytest.raises(RuntimeError, match="other adapters"):
        model(input_ids=IDS[:, 7:], past_key_values=cache)


@torch.no_grad()
def test_beam_search_is_refused_with_the_cache_and_works_without_it() -> None:
    model = adapt()
    with pytest.raises(RuntimeError, match="use_cache=False"):
        model.generate(input_ids=IDS, num_beams=3, max_new_tokens=4, do_sample=False)
    model.generate(input_ids=IDS, num_beams=3, max_new_tokens=4, do_sample=False, use_cache=False)


def test_unloading_leaves_no_hook_on_the_model() -> None:
    for model in (adapt(), copy.deepcopy(adapt())):
        bare = model.unload()
        assert not bare._forward_hooks
        assert not bare._forward_pre_hooks
