"""The bare backbone as a method: nothing is added, nothing trains, everything else is as usual."""

from pathlib import Path

import pytest
import torch

from methods.base import method
from methods.conformance.models import VOCABULARY, build
from methods.contract import hyperparameters, size

IDS = torch.randint(VOCABULARY, (2, 7), generator=torch.Generator().manual_seed(5))


@torch.no_grad()
def test_adapting_and_loading_return_the_model_itself_frozen_and_unchanged(tmp_path: Path) -> None:
    expected = build("llama-gqa")(input_ids=IDS).logits
    for take in (
        lambda model: method.adapt(model, method.configure()),
        lambda model: method.load(model, str(tmp_path / "no such folder")),
    ):
        model = build("llama-gqa")
        adapted = take(model)
        assert adapted is model
        assert not any(parameter.requires_grad for parameter in adapted.parameters())
        assert torch.equal(adapted(input_ids=IDS).logits, expected)


def test_no_parameter_of_all_parameters_trains() -> None:
    model = method.adapt(build("gemma2-gqa"), None)
    found = size(model)
    # Tied embeddings are one parameter.
    assert (found.trainable, found.total) == (0, sum(p.numel() for p in model.parameters()))
    assert found.percent == 0


def test_it_has_no_hyperparameters_and_no_layers_to_select() -> None:
    assert not method.trains
    assert method.configure(dls=False) is None
    assert hyperparameters(None) == {}
    assert method.layer_selection({"dls": False}) is None
    with pytest.raises(ValueError, match="nothing of Base model"):
        method.layer_selection({"dls": True})
