import json
import re
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.worker.machine import environment
from results.runfolder.values import Environment


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return environment.describe({}).model_dump(mode="json")


def replaced(described: dict[str, Any], path: str, value: Any) -> str:
    copy = deepcopy(described)
    *outer, last = path.split("/")
    place = copy
    for key in outer:
        place = place[key]
    assert place.get(last) != value
    place[last] = value
    return Environment(**copy).identity


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("machine/host", "another"),
        ("machine/threads", 999),
        ("harness", {"commit": "another", "dirty": True}),
        ("python", "3.11.999"),
    ],
)
def test_machine_commit_and_patch_level_are_recorded_only(
    described: dict[str, Any], path: str, value: Any
) -> None:
    described = {**described, "python": "3.11.0"}
    assert replaced(described, path, value) == Environment(**described).identity


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("packages/torch", "9.9"),
        ("packages/peft", "9.9"),
        ("packages", {}),
        ("torch", "2.13.0+cu999"),
        ("device", "NVIDIA H200"),
        ("driver", "another"),
        ("python", "2.7.0"),
    ],
)
def test_what_may_move_a_number_is_another_environment(
    described: dict[str, Any], path: str, value: Any
) -> None:
    assert replaced(described, path, value) != Environment(**described).identity


def test_an_environment_comes_back_from_json_as_it_was(described: dict[str, Any]) -> None:
    back = json.loads(json.dumps(described))
    assert back == described
    assert Environment(**back).identity == Environment(**described).identity


def test_an_environment_names_packages_build_and_device(described: dict[str, Any]) -> None:
    assert described["packages"]["torch"].split("+")[0] == torch.__version__.split("+")[0]
    assert {"transformers", "peft", "accelerate"} <= set(described["packages"])
    assert described["device"]


def test_version_and_commit_are_recorded_in_a_checkout(described: dict[str, Any]) -> None:
    checkout = (Path(environment.__file__).parents[2] / ".git").exists()
    assert described["harness"]["version"] == version("peft-proving-ground")
    if checkout:
        assert re.fullmatch("[0-9a-f]{40}", described["harness"]["commit"])


def test_bitsandbytes_is_part_of_the_stack_only_where_it_was_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environment, "version", lambda name: "1.0")
    used, unused = (environment.describe({}, quantized=one).packages for one in (True, False))
    assert used.keys() - unused.keys() == {"bitsandbytes"}
