"""What CASCADE and HyCAM share: the auxiliary loss of a pass, and its record."""

from typing import Any

import pytest
import torch
from torch import Tensor

from harness import plugins
from methods.conformance.models import VOCABULARY, build
from methods.training.hooks import TrainingAhead

IDS = torch.randint(VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(5))
ROUTED = ("cascade", "hycam")


def adapt(name: str, **fields: Any) -> Any:
    method = plugins.method(name)
    torch.manual_seed(0)
    fields = {**method.variants.get("small", {}), **fields}
    return method.adapt(build("llama-gqa"), method.configure(**fields)).train()


def auxiliary(name: str, model: Any) -> Tensor:
    loss = plugins.method(name).auxiliary_loss
    assert loss is not None
    return loss(model)


def checkpoint(model: Any, reentrant: bool) -> None:
    model.enable_input_require_grads()
    model.get_base_model().activation_checkpointing_enable({"use_reentrant": reentrant})


@pytest.mark.parametrize("name", ROUTED)
def test_reentrant_checkpointing_is_refused_where_the_auxiliary_loss_would_lose_its_gradient(
    name: str,
) -> None:
    model = adapt(name)
    checkpoint(model, reentrant=True)
    model(input_ids=IDS)
    with pytest.raises(RuntimeError, match="reentrant gradient checkpointing"):
        auxiliary(name, model)


@pytest.mark.parametrize("name", ROUTED)
def test_the_auxiliary_loss_has_a_gradient_under_the_other_checkpointing(name: str) -> None:
    model = adapt(name)
    checkpoint(model, reentrant=False)
    model(input_ids=IDS)
    assert auxiliary(name, model).requires_grad


def test_without_a_balance_loss_reentrant_checkpointing_is_allowed() -> None:
    model = adapt("hycam", lambda_balance=0.0)
    checkpoint(model, reentrant=True)
    model(input_ids=IDS)
    assert auxiliary("hycam", model).item() == 0


@pytest.mark.parametrize("name", ROUTED)
def test_a_pass_without_gradients_has_an_auxiliary_loss_too(name: str) -> None:
    model = adapt(name)
    with torch.no_grad():
        model(input_ids=IDS)
    assert auxiliary(name, model).item() > 0


@pytest.mark.parametrize("name", ROUTED)
def test_before_any_pass_there_is_no_record(name: str) -> None:
    hooks = plugins.method(name).hooks
    assert hooks is not None
    assert hooks(adapt(name), TrainingAhead(steps=10, warmup_steps=0, seed=0)).record() == {}
