"""Training that computes activations again takes the steps of training that keeps them.

One backward pass of every method is compared by `gradient_checkpointing_changes_nothing`; here it
is the loop: hooks, auxiliary losses, dropout and layer selection over several steps.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from harness import plugins
from harness.spec.recipe import Recipe
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.conformance.models import VOCABULARY, build
from methods.conformance.probes import trainable

# transformers renames it in version 6.
pytestmark = pytest.mark.filterwarnings("ignore:`gradient_checkpointing_enable`:FutureWarning")

TRAINED = [name for name in plugins.names("methods") if plugins.method(name).trains]
FEW = ["cascade", "riemoe_lora"]
"""An auxiliary loss; dropout, and a hook that changes gradients."""


def steps(name: str, folder: Path, *, checkpointing: bool, dls: bool) -> tuple[Any, ...]:
    """Train for eight steps: what was printed, what the hooks kept, and the adapter."""
    method = plugins.method(name)
    fields = {**method.variants.get("small", {}), "dls": dls}
    torch.manual_seed(0)
    model: Any = method.adapt(build("llama-gqa"), method.configure(**fields))
    rows = torch.randint(3, VOCABULARY, (36, 12), generator=torch.Generator().manual_seed(0))
    examples = [Example(row, prompt_tokens=4) for row in rows.tolist()]
    training = Training(examples[4:], examples[:4], Recipe(epochs=1, lr=1e-2), 2, 0)
    added = extras(method, method.layer_selection(fields), model, training, 1)
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    events = folder / f"{checkpointing}.jsonl"
    with Journal(events) as journal:
        fit(model, training, journal, added)
    losses = ("loss", "auxiliary_loss", "validation_loss")
    printed = [json.loads(line) for line in events.read_text().splitlines()]
    weights = {key: value.detach() for key, value in trainable(model).items()}
    seen = [{key: event[key] for key in losses if key in event} for event in printed]
    return [one for one in seen if one], [hook.record() for hook in added.hooks], weights


def same(name: str, folder: Path, *, dls: bool) -> None:
    kept, kept_record, kept_weights = steps(name, folder, checkpointing=False, dls=dls)
    again, record, weights = steps(name, folder, checkpointing=True, dls=dls)
    assert (again, record) == (kept, kept_record)
    assert sum("loss" in one for one in kept) == 8
    for key, weight in kept_weights.items():
        assert torch.equal(weights[key], weight), key


@pytest.mark.parametrize("name", FEW)
def test_checkpointing_changes_no_loss_record_or_weight(name: str, tmp_path: Path) -> None:
    same(name, tmp_path, dls=False)


@pytest.mark.parts
@pytest.mark.parametrize("name", [name for name in TRAINED if name not in FEW])
def test_checkpointing_changes_nothing_of_any_method(name: str, tmp_path: Path) -> None:
    same(name, tmp_path, dls=False)


@pytest.mark.parts
@pytest.mark.parametrize("name", TRAINED)
def test_checkpointing_changes_nothing_under_layer_selection(name: str, tmp_path: Path) -> None:
    same(name, tmp_path, dls=True)
