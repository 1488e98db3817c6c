"""The checks: each takes what makes an executor, and fails by an assertion that says why."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from harness.scheduling.executors.conformance.trial import (
    Make,
    Trial,
    at_work,
    reason,
    statuses,
    trial,
)
from harness.scheduling.executors.contract import ClosedError, Job

FINISH = "finish()"
OVERLAP = "overlap(0.1); finish()"

Check = Callable[[Make], None]


def every_run_has_one_outcome(make: Make) -> None:
    """Each run of each job, of one run or of several, has one outcome; then they end."""
    with trial(make, slots=2) as t:
        jobs = [t.submit(FINISH), t.submit(FINISH, FINISH), t.submit(FINISH)]
        outcomes = t.rest()
        counts = Counter(outcome.folder.path for outcome in outcomes)
        expected = Counter(folder.path for job in jobs for folder in job.folders)
        assert counts == expected, f"outcomes by run: {counts}"
        found = [statuses(outcomes, job) for job in jobs]
        assert found == [["finished"], ["finished"] * 2, ["finished"]], f"they ended: {found}"


def jobs_start_in_the_order_of_submission(make: Make) -> None:
    """On one slot, jobs run in the order of submission, their runs in the order of the job."""
    with trial(make, slots=1) as t:
        jobs = [t.submit(OVERLAP), t.submit(OVERLAP, OVERLAP), t.submit(OVERLAP)]
        t.rest()
        expected = [folder.path.name for job in jobs for folder in job.folders]
        assert t.order() == expected, f"runs started in the order {t.order()}"


def runs_of_a_job_never_overlap(make: Make) -> None:
    """The runs of a job run one after the other, though other slots are free."""
    with trial(make, slots=3) as t:
        job = t.submit(OVERLAP, OVERLAP, OVERLAP)
        t.rest()
        assert _most_at_a_time([job]) == 1, "runs of one job ran at the same time"


def as_many_runs_at_a_time_as_slots(make: Make) -> None:
    """All slots are used, and none has two runs."""
    with trial(make, slots=2) as t:
        _fills_two_slots(t)


def warming_up_takes_and_adds_no_slot(make: Make) -> None:
    """After `warm`, all slots are used, and none has two runs; it can be left without a job too."""
    with trial(make, slots=2) as t:
        t.executor.warm()
        _fills_two_slots(t)
    with trial(make, slots=2) as t:
        t.executor.warm()


def outcomes_come_as_runs_end(make: Make) -> None:
    """An outcome can be read while a job that was submitted earlier is at work."""
    with trial(make, slots=2) as t:
        first, second = t.submit("wait('go'); finish()"), t.submit(FINISH)
        outcome = t.next()
        assert outcome, "the outcomes ended before the runs"
        assert outcome.folder is second.folders[0], "outcomes wait for those of earlier jobs"
        t.let("go")
        assert statuses(t.rest(), first) == ["finished"]


def jobs_can_be_submitted_while_outcomes_are_read(make: Make) -> None:
    """A job that is submitted while outcomes are read is among them; so is one after their end."""
    with trial(make, slots=2) as t:
        first = t.submit("reach('first'); wait('go'); finish()")
        t.read()
        t.reached("first")
        second = t.submit(FINISH)
        outcome = t.next()
        assert outcome, "the outcomes ended before the runs"
        assert outcome.folder is second.folders[0], "the job submitted in between is not run"
        t.let("go")
        assert statuses(t.rest(), first) == ["finished"]
        third = t.submit(FINISH)
        assert statuses(t.rest(), third) == ["finished"], "the outcomes ended once and for all"


def a_failed_run_leaves_a_reason_and_ends_no_other(make: Make) -> None:
    """A run that raises, exits or is killed is failed with a reason; those behind it finish."""
    endings = {
        "raise ValueError('no such layer')": "no such layer",
        "import os; os._exit(3)": "",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "",
    }
    with trial(make, slots=2) as t:
        jobs = {act: t.submit(act, FINISH) for act in endings}
        outcomes = t.rest()
        for act, job in jobs.items():
            found = statuses(outcomes, job)
            assert found == ["failed", "finished"], f"{act}, and a run behind it: {found}"
            why = reason(job.folders[0])
            assert why, f"no failure record after {act}"
            assert endings[act] in why, f"after {act} the reason is {why!r}"


def finished_means_that_there_is_a_result(make: Make) -> None:
    """A run that exits with status 0 and left no result is failed, with a reason."""
    with trial(make, slots=1) as t:
        job = t.submit("pass")
        found = statuses(t.rest(), job)
        assert found == ["failed"], f"a run without a result is {found[0]}"
        assert reason(job.folders[0]), "there is no failure record"


def a_run_of_another_process_is_left_alone(make: Make) -> None:
    """A run whose folder is locked is elsewhere, without a failure record; later it can run."""
    with trial(make, slots=1) as t:
        folder = t.folder(FINISH)
        with folder.locked():
            locked = Job((folder,))
            t.executor.submit(locked)
            found = statuses(t.rest(), locked)
        assert found == ["elsewhere"], f"a run whose folder is locked is {found[0]}"
        assert not reason(folder), "there is a failure record"
        again = Job((folder,))
        t.executor.submit(again)
        assert statuses(t.rest(), again) == ["finished"]


def a_state_goes_from_waiting_to_running_to_ended(make: Make) -> None:
    """A job waits while another has the slot, runs after it, and has ended with its outcomes."""
    with trial(make, slots=1) as t:
        first = t.submit("reach('first'); wait('go'); finish()")
        second = t.submit("reach('second'); wait('go on'); finish()")
        t.reached("first")
        t.until(lambda: t.executor.state(first) == "running", "a job at work is not running")
        assert t.executor.state(second) == "waiting", "a job without a slot is not waiting"
        t.let("go")
        t.reached("second")
        t.until(lambda: t.executor.state(second) == "running", "a job at work is not running")
        assert t.executor.state(first) == "ended", "a job that lost its slot has not ended"
        t.let("go on")
        t.rest()
        assert t.executor.state(second) == "ended", "a job with all outcomes read has not ended"


def a_cancelled_job_that_waits_does_not_start(make: Make) -> None:
    """Its runs are cancelled without a failure record; the jobs around it run."""
    with trial(make, slots=1) as t:
        first = t.submit("reach('first'); wait('go'); finish()")
        second = t.submit("reach('second'); finish()", FINISH)
        third = t.submit(FINISH)
        t.reached("first")
        t.executor.cancel(second)
        t.let("go")
        outcomes = t.rest()
        found = statuses(outcomes, second)
        assert found == ["cancelled"] * 2, f"the runs of the cancelled job are {found}"
        assert not (t.place / "second").exists(), "the cancelled job started"
        assert not any(map(reason, second.folders)), "there is a failure record"
        around = [statuses(outcomes, job) for job in (first, third)]
        assert around == [["finished"]] * 2, f"the jobs around it are {around}"


def a_cancelled_job_that_runs_is_ended(make: Make) -> None:
    """The run at work and those behind it are cancelled, earlier ones and other slots are not."""
    with trial(make, slots=2) as t:
        other = t.submit("reach('other'); wait('go'); finish()")
        job = t.submit(FINISH, "reach('work'); wait('never'); finish()", FINISH)
        t.reached("other", "work")
        t.executor.cancel(job)
        outcomes = [found for found in (t.next(), t.next(), t.next()) if found]
        found = statuses(outcomes, job)
        assert found == ["finished", "cancelled", "cancelled"], f"the runs of the job are {found}"
        assert not at_work(job.folders[1]), "the cancelled run is still at work"
        assert not any(map(reason, job.folders)), "there is a failure record"
        t.executor.cancel(job)  # has ended: no effect
        behind = t.submit(FINISH)
        t.let("go")
        outcomes = t.rest()
        assert statuses(outcomes, other) == ["finished"], "the run on the other slot was disturbed"
        assert statuses(outcomes, behind) == ["finished"], "the slot is not used again"


def interrupting_lets_a_run_stop_by_itself(make: Make) -> None:
    """What is at work is asked to stop and is cancelled; what waits, or comes, does not start."""
    with trial(make, slots=2) as t:
        stops = t.submit("reach('stops'); work()", "reach('behind'); finish()")
        ends = t.submit("reach('ends'); wait('go'); finish()")
        waits = t.submit("reach('waits'); finish()")
        t.reached("stops", "ends")
        asked = t.executor.interrupt()
        assert asked == 2, f"2 runs are at work, {asked} were asked to stop"  # noqa: PLR2004
        later = t.submit("reach('later'); finish()")
        t.let("go")
        outcomes = t.rest()
        found = statuses(outcomes, stops)
        assert found == ["cancelled"] * 2, f"a run that stops and one behind it are {found}"
        found = statuses(outcomes, ends)
        assert found == ["finished"], f"a run that ended before it stopped is {found[0]}"
        found = [statuses(outcomes, job)[0] for job in (waits, later)]
        assert found == ["cancelled"] * 2, f"a job that waits and one that comes later are {found}"
        started = [n for n in ("behind", "waits", "later") if (t.place / n).exists()]
        assert not started, f"{started} started"
        jobs = (stops, ends, waits, later)
        assert not any(reason(f) for job in jobs for f in job.folders), "there is a failure record"
        asked = t.executor.interrupt()
        assert asked == 0, f"nothing is at work, and {asked} runs were asked to stop"


def a_run_that_does_not_stop_is_ended_by_closing(make: Make) -> None:
    """A run that was asked to stop and works on is ended by `close`, and is cancelled."""
    with trial(make, slots=1) as t:
        job = t.submit("reach('deaf'); wait('never')")
        t.reached("deaf")
        t.executor.interrupt()
        t.executor.close()
        assert not at_work(job.folders[0]), "the run is still at work"
        found = statuses(t.rest(), job)
        assert found == ["cancelled"], f"the run is {found[0]}"
        assert not reason(job.folders[0]), "there is a failure record"


def leaving_ends_what_is_at_work(make: Make) -> None:
    """However the context is left, runs at work end, waiting ones do not start, none is failed."""
    with trial(make, slots=2) as t:
        jobs = [t.submit(f"reach('{name}'); wait('never'); finish()") for name in "ab"]
        jobs.append(t.submit("reach('c'); finish()"))
        t.reached("a", "b")
        with suppress(KeyboardInterrupt), t.executor:
            raise KeyboardInterrupt
        folders = [job.folders[0] for job in jobs]
        assert not any(map(at_work, folders)), "a run is still at work"
        outcomes = t.rest()
        found = [statuses(outcomes, job) for job in jobs]
        assert found == [["cancelled"]] * 3, f"the runs are {found}"
        assert not (t.place / "c").exists(), "a run that waited was started"
        assert not any(map(reason, folders)), "there is a failure record"
        try:
            t.submit(FINISH)
        except ClosedError:
            return
        raise AssertionError("a closed executor takes jobs")


def _fills_two_slots(t: Trial) -> None:
    meeting = [
        t.submit("reach('a'); wait('b'); finish()"),
        t.submit("reach('b'); wait('a'); finish()"),
    ]
    jobs = [t.submit("overlap(0.3); finish()") for _ in range(4)]
    outcomes = t.rest()
    met = [statuses(outcomes, job) for job in meeting]
    assert met == [["finished"]] * 2, "two runs on two slots were never at work together"
    assert _most_at_a_time(jobs) <= 2, "more runs than slots were at work"  # noqa: PLR2004


def _most_at_a_time(jobs: list[Job]) -> int:
    return max(int((f.path / "count").read_text()) for job in jobs for f in job.folders)


CHECKS: tuple[Check, ...] = (
    every_run_has_one_outcome,
    jobs_start_in_the_order_of_submission,
    runs_of_a_job_never_overlap,
    as_many_runs_at_a_time_as_slots,
    warming_up_takes_and_adds_no_slot,
    outcomes_come_as_runs_end,
    jobs_can_be_submitted_while_outcomes_are_read,
    a_failed_run_leaves_a_reason_and_ends_no_other,
    finished_means_that_there_is_a_result,
    a_run_of_another_process_is_left_alone,
    a_state_goes_from_waiting_to_running_to_ended,
    a_cancelled_job_that_waits_does_not_start,
    a_cancelled_job_that_runs_is_ended,
    interrupting_lets_a_run_stop_by_itself,
    a_run_that_does_not_stop_is_ended_by_closing,
    leaving_ends_what_is_at_work,
)
