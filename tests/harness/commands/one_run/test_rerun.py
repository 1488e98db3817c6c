"""`harness rerun`: a real run of `tiny`, and what keeps one from being made again."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.backbones import TINY
from results.runfolder.folder import RunFolder
from results.runfolder.values import Divergence

Command = Callable[..., Any]

ONE = ["run", "--methods", "lora", "--tasks", "gsm8k,aqua", "--backbones", "mine"]
ONE += ["--limit", "3", "--train-limit", "40", "--set", "train.epochs=1"]
ONE += ["--set", "protocol.max_new_tokens=8"]


@pytest.fixture(scope="module")
def once(program: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one run, of a backbone folder that a test may change."""
    folder = tmp_path_factory.mktemp("once")
    shutil.copytree(TINY, folder / "mine")
    done = program(folder, *ONE)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def place(once: Path, tmp_path: Path) -> Path:
    """Copy the run and its backbone; return the folder of both."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    for folder in tmp_path.glob("runs/*"):
        places = json.loads((folder / "places.json").read_text())
        places["backbone_place"] = str(tmp_path / "mine")
        (folder / "places.json").write_text(json.dumps(places))
        folder.rename(tmp_path / "runs" / "only")
    return tmp_path


def content(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_a_rerun_gives_the_same_bits_and_leaves_everything_as_it_was(
    harness: Command, place: Path
) -> None:
    before = content(place)
    done = harness(place, "rerun", "runs/only", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["benchmark"], one["bit_equal"]) for one in found["agreements"]] == [
        ("gsm8k", 3),
        ("aqua", 3),
    ]
    assert found["adapter_equal"]
    assert all(one["before"] == one["after"] for one in found["scores"])
    assert content(place) == before


@pytest.mark.parts
def test_another_answer_is_named_and_ends_with_1_and_the_new_folder_is_kept_on_demand(
    harness: Command, place: Path
) -> None:
    folder = RunFolder(place / "runs" / "only")
    first, *rest = folder.verdicts("gsm8k")
    extracted = dict.fromkeys(first.extracted, "123456")
    folder.write_verdicts("gsm8k", [first.model_copy(update={"extracted": extracted}), *rest])
    generation, *others = folder.generations("gsm8k")
    changed = generation.model_copy(update={"tokens": (1,), "text": "123456"})
    folder.write_generations("gsm8k", [changed, *others])
    done = harness(place, "rerun", "runs/only", "--keep", "kept")
    assert done.returncode == 1
    assert "gsm8k: other answers to the items 0." in done.stdout
    (kept,) = (place / "kept").iterdir()
    assert RunFolder(kept).finished
    assert "is there already" in harness(place, "rerun", "runs/only", "--keep", "kept").stderr


def test_all_that_has_changed_since_is_named_and_nothing_runs(
    harness: Command, place: Path
) -> None:
    folder = place / "runs" / "only"
    spec = json.loads((folder / "spec.json").read_text())
    spec["method"]["source"] = "cd" * 32
    spec["tests"]["gsm8k"]["sha256"] = "ef" * 32
    (folder / "spec.json").write_text(json.dumps(spec))
    refused = harness(place, "rerun", "runs/only")
    assert refused.returncode == 2
    assert "spec.json is not the spec of" in refused.stderr
    rename(folder)
    (place / "mine" / "config.json").write_text((TINY / "config.json").read_text() + "\n")
    refused = harness(place, "rerun", "runs/only")
    assert refused.returncode == 2
    for words in (
        "lora: the source of the method has changed since",
        "mine: the backbone has changed since",
        "GSM8K sample: its SHA-256 is",
    ):
        assert words in refused.stderr
    assert [path.name for path in (place / "runs").iterdir()] == ["only"]


def rename(folder: Path) -> None:
    """Write the id that an edited spec has into its head."""
    from harness.spec.spec import Spec  # noqa: PLC0415

    head = json.loads((folder / "run.json").read_text())
    head["run_id"] = Spec(**RunFolder(folder).spec()).run_id
    (folder / "run.json").write_text(json.dumps(head))


def test_a_run_that_did_not_finish_is_refused(harness: Command, place: Path) -> None:
    (place / "runs" / "only" / "result.json").unlink()
    refused = harness(place, "rerun", "runs/only")
    assert refused.returncode == 2
    assert "did not finish, so there is nothing to compare with" in refused.stderr


def test_a_run_that_diverged_is_refused_and_is_not_said_to_go_on(
    harness: Command, place: Path
) -> None:
    folder = RunFolder(place / "runs" / "only")
    result = folder.result()
    assert result
    facts = result.model_dump(include=set(Divergence.model_fields))
    folder.write_divergence(Divergence(**facts, step=3, reason="the loss is nan"))
    (folder.path / "result.json").unlink()
    refused = harness(place, "rerun", "runs/only")
    assert refused.returncode == 2
    assert "the training diverged" in refused.stderr
    assert "goes on" not in refused.stderr


@pytest.mark.parts
def test_an_interrupted_rerun_leaves_nothing(place: Path, until: Callable[..., bool]) -> None:
    before = content(place)
    executable = Path(sys.executable).with_name("harness")
    with subprocess.Popen(
        # A job that a shell started in the background inherits a SIGINT that is ignored.
        ["env", "--default-signal=INT", os.fspath(executable), "rerun", "runs/only"],
        cwd=place,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        started = until(lambda: list(place.glob("runs/.rerun-*/*/spec.json")), 60)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=30)
    assert started
    assert (running.returncode, "Nothing of the rerun is kept" in said) == (130, True)
    assert content(place) == before
    assert [path.name for path in (place / "runs").iterdir()] == ["only"]
