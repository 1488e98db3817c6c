import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.protocols import paper
from harness.spec.planned import PlannedRun
from harness.spec.spec import Seeds

REQUEST = Request(methods="lora,dypam", tasks="math", seeds="2")


@pytest.fixture
def asked(tmp_path: Path, make_backbone: Callable[..., Path]) -> Request:
    return replace(REQUEST, backbones=str(make_backbone(tmp_path / "small")))


def ids(jobs: list[PlannedRun]) -> list[str]:
    return [job.spec.run_id for job in jobs]


def cells(jobs: list[PlannedRun]) -> list[tuple[int, str, str]]:
    return [(j.spec.seeds.init, j.spec.backbone.name, j.spec.method.name) for j in jobs]


def test_the_seed_is_outermost_then_backbone_then_method(
    asked: Request, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    second = make_backbone(tmp_path / "other", weights=b"other")
    jobs = plan(replace(asked, backbones=f"{asked.backbones},{second}"))
    assert cells(jobs) == [
        (seed, backbone, method)
        for seed in (2333, 1000)
        for backbone in ("small", "other")
        for method in ("lora", "dypam")
    ]
    assert len(set(ids(jobs))) == 8


def test_each_group_is_planned_as_it_is_alone_with_the_seed_outermost(asked: Request) -> None:
    groups = ("math", "commonsense")
    together = plan(replace(asked, tasks="gsm8k,commonsense"))
    alone = [plan(replace(asked, tasks=tasks)) for tasks in ("gsm8k", "commonsense")]
    assert sorted(ids(together)) == sorted(ids([*alone[0], *alone[1]]))
    assert [(run.spec.seeds.init, run.spec.group) for run in together] == [
        (seed, group) for seed in (2333, 1000) for group in groups for _ in ("lora", "dypam")
    ]


def test_a_file_to_train_on_is_that_of_every_group(asked: Request, tmp_path: Path) -> None:
    rows = [{"instruction": f"{n} + 1?", "output": f"It is {n + 1}."} for n in range(30)]
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    runs = plan(replace(asked, tasks="gsm8k,boolq", train_data=tmp_path / "mine.json"))
    assert {run.spec.group for run in runs} == {"math", "commonsense"}
    assert {run.spec.train_data.title for run in runs} == {"mine.json"}


def test_the_same_run_asked_for_twice_is_one_run(asked: Request) -> None:
    twice = replace(
        asked,
        methods="lora,dypam,lora[r=24],lora",
        tasks="math,gsm8k",
        backbones=f"{asked.backbones},{asked.backbones}/",
    )
    assert ids(plan(twice)) == ids(plan(asked))


def test_a_request_is_planned_to_the_same_ids_each_time(asked: Request) -> None:
    assert ids(plan(asked)) == ids(plan(asked))


def test_a_spec_holds_what_was_asked_for_and_the_papers_protocol(asked: Request) -> None:
    (job,) = plan(
        replace(
            asked,
            methods="lora[r=8]",
            tasks="svamp,gsm8k",
            seeds="7,",
            settings=["train.lr=5e-4", "generate.batch_size=8"],
            limit=50,
            train_limit=100,
        )
    )
    spec = job.spec
    assert (spec.method.label, spec.method.fields["r"]) == ("lora[r=8]", 8)
    assert (spec.group, list(spec.tests)) == ("math", ["gsm8k", "svamp"])
    assert spec.seeds == Seeds(init=7, order=7, split=7)
    assert (spec.train.lr, spec.generate.batch_size) == (5e-4, 8)
    assert (spec.limit, spec.train_limit, spec.protocol) == (50, 100, paper.protocol)


def test_without_a_data_folder_the_data_are_samples_and_marked(asked: Request) -> None:
    spec = plan(asked)[0].spec
    assert {data.kind for data in [spec.train_data, *spec.tests.values()]} == {"sample"}
    assert len({data.sha256 for data in spec.tests.values()}) == 7
    # Issue 2: 40 to 100 problems a benchmark.
    assert all(40 <= data.rows <= 100 for data in spec.tests.values())
    assert "SAMPLE DATA" in spec.marks[0]


def test_a_backbone_that_moved_is_the_same_run_and_other_weights_are_another(
    asked: Request, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    moved = make_backbone(tmp_path / "elsewhere" / "small")
    other = make_backbone(tmp_path / "again" / "small", weights=b"other")
    assert ids(plan(replace(asked, backbones=str(moved)))) == ids(plan(asked))
    assert set(ids(plan(replace(asked, backbones=str(other))))) & set(ids(plan(asked))) == set()


def test_no_path_of_this_machine_is_in_a_spec(asked: Request, tmp_path: Path) -> None:
    (job, *_) = plan(asked)
    assert str(tmp_path) not in job.spec.model_dump_json()
    assert job.backbone_place == asked.backbones


@pytest.mark.parametrize("method", ["lora[r=0]", "dypam[target_modules=mlp]"])
def test_a_method_that_cannot_be_put_on_a_backbone_is_refused(asked: Request, method: str) -> None:
    with pytest.raises(UserError) as error:
        plan(replace(asked, methods=f"lora,{method}"))
    assert str(error.value).startswith(f"{method} on small: ")


def test_a_configuration_that_cannot_be_read_is_a_mistake_of_the_user(asked: Request) -> None:
    (Path(asked.backbones) / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"small.*config\.json"):
        plan(asked)


FAULTY: dict[str, Any] = {
    "methods": "lorra,lora[rr=1],lora[r=x],dypam[r=64",
    "tasks": "mth",
    "seeds": "x",
    "settings": ["train.lrr=1"],
}
FAULTS = [
    "'lorra' is not a known method. Did you mean 'lora'?",
    "'rr' is not a known field of lora. Did you mean 'r'?",
    "lora: field r: Input should be a valid integer",
    "'dypam[r=64': no closing bracket",
    "'mth' is not a known task. Did you mean 'math'?",
    "--seeds 'x'",
    "'train.lrr' is not a known setting. Did you mean 'train.lr'?",
    "not a usable backbone. It lacks config.json",
    "'tinny' is not a backbone",
]


def test_all_faults_of_a_request_are_in_one_message(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        plan(replace(REQUEST, **FAULTY, backbones=f"{tmp_path},tinny"))
    assert [fault for fault in FAULTS if fault not in str(error.value)] == []


def test_the_faults_of_all_groups_are_in_one_message_and_what_they_share_once(
    asked: Request, tmp_path: Path
) -> None:
    faulty = replace(asked, tasks="gsm8k,boolq", data=tmp_path, settings=["train.lrr=1"])
    with pytest.raises(UserError) as error:
        plan(faulty)
    message = str(error.value)
    for words in ("'train.lrr' is not a known", "GSM8K test set:", "BoolQ test set:"):
        assert message.count(words) == 1, words
    assert "\n  Math10K:" in message
    assert "\n  Commonsense15K:" in message


def test_a_fault_of_the_data_is_reported_with_the_others(tmp_path: Path) -> None:
    asked = replace(REQUEST, **{**FAULTY, "tasks": "gsm8k"}, backbones="tinny", data=tmp_path)
    with pytest.raises(UserError) as error:
        plan(asked)
    message = str(error.value)
    assert "'lorra' is not a known method" in message
    assert "'tinny' is not a backbone" in message
    assert f"{tmp_path}: none of these files is there" in message


def test_all_absent_data_files_are_named_at_once(asked: Request, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        plan(replace(asked, tasks="gsm8k,svamp", data=tmp_path))
    words = ("Math10K", "GSM8K test set", "SVAMP test set")
    assert [word for word in words if word not in str(error.value)] == []


@pytest.mark.parametrize("empty", [{"methods": " , "}, {"tasks": " , "}])
def test_a_request_for_nothing_is_a_mistake(asked: Request, empty: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="Known: "):
        plan(replace(asked, **empty))


def recipes(planned: list[PlannedRun]) -> dict[str, float]:
    return {run.name.split(" on ")[0]: run.spec.train.lr for run in planned}


def test_fields_of_the_recipe_in_brackets_are_that_methods_own(asked: Request) -> None:
    found = plan(replace(asked, methods="lora,dypam[r=64,train.lr=2e-4]", seeds="1"))
    assert recipes(found) == {"lora": 1e-3, "dypam[r=64] [train.lr=0.0002]": 2e-4}
    assert [run.spec.method.label for run in found] == ["lora", "dypam[r=64]"]
    assert found[0].spec.setting == found[1].spec.setting
    assert found[0].spec.recipe != found[1].spec.recipe


def test_an_own_recipe_starts_from_what_is_set_for_all_methods(asked: Request) -> None:
    (run,) = plan(
        replace(
            asked, methods="lora[train.lr=2e-4]", seeds="1", settings=["train.epochs=1"], limit=3
        )
    )
    assert (run.spec.train.lr, run.spec.train.epochs) == (2e-4, 1)


def test_identical_training_is_one_run_whoever_the_recipe_was_set_for(asked: Request) -> None:
    one = replace(asked, methods="lora", seeds="1")
    shared = plan(replace(one, settings=["train.lr=2e-4"]))
    own = plan(replace(one, methods="lora[train.lr=2e-4]"))
    usual = plan(replace(one, methods="lora[train.lr=1e-3]"))
    assert ids(shared) == ids(own)
    assert ids(usual) == ids(plan(one))
    assert [run.provenance.chosen for run in (*shared, *own, *plan(one))] == [
        "for all methods",
        "for this method",
        "default",
    ]
    assert own[0].provenance.own == {"lr": 2e-4}


@pytest.mark.parametrize("field", ["validation_rows=10", "engine=torch", "version=2"])
def test_what_all_methods_must_share_is_no_methods_own(asked: Request, field: str) -> None:
    name = field.partition("=")[0]
    with pytest.raises(UserError, match=rf"train\.{name} must be the same for all methods"):
        plan(replace(asked, methods=f"lora[train.{field}]"))


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("lrr=1", "'train.lrr' is not a known setting. Did you mean 'train.lr'?"),
        ("lr=-1", "lora: train.lr: Input should be greater than 0"),
    ],
)
def test_a_wrong_field_of_an_own_recipe_is_named_with_its_method(
    asked: Request, field: str, words: str
) -> None:
    with pytest.raises(UserError) as error:
        plan(replace(asked, methods=f"lora[train.{field}]"))
    assert words in str(error.value)


def test_the_base_model_is_planned_once_for_all_seeds_beside_the_trained(asked: Request) -> None:
    planned = plan(replace(asked, methods="base,lora", seeds="7,8"))
    assert [(run.spec.method.name, run.spec.seeds.init) for run in planned] == [
        ("base", 7),
        ("lora", 7),
        ("lora", 8),
    ]
    assert len({run.spec.setting for run in planned}) == 1


def test_what_trades_memory_for_time_is_no_part_of_the_spec(asked: Request) -> None:
    settings = ["memory.gradient_checkpointing=true", "memory.likelihood_tokens=64"]
    frugal = plan(replace(asked, settings=settings))
    assert ids(frugal) == ids(plan(asked))
    assert frugal[0].checkpoints
    assert frugal[0].memory.likelihood_tokens == 64


def test_how_often_a_checkpoint_is_written_is_no_part_of_the_spec(asked: Request) -> None:
    usual, often = plan(asked), plan(replace(asked, checkpoint_minutes=0.5))
    assert ids(often) == ids(usual)
    assert {run.checkpoint_minutes for run in usual} == {10}
    assert {run.checkpoint_minutes for run in often} == {0.5}
    command = often[0].provenance.command
    assert command[command.index("--checkpoint-minutes") + 1] == "0.5"
    assert "--checkpoint-minutes" not in usual[0].provenance.command


@pytest.mark.parametrize(("chosen", "checkpoints"), [("on", True), ("off", False), ("auto", False)])
def test_checkpointing_is_on_off_or_auto_which_is_off(
    chosen: str, checkpoints: bool, asked: Request
) -> None:
    settings = [f"memory.gradient_checkpointing={chosen}"]
    assert {run.checkpoints for run in plan(replace(asked, settings=settings))} == {checkpoints}
