import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.spec.recipe import Recipe
from harness.spec.spec import Data, Spec
from harness.spec.value import canonical, later

OTHER = {
    "sample": "substitute",
    "float32": "bfloat16",
    "cosine": "linear",
    "all": "answer",
    "torch": "deepspeed",
}
"""Another allowed word for each fixed choice."""

FIXED = (("train", "version"), ("protocol", "bos"))
"""Have one value, which can only be changed in the code."""

NAMES = {"label", "title"}
"""How people call a method or a file; no part of what a run is named by."""

SEEDS, FOLD, METHOD, BACKBONE, TRAIN = "seeds", "fold", "method", "backbone", "train"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            yield from leaves(part, (*path, key))
    else:
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def other(value: Any) -> Any:
    """Give another value that the field allows."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return OTHER.get(value, f"{value} other")
    return 7 if value is None else (value + 1) / 3 if isinstance(value, float) else value + 1


def changed(one: Spec, path: tuple[Any, ...]) -> Spec:
    """Give the spec with one leaf changed; through JSON, so that nothing is shared."""
    tree = json.loads(one.model_dump_json())
    parent = at(tree, path[:-1])
    parent[path[-1]] = other(parent[path[-1]])
    return Spec.model_validate(tree)


def paths(one: Spec) -> list[tuple[Any, ...]]:
    return [
        path
        for path in leaves(json.loads(one.model_dump_json()))
        if path not in FIXED and path[-1] not in NAMES
    ]


def test_a_change_of_any_one_leaf_is_another_run(spec: Callable[..., Spec]) -> None:
    one = spec(limit=50)
    ids = {path: changed(one, path).run_id for path in paths(one)}
    assert len(paths(one)) > 40, "the walk missed most of the spec"
    assert [path for path, run_id in ids.items() if run_id == one.run_id] == []
    assert len(set(ids.values())) == len(ids), "two different changes gave one id"


def plain_hash(one: Spec, *left_out: str) -> str:
    """Hash a spec without its parts: as JSON with sorted keys, without names."""
    tree = json.loads(one.model_dump_json())
    for part in (tree["method"], tree["train_data"], *tree["tests"].values()):
        for name in NAMES & part.keys():
            del part[name]
    kept = {name: value for name, value in tree.items() if name not in left_out}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fold": 0, "limit": 5, "group": "für ü"},
        {"quantize": "nf4", "float32_matmul": "high", "task_sources": {"tasks/z": "a", "a": "z"}},
        {"train": Recipe(lr=1e-7, betas=(0.5, 0.25))},
        {"tests": {}},
    ],
)
def test_an_id_joined_of_parts_is_that_of_the_whole(
    spec: Callable[..., Spec], changes: dict[str, Any]
) -> None:
    one = spec(**changes)
    assert (one.run_id, one.series) == (plain_hash(one), plain_hash(one, "seeds", "fold"))


def test_a_copy_with_another_part_has_an_id_of_its_own(spec: Callable[..., Spec]) -> None:
    one = spec()
    known = one.run_id, canonical(one.method)
    copied = one.model_copy(update={"limit": 7})
    assert copied.run_id == spec(limit=7).run_id != known[0]
    assert canonical(one.method.model_copy(update={"name": "other"})) != known[1]


def test_what_was_hashed_before_has_the_fields_of_what_was_not(spec: Callable[..., Spec]) -> None:
    one, other = spec(), spec()
    assert one.run_id
    assert one == other
    assert (dict(one), dict(one.protocol)) == (dict(other), dict(other.protocol))
    assert Spec(**dict(one)).model_dump() == other.model_dump()


def test_a_setting_ignores_method_backbone_seeds_fold_and_what_a_recipe_may_own(
    spec: Callable[..., Spec],
) -> None:
    one = spec()
    same = {path[0] for path in paths(one) if changed(one, path).setting == one.setting}
    moved_paths = [path for path in paths(one) if changed(one, path).setting != one.setting]
    moved = {path[0] for path in moved_paths}
    assert same == {METHOD, BACKBONE, SEEDS, FOLD, TRAIN}
    assert same & moved == {TRAIN}
    kept = {path[1] for path in moved_paths if path[0] == TRAIN}
    assert kept == {"validation_rows", "engine"}


def test_what_things_are_called_is_no_part_of_a_runs_name(spec: Callable[..., Spec]) -> None:
    one = spec()
    names = [path for path in leaves(json.loads(one.model_dump_json())) if path[-1] in NAMES]
    assert len(names) == 4  # the method, the training set and two test sets
    for path in names:
        other = changed(one, path)
        assert other != one
        assert (other.run_id, other.series, other.setting) == (one.run_id, one.series, one.setting)


def test_a_series_ignores_seeds_and_fold_and_nothing_else(spec: Callable[..., Spec]) -> None:
    one = spec()
    same = {path[0] for path in paths(one) if changed(one, path).series == one.series}
    moved = {path[0] for path in paths(one) if changed(one, path).series != one.series}
    assert same == {SEEDS, FOLD}
    assert not same & moved


def test_an_added_or_a_missing_method_field_is_another_run(spec: Callable[..., Spec]) -> None:
    one = spec()
    method = one.method
    more = method.model_copy(update={"fields": {**method.fields, "y": None}})
    less = method.model_copy(update={"fields": {"r": 24}})
    assert len({one.run_id, spec(method=more).run_id, spec(method=less).run_id}) == 3


@given(st.randoms(use_true_random=False))
def test_the_order_of_fields_does_not_enter_the_id(spec: Callable[..., Spec], rng: Any) -> None:
    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        items = [(key, shuffled(part)) for key, part in value.items()]
        rng.shuffle(items)
        return dict(items)

    one = spec()
    assert Spec.model_validate(shuffled(one.model_dump())).run_id == one.run_id


HASHES = """
import sys
from harness.spec.spec import Spec
spec = Spec.model_validate_json(sys.argv[1])
print(spec.run_id, spec.setting, spec.series)
"""


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_ids_are_the_same_in_every_process(
    spec: Callable[..., Spec], python: Callable[..., Any], hash_seed: str
) -> None:
    one = spec()
    answer = python(HASHES, one.model_dump_json(), PYTHONHASHSEED=hash_seed)
    assert answer.stdout.split() == [one.run_id, one.setting, one.series], answer.stderr


def test_an_id_is_sixteen_hex_digits(spec: Callable[..., Spec]) -> None:
    one = spec()
    ids = [one.run_id, one.setting, one.series]
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in ids)
    assert len(set(ids)) == 3


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="lrr"):
        Recipe.model_validate({"lrr": 1})


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Recipe().lr = 1.0  # type: ignore[misc]


def data(**changes: Any) -> Data:
    facts = {"title": "Math10K", "kind": "published", "sha256": "a", "verified": True, "rows": 9919}
    return Data(**{**facts, **changes})


def test_published_and_verified_data_in_full_carry_no_mark(spec: Callable[..., Spec]) -> None:
    assert spec(train_data=data(), tests={"gsm8k": data()}).marks == ()


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({"tests": {"a": data(), "b": data(kind="sample")}}, "SAMPLE DATA"),
        ({"train_data": data(kind="sample")}, "SAMPLE DATA"),
        (
            {"train_data": data(title="substitute for Math10K", kind="substitute")},
            "trained on the substitute for Math10K",
        ),
        (
            {"train_data": data(title="mine.json", kind="own")},
            "trained on mine.json, a file of the user's",
        ),
        (
            {"tests": {"a": data(title="substitute for HellaSwag", kind="substitute")}},
            "tested on the substitute for HellaSwag",
        ),
        ({"tests": {"a": data(title="AQuA", verified=False)}}, "AQuA not verified"),
        ({"train_data": data(verified=False)}, "Math10K not verified"),
        ({"limit": 50}, "first 50 rows of each benchmark"),
        ({"train_limit": 100}, "first 100 training rows"),
    ],
)
def test_each_thing_that_a_reader_must_know_is_one_mark(
    spec: Callable[..., Spec], changes: dict[str, Any], mark: str
) -> None:
    marks = spec(**{"train_data": data(), "tests": {"gsm8k": data()}, **changes}).marks
    assert len(marks) == 1
    assert mark in marks[0]


def test_marks_add_up(spec: Callable[..., Spec]) -> None:
    assert len(spec(limit=5, train_limit=20).marks) == 3


def test_runs_of_one_recipe_share_its_hash_and_any_field_of_it_makes_another(
    spec: Callable[..., Spec],
) -> None:
    one = spec()
    moved = {path[0] for path in paths(one) if changed(one, path).recipe != one.recipe}
    kept = {path[0] for path in paths(one) if changed(one, path).recipe == one.recipe}
    assert moved == {TRAIN}
    assert TRAIN not in kept


class GrownRecipe(Recipe):
    """A recipe of a later version, which can do something that this one cannot."""

    packed: bool = later(False)
    warm_restarts: int = later(0, ge=0)


class GrownSpec(Spec):
    train: GrownRecipe


def test_a_field_that_comes_later_renames_no_run_while_it_means_as_before(
    spec: Callable[..., Spec],
) -> None:
    one = spec()
    values = json.loads(one.model_dump_json())
    grown = GrownSpec.model_validate(values)
    assert (grown.run_id, grown.setting, grown.series) == (one.run_id, one.setting, one.series)
    assert grown.recipe == one.recipe
    assert grown.model_dump(mode="json") == values


@pytest.mark.parametrize("field", [{"packed": True}, {"warm_restarts": 2}])
def test_a_field_that_comes_later_renames_the_run_once_it_is_used_and_is_stored_then(
    field: dict[str, Any], spec: Callable[..., Spec]
) -> None:
    values = json.loads(spec().model_dump_json())
    values["train"] |= field
    grown = GrownSpec.model_validate(values)
    assert grown.run_id != spec().run_id
    assert GrownSpec.model_validate_json(grown.model_dump_json()) == grown


RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_id_of_a_recorded_spec_stays_for_good(path: Path) -> None:
    assert Spec.model_validate_json(path.read_text()).run_id == path.stem


def test_three_specs_are_recorded() -> None:
    assert len(RECORDED) == 3
