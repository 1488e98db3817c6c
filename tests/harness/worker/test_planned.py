"""What was planned is what runs: code and weights that changed in between are refused."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness import backbones
from harness.backbones import fetch, locate
from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.outcome import FAILED
from harness.spec.planned import PlannedRun
from harness.worker.__main__ import run as run_folder
from harness.worker.planned import admit
from results.runfolder.folder import RunFolder

REQUEST = Request(methods="lora", tasks="gsm8k", limit=2)


def test_a_method_of_another_source_is_refused_with_both_hashes() -> None:
    (run,) = plan(REQUEST)
    admit(run)
    other = run.spec.method.model_copy(update={"source": "ab" * 32})
    changed = run.model_copy(update={"spec": run.spec.model_copy(update={"method": other})})
    with pytest.raises(UserError) as error:
        admit(changed)
    for told in ("lora: the source", run.spec.method.source[:16], "ab" * 8):
        assert told in str(error.value)


def test_a_benchmark_of_another_source_is_refused_with_both_hashes(
    install: Callable[..., Path],
) -> None:
    zoo = "from tasks.gsm8k import benchmark\n"
    package = install("[harness.tasks]\nzoo = extra.zoo:benchmark\n", zoo=zoo)
    (run,) = plan(replace(REQUEST, tasks="zoo"))
    admit(run)
    (package / "zoo.py").write_text(
        zoo + "from dataclasses import replace\n"
        "benchmark = replace(benchmark, title='Other')\n"
        "print(benchmark)\n"
    )
    with pytest.raises(UserError, match="zoo: its source has changed"):
        admit(run)


@pytest.fixture
def copied(tmp_path: Path) -> tuple[RunFolder, Path]:
    """Plan a run on a copy of `tiny`, and make its folder."""
    place = tmp_path / "model"
    shutil.copytree(backbones.TINY, place)
    (run,) = plan(replace(REQUEST, backbones=str(place)))
    folder = RunFolder(tmp_path / "run")
    folder.create(*run.kept)
    return folder, place


def test_replaced_weights_do_not_run_under_the_old_revision(
    copied: tuple[RunFolder, Path],
) -> None:
    folder, place = copied
    planned = PlannedRun.of(folder).spec.backbone.revision
    weights = place / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert run_folder(folder) == FAILED
    failure = folder.failure()
    assert failure
    assert failure.kind == "refused"
    for told in (str(place), planned, locate(str(place)).backbone.revision):
        assert told in failure.reason
    assert not folder.finished


def test_a_backbone_that_was_touched_but_not_changed_runs(copied: tuple[RunFolder, Path]) -> None:
    folder, place = copied
    (place / "model.safetensors").touch()
    assert fetch(PlannedRun.of(folder).located) == place
