"""Names as a user types them, and the runs that they are of."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.analysis.runs.selection import is_of, narrowed, require, select, split_names
from results.errors import ResultsError
from results.record import Run

Make = Callable[..., Run]

FIELDS = {"r": 64, "lora_alpha": 128, "target_modules": ["q_proj", "v_proj"]}


def lora(make: Make, label: str = "lora[lora_alpha=128,r=64]", **train: Any) -> Run:
    spec = {
        "method": {"name": "lora", "fields": FIELDS | {"bias": "none"}},
        "train": {"lr": 0.0002, "schedule": "linear"} | train,
        "tests": {"gsm8k": {}, "aqua": {}},
    }
    return make(label, spec=spec, correct={"gsm8k": 50, "aqua": 20})


@given(order=st.permutations(["r=64", "lora_alpha=128", "bias=none", "train.lr=2e-4"]))
def test_the_order_of_fields_does_not_matter(make: Make, order: list[str]) -> None:
    assert is_of(lora(make), f"lora[{','.join(order)}]")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("lora[r=64,lora_alpha=128]", True),
        ("LoRA[r=64.0, lora_alpha=128]", True),  # one number, however it is written
        ("lora[r=64,lora_alpha=128,train.schedule=linear]", True),
        ("lora[r=64]", False),  # lora_alpha is another's
        ("lora", False),
        ("lora[r=64,lora_alpha=128,train.lr=1e-3]", False),
        ("lora[r=64,lora_alpha=128,alfa=1]", False),
        ("lora:rosa-paper[r=64,lora_alpha=128]", False),
        ("dypam[r=64,lora_alpha=128]", False),
    ],
)
def test_a_name_is_of_the_method_with_those_fields_only(
    make: Make, typed: str, found: bool
) -> None:
    assert is_of(lora(make), typed) == found


def test_a_field_that_was_typed_with_its_default_is_found(make: Make) -> None:
    assert is_of(lora(make, "lora"), "lora[bias=none]")
    assert not is_of(lora(make, "lora"), "lora[bias=all]")


def selected(runs: list[Run], **names: list[str]) -> list[Run]:
    """Select from all runs that are stored."""
    kinds = [run.kind for run in runs]
    narrowed(kinds, **names)
    require(runs, names.get("methods", []), kinds)
    return select(runs, kinds, **names)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"tasks": ["gsm9k"]}, "'gsm9k' is not a known task .*Did you mean 'gsm8k'?"),
        ({"methods": ["lroa"]}, "'lroa' is not a known method .*Did you mean 'lora'?"),
        ({"backbones": ["tinny"]}, "'tinny' is not a known backbone .*Did you mean 'tiny'?"),
    ],
)
def test_a_name_of_no_run_is_refused_with_the_nearest(
    make: Make, names: Mapping[str, list[str]], message: str
) -> None:
    with pytest.raises(ResultsError, match=message):
        selected([lora(make, "lora")], **names)


def test_all_unknown_names_are_told_at_once(make: Make) -> None:
    with pytest.raises(ResultsError, match=r"gsm9k[\s\S]*lroa"):
        selected([make()], tasks=["gsm9k"], methods=["lroa"])


def test_groups_keep_runs_whole_and_benchmarks_keep_their_scores(make: Make) -> None:
    math = lora(make, "lora")
    other = make("lora", group="commonsense", correct={"boolq": 70, "piqa": 60})
    whole, part = selected([math, other], tasks=["math", "boolq", "gsm8k"])
    assert whole == math
    assert [score.benchmark for score in part.scores] == ["boolq"]
    assert selected([math, other], tasks=["aqua"]) == [replace(math, scores=math.scores[1:])]


def test_the_flags_of_benchmarks_that_were_not_named_are_left_out(make: Make) -> None:
    flags = ("gsm8k: cut at the limit: 80 %", "aqua: no answer found in 9 %", "training: slow")
    (found,) = selected([replace(lora(make, "lora"), flags=flags)], tasks=["aqua"])
    assert found.flags == flags[1:]


def test_a_failed_run_is_found_by_the_benchmarks_it_was_planned_for(make: Make) -> None:
    failed = replace(lora(make, "lora"), status="failed", scores=())
    assert selected([failed], tasks=["gsm8k"]) == [failed]


def test_no_names_keep_every_run(make: Make) -> None:
    runs = [make(), make("dypam")]
    assert selected(runs) == runs


PART = st.text(alphabet="ab=.1 ", min_size=1).map(str.strip).filter(bool)


@given(st.lists(PART), st.lists(st.lists(PART, min_size=1), min_size=1))
def test_a_list_is_split_at_commas_outside_brackets_alone(
    plain: list[str], nested: list[list[str]]
) -> None:
    items = [*plain, *(f"m[{','.join(parts)}]" for parts in nested)]
    assert split_names(",".join(items)) == items


def test_nested_brackets_stay_together() -> None:
    assert split_names('a[x=["q","v"],r=1],b') == ['a[x=["q","v"],r=1]', "b"]


@pytest.mark.parametrize("text", ["", " ", ",", " , ,"])
def test_an_empty_list_has_no_items(text: str) -> None:
    assert split_names(text) == []
