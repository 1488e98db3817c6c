"""A worker process as its parent sees it."""

import os
from pathlib import Path

import pytest

from harness.scheduling.process import Ended, WorkerProcess
from results.runfolder.folder import RunFolder


def test_a_worker_that_died_is_not_signalled_later_when_others_may_have_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, signalled = WorkerProcess(["sh", "-c", "echo no torch >&2; exit 3"], {}), []
    worker.start()
    assert worker.run(RunFolder(tmp_path)) == Ended(3, printed="no torch\n")
    monkeypatch.setattr(os, "killpg", lambda *group: signalled.append(group))
    for later in (worker.interrupt, worker.kill, worker.end):
        later()
    assert not signalled
