"""`harness run --dry-run`: what the runs to do will take."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from harness.commands import preview as command
from harness.commands.started import Opened
from harness.planning.plan import draft
from harness.planning.request import Request
from harness.scheduling.resources import Resources
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.values import Result
from results.store import Store

Took = Callable[..., Run]


@pytest.fixture
def took(tmp_path: Path, result: Result) -> Took:
    """Make the record of the run of a request, under another id, that took so many seconds."""

    def make(request: Request, wall: float, name: str) -> Run:
        folder = RunFolder(tmp_path / name)
        folder.create(*draft(request).runs[0].kept)
        seconds = {"wall": wall, "train": wall / 2}
        folder.write_result(result.model_copy(update={"seconds": seconds}))
        run = record_of(folder)
        assert run
        return replace(run, run_id=name)

    return make


def told(place: Path, request: Request) -> str:
    """Preview a request; say what all runs to do will take."""
    resources = Resources(gpus_per_run=request.gpus_per_run, device=request.device)
    with ExitStack() as stack:
        opened = Opened("local", resources, stack)
        text = command.preview(request, str(place / "harness.db"), place / "runs", opened)
    (line,) = (line for line in text.splitlines() if " of a " in line)
    return line.strip()


@pytest.mark.parametrize(
    ("device", "gpus_per_run", "words"),
    [
        ("cpu", 2, "3 min of a slot"),
        ("gpu", 2, "7 min of a GPU"),
    ],
)
def test_the_gpus_of_a_run_count_each(
    device: str, gpus_per_run: int, words: str, took: Took, tmp_path: Path
) -> None:
    request = Request(
        methods="lora", tasks="gsm8k", seeds="7,", device=device, gpus_per_run=gpus_per_run
    )
    Store(tmp_path / "harness.db").add(took(request, 200.0, "before"))
    assert told(tmp_path, request).startswith(words)


def test_estimates_look_at_the_newest_runs_of_the_backbones_that_count(
    took: Took, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(methods="lora", tasks="gsm8k", seeds="7,", device="cpu")
    run = took(request, 100.0, "first")
    other = {**run.spec, "backbone": {**run.spec["backbone"], "revision": "another"}}
    store = Store(tmp_path / "harness.db")
    for minute, one in enumerate(
        [
            replace(run, run_id="old", seconds={"wall": 900.0, "train": 1.0}),
            run,
            replace(run, run_id="forgotten", forgotten="the wrong data"),
            replace(run, run_id="failed", status="failed"),
            replace(run, run_id="elsewhere", spec=other),
        ]
    ):
        store.add(replace(one, started=run.started.replace(minute=minute)))
    assert told(tmp_path, request).startswith("100 s to 15 min of a slot")
    monkeypatch.setattr(command, "PAST", 1)
    assert told(tmp_path, request).startswith("100 s of a slot")
