"""`peft:TYPE` offers the types that train here, and says why of the others."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig

from harness import plugins
from methods.contract import Method, hyperparameters
from methods.tuners.peft_types import UNUSABLE, _configs, of_peft, usable

SHAPE = LlamaConfig(
    vocab_size=64,
    hidden_size=256,  # PEFT's defaults need multiples of 256 (VB-LoRA) and of 64 (RoAd)
    intermediate_size=512,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=4,
)


def backbone() -> Any:
    """Make the same weights each time."""
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(SHAPE)


@torch.no_grad()
def logits(model: Any) -> torch.Tensor:
    found: torch.Tensor = model.eval()(input_ids=torch.arange(3, 15)[None]).logits
    return found


def train(method: Method) -> Any:
    """Do what planning and a run do with a method: count it without weights, train it, save it."""
    hyperparameters(method.configure())
    with torch.device("meta"):
        method.adapt(AutoModelForCausalLM.from_config(SHAPE), method.configure())
    model: Any = method.adapt(backbone(), method.configure())
    ids = torch.arange(3, 27).reshape(2, 12)
    model(input_ids=ids, labels=ids).loss.backward()
    trained = [one for one in model.parameters() if one.grad is not None]
    assert trained
    torch.optim.SGD(trained, lr=0.1).step()
    return model


TAKEN = set(plugins.names("methods"))


@pytest.mark.filterwarnings("ignore")  # PEFT's, of its own types
@pytest.mark.parametrize("kind", usable(TAKEN))
def test_every_type_that_is_offered_trains_and_is_loaded_again(kind: str, tmp_path: Path) -> None:
    method = of_peft(kind, TAKEN)
    trained = train(method)
    trained.save_pretrained(str(tmp_path))
    loaded = method.load(backbone(), str(tmp_path))
    torch.testing.assert_close(logits(loaded), logits(trained))
    assert not torch.equal(logits(loaded), logits(backbone()))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", sorted(UNUSABLE))
def test_every_type_that_is_left_out_cannot_be_trained(kind: str) -> None:
    if kind == "ADAMSS" and importlib.util.find_spec("sklearn"):
        pytest.skip("scikit-learn is here")
    with pytest.raises(Exception):  # noqa: B017, PT011 (each fails in its own way)
        train(
            Method(
                title=kind,
                paper="",
                config=_configs()[kind],
                parameters=None,
                mergeable=False,
                defaults={"target_modules": "all-linear"},
            )
        )


@pytest.mark.parametrize("kind", sorted(UNUSABLE))
def test_a_type_that_is_left_out_is_refused_with_the_reason(kind: str) -> None:
    with pytest.raises(ValueError, match=UNUSABLE[kind]):
        of_peft(kind)


def test_types_that_have_a_file_here_are_not_offered() -> None:
    assert {name.lower() for name in usable(TAKEN)} & TAKEN == set()
