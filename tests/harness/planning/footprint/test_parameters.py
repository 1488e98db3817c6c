import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from harness import plugins
from harness.backbones import locate
from harness.errors import UserError
from harness.planning.footprint.parameters import (
    SHAPES,
    Count,
    count,
    count_by_kind,
    count_on,
    shapes,
)
from harness.planning.footprint.skeleton import skeleton
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.planned import Located
from methods.contract import size

HIDDEN, INNER, LAYERS, HEADS, KEYS, D_HEAD, WORDS = 32, 48, 2, 4, 2, 16, 64
"""The shape of the backbone in conftest.py."""

Q, KV = HEADS * D_HEAD, KEYS * D_HEAD
LINEAR = [(HIDDEN, Q), (HIDDEN, KV), (HIDDEN, KV), (Q, HIDDEN)]
LINEAR += [(HIDDEN, INNER), (HIDDEN, INNER), (INNER, HIDDEN)]
BASE = 2 * WORDS * HIDDEN + HIDDEN + LAYERS * (sum(a * b for a, b in LINEAR) + 2 * HIDDEN)

LORA = LAYERS * sum(24 * (a + b) for a, b in LINEAR)
"""r (in + out) a layer: Hu et al. 2021, section 4.1; r = 24."""

DYPAM = LAYERS * (
    2 * HIDDEN * 128 + 128 * 64 * (HEADS + KEYS) + 64 * D_HEAD + (HEADS + KEYS + 2) * D_HEAD // 2
)
"""2 d r + r d_e (H + K) + d_e d_head + (H + K + 2) d_head / 2: methods/dypam.py; r 128, d_e 64."""


@pytest.fixture(scope="module")
def backbone(
    tmp_path_factory: pytest.TempPathFactory, make_backbone: Callable[..., Path]
) -> Located:
    return locate(str(make_backbone(tmp_path_factory.mktemp("models") / "small")))


@pytest.mark.parametrize(("name", "trainable"), [("lora", LORA), ("dypam", DYPAM)])
def test_the_count_without_weights_is_that_of_the_paper(
    backbone: Located, name: str, trainable: int
) -> None:
    found = count(complete(parse_method(name)), backbone)
    assert (found.trainable, found.total) == (trainable, BASE + trainable)
    assert found.percent == pytest.approx(100 * trainable / (BASE + trainable), abs=5e-5)


def test_a_method_is_counted_once_on_backbones_of_one_shape(
    backbone: Located, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    twin = locate(str(make_backbone(tmp_path / "twin", weights=b"other")))
    lora, larger = (complete(parse_method(one)) for one in ("lora", "lora[r=32]"))
    assert count(lora, twin) is count(lora, backbone)
    assert count(larger, twin).trainable == 32 * LORA // 24
    assert count(lora, locate("tiny")).total != count(lora, twin).total


def fitting(name: str) -> str:
    return f"{name}:small" if "small" in plugins.method(name).variants else name


METHODS = [fitting(name) for name in plugins.names("methods") if plugins.method(name).trains]


@pytest.mark.parametrize("text", [*METHODS, "lora[r=3]", "dypam[r=8,d_e=4]"])
def test_the_count_without_weights_is_what_would_be_trained(backbone: Located, text: str) -> None:
    spec = complete(parse_method(text))
    method = plugins.method(spec.name)
    config = method.configure(**spec.fields)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(backbone.place))
    formula = method.parameters(config, model)
    adapted = method.adapt(model, config)
    real = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
    assert count(spec, backbone).trainable == formula == real


def test_counting_one_method_does_not_change_the_count_of_the_next(backbone: Located) -> None:
    specs = [complete(parse_method(text)) for text in METHODS]
    forwards = [count(spec, backbone) for spec in specs]
    assert [count(spec, backbone) for spec in reversed(specs)] == forwards[::-1]


def test_counting_leaves_the_default_device_alone(backbone: Located) -> None:
    count(complete(parse_method("lora")), backbone)
    assert torch.zeros(()).device.type == "cpu"


def test_a_method_that_finds_nothing_to_adapt_is_the_users_mistake(backbone: Located) -> None:
    with pytest.raises(UserError, match=r"lora\[target_modules=nowhere\] on small: .*nowhere"):
        count(complete(parse_method("lora[target_modules=nowhere]")), backbone)


def test_the_base_model_trains_nothing_and_counts_whole(backbone: Located) -> None:
    found = count(complete(parse_method("base")), backbone)
    assert (found.trainable, found.total, found.percent) == (0, BASE, 0)


@pytest.fixture(scope="module")
def gemma() -> dict[str, Any]:
    """Gemma 3 with its vision tower, and alone, of three layers each."""
    facts = json.loads(SHAPES.read_text())["gemma-3-4b"]
    facts["text_config"] |= {"num_hidden_layers": 3, "sliding_window_pattern": 2}
    facts["vision_config"]["num_hidden_layers"] = 3
    config = AutoConfig.for_model(**facts)
    return {"with vision": config, "text only": config.get_text_config()}


def test_leaving_out_start_values_changes_no_count(gemma: dict[str, Any]) -> None:
    # What torch itself does on the meta device; the methods are those that make the most of them.
    for shape, config in {**gemma, **shapes("tiny")}.items():
        for text in ("lora", "adalora", "vera", "hycam", "full", "ln_tuning"):
            spec = complete(parse_method(text))
            plugin = plugins.method(spec.name)
            with torch.device("meta"):
                model = AutoModelForCausalLM.from_config(config)
                adapted = plugin.adapt(model, plugin.configure(**spec.fields))
            plain, found = size(adapted), count_on(spec, shape, config)
            assert (found.trainable, found.total) == (plain.trainable, plain.total)


LEFT_OUT = {"with vision": 4, "text only": 2}


def outcome(counting: Callable[..., Count], *arguments: Any) -> Count | str:
    try:
        return counting(*arguments)
    except UserError as error:
        return str(error)


@pytest.mark.parametrize("name", plugins.names("methods"))
def test_one_layer_of_each_kind_gives_the_count_of_all_layers(
    name: str, gemma: dict[str, Any]
) -> None:
    # The catalogue shows each method and its configurations of papers.
    papers = [one for one in plugins.method(name).variants if one.endswith("-paper")]
    for text in (name, *(f"{name}:{paper}" for paper in papers)):
        spec = complete(parse_method(text))
        for shape, config in gemma.items():
            one = skeleton(config)
            assert sum(times for _, times in one.more) == LEFT_OUT[shape]
            brief = outcome(count_by_kind, spec, shape, one)
            assert brief == outcome(count_on, spec, shape, config)
