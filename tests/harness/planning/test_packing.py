"""`train.packed=true`, where methods and backbones are checked: before any run."""

import pytest
from transformers import AutoConfig

from harness.errors import UserError
from harness.planning.footprint.need import Texts, setting
from harness.planning.plan import plan
from harness.planning.request import Request
from methods.training.packing import refusal


def asked(methods: str, *settings: str) -> Request:
    return Request(methods=methods, tasks="gsm8k", settings=["train.packed=true", *settings])


def refused(methods: str) -> str:
    with pytest.raises(UserError) as error:
        plan(asked(methods))
    return str(error.value)


def test_the_methods_that_cannot_be_packed_are_refused_by_name_with_the_reason() -> None:
    found = refused("lora,hycam,flylora,cascade:small,peft:LOHA")
    assert found.splitlines() == [
        "hycam does not take train.packed=true: its balance loss is over all tokens of a batch, "
        "padding included. Give it a recipe of its own, as in hycam[train.packed=false].",
        "flylora does not take train.packed=true: it balances its ranks over all tokens of a "
        "batch, padding included. Give it a recipe of its own, as in flylora[train.packed=false].",
        "cascade:small does not take train.packed=true: its balance loss is over all tokens of a "
        "batch, padding included. Give it a recipe of its own, as in cascade[train.packed=false].",
        "peft:LOHA does not take train.packed=true: the conformance checks were not run on it. "
        "Give it a recipe of its own, as in peft:LOHA[train.packed=false].",
    ]


def test_a_recipe_of_its_own_lets_such_a_method_train_padded() -> None:
    runs = plan(asked("lora,hycam[train.packed=false]"))
    assert [run.spec.train.packed for run in runs] == [True, False]


def test_packing_is_another_run_and_its_absence_is_the_run_of_before() -> None:
    ((packed,), (padded,)) = (
        plan(Request(methods="lora", tasks="gsm8k", settings=settings))
        for settings in (["train.packed=true"], [])
    )
    assert packed.spec.run_id != padded.spec.run_id
    assert "packed" not in padded.spec.train.model_dump()


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("llama", None),
        ("mistral", None),
        ("gemma2", None),
        ("gemma3_text", None),
        ("roberta", "the positions of roberta are not rotary"),
        ("mamba", "the attention of mamba cannot be taken row by row"),
        (
            "llama4_text",
            "llama4_text has layers of chunked_attention, which would run on across rows",
        ),
    ],
)
def test_a_backbone_packs_if_its_layers_can_start_again(kind: str, reason: str | None) -> None:
    assert refusal(AutoConfig.for_model(kind)) == reason


@pytest.mark.parametrize(
    ("rows", "characters", "expected"),
    [
        (4, 200, (1, 400)),  # all rows of a step in one pass
        (64, 200, (1, 4096)),  # at most as many tokens as a pass takes
    ],
)
def test_the_memory_of_a_packed_pass_is_that_of_its_tokens(
    rows: int, characters: int, expected: tuple[int, int]
) -> None:
    (run,) = plan(asked("lora", f"train.accumulation_steps={rows // 2}"))
    found = setting(run, Texts(taught=characters, asked=characters))
    assert (found.rows, found.tokens) == expected
