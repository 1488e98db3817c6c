"""What planning expects against what a training takes, and against figures taken by others."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from harness import backbones, plugins
from harness.planning.footprint.meter import Meter
from harness.planning.footprint.need import need
from harness.planning.footprint.parameters import shapes
from harness.planning.footprint.simulation import Setting, measure
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.recipe import Recipe
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.tuners.kept import keeping

TOKENS = 64
SMALL = {"cascade", "c3a", "fourierft"}
METHODS = [name for name in plugins.names("methods") if plugins.method(name).trains]


def trained_bytes(text: str, folder: Path, *, checkpointing: bool) -> int:
    """Train a method on `tiny` and count what is alive at the peak."""
    spec = complete(parse_method(text))
    plugin = plugins.method(spec.name)
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(backbones.TINY)
    model: Any = plugin.adapt(base, plugin.configure(**spec.fields))
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    ids = torch.randint(3, base.config.vocab_size, (40, TOKENS)).tolist()
    rows = [Example(one, prompt_tokens=10) for one in ids]
    training = Training(rows[:24], rows[24:], Recipe(epochs=1), order_seed=1, pad=0)
    held = [*model.parameters(), *model.buffers()]
    with Meter(held) as meter, Journal(folder / "events.jsonl") as journal:
        added = extras(plugin, None, model, training, seed=1)
        fit(model, training, journal, added, partial(keeping, model, plugin))
    sizes = {one.untyped_storage()._cdata: one.untyped_storage().nbytes() for one in held}
    return sum(sizes.values()) + meter.peak


def expected_bytes(text: str, *, checkpointing: bool) -> int:
    setting = Setting(torch.float32, 2, TOKENS, checkpointing, (8, TOKENS), (1, TOKENS))
    config = AutoConfig.from_pretrained(backbones.TINY)
    found = need(measure(complete(parse_method(text)), config, setting))
    return max(found.training, found.validation)


def holds(text: str, folder: Path, *, checkpointing: bool) -> None:
    taken = trained_bytes(text, folder, checkpointing=checkpointing)
    expected = expected_bytes(text, checkpointing=checkpointing)
    assert expected == pytest.approx(taken, rel=0.25)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_a_training_of_lora_takes_what_is_expected(tmp_path: Path, checkpointing: bool) -> None:
    holds("lora", tmp_path, checkpointing=checkpointing)


@pytest.mark.parts
@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_a_training_of_every_method_takes_what_is_expected(
    tmp_path: Path, name: str, checkpointing: bool
) -> None:
    holds(f"{name}:small" if name in SMALL else name, tmp_path, checkpointing=checkpointing)


# By counts and by tensors that hooks saw saved on one real layer of Llama-3.2-3B, at 2 x 512 and at
# 2 x 2,048 tokens, with 12 bytes for each token and word of the vocabulary, which take 4 here.
HOOKED = {"flylora": (12, 25), "lora": (15, 37), "hycam": (22, 49)}
SAVED = 8 * 2 * 128256


@pytest.mark.parametrize(
    ("name", "place", "tokens"),
    [
        ("lora", 0, 512),
        *(
            pytest.param(name, place, tokens, marks=pytest.mark.parts)
            for name in HOOKED
            for place, tokens in ((0, 512), (1, 2048))
        ),
    ],
)
def test_on_a_real_shape_the_need_is_that_of_counts_and_saved_tensors(
    name: str, place: int, tokens: int
) -> None:
    config = shapes("llama-3.2-3b")["llama-3.2-3b"]
    setting = Setting(torch.bfloat16, 2, tokens, False, (1, 2), (1, 2))
    found = need(measure(complete(parse_method(name)), config, setting))
    assert found.training + SAVED * tokens == pytest.approx(HOOKED[name][place] * 1e9, rel=0.15)


def test_checkpointing_takes_less_and_full_fine_tuning_more_than_lora() -> None:
    lora, frugal = (expected_bytes("lora", checkpointing=one) for one in (False, True))
    assert frugal < lora < expected_bytes("full", checkpointing=False)
