from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import plugins
from harness.errors import UserError
from harness.planning.parse import (
    PAPER_SEEDS,
    MethodRequest,
    Tasks,
    parse_method,
    parse_seeds,
    parse_tasks,
)

MATH = ("multiarith", "gsm8k", "addsub", "aqua", "singleeq", "svamp", "mawps")
"""The columns of the papers' tables, in their order."""


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("lora", {}),
        ("lora[]", {}),
        ("lora[r=64,lora_alpha=128]", {"r": 64, "lora_alpha": 128}),
        ("lora[ r = 64 ]", {"r": 64}),
        ('lora[target_modules=["q_proj","v_proj"]]', {"target_modules": ["q_proj", "v_proj"]}),
        ("lora[target_modules=all-linear]", {"target_modules": "all-linear"}),
        ("lora[use_dora=true,eva_config=null]", {"use_dora": True, "eva_config": None}),
        ("lora[lora_dropout=5e-2]", {"lora_dropout": 0.05}),
        ("lora[target_modules=a=b]", {"target_modules": "a=b"}),
    ],
)
def test_a_method_is_its_name_and_fields_in_brackets(text: str, overrides: object) -> None:
    assert parse_method(text) == MethodRequest("lora", overrides)  # type: ignore[arg-type]


def test_a_field_can_hold_an_object_of_several_entries() -> None:
    found = parse_method('lora[rank_pattern={"q_proj":8,"v_proj":4}]')
    assert found.overrides == {"rank_pattern": {"q_proj": 8, "v_proj": 4}}


@pytest.mark.parametrize("text", ["lora[r=64", "lora[", "lora[r=64]x", "lora[r=64,dypam"])
def test_an_unclosed_bracket_is_named(text: str) -> None:
    with pytest.raises(UserError, match="no closing bracket") as error:
        parse_method(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("text", ["lora[r]", "lora[=3]", "lora[64]"])
def test_brackets_hold_assignments_only(text: str) -> None:
    with pytest.raises(UserError, match="expected field=value"):
        parse_method(text)


def test_an_unknown_method_gets_the_nearest_and_all_names() -> None:
    with pytest.raises(UserError) as error:
        parse_method("lorra[r=3]")
    message = str(error.value)
    assert "'lorra' is not a known method. Did you mean 'lora'?" in message
    assert ", ".join(plugins.names("methods")) in message
    assert "methods/README.md" in message


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("5", (2333, 1000, 2000, 3000, 4000)),
        ("1", (2333,)),
        ("7,8", (7, 8)),
        ("7,", (7,)),
        ("0,", (0,)),
        (" 7 , 8 ", (7, 8)),
    ],
)
def test_seeds_are_a_number_of_the_papers_or_a_list(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@given(st.lists(st.integers(0, 2**32), min_size=2, unique=True))
def test_a_list_of_seeds_is_taken_as_it_is(seeds: list[int]) -> None:
    assert parse_seeds(",".join(map(str, seeds))) == tuple(seeds)


@pytest.mark.parametrize("text", ["x", "", ",", "7,x", "7,7", "-1,", "-1", "1.5", "7;8"])
def test_what_are_no_seeds_is_refused_with_what_are(text: str) -> None:
    with pytest.raises(UserError, match=r"expected how many \(1 to 5\) or a list") as error:
        parse_seeds(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("text", ["0", "6", "42"])
def test_more_seeds_than_the_papers_have_are_refused_with_the_way_to_ask(text: str) -> None:
    with pytest.raises(UserError) as error:
        parse_seeds(text)
    assert f"or {text}, for the one seed {text}" in str(error.value)
    assert str(PAPER_SEEDS) in str(error.value)


def test_a_seed_that_no_store_can_hold_is_refused() -> None:
    with pytest.raises(UserError):
        parse_seeds(f"7,{2**64}")


@pytest.mark.parametrize(
    ("text", "benchmarks"),
    [
        ("math", MATH),
        ("gsm8k", ("gsm8k",)),
        ("svamp,gsm8k", ("gsm8k", "svamp")),
        ("gsm8k,math,gsm8k", MATH),
    ],
)
def test_tasks_are_the_benchmarks_of_one_group_in_its_order(
    text: str, benchmarks: tuple[str, ...]
) -> None:
    assert parse_tasks(text) == (Tasks("math", benchmarks),)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("commonsense,math", ("commonsense", "math")),
        ("math,commonsense", ("math", "commonsense")),
        ("boolq,svamp,piqa,gsm8k", ("commonsense", "math")),
        ("gsm8k,convai2,math", ("math", "dialogue")),
    ],
)
def test_tasks_of_several_groups_are_those_of_each_in_the_order_typed(
    text: str, groups: tuple[str, ...]
) -> None:
    names = text.split(",")
    assert tuple(tasks.group for tasks in parse_tasks(text)) == groups
    for tasks in parse_tasks(text):
        own = plugins.group(tasks.group).benchmarks
        wanted = own if tasks.group in names else [name for name in own if name in names]
        assert tasks.benchmarks == tuple(wanted)


def test_a_benchmark_of_two_groups_is_of_the_first_by_name_and_of_the_other_by_its_name() -> None:
    # GSM8K is in math and in metamath.
    assert parse_tasks("gsm8k") == (Tasks("math", ("gsm8k",)),)
    assert parse_tasks("metamath") == (Tasks("metamath", ("gsm8k",)),)
    assert [tasks.group for tasks in parse_tasks("metamath,gsm8k")] == ["metamath", "math"]


def test_every_unknown_task_is_named_with_its_nearest() -> None:
    with pytest.raises(UserError) as error:
        parse_tasks("gms8k,math,swamp")
    assert "'gms8k' is not a known task. Did you mean 'gsm8k'?" in str(error.value)
    assert "'swamp' is not a known task. Did you mean 'svamp'?" in str(error.value)
    assert "'math' is not" not in str(error.value)


def test_no_tasks_at_all_is_a_fault() -> None:
    with pytest.raises(UserError, match="Known: "):
        parse_tasks(" ")


GROUP = """
from tasks.contract import Group
group = Group(title="Other", benchmarks=("theirs",), train=(), sample_rows=10)
"""


def test_a_benchmark_of_a_guests_group_stands_beside_ours(install: Callable[..., Path]) -> None:
    install(
        "[harness.tasks]\ntheirs = extra.b:b\n[harness.groups]\nother = extra.g:group\n", g=GROUP
    )
    ours, theirs = parse_tasks("gsm8k,theirs")
    assert (ours, theirs) == (Tasks("math", ("gsm8k",)), Tasks("other", ("theirs",)))


def test_a_benchmark_of_no_group_is_refused(install: Callable[..., Path]) -> None:
    install("[harness.tasks]\nlonely = extra.b:b\n")
    with pytest.raises(UserError, match="lonely"):
        parse_tasks("lonely")
