import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest

from harness import plugins
from harness.errors import UserError
from harness.planning.methods import complete
from harness.planning.parse import MethodRequest, parse_method
from harness.spec.spec import MethodSpec

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "lora": [
        {"r": 64, "lora_alpha": 128, "lora_dropout": 0.05, "use_rslora": True},
        {"target_modules": ["v_proj", "q_proj"], "layers_to_transform": [0]},
        {"rank_pattern": {"q_proj": 4, "v_proj": 2}, "modules_to_save": ["lm_head"]},
        {"init_lora_weights": "olora", "bias": "all"},
    ],
    "dypam": [{"r": 8, "d_e": 16, "alpha": 0.5}, {"target_modules": "self_attn"}],
}
"""Values of every type that a field can hold."""

CASES = [
    pytest.param(name, overrides, id=f"{name}-{number}")
    for name in plugins.names("methods")
    if plugins.method(name).trains
    for number, overrides in enumerate([{}, *VARIANTS.get(name, [])])
]


def parsed(text: str) -> MethodSpec:
    return complete(parse_method(text))


@pytest.mark.parametrize(("name", "overrides"), CASES)
def test_the_fields_of_a_spec_configure_the_method_again(
    name: str, overrides: Mapping[str, Any]
) -> None:
    method = plugins.method(name)
    written = complete(MethodRequest(name, dict(overrides))).model_dump_json()
    fields = MethodSpec.model_validate_json(written).fields
    assert asdict(method.configure(**fields)) == asdict(method.configure(**overrides))


@pytest.mark.parametrize("text", ["lora[r=24]", "lora[]", "lora[target_modules=all-linear]"])
def test_a_default_written_out_is_the_same_spec(text: str) -> None:
    assert parsed(text) == parsed("lora")


@pytest.mark.parametrize("text", ["lora[lora_dropout=0]", "lora[r=24.0]", 'lora[r="24"]'])
def test_one_value_in_two_spellings_is_one_spec(text: str) -> None:
    assert parsed(text).model_dump_json() == parsed("lora").model_dump_json()


def test_the_papers_configuration_of_lora_is_the_default() -> None:
    # DyPAM, KDD 2026, baselines: r = 24 on all linear layers, all else PEFT's defaults.
    fields = parsed("lora").fields
    assert (fields["r"], fields["lora_alpha"], fields["target_modules"]) == (24, 8, "all-linear")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("lora", "lora"),
        ("lora[r=24,lora_alpha=16]", "lora[lora_alpha=16]"),
        ("lora[use_dora=true,r=8]", "lora[r=8,use_dora=true]"),
        ("lora[bias=all]", "lora[bias=all]"),
        ('lora[target_modules=["v_proj","q_proj"]]', 'lora[target_modules=["q_proj","v_proj"]]'),
    ],
)
def test_a_label_says_what_differs_from_the_default_in_the_order_of_names(
    text: str, label: str
) -> None:
    assert parsed(text).label == label


@pytest.mark.parametrize("text", ["lora[r=8,use_dora=true]", 'lora[target_modules=["a","b"]]'])
def test_a_label_asks_for_the_same_spec_again(text: str) -> None:
    assert parsed(parsed(text).label) == parsed(text)


def test_an_unknown_field_gets_the_nearest_and_the_right_ones() -> None:
    with pytest.raises(UserError) as error:
        parsed("lora[lora_alpa=3]")
    message = str(error.value)
    assert "'lora_alpa' is not a known field of lora. Did you mean 'lora_alpha'?" in message
    assert ", ".join(sorted(parsed("lora").fields)) in message


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("lora:rosa-paper", "lora:rosa-paper"),
        ("lora:rosa-paper[r=16]", "lora:rosa-paper"),
        ("lora:rosa-paper[lora_alpha=32]", "lora:rosa-paper[lora_alpha=32]"),
        ("lora[dls=true]", "lora[dls=true]"),
        ('lora[dls={"interval":20,"ratio":0.5}]', 'lora[dls={"interval":20}]'),
        ("rosa[dls=false]", "rosa[dls=false]"),
        ("rosa[dls=true]", "rosa"),
    ],
)
def test_a_label_starts_from_the_variant_that_was_asked_for(text: str, label: str) -> None:
    assert parsed(text).label == label
    assert parsed(label) == parsed(text)


def test_a_variant_is_its_fields() -> None:
    # RoSA, AAAI 2026, appendix, baselines: LoRA of rank 16 on all linear layers.
    variant, written_out = parsed("lora:rosa-paper"), parsed("lora[r=16]")
    assert variant.fields == written_out.fields


