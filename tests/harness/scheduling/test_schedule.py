"""What is run, what is stored, and when. The executor is one of a user's own, without processes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.executors.contract import Job
from harness.scheduling.schedule import Policy, Summary, run
from harness.spec.planned import PlannedRun
from results.runfolder import attempts, wishes
from results.runfolder.claims import claimed
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.values import FORMAT, Divergence, Environment, FailureKind
from results.store import Reader, Store
from tests.harness.scheduling.in_turn import InTurn, finish

ENVIRONMENT = Environment(packages={}, python="", torch="", device="", machine={}, harness={})


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


def test_a_run_that_is_named_twice_is_one(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    twice = [three[0], three[1], three[0]]
    assert run(twice, store, tmp_path, InTurn(finish)) == Summary(finished=2)


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


@pytest.mark.parametrize("name", ["run.json", "places.json"])
def test_first_files_that_are_damaged_are_written_again_and_stop_no_grid(
    three: list[PlannedRun], store: Store, tmp_path: Path, name: str
) -> None:
    folder = RunFolder(tmp_path / ids(three)[0])
    folder.create(*three[0].kept)
    whole = (folder.path / name).read_bytes()
    (folder.path / name).write_bytes(whole[: len(whole) // 2])
    assert run(three, store, tmp_path, InTurn(finish)) == Summary(finished=3)
    assert (folder.path / name).read_bytes() == whole


def claim_and_finish(folder: RunFolder) -> int:
    """Do what the worker does with a folder, the run aside."""
    with claimed(folder, leave=lambda: None) as claim:
        assert claim
        folder.write_environment(ENVIRONMENT)
        return finish(folder)


@pytest.mark.parametrize(
    "name", ["attempts/0001.json", "result.json", "divergence.json", "failure.json"]
)
def test_a_run_that_was_cut_and_of_which_a_file_is_damaged_stops_no_grid(
    three: list[PlannedRun], store: Store, tmp_path: Path, name: str
) -> None:
    folder = RunFolder(tmp_path / ids(three)[0])
    folder.create(*three[0].kept)
    attempts.begin(folder)
    (folder.path / name).write_text('{"num')
    assert run(three, store, tmp_path, InTurn(claim_and_finish)) == Summary(finished=3)


def test_a_run_that_ended_with_a_damaged_file_and_was_not_stored_is_begun_again(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / ids(three)[0])
    folder.create(*three[0].kept)
    finish(folder)
    (folder.path / "environment.json").write_text('{"num')
    assert run(three, store, tmp_path, InTurn(claim_and_finish)) == Summary(finished=3)


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


def test_a_failed_run_is_stored_with_its_reason(
    three: list[PlannedRun], store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = ids(three)[1]

    def work(folder: RunFolder) -> int:
        return 3 if folder.path.name == broken else finish(folder)

    assert run(three, store, tmp_path, InTurn(work)) == Summary(finished=2, failed=[broken])
    assert "status 3" in store.run(broken).reason
    assert "failed: The worker ended with status 3" in capsys.readouterr().err


def test_an_exception_is_not_repeated_unless_it_is_asked_for(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    (one,) = ids(three[:1])
    run(three[:1], store, tmp_path, InTurn(lambda _: 3))
    executor = InTurn(finish)
    before = run(three[:1], store, tmp_path, executor)
    assert before == Summary(failed_before={one: store.run(one).reason})
    assert not executor.jobs
    again = run(three[:1], store, tmp_path, executor, Policy(repeat=True))
    assert again == Summary(finished=1)


def test_what_failed_before_is_stored_where_the_store_is_new(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    (one,) = ids(three[:1])
    run(three[:1], store, tmp_path, InTurn(lambda _: 3))
    new = Store(str(tmp_path / "new.db"))
    assert run(three[:1], new, tmp_path, InTurn(finish)).failed_before
    assert new.run(one).status == "failed"


@pytest.mark.parametrize("kind", ["memory", "disk", "vanished", "stalled", "refused"])
def test_what_failed_for_another_reason_is_run_by_the_next_command(
    kind: FailureKind, three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / ids(three)[0])
    folder.create(*three[0].kept)
    folder.note_failure("not of the run itself", kind=kind)
    assert run(three[:1], store, tmp_path, InTurn(finish)) == Summary(finished=1)


def test_a_forgotten_run_is_not_run_again(
    three: list[PlannedRun], store: Store, tmp_path: Path
) -> None:
    run(three[:1], store, tmp_path, InTurn(finish))
    wishes.forget(RunFolder(tmp_path / ids(three)[0]), "the wrong data")
    executor = InTurn(finish)
    assert run(three[:1], store, tmp_path, executor) == Summary(forgotten=1)
    assert not executor.jobs


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
