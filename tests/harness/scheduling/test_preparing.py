"""The first files of a run, written where it is free."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from harness.scheduling.preparing import prepare
from harness.spec.planned import PlannedRun, PluginFile, Provenance
from results.runfolder.edited import edited
from results.runfolder.folder import AlreadyRunningError, RunFolder
from tests.harness.scheduling.in_turn import finish


def test_a_run_that_another_process_has_ended_meanwhile_stays_as_it_was_planned(
    planned: Callable[..., PlannedRun], tmp_path: Path
) -> None:
    one, folder = planned(), RunFolder(tmp_path)
    prepare(folder, one)
    finish(folder)
    other = one.model_copy(update={"provenance": Provenance(command=("harness", "run", "other"))})
    with pytest.raises(AlreadyRunningError):
        prepare(folder, other)
    assert edited(folder.path) == []


@pytest.mark.parametrize("now", [None, "r = 2"])
def test_a_file_of_the_users_that_changes_while_the_grid_runs_keeps_the_copy_that_was_planned(
    now: str | None, planned: Callable[..., PlannedRun], tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text("r = 1")
    texts = {str(own): sha256(b"r = 1").hexdigest()}
    file = PluginFile(kind="methods", path=str(own), texts=texts)
    one, folder = planned().model_copy(update={"files": (file,)}), RunFolder(tmp_path / "0")
    prepare(folder, one)
    own.unlink()
    if now:
        own.write_text(now)
    prepare(folder, one)
    assert (folder.copies / "methods" / "own" / "own.py").read_text() == "r = 1"
