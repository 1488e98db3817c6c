"""The first files of a run, written where it is free."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.scheduling.preparing import prepare
from harness.spec.planned import PlannedRun, Provenance
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
