"""The runs that names select are those that they would select from all runs of the store."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.commands.asked import Asked
from harness.commands.history import history as command
from results.analysis.history import history
from results.analysis.runs.selection import narrowed, require, select, split_names
from results.errors import ResultsError
from results.record import Run
from results.store import Reader, Store

TESTS = {"math": ("gsm8k", "aqua"), "qa": ("boolq", "piqa"), "mixed": ("aqua", "boolq")}
FIELDS = {"r": 8, "bias": "none"}


def spec(group: str, source: str, lr: float, revision: str, name: str) -> dict[str, Any]:
    return {
        "method": {"name": name.partition("[")[0], "fields": FIELDS, "source": source},
        "train": {"lr": lr, "epochs": 3},
        "tests": dict.fromkeys(TESTS[group]),
        "backbone": {"name": "Llama", "revision": revision},
    }


@pytest.fixture(scope="module")
def place(make: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Store runs of many groups, labels, versions, recipes and backbones, one without a spec."""
    found = str(tmp_path_factory.mktemp("store") / "harness.db")
    store, minute = Store(found), 0
    for group, benchmarks in TESTS.items():
        for method, source in (("lora", "aaaa"), ("lora[r=64]", "aaaa"), ("LoRA", "bbbb")):
            for revision, lr in (("1" * 40, 0.1), ("2" * 40, 0.1), ("2" * 40, 0.2)):
                if (group, method) != ("qa", "LoRA"):
                    minute += 1
                    store.add(
                        make(
                            method,
                            seed=minute,
                            correct=dict.fromkeys(benchmarks, 50),
                            minute=minute,
                            group=group,
                            backbone="Llama",
                            backbone_place=f"/models/{'chat' if lr == 0.2 else 'base'}/Llama",
                            spec=spec(group, source, lr, revision, method),
                            status="failed" if minute % 5 == 0 else "finished",
                        )
                    )
    store.add(make("vera", group="old", backbone="tiny", correct={"mawps": 3}, spec={}))
    return found


NAMES: list[Mapping[str, str]] = [
    {},
    *({"tasks": name} for name in ("math", "aqua", "boolq,piqa", "math,piqa", "mawps", "old")),
    *({"tasks": name} for name in ("nothing", "math,nothing", "")),
    *({"method": name} for name in ("lora", "lora[r=64]", "lora[r=8]", "lora[r=9]", "vera")),
    *({"method": name} for name in ("lora@aaaa", "lora@cccc", "lora[train.lr=0.2]", "dora")),
    *({"backbone": name} for name in ("Llama", "tiny", "chat/Llama", "Llama@1111111", "none")),
    {"tasks": "qa", "method": "LoRA"},
    {"tasks": "old", "method": "lora"},
    {"tasks": "qa", "method": "lora[r=64,bias=none]", "backbone": "Llama"},
    {"tasks": "nothing", "method": "dora", "backbone": "none"},
]


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_a_command_selects_what_is_selected_from_all_runs(
    place: str, names: Mapping[str, str]
) -> None:
    assert told(lambda: of_command(place, **names)) == told(lambda: of_all(place, **names))


def told(entries: Callable[[], Any]) -> Any:
    try:
        return entries()
    except ResultsError as error:
        return str(error)


def of_command(place: str, tasks: str = "", method: str = "", backbone: str = "") -> Any:
    return command(place, Asked(tasks=tasks, method=method, backbone=backbone)).value


def of_all(place: str, tasks: str = "", method: str = "", backbone: str = "") -> Any:
    runs = Reader(place).runs()
    kinds = [run.kind for run in runs]
    names = split_names(tasks), [method] * bool(method), [backbone] * bool(backbone)
    narrowed(kinds, *names)
    require(runs, names[1], kinds)
    return history(select(runs, kinds, *names))
