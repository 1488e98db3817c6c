"""Full fine-tuning through an adapter against training the bare model itself."""

from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from methods.conformance.models import SHAPE, VOCABULARY, build
from methods.contract import size
from methods.full import method
from tests.methods.models import logits_as_a_token_changes

TIED = {"llama-gqa": False, "llama-tied": True, "gemma3-gqa": True}

every_model = pytest.mark.parametrize("name", TIED)
tied_models = pytest.mark.parametrize("name", [name for name, tied in TIED.items() if tied])


def bare(name: str, dtype: torch.dtype = torch.float32) -> Any:
    """Build a model all of whose parameters train, with weights that are always the same."""
    if name == "llama-tied":
        model: Any = LlamaForCausalLM(
            LlamaConfig(num_key_value_heads=2, tie_word_embeddings=True, **SHAPE)
        )
        draw = torch.Generator().manual_seed(0)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.2, generator=draw)
    else:
        model = build(name)
    return model.to(dtype).eval()


def adapt(name: str, dtype: torch.dtype = torch.float32) -> PeftModel:
    return method.adapt(bare(name, dtype), method.configure()).eval()


def trained(model: Any) -> dict[str, torch.nn.Parameter]:
    """Name what trains as the bare model does."""
    return {
        name.replace("base_model.model.", "", 1).replace(".adapter_modules.default", ""): parameter
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }


def randomise(model: Any) -> None:
    draw = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in trained(model).values():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=draw))


def texts() -> Tensor:
    return torch.randint(3, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(3))


@torch.no_grad()
def logits(model: Any) -> Tensor:
    found: Tensor = model(input_ids=texts()).logits
    return found


def backward(model: Any) -> dict[str, torch.nn.Parameter]:
    model.train()
    model(input_ids=texts(), labels=texts()).loss.backward()
    return trained(model)


def is_tied(model: PreTrainedModel) -> bool:
    """Say whether input and output embedding are one parameter, and not only equal."""
    parts: Any = [model.get_input_embeddings(), model.get_output_embeddings()]
    return parts[0].weight is parts[1].weight


@every_model
def test_the_bare_models_are_tied_as_this_file_says(name: str) -> None:
    assert is_tied(bare(name)) == TIED[name]


@every_model
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_every_parameter_of_the_model_trains_as_one_float32_copy(
    name: str, dtype: torch.dtype
) -> None:
    copies, originals = trained(adapt(name, dtype)), dict(bare(name, dtype).named_parameters())
    assert copies.keys() == originals.keys()
    for key, copy in copies.items():
        assert copy.dtype == torch.float32
        assert torch.equal(copy, originals[key].float())


@every_model
def test_all_parameters_train_and_are_counted_once(name: str) -> None:
    found, count = size(adapt(name)), sum(p.numel() for p in bare(name).parameters())
    assert found.trainable == found.total == count
    assert found.percent == 100
    assert method.parameters is not None
    assert method.parameters(method.configure(), bare(name)) == count


@every_model
def test_gradients_are_those_of_training_the_bare_model(name: str) -> None:
    through_adapter, plain = backward(adapt(name)), backward(bare(name))
    assert through_adapter.keys() == plain.keys()
    for key, parameter in plain.items():
        expected, found = parameter.grad, through_adapter[key].grad
        assert expected is not None
        assert expected.any()
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)


@tied_models
def test_a_tied_embedding_gets_the_gradients_of_both_its_uses(name: str) -> None:
    shared = backward(adapt(name))["model.embed_tokens.weight"].grad
    plain: Any = bare(name)
    plain.lm_head.weight = torch.nn.Parameter(plain.lm_head.weight.detach().clone())
    apart = backward(plain)
    uses = [apart["model.embed_tokens.weight"].grad, apart["lm_head.weight"].grad]
    assert shared is not None
    torch.testing.assert_close(shared, uses[0] + uses[1], rtol=1e-5, atol=1e-6)
    assert all(float((shared - one).abs().max()) > 1e-3 for one in uses)


