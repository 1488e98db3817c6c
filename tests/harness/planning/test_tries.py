"""Several recipes of one method, and several backbones of one name, as a request names them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.planning.tries import expanded


@pytest.fixture
def asked(tmp_path: Path, make_backbone: Callable[..., Path]) -> Request:
    place = make_backbone(tmp_path / "base" / "small")
    return Request(methods="lora", tasks="gsm8k", backbones=str(place))


def test_values_between_bars_are_runs_that_know_how_many_they_are(asked: Request) -> None:
    planned = plan(replace(asked, methods="lora[train.lr=1e-4|3e-4|1e-3],base"))
    assert [(run.provenance.own, run.provenance.tries) for run in planned] == [
        ({"lr": 1e-4}, 3),
        ({"lr": 3e-4}, 3),
        ({"lr": 1e-3}, 3),
        ({}, 1),
    ]
    assert [run.spec.train.lr for run in planned[:3]] == [1e-4, 3e-4, 1e-3]


def test_a_try_is_the_run_that_it_is_alone(asked: Request) -> None:
    tries = plan(replace(asked, methods="lora[train.lr=1e-4|3e-4]"))
    alone = plan(replace(asked, methods="lora[train.lr=3e-4]"))
    assert tries[1].spec == alone[0].spec


def test_two_fields_are_tried_in_all_combinations() -> None:
    assert expanded("lora[train.lr=1|2,r=8,train.schedule=linear|cosine]") == [
        f"lora[train.lr={lr},r=8,train.schedule={schedule}]"
        for lr in (1, 2)
        for schedule in ("linear", "cosine")
    ]


def test_lists_are_tried_whole() -> None:
    assert expanded("lora[train.betas=[0.9,0.95]|[0.9,0.99],r=8]") == [
        f"lora[train.betas={betas},r=8]" for betas in ("[0.9,0.95]", "[0.9,0.99]")
    ]


def test_a_bar_in_a_field_of_the_method_is_left_as_it_is() -> None:
    text = "lora[target_modules=.*(q|v)_proj]"
    assert expanded(text) == [text]


@pytest.mark.parametrize("values", ["1e-4|", "|", "1e-4|0.0001", "linear|linear"])
def test_a_missing_or_repeated_value_is_refused(values: str) -> None:
    with pytest.raises(UserError, match="missing, or is there twice"):
        expanded(f"lora[train.lr={values}]")


def test_backbones_of_one_folder_name_are_named_by_their_path(
    asked: Request, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    other = make_backbone(tmp_path / "chat" / "small", weights=b"others")
    planned = plan(replace(asked, backbones=f"{asked.backbones},{other}"))
    assert [run.head.backbone for run in planned] == ["base/small", "chat/small"]
    assert {run.spec.backbone.name for run in planned} == {"small"}


def test_a_name_of_the_users_is_shown_and_no_part_of_the_id(asked: Request) -> None:
    (named,) = plan(replace(asked, backbones=f"mine={asked.backbones}"))
    (plain,) = plan(asked)
    assert (named.head.backbone, plain.head.backbone) == ("mine", "small")
    assert named.spec == plain.spec
    assert "lora on mine, math" in named.name


def test_one_name_for_two_backbones_is_refused(
    asked: Request, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    other = make_backbone(tmp_path / "other", weights=b"others")
    with pytest.raises(UserError, match="'mine' names both"):
        plan(replace(asked, backbones=f"mine={asked.backbones},mine={other}"))


def test_a_folder_with_an_equals_sign_is_a_folder(
    asked: Request, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    folder = make_backbone(tmp_path / "lr=1e-4")
    (run,) = plan(replace(asked, backbones=str(folder)))
    assert run.head.backbone == "lr=1e-4"


def test_the_head_names_what_is_not_the_default(asked: Request) -> None:
    settings = ["train.epochs=1", "train.betas=[0.9,0.95]", "generate.batch_size=8"]
    (run,) = plan(replace(asked, settings=settings, methods="lora[train.lr=1e-4]"))
    assert run.head.conditions == {
        "recipe": {"lr": 1e-4, "betas": [0.9, 0.95], "epochs": 1},
        "batches": {"batch_size": 8},
    }
    (plain,) = plan(asked)
    assert plain.head.conditions == {}
    (rounds,) = plan(replace(asked, settings=["generate.slots=false"]))
    assert rounds.head.conditions == {"batches": {"slots": False}}
