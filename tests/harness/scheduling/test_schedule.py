"""What is run, what is stored, and when. The executor is one of a user's own, without processes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.executors.contract import Executor, Job, Outcome, State, outcome_of
from harness.scheduling.schedule import Summary, run
from harness.spec.outcome import ELSEWHERE
from harness.spec.planned import PlannedRun
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.values import FORMAT, Divergence
from results.store import Reader, Store

Work = Callable[[RunFolder], int]


def finish(folder: RunFolder) -> int:
    folder.write_result(RESULT.model_copy(update={"seconds": {"wall": 12.0}}))
    return 0


class InTurn(Executor):
    """Runs one job after the other, in the caller's thread, whenever an outcome is asked for."""

    def __init__(self, work: Work) -> None:
        self.work, self.jobs, self.ended = work, list[Job](), 0

    def submit(self, job: Job) -> None:
        self.jobs.append(job)

    def outcomes(self) -> Iterator[Outcome]:
        while self.ended < len(self.jobs):
            (folder,) = self.jobs[self.ended].folders
            outcome = outcome_of(folder, self.work(folder))
            self.ended += 1
            yield outcome

    def cancel(self, job: Job) -> None:
        raise NotImplementedError

    def interrupt(self) -> int:
        return 0

    def state(self, job: Job) -> State:
        return "ended" if self.jobs.index(job) < self.ended else "waiting"

    def close(self) -> None:
        """Nothing is at work."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "harness.db"))


@pytest.fixture
def three(planned: Callable[..., PlannedRun]) -> list[PlannedRun]:
    return [planned(limit=limit) for limit in (1, 2, 3)]


def ids(planned: list[PlannedRun]) -> list[str]:
    return [one.spec.run_id for one in planned]


def test_every_planned_run_is_a_job_in_its_own_folder_in_the_order_of_the_plan(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    executor = InTurn(finish)
    assert run(three, store, tmp_path, executor) == Summary(finished=3)
    assert [[folder.path for folder in job.folders] for job in executor.jobs] == [
        [tmp_path / run_id] for run_id in ids(three)
    ]
    assert PlannedRun.of(RunFolder(tmp_path / ids(three)[0])) == three[0]


def test_the_first_run_is_submitted_before_the_folder_of_the_next_is_made(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    made = []

    class Looks(InTurn):
        def submit(self, job: Job) -> None:
            super().submit(job)
            made.append(sum((tmp_path / run_id).exists() for run_id in ids(three)))

    run(three, store, tmp_path, Looks(finish))
    assert made == [1, 2, 3]


def test_a_folder_of_a_newer_version_is_refused_before_any_run(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    head, spec, places = three[2].kept
    newer = head.model_copy(update={"format": FORMAT + 1})
    RunFolder(tmp_path / ids(three)[2]).create(newer, spec, places)
    executor = InTurn(finish)
    with pytest.raises(RunFolderError, match="newer version"):
        run(three, store, tmp_path, executor)
    assert not executor.jobs


def test_what_is_stored_is_not_run_again(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    run(three[:2], store, tmp_path, InTurn(finish))
    executor = InTurn(finish)
    assert run(three, store, tmp_path, executor) == Summary(stored=2, finished=1)
    assert len(executor.jobs) == 1


def test_a_run_that_is_whole_in_its_folder_is_stored_and_not_run(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / ids(three)[0])
    folder.create(*three[0].kept)
    finish(folder)
    executor = InTurn(finish)
    assert run(three[:1], store, tmp_path, executor) == Summary(stored=1)
    assert not executor.jobs
    assert store.finished_ids() == {ids(three)[0]}


def test_what_ends_is_stored_before_the_next_outcome(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    counts = []

    def work(folder: RunFolder) -> int:
        counts.append(len(Reader(str(tmp_path / "harness.db")).finished_ids()))
        return finish(folder)

    run(three, store, tmp_path, InTurn(work))
    assert counts == [0, 1, 2]


def test_a_failed_run_is_stored_with_its_reason_and_run_again(
    three: list[PlannedRun], store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = ids(three)[1]

    def work(folder: RunFolder) -> int:
        return 3 if folder.path.name == broken else finish(folder)

    assert run(three, store, tmp_path, InTurn(work)) == Summary(finished=2, failed=[broken])
    assert "status 3" in store.run(broken).reason
    assert "failed: The worker ended with status 3" in capsys.readouterr().err
    assert run(three, store, tmp_path, InTurn(finish)) == Summary(stored=2, finished=1)


def diverge(folder: RunFolder) -> int:
    facts = RESULT.model_dump(include=set(Divergence.model_fields))
    folder.write_divergence(Divergence(**facts, step=3, reason="the loss is nan"))
    return 0


def test_a_run_that_diverged_is_stored_as_such_and_not_run_again(
    three: list[PlannedRun], store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (one,) = ids(three[:1])
    assert run(three[:1], store, tmp_path, InTurn(diverge)) == Summary(diverged=[one])
    assert "diverged at step 3: the loss is nan" in capsys.readouterr().err
    assert (store.run(one).status, store.run(one).reason) == (
        "diverged",
        "step 3: the loss is nan",
    )
    assert (store.diverged_ids(), store.finished_ids()) == ({one}, set())
    executor = InTurn(finish)
    assert run(three[:1], store, tmp_path, executor) == Summary(stored=1, diverged=[one])
    assert not executor.jobs


def test_a_divergence_that_was_not_stored_is_found_in_its_folder(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    (one,) = ids(three[:1])
    folder = RunFolder(tmp_path / one)
    folder.create(*three[0].kept)
    diverge(folder)
    expected = Summary(stored=1, diverged=[one])
    assert run(three[:1], store, tmp_path, InTurn(finish)) == expected
    assert store.diverged_ids() == {one}


def test_runs_that_are_elsewhere_or_cancelled_are_counted_and_not_stored(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    class CancelsTheFirst(InTurn):
        def outcomes(self) -> Iterator[Outcome]:
            self.ended = 1
            yield Outcome(self.jobs[0].folders[0], "cancelled")
            yield from super().outcomes()

    executor = CancelsTheFirst(lambda _: ELSEWHERE)
    assert run(three, store, tmp_path, executor) == Summary(cancelled=1, elsewhere=2)
    assert store.runs() == []
