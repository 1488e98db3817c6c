"""What a plan keeps of methods and backbones: it spares torch, and never changes a plan."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request

METHODS = (
    "base",
    "lora",
    "lora[r=4,dls=true]",
    "lora:rosa-paper",
    "dypam[r=2]",
    "flylora[train.lr=1e-3|1e-4]",
    "peft:WAVEFT",
    "vera",
)
ASKED = Request(methods="lora", tasks="gsm8k", seeds="7,")


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give a folder for a cache, and one that cannot be one."""
    occupied = tmp_path_factory.mktemp("no") / "occupied"
    occupied.write_text("a file where a folder would be")
    return tmp_path_factory.mktemp("cache"), occupied


def planned(request: Request, cache: Path) -> list[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        return [run.model_dump(mode="json") for run in plan(request)]


def outcome(request: Request, cache: Path) -> list[dict[str, Any]] | str:
    """Give the plan, or the message with its faults."""
    try:
        return planned(request, cache)
    except UserError as error:
        return str(error)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(METHODS), min_size=1, max_size=3, unique=True), st.booleans())
def test_with_and_without_the_cache_the_plan_is_the_same(
    caches: tuple[Path, Path], methods: list[str], merged: bool
) -> None:
    asked = replace(ASKED, methods=",".join(methods), settings=[f"generate.merge={merged}".lower()])
    cache, none = caches
    without = outcome(asked, none)
    assert [outcome(asked, cache), outcome(asked, cache)] == [without, without]


def entries(cache: Path) -> list[Path]:
    return sorted((cache / "peft-proving-ground" / "plans").iterdir())


def test_a_damaged_entry_is_worked_out_again(tmp_path: Path) -> None:
    whole = planned(ASKED, tmp_path)
    for entry in entries(tmp_path):
        entry.write_bytes(entry.read_bytes().replace(b"24", b"25"))
    assert planned(ASKED, tmp_path) == whole


def test_another_configuration_of_a_backbone_is_another_entry(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    folder = make_backbone(tmp_path / "small")
    asked = replace(ASKED, backbones=str(folder))
    planned(asked, tmp_path)
    before = len(entries(tmp_path))
    (folder / "model.safetensors").write_bytes(b"other weights of the same shape")
    planned(asked, tmp_path)
    assert len(entries(tmp_path)) == before
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rope_theta": 5.0}))
    planned(asked, tmp_path)
    assert len(entries(tmp_path)) == before + 1


def test_a_method_given_by_path_is_read_anew(tmp_path: Path) -> None:
    mine, ranks = tmp_path / "mine.py", tmp_path / "ranks.json"
    mine.write_text(
        "import json\nfrom dataclasses import replace\nfrom pathlib import Path\n"
        "from methods.lora import method as lora\n"
        "rank = json.loads(Path(__file__).with_name('ranks.json').read_text())\n"
        "method = replace(lora, defaults={**lora.defaults, 'r': rank})\n"
    )
    ranks.write_text("4")
    cache, asked = tmp_path / "cache", replace(ASKED, methods=str(mine))
    assert planned(asked, cache)[0]["spec"]["method"]["fields"]["r"] == 4
    assert not (cache / "peft-proving-ground" / "plans").exists()


WHOLE = """
import sys
from harness.planning.plan import plan
from harness.planning.request import Request
found = plan(Request(methods=sys.argv[1], tasks="gsm8k", seeds="7,"))
print(found[0].spec.run_id, *{"torch", "transformers", "peft"} & sys.modules.keys())
"""


def test_a_second_plan_imports_neither_torch_nor_transformers_nor_peft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, *_ = plan(replace(ASKED, methods="lora,dypam"))
    command = [sys.executable, "-c", WHOLE, "lora,dypam"]
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second.stdout.split() == [first.spec.run_id]


def test_an_entry_says_under_which_text_it_is_whole(tmp_path: Path) -> None:
    planned(ASKED, tmp_path)
    for entry in entries(tmp_path):
        told, _, text = entry.read_text().partition("\n")
        assert told == sha256(text.encode()).hexdigest()
        json.loads(text)