def test_an_unknown_variant_gets_the_nearest_and_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"'lora:rosa-papr' .* Did you mean 'lora:rosa-paper'\?"):
        parsed("lora:rosa-papr")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('lora[dls={"every":20}]', "dls has no setting 'every'. Known: ratio, interval"),
        ('lora[dls={"ratio":0}]', "ratio must be above 0 and at most 1, not 0"),
        ('lora[dls={"exploit":2}]', "exploit must be between 0 and 1, not 2"),
        ('lora[dls={"interval":0}]', "interval must be a whole number from 1 on, not 0"),
    ],
)
def test_a_wrong_setting_of_layer_selection_names_the_right_ones(text: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        parsed(text)
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["lora[r=-1]", "lora[lora_alpha=-1]", "dypam[d_e=-2]"])
def test_no_field_takes_a_negative_number(text: str) -> None:
    with pytest.raises(UserError, match="cannot be negative"):
        parsed(text)


def test_any_tuner_of_peft_is_reached_by_its_type() -> None:
    spec = parsed("peft:WAVEFT[n_frequency=2000]")
    assert spec.label == "peft:WAVEFT[n_frequency=2000]"
    assert (spec.fields["n_frequency"], spec.fields["target_modules"]) == (2000, "all-linear")


@pytest.mark.parametrize("text", ["peft:waveft", "peft:PREFIX_TUNING"])
def test_a_type_that_peft_does_not_adapt_layers_by_gets_the_known_ones(text: str) -> None:
    with pytest.raises(UserError, match=f"'{text}' is not a tuner of PEFT.*(.|\n)*WAVEFT"):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "meant"), [("lora[rank=8]", "r"), ("lora[learning_rate=1]", "train.lr")]
)
def test_a_field_by_the_name_that_others_give_it_gets_ours(text: str, meant: str) -> None:
    with pytest.raises(UserError, match=f"Did you mean '{meant}'"):
        parsed(text)


def test_a_type_of_peft_that_has_a_file_here_is_called_by_it() -> None:
    with pytest.raises(UserError, match="'peft:BOFT' is a method here: write boft"):
        parsed("peft:BOFT")


def test_all_wrong_fields_of_a_method_are_named_at_once() -> None:
    with pytest.raises(UserError) as error:
        parsed("lora[lora_alpa=3,r=x,use_dora=maybe]")
    assert [word for word in ("lora_alpa", "'x'", "'maybe'") if word not in str(error.value)] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lora[r=x]", ["lora: field r", "integer", "'x'"]),
        ("lora[r=64]]", ["lora: field r", "'64]'"]),
        ("lora[r=2.5]", ["lora: field r", "integer", "2.5"]),
        ("lora[r=true]", ["lora: field r", "integer", "True"]),
        ("lora[use_dora=maybe]", ["lora: field use_dora", "boolean", "'maybe'"]),
        ("dypam[alpha=[1]]", ["dypam: field alpha", "number", "[1]"]),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_field_and_value(
    text: str, words: list[str]
) -> None:
    with pytest.raises(UserError) as error:
        parsed(text)
    assert [word for word in words if word not in str(error.value)] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lora[init_lora_weights=loftq]", "loftq_config"),
        ("lora[layers_to_transform=[1,2]]", "layers_to_transform"),
        ("dypam[r=0]", "r must be at least 1, not 0"),
    ],
)
def test_what_the_configuration_class_itself_refuses_is_the_users_mistake(
    text: str, words: str
) -> None:
    with pytest.raises(UserError, match=f"^(lora|dypam): .*{words}"):
        parsed(text)


@pytest.mark.parametrize(
    "text", ["lora[runtime_config={}]", pytest.param(f"lora[r={'9' * 5000}]", id="5000 digits")]
)
def test_no_value_that_a_user_can_write_ends_in_a_traceback(text: str) -> None:
    with pytest.raises(UserError):
        parsed(text)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="alpha"):
        parsed("dypam[alpha=NaN]")


def test_fields_are_what_json_gives_back() -> None:
    fields = parsed('lora[target_modules=["v_proj","q_proj"]]').fields
    assert json.loads(json.dumps(fields)) == fields
    assert fields["target_modules"] == ["q_proj", "v_proj"]


def test_the_base_model_has_no_fields_and_takes_none() -> None:
    assert parsed("base").fields == {}
    with pytest.raises(UserError, match="'r' is not a known field of base"):
        parsed("base[r=8]")
    with pytest.raises(UserError, match="'dls' is not a known field of base"):
        parsed("base[dls=true]")
