"""What `harness run` says last."""

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import pytest

from harness.commands import run as command
from harness.commands.leaving import Leaving
from harness.commands.run import summed_up
from harness.commands.started import Opened
from harness.planning.request import Request
from harness.scheduling import keeper
from harness.scheduling.executors.contract import Executor
from harness.scheduling.resources import Resources
from harness.scheduling.summary import Summary
from results.errors import ResultsError
from results.runfolder.folder import RunFolder
from tests.harness.scheduling.in_turn import InTurn, finish


def test_a_reason_of_before_is_said_in_a_line_however_long_or_empty_it_is() -> None:
    before = {"a" * 16: "no memory\n" * 500_000, "b" * 16: ""}
    _, *lines = summed_up(Summary(failed_before=before), "harness.db").splitlines()
    assert [line.partition(" ")[0] for line in lines] == list(before)
    assert max(map(len, lines)) < 1000


def test_where_the_store_is_away_at_the_end_the_summary_is_said_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keeper, "PATIENCE", 0.0)
    place = tmp_path / "harness.db"

    class InThisThread(Opened):
        @cached_property
        def executor(self) -> Executor:
            return InTurn(self.work)

        @staticmethod
        def work(folder: RunFolder) -> int:
            place.rename(tmp_path / "away.db")
            place.mkdir()  # SQLite would make a new file
            return finish(folder)

    request = Request(methods="lora", tasks="gsm8k")
    opened = InThisThread("local", Resources(slots=1), ExitStack())
    with pytest.raises(ResultsError):
        command.run(request, str(place), tmp_path / "runs", opened, Leaving())
    told = capsys.readouterr().out
    assert "1 outcome is whole in the run folders, not stored: `harness reindex`" in told
