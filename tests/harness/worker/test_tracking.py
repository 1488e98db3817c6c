"""Runs that tell a tracker what happens: TensorBoard's own files, and trackers that fail."""

import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from accelerate import tracking as accelerates
from tensorboardX.proto.event_pb2 import Event as Written

from harness.planning import checks
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun
from harness.worker import tracking
from harness.worker.tracking import Tracking
from results.record import Score
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

REQUEST = Request(
    methods="lora",
    tasks="gsm8k",
    limit=2,
    train_limit=24,
    settings=["train.epochs=1", "protocol.max_new_tokens=4"],
    track="tensorboard",
)
SECRETS = {"WANDB_API_KEY": "not-to-be-told-key", "HF_TOKEN": "not-to-be-told-token"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tracked")


@pytest.fixture(scope="module")
def run(place: Path) -> Iterator[Callable[..., RunFolder]]:
    """Serve folders in one worker, whose environment holds secrets."""
    command = [sys.executable, "-P", "-m", "harness.worker"]
    environment = {**os.environ, **SECRETS}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as worker:

        def answer(name: str, request: Request, before: Callable[[Path], Any] = Path) -> RunFolder:
            assert worker.stdin
            assert worker.stdout
            (planned,) = plan(request)
            folder = RunFolder(place / name)
            folder.create(*planned.kept)
            before(folder.path)
            worker.stdin.write(f"{folder.path}\n")
            worker.stdin.flush()
            assert worker.stdout.readline() == "0\n", folder.end_of_log()
            return folder

        yield answer
        worker.stdin.close()


@pytest.fixture(scope="module")
def tracked(run: Callable[..., RunFolder]) -> RunFolder:
    return run("tracked", REQUEST)


def scalars(folder: RunFolder) -> dict[str, dict[int, float]]:
    """Read what is in TensorBoard's files: values by name and step."""
    found: dict[str, dict[int, float]] = {}
    for path in sorted((folder.path / "tensorboard").glob("events.*")):
        content, place = path.read_bytes(), 0
        while place < len(content):  # a record: its length, a checksum, itself, a checksum
            (length,) = struct.unpack_from("<Q", content, place)
            event = Written.FromString(content[place + 12 : place + 12 + length])
            place += 12 + length + 4
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = value.simple_value
    return found


def test_tensorboard_has_the_losses_the_rate_and_the_scores(tracked: RunFolder) -> None:
    found, events = scalars(tracked), read_new(tracked.events, 0)[0]
    result = tracked.result()
    assert result
    for name in ("loss", "validation_loss", "lr"):
        values = {
            event.step: getattr(event, name)
            for event in events
            if event.step and getattr(event, name) is not None
        }
        assert len(values) >= 1
        assert found[name] == pytest.approx(values)  # written as float32
    last = max(event.step for event in losses(events) if event.step)
    scores = {f"{one.benchmark}/{one.metric}": one.value for one in result.scores if one.headline}
    assert scores
    assert {name: found[name] for name in scores} == {
        name: {last: pytest.approx(value)} for name, value in scores.items()
    }


def test_a_tracked_run_comes_to_the_weights_and_scores_of_one_that_is_not(
    tracked: RunFolder, run: Callable[..., RunFolder]
) -> None:
    alone = run("alone", replace(REQUEST, track=None))
    both = [folder.result() for folder in (tracked, alone)]
    assert both[0]
    assert both[1]
    assert both[0].scores == both[1].scores
    weights = "adapter/adapter_model.safetensors"
    assert (tracked.path / weights).read_bytes() == (alone.path / weights).read_bytes()
    assert not (alone.path / "tensorboard").exists()


def test_a_tracker_that_fails_is_a_line_in_the_log(run: Callable[..., RunFolder]) -> None:
    request = replace(REQUEST, methods="base")
    folder = run("failing", request, lambda path: (path / "tensorboard").touch())
    assert folder.finished
    lines = [line for line in folder.log.read_text().splitlines() if "tensorboard" in line]
    assert len(lines) == 1
    assert lines[0].startswith("tensorboard tracks this no further: ")
    assert str(folder.path / "tensorboard") in lines[0]


def test_no_secret_of_the_environment_is_with_what_was_tracked(
    place: Path, tracked: RunFolder
) -> None:
    assert (tracked.path / "tensorboard").is_dir()
    for path in place.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"not-to-be-told" not in content, path


class Stuck(accelerates.GeneralTracker):
    """A tracker that waits for a server, and then finds it gone."""

    name, requires_logging_directory, tracker = "wandb", False, None

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def log(self, values: dict[str, Any], step: int | None = None, **_: object) -> None:
        time.sleep(0.5)
        raise ConnectionError("no such server")


def test_a_tracker_that_hangs_is_left_alone(
    tmp_path: Path,
    planned: Callable[..., PlannedRun],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(accelerates.LOGGER_TYPE_TO_CLASS, "wandb", Stuck)
    monkeypatch.setattr(tracking, "PATIENCE", 0.1)
    one = planned().model_copy(update={"track": "wandb"})
    with Tracking(one, RunFolder(tmp_path)) as told:
        told.event(Event(time=0.0, step=1, loss=2.0))
        told.scores([Score("gsm8k", "accuracy", "strict", True, 0.5, 2)])
    assert "wandb tracks this no further: it was not done after 0 s" in capfd.readouterr().out


class Hanging(Stuck):
    """A tracker whose server takes the connection and never answers."""

    begun, ended = threading.Event(), threading.Event()

    def start(self) -> None:
        self.begun.set()
        self.ended.wait(60)


class Quick(Stuck):
    """A tracker that works."""

    told: ClassVar[list[dict[str, Any]]] = []

    def start(self) -> None:
        """Have nothing to wait for."""

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Keep none."""

    def log(self, values: dict[str, Any], step: int | None = None, **_: object) -> None:
        self.told.append(values)


def test_a_tracker_that_hangs_as_it_starts_holds_up_no_other_run(
    tmp_path: Path, planned: Callable[..., PlannedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "PATIENCE", 5.0)
    for name, kind in {"wandb": Hanging, "tensorboard": Quick}.items():
        monkeypatch.setitem(accelerates.LOGGER_TYPE_TO_CLASS, name, kind)
    hanging, quick = (
        Tracking(planned().model_copy(update={"track": name}), RunFolder(tmp_path / name))
        for name in ("wandb", "tensorboard")
    )
    with hanging:
        hanging.event(Event(time=0.0, step=1, loss=2.0))
        assert Hanging.begun.wait(60)
        with quick:
            quick.event(Event(time=0.0, step=1, loss=3.0))
        told = list(Quick.told)
        Hanging.ended.set()
    assert told == [{"loss": 3.0}]


def test_the_tracker_is_no_part_of_the_run_id() -> None:
    ids = {plan(replace(REQUEST, track=track))[0].spec.run_id for track in (None, "tensorboard")}
    assert len(ids) == 1


def test_a_tracker_that_is_not_installed_is_a_fault_of_the_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(checks.TRACKERS, "wandb", ("no-such-package",))
    with pytest.raises(Exception, match="--track wandb needs the package no-such-package") as told:
        plan(replace(REQUEST, track="wandb", methods="lorra"))
    assert "pip install no-such-package" in str(told.value)
    assert "'lorra' is not a known method" in str(told.value)
