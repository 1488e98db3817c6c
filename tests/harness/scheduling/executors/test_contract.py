import re
from pathlib import Path

import pytest

from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.executors.conformance.trial import reason
from harness.scheduling.executors.contract import Job, outcome_of
from harness.spec.outcome import INTERRUPTED
from results.runfolder import attempts
from results.runfolder.folder import RunFolder
from results.runfolder.values import Divergence


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "ended with status 0 and left no result$"),
        (1, "ended with status 1 and left no result$"),
        (3, "ended with status 3 and left no result$"),
        (74, "could not write why it failed: is the disk full"),  # EX_IOERR of sysexits.h
        (-9, "ended by SIGKILL: is there enough memory"),
        (-15, "ended by SIGTERM$"),
        (-11, "ended by SIGSEGV$"),
        (-40, "ended by signal 40$"),  # a real-time signal, which has no name
    ],
)
def test_a_run_that_left_no_reason_gets_the_one_of_its_status(
    folder: RunFolder, status: int, words: str
) -> None:
    assert outcome_of(folder, status).status == "failed"
    assert re.search(words, reason(folder))


def test_a_worker_that_broke_fails_the_run_with_the_end_of_what_it_printed(
    folder: RunFolder,
) -> None:
    printed = "Traceback:\n  import torch\nImportError: libcudart.so.12: cannot open\n"
    assert outcome_of(folder, 1, printed).status == "failed"
    assert (
        reason(folder)
        == "The worker ended with status 1: ImportError: libcudart.so.12: cannot open"
    )
    assert folder.end_of_log() == printed.strip()


def test_what_the_kernel_ended_for_memory_is_told_apart(folder: RunFolder) -> None:
    outcome_of(folder, -9, starved=True)
    failure = folder.failure()
    assert failure
    assert (failure.kind, "too little memory" in failure.reason) == ("memory", True)


def test_a_run_that_stopped_since_it_was_asked_is_no_failure(folder: RunFolder) -> None:
    assert outcome_of(folder, INTERRUPTED).status == "cancelled"
    assert not folder.failed


def test_the_reason_that_a_worker_gave_is_kept(folder: RunFolder) -> None:
    folder.note_failure("CUDA out of memory")
    assert outcome_of(folder, 1).status == "failed"
    assert reason(folder) == "CUDA out of memory"


def test_a_run_of_another_process_is_no_failure(folder: RunFolder) -> None:
    assert outcome_of(folder, 75).status == "elsewhere"  # EX_TEMPFAIL of sysexits.h
    assert not folder.failed


@pytest.mark.parametrize("status", [0, 1, -11])
def test_a_result_is_a_finished_run_whatever_came_after_it(folder: RunFolder, status: int) -> None:
    folder.write_result(RESULT)
    assert outcome_of(folder, status).status == "finished"
    assert not folder.failed


@pytest.mark.parametrize("status", [0, -11])
def test_a_divergence_is_an_ending_and_no_failure(folder: RunFolder, status: int) -> None:
    facts = RESULT.model_dump(include=set(Divergence.model_fields))
    folder.write_divergence(Divergence(**facts, step=3, reason="the loss is nan"))
    assert outcome_of(folder, status).status == "diverged"
    assert not folder.failed


def test_the_same_folders_make_another_job(folder: RunFolder) -> None:
    assert len({Job((folder,)), Job((folder,))}) == 2


def test_an_attempt_whose_worker_died_without_a_word_gets_its_reason(folder: RunFolder) -> None:
    begun = attempts.begin(folder)
    assert begun
    outcome_of(folder, -11)
    attempt, failure = attempts.last(folder), folder.failure()
    assert attempt
    assert failure
    assert (attempt.status, attempt.kind, attempt.reason) == ("failed", "vanished", failure.reason)
    assert (failure.kind, failure.attempt) == ("vanished", begun.token)


def begun_on_another_machine(folder: RunFolder) -> None:
    begun = attempts.begin(folder)
    assert begun
    attempts.keep(folder, begun.model_copy(update={"host": "another"}))


def test_a_worker_that_is_known_to_be_gone_fails_its_run_on_whichever_machine(
    folder: RunFolder,
) -> None:
    begun_on_another_machine(folder)
    assert outcome_of(folder, -9, starved=True, gone=True).status == "failed"
    attempt, failure = attempts.last(folder), folder.failure()
    assert attempt
    assert failure
    assert (attempt.status, attempt.kind, failure.kind) == ("failed", "memory", "memory")


def test_a_process_of_another_machine_of_which_nothing_is_known_keeps_its_run(
    folder: RunFolder,
) -> None:
    begun_on_another_machine(folder)
    assert outcome_of(folder, -9).status == "elsewhere"
    assert not folder.failed
