"""Runs until they end: what is tried again, what others have, and a store that is away."""

import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.scheduling import grid, held, keeper
from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.executors.contract import Outcome
from harness.scheduling.held import Held
from harness.scheduling.policy import Policy
from harness.scheduling.progress import Display, console
from harness.scheduling.schedule import Summary, run
from harness.spec.outcome import ELSEWHERE, FAILED
from harness.spec.planned import PlannedRun
from harness.spec.recipe import Recipe
from results.errors import ResultsError
from results.record import Run, Verdicts
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder
from results.runfolder.values import FailureKind
from results.store import Reader, Store, sqlite
from tests.harness.scheduling.in_turn import InTurn, Work, finish

Plan = Callable[..., PlannedRun]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "LOOK", 0.01)
    monkeypatch.setattr(grid, "GRACE", 0.02)
    monkeypatch.setattr(keeper, "PAUSE", 0.01)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "harness.db"))


@pytest.fixture
def one(planned: Plan) -> PlannedRun:
    return planned(train=Recipe(batch_size=4))


def fails(*statuses: int, kind: FailureKind = "vanished") -> Work:
    """Fail so often, then finish: by the exit status, where a worker left no word itself."""
    left = list(statuses)

    def work(folder: RunFolder) -> int:
        if not left:
            return finish(folder)
        if (status := left.pop(0)) == FAILED:
            folder.note_failure("told by the worker", kind=kind)
        return status

    return work


