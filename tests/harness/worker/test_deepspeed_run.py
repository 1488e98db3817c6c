"""A whole run under DeepSpeed in bfloat16, started from a shell that a launcher has filled."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.planning.plan import plan
from harness.planning.request import Request
from results.runfolder.folder import RunFolder
from results.runfolder.values import OptionLikelihoods

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")

REQUEST = Request(
    methods="lora",
    tasks="boolq",
    limit=6,
    train_limit=40,
    settings=["train.engine=deepspeed", "train.epochs=1", "protocol.max_new_tokens=4"],
)

LAUNCHED = {
    # Eight processes, and this is the fourth: it would wait for the others at a closed port.
    "RANK": "3",
    "LOCAL_RANK": "3",
    "WORLD_SIZE": "8",
    "LOCAL_WORLD_SIZE": "8",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "1",
    "TORCHELASTIC_RUN_ID": "none",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "3",
    "SLURM_NTASKS": "8",
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "8",
    "ACCELERATE_USE_FSDP": "true",
    "ACCELERATE_MIXED_PRECISION": "fp16",
}


def work(folder: RunFolder, environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-P", "-m", "harness.worker", os.fspath(folder.path)]
    variables = {**os.environ, **environment}
    done = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Run what would be planned on a machine with a GPU; nothing but the plan asks for one."""
    (planned,) = plan(REQUEST)
    spec = planned.spec.model_copy(update={"weights": "bfloat16", "adapter": "bfloat16"})
    folder = RunFolder(tmp_path_factory.mktemp("whole") / "run")
    folder.create(*planned.model_copy(update={"spec": spec}).kept)
    work(folder, LAUNCHED)
    return folder


def likelihoods(folder: RunFolder) -> list[OptionLikelihoods]:
    return folder.option_likelihoods("boolq")


@pytest.mark.parts
def test_what_a_launcher_says_neither_stops_nor_changes_a_run(whole: RunFolder) -> None:
    record = whole.train_record()
    assert whole.finished
    assert record
    assert record.steps == 36 // 4  # all of the rows, not an eighth


@pytest.mark.parts
def test_a_resumed_run_evaluates_in_the_precision_in_which_it_was_trained(
    whole: RunFolder, tmp_path: Path
) -> None:
    again = RunFolder(tmp_path / "run")
    shutil.copytree(whole.path, again.path)
    (again.path / "result.json").unlink()
    for kind in ("generations", "likelihoods", "verdicts"):
        shutil.rmtree(again.path / kind)
    work(again, {})
    result = again.result()
    assert result
    assert result.resumed
    assert likelihoods(again) == likelihoods(whole)
    assert again.generations("boolq") == whole.generations("boolq")