@every_model
def test_steps_of_adamw_are_those_of_training_the_bare_model(name: str) -> None:
    models = [adapt(name).double(), bare(name, torch.float64)]
    for model in models:
        optimizer = torch.optim.AdamW(trained(model).values(), lr=1e-2, weight_decay=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            backward(model)
            optimizer.step()
    through_adapter, plain = map(trained, models)
    start = dict(bare(name, torch.float64).named_parameters())
    for key, parameter in plain.items():
        torch.testing.assert_close(through_adapter[key], parameter, rtol=0.0, atol=1e-9)
        assert float((parameter - start[key]).detach().abs().max()) > 1e-2
    torch.testing.assert_close(logits(models[0]), logits(models[1]), rtol=0.0, atol=1e-6)


def step_by(model: Any, steps: int, rate: float) -> None:
    """Move each number by `rate` against a gradient of one, `steps` times."""
    parameters = trained(model).values()
    optimizer = torch.optim.SGD(parameters, lr=rate)
    for _ in range(steps):
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()


def all_at(model: Any, value: float) -> Any:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)
    return model


@every_model
def test_steps_too_small_for_bfloat16_add_up_in_the_float32_copy_and_are_lost_without(
    name: str,
) -> None:
    # Between 1/8 and 1/4 the numbers of bfloat16, which has 8 bits, are 2^-10 apart.
    start, rate, steps = 0.1875, 1e-4, 20
    plain = all_at(bare(name, torch.bfloat16), start)
    adapted = method.adapt(all_at(bare(name, torch.bfloat16), start), method.configure())
    for model in (plain, adapted):
        step_by(model, steps, rate)
    assert all(bool((p == start).all()) for p in plain.parameters())
    for parameter in trained(adapted).values():
        torch.testing.assert_close(parameter, torch.full_like(parameter, start - steps * rate))
    merged: Any = adapted.merge_and_unload()
    # 0.1875 - 0.002 lies next to 0.1875 - 2 * 2^-10.
    assert all(bool((p == start - 2 * 2**-10).all()) for p in merged.parameters())


@every_model
def test_over_bfloat16_the_model_computes_with_the_copies_rounded_to_it(name: str) -> None:
    adapted = adapt(name, torch.bfloat16)
    randomise(adapted)
    plain = bare(name, torch.bfloat16)
    with torch.no_grad():
        for key, parameter in plain.named_parameters():
            parameter.copy_(trained(adapted)[key])
    assert logits(adapted).dtype == torch.bfloat16
    assert torch.equal(logits(adapted), logits(plain))
    assert not torch.equal(logits(adapted), logits(bare(name, torch.bfloat16)))


@every_model
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_disabled_and_unloaded_the_base_is_what_it_was_to_the_bit(
    name: str, dtype: torch.dtype
) -> None:
    adapted, base = adapt(name, dtype), bare(name, dtype)
    assert torch.equal(logits(adapted), logits(base))
    randomise(adapted)
    assert not torch.equal(logits(adapted), logits(base))
    with adapted.disable_adapter():
        assert torch.equal(logits(adapted), logits(base))
    unloaded: Any = adapted.unload()
    assert_same_weights(unloaded, base.state_dict())
    assert is_tied(unloaded) == TIED[name]
    assert torch.equal(logits(unloaded), logits(base))


