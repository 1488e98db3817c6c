"""What does not fit is one error that names the layer, the value and the limit, before training."""

from pathlib import Path
from typing import Any

import pytest
from transformers import LlamaForCausalLM

from harness import plugins
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from methods.conformance.models import build
from tests.methods.models import bloom, opt


def adapt(text: str, model: Any) -> Any:
    spec = complete(parse_method(text))
    method = plugins.method(spec.name)
    return method.adapt(model, method.configure(**spec.fields))


@pytest.mark.parametrize("name", ["dypam", "rosa"])
@pytest.mark.parametrize("model", [bloom, opt])
def test_a_model_without_rope_is_refused_by_what_modulates_around_rope(
    name: str, model: Any
) -> None:
    with pytest.raises(ValueError, match="ForCausalLM has no rotary attention"):
        adapt(name, model())


@pytest.mark.parametrize("name", ["dypam", "rosa"])
def test_an_odd_head_size_is_refused_with_the_layer(name: str) -> None:
    model: Any = build("llama-gqa")
    model.model.layers[0].self_attn.head_dim = 15
    with pytest.raises(ValueError, match=r"layers\.0\.self_attn: the head size is 15"):
        adapt(name, model)


# Full fine-tuning and the bare model have no targets.
@pytest.mark.parametrize(
    "name", [name for name in plugins.names("methods") if name not in {"base", "full"}]
)
def test_targets_that_match_no_layer_are_refused(name: str) -> None:
    small = ":small" if "small" in plugins.method(name).variants else ""
    with pytest.raises(ValueError, match=r"nowhere|target_modules"):
        adapt(f'{name}{small}[target_modules=["nowhere"]]', build("llama-gqa"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lora[r=33]", r"q_proj is 64 x 32: r may be at most 32 there, not 33"),
        ("fourierft", r"120000"),
        ("c3a", r"128"),
        ("loca[n=2000]", r"n may be at most 1024, the size of the weight, not 2000"),
        ("smoa[K=40,r=64]", r"40"),
        ("rosa[r_low=0.3]", r"self_attn: r_low = 0\.3 of a head of 16 is 2\.4 rotary pairs"),
        ("cascade", r"20,?000"),
    ],
)
def test_a_size_that_fits_no_layer_is_refused_with_the_value(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        adapt(text, build("llama-gqa"))


def test_an_adapter_of_another_method_is_refused(tmp_path: Path) -> None:
    adapt("lora", build("llama-gqa")).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="holds a LoraConfig, not a DyPAMConfig"):
        plugins.method("dypam").load(build("llama-gqa"), str(tmp_path))


def test_an_adapter_of_another_backbone_is_refused(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        build("llama-gqa").save_pretrained(folder)
    one, other = (LlamaForCausalLM.from_pretrained(folder) for folder in folders)
    adapt("dypam", one).save_pretrained(tmp_path / "adapter")
    with pytest.raises(ValueError, match=r"was trained on .*one, not on .*other"):
        plugins.method("dypam").load(other, str(tmp_path / "adapter"))
