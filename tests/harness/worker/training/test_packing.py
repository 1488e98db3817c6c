"""Packed steps take the rows of padded ones, with the same losses, in passes of limited length."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from harness import plugins
from harness.spec.recipe import Recipe
from harness.worker.encode import IGNORED, Example, concatenate
from harness.worker.journal import Journal
from harness.worker.training import batches
from harness.worker.training.batches import Training
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.conformance.models import VOCABULARY, build

lengths = st.lists(st.integers(1, 6000), min_size=1, max_size=12).map(sorted)


def rows(sizes: list[int]) -> list[Example]:
    generator = torch.Generator().manual_seed(0)
    draw = [torch.randint(3, VOCABULARY, (n,), generator=generator).tolist() for n in sizes]
    return [Example(ids, prompt_tokens=2) for ids in draw]


ROWS = rows([5 + n % 11 for n in range(44)])
PLAN = Training(ROWS[4:], ROWS[:4], Recipe(epochs=1, lr=1e-2), order_seed=1, pad=0)
"""10 steps of four rows of 5 to 15 tokens."""


def trained(
    method: str, plan: Training, folder: Path, checkpoints: bool = False
) -> tuple[Any, list[float]]:
    """Train without dropout; return the model and the losses of its steps."""
    folder.mkdir()
    plugin = plugins.method(method)
    torch.manual_seed(0)
    fields = plugin.variants.get("small", {})
    model: Any = plugin.adapt(build("llama-gqa"), plugin.configure(**fields))
    if checkpoints:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    with Journal(folder / "events.jsonl") as journal:
        fit(model, plan, journal, extras(plugin, plugin.layer_selection({}), model, plan, seed=1))
    events = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
    return model, [event["loss"] for event in events if "loss" in event]


def packed(plan: Training, **fields: Any) -> Training:
    return replace(plan, recipe=Recipe(**{**plan.recipe.model_dump(), "packed": True, **fields}))


@pytest.mark.parametrize(
    ("loss", "tokens"),
    [
        ("answer", 25),
        *(
            pytest.param(*case, marks=pytest.mark.parts)
            for case in (("answer", 4096), ("all", 25), ("all", 4096))
        ),
    ],
)
def test_packed_steps_have_the_losses_of_padded_ones(
    loss: Any, tokens: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "PACKED_TOKENS", tokens)
    plan = replace(PLAN, loss=loss)
    assert max(map(len, packed(plan).batches())) == (1 if tokens == 4096 else 3)
    _, one = trained("lora", plan, tmp_path / "padded")
    _, other = trained("lora", packed(plan), tmp_path / "packed")
    assert other == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("method", ["adalora", "rosa"])
def test_hooks_and_auxiliary_losses_see_what_they_see_of_padded_steps(
    method: str, tmp_path: Path
) -> None:
    _, one = trained(method, PLAN, tmp_path / "padded")
    _, other = trained(method, packed(PLAN), tmp_path / "packed")
    assert other == pytest.approx(one, rel=1e-4)


def test_gradient_checkpointing_changes_nothing_of_packed_steps(tmp_path: Path) -> None:
    kept, computed_again = (
        trained("lora", packed(PLAN), tmp_path / str(checkpoints), checkpoints)[1]
        for checkpoints in (False, True)
    )
    assert computed_again == kept


def test_after_training_the_model_has_its_own_attention(tmp_path: Path) -> None:
    model, _ = trained("lora", packed(PLAN), tmp_path / "packed")
    assert model.config._attn_implementation == "sdpa"


@given(lengths)
def test_passes_hold_all_rows_in_order_and_no_more_tokens_than_allowed(sizes: list[int]) -> None:
    step = rows(sizes)
    passes = batches.packed(step)
    assert [row for one in passes for row in one] == step
    tokens = [sum(len(row.ids) for row in one) for one in passes]
    assert all(len(one) == 1 or held <= 4096 for one, held in zip(passes, tokens, strict=True))
    # None could have taken the first row of the next one.
    following = [len(one[0].ids) for one in passes[1:]]
    assert all(held + more > 4096 for held, more in zip(tokens, following, strict=False))


@given(
    sizes=st.lists(st.integers(2, 9), min_size=1, max_size=4),
    prompt=st.integers(0, 1),
    loss=st.sampled_from(["all", "answer"]),
)
def test_no_row_is_predicted_from_the_row_before_it(
    sizes: list[int], prompt: int, loss: Any
) -> None:
    step = [Example(list(range(3, 3 + size)), prompt * (size - 1)) for size in sizes]
    found = concatenate(step, loss)
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    assert found["lengths"] == sizes
    assert [found["position_ids"][0, start] for start in starts] == [0] * len(sizes)
    assert all(found["labels"][0, start] == IGNORED for start in starts)
    scored = found["labels"][0, 1:] != IGNORED
    assert int(scored.sum()) == sum(example.scored(loss) for example in step)
