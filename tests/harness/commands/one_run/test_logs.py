"""What `harness logs` gives of a log, and how long it follows one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from harness.commands.one_run.logs import GRACE, LOOK, follow, followed, logs
from harness.errors import UserError
from harness.spec.planned import PlannedRun
from results.runfolder.folder import RunFolder
from results.runfolder.values import Result


@pytest.fixture
def folder(tmp_path: Path, planned: Callable[..., PlannedRun]) -> RunFolder:
    one = planned()
    made = RunFolder(tmp_path / one.spec.run_id)
    made.create(*one.kept)
    return made


def append(folder: RunFolder, text: str) -> None:
    with folder.log.open("a") as file:
        file.write(text)


def given(folder: RunFolder, give: Callable[..., Iterator[str]], lines: int = 40) -> list[str]:
    return list(give("nowhere.db", folder.path.name[:6], folder.path.parent, lines))


def test_the_last_lines_are_given(folder: RunFolder) -> None:
    append(folder, "".join(f"step {number}\n" for number in range(100)) + "no end")
    assert given(folder, logs, 3) == ["step 98", "step 99", "no end"]


@pytest.mark.parametrize("made", [False, True])
def test_a_run_that_has_printed_nothing_says_so(folder: RunFolder, *, made: bool) -> None:
    if made:
        append(folder, "")
    with pytest.raises(UserError, match=f"{folder.path.name} has printed nothing"):
        given(folder, logs)


def test_what_has_ended_is_followed_to_its_end(folder: RunFolder, result: Result) -> None:
    append(folder, "step 1\nno end")
    folder.write_result(result)
    assert given(folder, follow) == ["step 1", "no end"]


def test_who_follows_a_run_that_has_printed_nothing_is_told_where_losses_are(
    folder: RunFolder, result: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.write_result(result)
    assert given(folder, follow) == []
    assert "`harness status` says how far" in capsys.readouterr().err


def test_a_run_is_followed_through_a_failure_and_another_attempt(
    folder: RunFolder, planned: Callable[..., PlannedRun], result: Result
) -> None:
    at_work = ExitStack()

    def begin() -> None:
        at_work.enter_context(folder.locked())

    def fail() -> None:
        append(folder, "first attempt\n")
        folder.note_failure("vanished")
        at_work.close()

    def again() -> None:
        folder.create(*planned().kept)
        append(folder, "second attempt\n")

    def finish() -> None:
        append(folder, "the end\n")
        folder.write_result(result)
        at_work.close()

    waits = [lambda: None] * (int(GRACE / LOOK) - 1)
    course: Iterator[Callable[[], Any]] = iter(
        [lambda: None, begin, fail, *waits, again, *waits, *waits, begin, finish]
    )
    with at_work:
        lines = list(followed(folder, 40, lambda seconds: next(course)()))
    assert lines == ["first attempt", "second attempt", "the end"]
    assert next(course, None) is None


def test_a_run_that_failed_and_is_not_started_again_is_left_after_a_while(
    folder: RunFolder,
) -> None:
    append(folder, "step 1\n")
    folder.note_failure("no such layer")
    waited: list[float] = []
    assert list(followed(folder, 40, waited.append)) == ["step 1"]
    assert sum(waited) == GRACE