@every_model
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_merged_and_unloaded_it_is_a_plain_model_with_the_trained_weights(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    adapted, base = adapt(name, dtype), bare(name, dtype)
    randomise(adapted)
    copies = {key: copy.detach().to(dtype) for key, copy in trained(adapted).items()}
    before = logits(adapted)
    merged: Any = adapted.merge_and_unload()
    assert type(merged) is type(base)
    assert {type(module) for module in merged.modules()} == {type(m) for m in base.modules()}
    assert {name for name, _ in merged.named_parameters()} == copies.keys()
    for key, parameter in merged.named_parameters():
        assert torch.equal(parameter, copies[key])
    assert is_tied(merged) == TIED[name]
    assert torch.equal(logits(merged), before)

    merged.save_pretrained(tmp_path)
    again: Any = type(base).from_pretrained(tmp_path, dtype=dtype)
    assert_same_weights(again, merged.state_dict())
    assert is_tied(again) == TIED[name]


@every_model
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_merged_in_place_it_computes_the_same_and_unmerged_it_trains_on(
    name: str, dtype: torch.dtype
) -> None:
    adapted, base = adapt(name, dtype), bare(name, dtype)
    randomise(adapted)
    before = logits(adapted)
    tuner: Any = adapted.base_model
    tuner.merge_adapter()
    assert torch.equal(logits(adapted), before)
    # With the copies at zero, what is computed has to come from elsewhere.
    kept = {key: copy.detach().clone() for key, copy in trained(adapted).items()}
    with torch.no_grad():
        for copy in trained(adapted).values():
            copy.zero_()
        assert torch.equal(logits(adapted), before)
        for key, copy in trained(adapted).items():
            copy.copy_(kept[key])
    tuner.unmerge_adapter()
    assert torch.equal(logits(adapted), before)
    assert backward(adapted).keys() == dict(bare(name).named_parameters()).keys()
    unloaded: Any = adapted.unload()
    assert_same_weights(unloaded, base.state_dict())
    assert is_tied(unloaded) == TIED[name]


@every_model
def test_merged_in_place_it_still_gives_the_base_where_it_is_disabled_or_unloaded(
    name: str,
) -> None:
    adapted, base = adapt(name), bare(name)
    randomise(adapted)
    before = logits(adapted)
    tuner: Any = adapted.base_model
    tuner.merge_adapter()
    with adapted.disable_adapter():
        assert torch.equal(logits(adapted), logits(base))
    assert torch.equal(logits(adapted), before)
    tuner.merge_adapter()
    unloaded: Any = adapted.unload()
    assert_same_weights(unloaded, base.state_dict())
    assert is_tied(unloaded) == TIED[name]


@every_model
def test_merged_in_place_and_then_for_good_it_is_a_plain_tied_model(name: str) -> None:
    adapted = adapt(name)
    randomise(adapted)
    before = logits(adapted)
    tuner: Any = adapted.base_model
    tuner.merge_adapter()
    merged: Any = adapted.merge_and_unload()
    assert is_tied(merged) == TIED[name]
    assert torch.equal(logits(merged), before)


def test_a_copy_that_is_not_finite_is_not_merged_in_place() -> None:
    adapted: Any = adapt("llama-gqa")
    trained(adapted)["model.norm.weight"].data[0] = torch.nan
    with pytest.raises(ValueError, match="default is not finite"):
        adapted.base_model.merge_adapter(safe_merge=True)


def assert_same_weights(model: Any, expected: dict[str, Tensor]) -> None:
    found = model.state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[key], expected[key]) for key in expected)


@tied_models
def test_tied_embeddings_stay_tied_through_saving_and_go_on_training_as_one(
    name: str, tmp_path: Path
) -> None:
    adapted = adapt(name)
    randomise(adapted)
    adapted.save_pretrained(tmp_path)
    loaded = method.load(bare(name), str(tmp_path)).eval()
    assert size(loaded).percent == 100
    copies = trained(adapted)
    assert trained(loaded).keys() == copies.keys()
    assert all(torch.equal(copy, copies[key]) for key, copy in trained(loaded).items())
    gradients = [backward(model)["model.embed_tokens.weight"].grad for model in (adapted, loaded)]
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-5, atol=1e-7)


def test_layers_cannot_be_chosen() -> None:
    with pytest.raises(ValueError, match=r"target_modules must be left out, not \{'q_proj'\}"):
        method.configure(target_modules=["q_proj"])


@every_model
@torch.no_grad()
def test_a_later_token_changes_no_earlier_logit(name: str) -> None:
    adapted = adapt(name)
    randomise(adapted)
    old, new = logits_as_a_token_changes(adapted, texts(), at=5)
    torch.testing.assert_close(new[:, :5], old[:, :5])
    assert float((new[:, 5:] - old[:, 5:]).abs().max()) > 1e-2
