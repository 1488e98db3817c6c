"""What a machine that sees no run folders learns from the store."""

import json
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.commands.status import head, status, watch
from harness.commands.telling import telling
from harness.scheduling import schedule
from harness.spec.planned import PlannedRun
from results.reports.to_json import to_json
from results.runfolder import attempts
from results.runfolder.folder import RunFolder
from results.store import LastSeen, Reader, Store
from tests.harness.scheduling.in_turn import InTurn, finish

HERE = platform.node()
EVERY = 0.02


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Name the folder of a machine that sees no other."""
    return tmp_path / "elsewhere"


@pytest.fixture
def place(tmp_path: Path) -> str:
    made = str(tmp_path / "harness.db")
    Store(made)
    return made


def run(planned: PlannedRun, place: str, root: Path, look: Callable[[], bool]) -> bool:
    """Run something that looks in the middle of its training; give what `look` gives."""
    seen = []

    def work(folder: RunFolder) -> int:
        with folder.locked():
            attempts.begin(folder)
            events = ({"phase": "train"}, {"step": 25, "of": 50, "loss": 1.5, "tokens": 9})
            told = (json.dumps({"time": time.time(), **event}) for event in events)
            folder.events.write_text("\n".join([*told, ""]))
            seen.append(look())
            return finish(folder)

    store = Store(place)
    with telling(store, place, root, EVERY):
        schedule.run([planned], store, root, InTurn(work))
    return seen[0]


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_where_no_folder_is_seen_the_store_says_what_is_said_where_it_is(
    planned: Callable[..., PlannedRun],
    root: Path,
    place: str,
    elsewhere: Path,
    until: Callable[..., bool],
) -> None:
    said: list[str] = []

    def look() -> bool:
        def has_told() -> bool:
            return bool(Reader(place).last_seen()) and "1.500" in status(place, elsewhere).text

        found = until(has_told)
        said.extend([status(place, elsewhere).text, status(place, root).text])
        return found

    assert run(planned(), place, root, look)
    above, *there = lines(said[0])
    assert there == lines(said[1])
    assert above == f"{HERE}, {root}: seen 0 s ago, by the clock of {HERE}."


def test_a_command_that_ended_has_told_its_end(
    planned: Callable[..., PlannedRun], root: Path, place: str, elsewhere: Path
) -> None:
    run(planned(), place, root, lambda: True)
    report = status(place, elsewhere)
    above, grid = lines(report.text)
    assert above.startswith(f"{HERE}, {root}: as its command left it ")
    assert grid == "1 of 1 run done."
    (told,) = json.loads(to_json(report.value))
    here = json.loads(to_json(status(place, root).value))
    assert (told["host"], told["folder"], told["ended"]) == (HERE, str(root), True)
    assert told["page"] == here


def test_what_was_seen_says_by_which_clock() -> None:
    hours_ago = datetime.now(UTC) - timedelta(hours=2)
    told = LastSeen("node7", "/data/runs", hours_ago, False, {})
    assert head(told) == "node7, /data/runs: seen 2.0 h ago, by the clock of node7."
    ahead = replace(told, time=datetime.now(UTC) + timedelta(hours=1), ended=True)
    assert head(ahead) == (
        "node7, /data/runs: as its command left it 0 s ago, by the clock of node7."
    )


def test_what_changes_is_said_with_its_place_where_the_store_tells_it(
    planned: Callable[..., PlannedRun],
    root: Path,
    place: str,
    elsewhere: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(planned(), place, root, lambda: True)
    (ended,) = Reader(place).last_seen()
    store, moments = Store(place), iter([replace(ended, host="node7"), None, None])
    store.saw(replace(ended, host="node7", ended=False))

    def pause(seconds: float) -> None:
        if (moment := next(moments)) is None:
            raise KeyboardInterrupt
        store.saw(moment)

    capsys.readouterr()
    with pytest.raises(KeyboardInterrupt):
        watch(place, elsewhere, pause)
    said = [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    done = f"node7, {root}: 1 of 1 run done."
    ours = f"{HERE}, {root}: 1 of 1 run done. Its command has ended."
    assert sorted(said) == sorted([done, ours, f"{done} Its command has ended."])


def test_a_store_that_is_away_is_told_nothing_and_nobody_is_troubled(
    root: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(place)
    Path(place).unlink()
    Path(place).mkdir()
    with telling(store, place, root):
        pass  # the last word comes at once
    assert capsys.readouterr() == ("", "")
