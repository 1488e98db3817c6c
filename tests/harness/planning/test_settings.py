import pytest

from harness.errors import UserError
from harness.planning.parse import parse_assignment
from harness.planning.settings import make_settings
from harness.protocols import paper
from harness.spec.protocol import Protocol
from harness.spec.recipe import BatchPlan, Recipe


def parsed(*settings: str) -> tuple[Recipe, BatchPlan, Protocol]:
    made = make_settings(map(parse_assignment, settings), "paper", "math")
    return made.recipe, made.batches, made.protocol


def test_settings_change_recipe_and_batch_plan() -> None:
    settings = ["train.lr=5e-4", "train.engine=deepspeed", "generate.batch_size=8"]
    recipe, batches, protocol = parsed(*settings)
    assert recipe == Recipe(lr=5e-4, engine="deepspeed", packed=True)
    assert batches == BatchPlan(batch_size=8, slots=True)
    assert protocol == paper.protocol


def test_slots_can_be_switched_off() -> None:
    assert parsed("generate.slots=false")[1] == BatchPlan()


def test_no_settings_are_the_papers_recipe_on_packed_rows() -> None:
    assert parsed() == (Recipe(packed=True), BatchPlan(slots=True), paper.protocol)


def test_an_unknown_setting_gets_the_nearest_and_all_names() -> None:
    with pytest.raises(UserError) as error:
        parsed("train.lrr=1", "generate.size=2")
    message = str(error.value)
    assert "'train.lrr' is not a known setting. Did you mean 'train.lr'?" in message
    assert "'generate.size' is not a known setting" in message
    assert "train.warmup_ratio" in message


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("train.lr=x", ["lr", "valid number", "'x'"]),
        ("train.lr=-1", ["lr", "greater than 0", "-1"]),
        ("train.lr=NaN", ["lr", "nan"]),
        ("train.epochs=2.5", ["epochs", "integer", "2.5"]),
        ("train.warmup_ratio=2", ["warmup_ratio", "less than or equal to 1", "2"]),
        ("train.schedule=step", ["schedule", "'cosine', 'linear' or 'constant'", "'step'"]),
        ("train.version=1", ["version", "1", "2"]),
        ("generate.batch_size=0", ["batch_size", "greater than or equal to 1", "0"]),
        ("lr", ["'lr'", "expected field=value"]),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(setting: str, words: list[str]) -> None:
    with pytest.raises(UserError) as error:
        parsed(setting)
    assert [word for word in words if word not in str(error.value)] == []


def test_two_wrong_values_of_one_section_are_both_named() -> None:
    with pytest.raises(UserError, match=r"(?s)lr.*epochs|epochs.*lr"):
        parsed("train.lr=-1", "train.epochs=0")


@pytest.mark.parametrize(
    ("settings", "second"),
    [
        pytest.param(["train.lr=-1", "generate.batch_size=0"], "batch_size", id="two sections"),
        pytest.param(["train.lrr=1", "train.epochs=0"], "epochs.*not 0", id="two kinds"),
    ],
)
def test_all_faults_of_the_settings_are_named_at_once(settings: list[str], second: str) -> None:
    with pytest.raises(UserError, match=second):
        parsed(*settings)


def test_a_wrong_value_is_named_as_the_user_wrote_it() -> None:
    with pytest.raises(UserError, match=r"train\.lr"):
        parsed("train.lr=-1")


@pytest.mark.parametrize("setting", ["train.lr=Infinity", "train.betas=[2,3]"])
def test_a_value_that_cannot_be_trained_with_is_refused(setting: str) -> None:
    with pytest.raises(UserError):
        parsed(setting)
