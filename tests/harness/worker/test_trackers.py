"""Runs that tell W&B and MLflow what happens: what these packages themselves have kept of it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from harness.spec.planned import PlannedRun
from harness.worker import tracking
from harness.worker.tracking import Tracking
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

pytestmark = pytest.mark.parts

SECRETS = {
    "WANDB_API_KEY": "not-to-be-told-key-of-the-40-characters-or-more",
    "HF_TOKEN": "not-to-be-told-token",
}

BLOCK = 32 * 1024
"""Bytes of a block of W&B's files, which are logs as LevelDB writes them."""

Told = dict[str, dict[int, float]]
"""Values by name and step."""


def tracked(place: Path, track: str, **variables: str) -> RunFolder:
    """Run a method with a tracker."""
    command = [sys.executable, "-m", "harness", "run", "--track", track, "--methods", "lora"]
    command += ["--tasks", "gsm8k", "--limit", "2", "--train-limit", "24"]
    command += ["--set", "train.epochs=1", "--set", "protocol.max_new_tokens=4"]
    environment = {**os.environ, **SECRETS, **variables}
    done = subprocess.run(
        command,
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (place / "printed.txt").write_text(done.stdout + done.stderr)
    (folder,) = (RunFolder(path) for path in place.glob("runs/*") if path.is_dir())
    assert "tracks this no further" not in folder.log.read_text()
    return folder


def as_kept(folder: RunFolder) -> Told:
    """Read from a run folder what a tracker is to be told."""
    found: Told = {}
    events, result = losses(read_new(folder.events, 0)[0]), folder.result()
    assert result
    for event in events:
        for name in ("loss", "validation_loss", "lr"):
            if event.step and (value := getattr(event, name)) is not None:
                found.setdefault(name, {})[event.step] = value
    last = max((event.step for event in events if event.step), default=0)
    scores = {f"{one.benchmark}/{one.metric}": one.value for one in result.scores if one.headline}
    return found | {name: {last: value} for name, value in scores.items()}


def hides_secrets(place: Path) -> None:
    for path in place.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"not-to-be-told" not in content, path


def records(content: bytes) -> Iterator[bytes]:
    """Take a log apart: blocks of parts, each with a checksum, its length and its kind."""
    place, whole = 7, b""  # behind the name and the version of the format
    while place < len(content):
        if BLOCK - place % BLOCK < 7:
            place += BLOCK - place % BLOCK  # padding
            continue
        length, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        whole += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # all of a record, or its last part
            yield whole
            whole = b""


def test_wandb_has_the_losses_the_rate_and_the_scores_and_no_secret(tmp_path: Path) -> None:
    proto = pytest.importorskip("wandb.proto.wandb_internal_pb2")
    folder = tracked(tmp_path, "wandb", WANDB_MODE="offline")
    (path,) = folder.path.glob("wandb/offline-run-*/run-*.wandb")
    found: Told = {}
    configured = {}
    for record in map(proto.Record.FromString, records(path.read_bytes())):
        for item in record.history.item:
            name = item.key or item.nested_key[0]
            found.setdefault(name, {})[record.history.step.num] = json.loads(item.value_json)
        configured |= {one.key: one.value_json for one in record.config.update}
    kept = as_kept(folder)
    assert kept["loss"]
    assert {name: found[name] for name in kept} == kept
    assert json.loads(configured["run_id"]) == path.stem.removeprefix("run-") == folder.path.name
    hides_secrets(tmp_path)


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Give MLflow's client, which makes a database that is not there."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    client = pytest.importorskip("mlflow.tracking").MlflowClient
    return lambda: client(uri)


def runs(asked: Any) -> list[Any]:
    (experiment,) = asked.search_experiments(filter_string="name = 'peft-proving-ground'")
    return list(asked.search_runs([experiment.experiment_id]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # what MLflow asks of SQLAlchemy
def test_mlflow_has_the_losses_the_rate_and_the_scores_and_no_secret(
    tmp_path: Path, mlflow: Callable[[], Any]
) -> None:
    asked = mlflow()
    folder = tracked(tmp_path, "mlflow")
    (run,) = runs(asked)
    found = {
        name: {one.step: one.value for one in asked.get_metric_history(run.info.run_id, name)}
        for name in run.data.metrics
    }
    assert found["loss"]
    assert found == as_kept(folder)
    assert run.data.params["run_id"] == folder.path.name
    assert run.info.status == "FINISHED"
    hides_secrets(tmp_path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_runs_that_make_the_database_of_mlflow_at_once_are_all_in_it(
    tmp_path: Path,
    mlflow: Callable[[], Any],
    planned: Callable[..., PlannedRun],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracking, "PATIENCE", 200.0)

    def tell(one: PlannedRun) -> None:
        with Tracking(one, RunFolder(tmp_path / one.head.run_id)) as told:
            told.event(Event(time=0.0, step=1, loss=2.0))

    several = [planned(limit=n).model_copy(update={"track": "mlflow"}) for n in (1, 2)]
    processes = [get_context("fork").Process(target=tell, args=(one,)) for one in several]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = {run.data.params["run_id"]: run.data.metrics for run in runs(mlflow())}
    assert found == {one.head.run_id: {"loss": 2.0} for one in several}