def test_a_run_whose_worker_vanished_is_run_again_and_every_attempt_is_stored(
    one: PlannedRun, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = InTurn(fails(-signal.SIGKILL, -signal.SIGKILL))
    assert run([one], store, tmp_path, executor) == Summary(finished=1)
    assert [found.status for found in store.runs()].count("failed") == 2
    assert "ended by SIGKILL: is there enough memory?; again" in capsys.readouterr().err


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_it_is_run_again_as_often_as_was_asked_for(
    retries: int, one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    executor = InTurn(fails(*[-signal.SIGTERM] * 9))
    found = run([one], store, tmp_path, executor, Policy(retries=retries))
    assert found == Summary(failed=[one.spec.run_id])
    assert len(executor.jobs) == 1 + retries


def test_a_reason_of_megabytes_is_cut_wherever_it_is_said(
    one: PlannedRun, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(folder: RunFolder) -> int:
        folder.note_failure("no memory " * 500_000, kind="vanished")
        return FAILED

    run([one], store, tmp_path, InTurn(work), Policy(retries=1))
    said = capsys.readouterr().err
    assert (
        said.count(" (4,999,999 characters)") == 2
    )  # when it is run again, and when it has failed for good
    assert len(said) < 3000


def test_out_of_memory_halves_the_rows_of_a_pass_until_one_is_left(
    one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    seen = []

    def work(folder: RunFolder) -> int:
        seen.append(PlannedRun.of(folder).memory.halvings)
        return fails(FAILED, kind="memory")(folder)

    assert run([one], store, tmp_path, InTurn(work)) == Summary(failed=[one.spec.run_id])
    assert seen == [0, 1, 2]  # 4 rows, 2, 1
    # The next command goes on where this one was, since another GPU may have more.
    run([one], store, tmp_path, InTurn(work))
    assert seen == [0, 1, 2, 2]


@pytest.mark.parametrize(
    "method", [{"fields": {"lora_dropout": 0.1}}, {"name": "hycam", "fields": {}}]
)
def test_where_fewer_rows_would_give_other_numbers_nothing_is_halved(
    method: dict[str, Any], planned: Plan, store: Store, tmp_path: Path
) -> None:
    spec = planned().spec.method
    one = planned(method=spec.model_copy(update=method), train=Recipe(batch_size=4))
    executor = InTurn(fails(FAILED, kind="memory"))
    assert run([one], store, tmp_path, executor) == Summary(failed=[one.spec.run_id])
    assert len(executor.jobs) == 1


def test_fail_fast_starts_nothing_more(planned: Plan, store: Store, tmp_path: Path) -> None:
    three = [planned(limit=limit) for limit in (1, 2, 3)]
    executor = InTurn(fails(FAILED, kind="exception"))
    found = run(three, store, tmp_path, executor, Policy(fail_fast=True))
    assert found == Summary(failed=[three[0].spec.run_id], cancelled=2)


def test_a_run_that_another_process_finishes_is_stored_when_it_ends_there(
    one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    folder, began = RunFolder(tmp_path / one.spec.run_id), threading.Event()
    folder.path.mkdir()

    def other() -> None:
        with folder.locked():
            began.set()
            folder.create(*one.kept)
            time.sleep(0.1)
            finish(folder)

    thread = threading.Thread(target=other)
    thread.start()
    began.wait()
    assert run([one], store, tmp_path, InTurn(finish)) == Summary(by_others=1)
    thread.join()
    assert store.finished_ids() == {one.spec.run_id}


def test_a_run_whose_process_is_gone_is_taken_over(
    one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    executor = InTurn(fails(ELSEWHERE))  # by the time that it is looked at, nobody has it
    assert run([one], store, tmp_path, executor) == Summary(finished=1)
    assert len(executor.jobs) == 2


def test_a_run_whose_folder_is_held_for_a_moment_runs_whatever_had_ended_it_before(
    one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    folder, holds = RunFolder(tmp_path / one.spec.run_id), threading.Event()
    folder.create(*one.kept)
    folder.note_failure("No space left on device", kind="disk")

    def other() -> None:  # such as a process that starts another one, which closes its files late
        with folder.locked():
            holds.set()
            time.sleep(0.1)

    thread = threading.Thread(target=other)
    thread.start()
    holds.wait()
    assert run([one], store, tmp_path, InTurn(finish)) == Summary(finished=1)
    thread.join()


def test_what_failed_with_an_exception_in_another_process_has_failed(
    one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    def work(folder: RunFolder) -> int:
        folder.note_failure("ValueError: no such layer")
        return ELSEWHERE

    executor = InTurn(work)
    assert run([one], store, tmp_path, executor) == Summary(failed=[one.spec.run_id])
    assert len(executor.jobs) == 1


class Seen(Held):
    """Another process begins the run that failed there, and it fails again."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(folder)
        self.left: list[held.Seen] = ["free", "at work", "free"]

    def look(self) -> held.Seen:
        return self.left.pop(0)


def test_each_failure_in_another_process_gives_it_time_to_decide(
    one: PlannedRun, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "GRACE", 0.0)
    folder, display = RunFolder(tmp_path / "0"), Display(1, console())
    folder.create(*one.kept)
    keeps = keeper.Keeper(store, display.say)
    found = grid.Grid(InTurn(finish), keeps, Policy(), Summary(), display, lambda: False)
    cell = grid.Cell(folder, one, Seen(folder))
    display.expect(folder, "a run", lambda: True)
    folder.note_failure("It hung", kind="stalled")
    for _ in range(3):
        found._see(cell)
    assert not cell.past  # this process has not decided on the second failure yet


def test_a_cancelled_run_is_cancelled_alone_and_runs_with_the_next_command(
    planned: Plan, store: Store, tmp_path: Path
) -> None:
    two = [planned(limit=limit) for limit in (1, 2)]
    second = RunFolder(tmp_path / two[1].spec.run_id)

    def work(folder: RunFolder) -> int:
        wishes.cancel(second)
        executor.cancel(executor.jobs[1])
        return finish(folder)

    executor = InTurn(work)
    assert run(two, store, tmp_path, executor) == Summary(finished=1, cancelled=1)
    assert run(two, store, tmp_path, InTurn(finish)) == Summary(stored=1, finished=1)


def test_a_run_that_waits_for_a_slot_is_not_shown_as_at_work(
    one: PlannedRun, store: Store, tmp_path: Path
) -> None:
    shown = list[bool]()

    class Looked(Display):
        def expect(self, folder: RunFolder, name: str, running: Callable[[], bool]) -> None:
            shown.append(running())
            super().expect(folder, name, running)

    display, folder = Looked(1, console()), RunFolder(tmp_path / one.spec.run_id)
    keeps = keeper.Keeper(store, display.say)
    found = grid.Grid(InTurn(finish), keeps, Policy(), Summary(), display, lambda: False)
    found.run([(folder, one)])
    assert shown == [False]


def test_who_leaves_waits_for_no_other_process(planned: Plan, store: Store, tmp_path: Path) -> None:
    three = [planned(limit=limit) for limit in (1, 2, 3)]

    class Interrupted(InTurn):
        def outcomes(self) -> Iterator[Outcome]:
            self.interrupt()
            yield from super().outcomes()

    folder = RunFolder(tmp_path / three[0].spec.run_id)
    folder.path.mkdir()
    with folder.locked():
        found = run(three, store, tmp_path, Interrupted(finish))
    assert found == Summary(elsewhere=1, cancelled=2)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("work", [finish, lambda _: 3])
def test_who_leaves_waits_for_no_other_process_where_the_run_at_work_comes_to_its_end(
    work: Work, planned: Plan, store: Store, tmp_path: Path
) -> None:
    two = [planned(limit=limit) for limit in (1, 2)]
    left = threading.Event()

    def leave(folder: RunFolder) -> int:
        left.set()
        return work(folder)

    folder = RunFolder(tmp_path / two[1].spec.run_id)
    folder.path.mkdir()
    with folder.locked():
        found = run(two, store, tmp_path, InTurn(leave), leaves=left.is_set)
    assert (found.finished + len(found.failed), found.elsewhere) == (1, 1)


def test_a_late_report_of_a_lost_process_is_not_stored(
    one: PlannedRun, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(folder: RunFolder) -> int:
        if not attempts.attempts(folder):
            first = attempts.begin(folder)
            assert first
            attempts.lose(folder, first)
            attempts.begin(folder)
            folder.write_result(RESULT.model_copy(update={"attempt": first.token}))
            return 0
        return finish(folder)

    executor = InTurn(work)
    assert run([one], store, tmp_path, executor) == Summary(finished=1)
    assert len(executor.jobs) == 2
    assert "a late report was set aside: result.json.late-" in capsys.readouterr().err


def test_a_store_that_is_away_costs_no_run(
    planned: Plan, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    three = [planned(limit=limit) for limit in (1, 2, 3)]
    away = tmp_path / "away.db"
    left = [2]

    def work(folder: RunFolder) -> int:
        place = tmp_path / "harness.db"
        if folder.path.name == three[0].spec.run_id:
            place.rename(away)
            place.mkdir()  # SQLite would make a new file
        elif folder.path.name == three[2].spec.run_id:
            place.rmdir()
            away.rename(place)
        left[0] -= 1
        return finish(folder)

    assert run(three, store, tmp_path, InTurn(work)) == Summary(finished=3)
    assert store.finished_ids() == {one.spec.run_id for one in three}
    said = capsys.readouterr().err
    assert "1 outcome waits in the run folders for the store" in said
    assert "The store has taken what waited." in said


def test_a_store_that_is_busy_for_longer_than_writers_wait_costs_no_run(
    planned: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sqlite, "WRITERS_WAIT", 0.05)  # seconds, for 300
    three = [planned(limit=limit) for limit in (1, 2, 3)]
    store = Store(str(tmp_path / "harness.db"))
    other = sqlite3.connect(tmp_path / "harness.db", isolation_level=None)

    def work(folder: RunFolder) -> int:
        if folder.path.name == three[0].spec.run_id:
            other.execute("BEGIN IMMEDIATE")
        elif folder.path.name == three[2].spec.run_id:
            assert Reader(tmp_path / "harness.db").finished_ids() == set()
            other.execute("ROLLBACK")
        return finish(folder)

    with closing(other):
        assert run(three, store, tmp_path, InTurn(work)) == Summary(finished=3)
    assert store.finished_ids() == {one.spec.run_id for one in three}
    said = capsys.readouterr().err
    assert "for the store: The store" in said
    assert "has been kept busy by another process" in said
    assert "The store has taken what waited." in said


def test_a_store_that_stays_away_is_left_with_all_runs_whole_in_their_folders(
    one: PlannedRun, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "PATIENCE", 0.05)
    monkeypatch.setattr(keeper, "PAUSE", 0.02)

    class Away(Store):
        def add(self, *_: Any) -> None:
            raise ResultsError("the store is away")

    away = Away(tmp_path / "harness.db")
    assert run([one], away, tmp_path, InTurn(finish)) == Summary(finished=1, unstored=1)
    assert run([one], store, tmp_path, InTurn(finish)) == Summary(stored=1)


def test_an_outcome_that_the_store_refuses_for_good_keeps_no_other_out_and_is_said_once(
    planned: Plan,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(keeper, "PATIENCE", 0.2)
    two = [planned(limit=limit) for limit in (1, 2)]

    class Refuses(Store):
        def add(self, run: Run, judged: Collection[Verdicts] = ()) -> None:
            if run.run_id == two[0].spec.run_id:
                raise ResultsError("no store can hold it")
            super().add(run, judged)

    found = run(two, Refuses(tmp_path / "harness.db"), tmp_path, InTurn(finish))
    assert found == Summary(finished=2, unstored=1)
    assert store.finished_ids() == {two[1].spec.run_id}
    # When it is refused, and again once the other no longer waits behind it.
    assert capsys.readouterr().err.count("1 outcome waits in the run folders") == 2


def test_the_clock_of_the_machine_may_be_set_back_an_hour(
    planned: Plan, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three = [planned(limit=limit) for limit in (1, 2, 3)]
    now = [1.8e9]
    monkeypatch.setattr("time.time", lambda: now[0])

    def work(folder: RunFolder) -> int:
        now[0] -= 3600
        if len(executor.jobs) == 3:
            return -signal.SIGKILL
        folder.write_result(RESULT.model_copy(update={"started": now[0], "seconds": {"wall": 1.0}}))
        return 0

    executor = InTurn(work)
    assert run(three, store, tmp_path, executor) == Summary(finished=3)
    assert executor.starts.total() == 4
    assert all(store.run(one.spec.run_id).status == "finished" for one in three)
