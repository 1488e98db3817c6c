"""Worker processes: how they serve and how they end. A `light` one runs a folder's act.py."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from harness import plugins
from harness.scheduling.executors.local import LocalWorkers, execute
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from results.runfolder.folder import RunFolder
from tasks.data.sets import load_own

SECONDS = 20
WORKER = [sys.executable, "-P", "-m", "harness.worker"]
FOREVER = "import time; folder.write('at_work.json', True); time.sleep(1000)"


def until(true: Callable[[], bool], seconds: float = SECONDS) -> bool:
    """Wait for something that is bound to happen; False if it does not."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended while we looked
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(int(stat.parent.name))
    return found


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def act(tmp_path: Path) -> Callable[..., RunFolder]:
    """Make a run folder whose run does what a script says."""

    def make(script: str, name: str = "run") -> RunFolder:
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        (folder.path / "act.py").write_text(script)
        return folder

    return make


@pytest.fixture
def serve(light: Mapping[str, str]) -> Callable[..., list[str]]:
    """Let one worker serve folders, one after the other, and return its answers."""

    def answers(*folders: RunFolder) -> list[str]:
        pipe = subprocess.PIPE
        environment = {**os.environ, **light}
        with subprocess.Popen(WORKER, stdin=pipe, stdout=pipe, text=True, env=environment) as one:
            assert one.stdin is not None
            assert one.stdout is not None
            found = []
            for folder in folders:
                one.stdin.write(f"{folder.path}\n")
                one.stdin.flush()
                found.append(one.stdout.readline().strip())
            rest, _ = one.communicate(timeout=SECONDS)  # which closes its input
            assert (rest, one.returncode) == ("", 0)
        return found

    return answers


@pytest.fixture
def orphans() -> Iterator[list[int]]:
    """Collect processes that a failing claim would leave behind, to end them."""
    found: list[int] = []
    yield found
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_every_folder_is_answered_by_its_status_and_a_failure_ends_no_other(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    scripts = {
        "a": "",
        "b": "raise ValueError('wrong')",
        "c": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "d": "import os; os._exit(3)",
        "e": "from results.runfolder.folder import AlreadyRunningError; raise AlreadyRunningError",
        "f": "",
    }
    folders = [act(script, name) for name, script in scripts.items()]
    assert serve(*folders) == ["0", "1", "-11", "3", "75", "0"]
    assert [folder.path.name for folder in folders if folder.has("failure.json")] == ["b"]


def test_an_exception_leaves_its_reason_its_seconds_and_a_traceback_in_the_log(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    folder = act("import time; time.sleep(0.2); raise ValueError('no such layer')")
    serve(folder)
    failure = folder.read("failure.json")
    assert failure["reason"] == "ValueError: no such layer"
    assert 0.2 <= failure["seconds"]["wall"] < SECONDS
    assert "Traceback" in folder.end_of_log()
    assert folder.end_of_log().endswith("ValueError: no such layer")


def test_what_a_run_prints_goes_to_its_log_and_not_among_the_answers(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    script = "import subprocess, sys; print({0}); print({0}, file=sys.stderr)\n"
    script += "subprocess.run(['echo', '{0}'])"
    folders = [act(script.format(number), str(number)) for number in (41, 42)]
    assert serve(*folders) == ["0", "0"]
    assert [sorted(f.end_of_log().split()) for f in folders] == [["41"] * 3, ["42"] * 3]


def test_a_second_attempt_adds_to_the_log(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    folder = act("print('once')")
    serve(folder, folder)
    assert folder.end_of_log() == "once\nonce"


def test_what_one_run_changes_in_its_process_the_next_does_not_see(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    script = "import os, sys; assert 'MARK' not in os.environ; os.environ['MARK'] = '1'"
    assert serve(act(script, "a"), act(script, "b")) == ["0", "0"]


@pytest.mark.parametrize(("script", "status"), [("", 0), ("raise ValueError", 1)])
def test_given_a_folder_a_worker_runs_that_one_and_ends(
    light: Mapping[str, str], act: Callable[..., RunFolder], script: str, status: int
) -> None:
    command = [*WORKER, os.fspath(act(script).path)]
    done = subprocess.run(
        command, env={**os.environ, **light}, capture_output=True, timeout=SECONDS, check=False
    )
    assert done.returncode == status


# The pipes of a worker that died stay open until the garbage collector comes.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_worker_that_died_is_a_failed_run_and_is_replaced(
    light: Mapping[str, str], act: Callable[..., RunFolder]
) -> None:
    doomed = act("import os, signal; os.kill(os.getppid(), signal.SIGKILL)", "doomed")
    good = act("folder.write('result.json', 1)", "good")
    with LocalWorkers([light]) as workers:
        outcomes = list(execute([doomed, good], 1, workers))
    assert {o.folder.path.name: o.status for o in outcomes} == {
        "doomed": "failed",
        "good": "finished",
    }
    assert "SIGKILL" in doomed.read("failure.json")["reason"]


def test_a_slot_gives_its_environment_to_its_runs(
    light: Mapping[str, str], act: Callable[..., RunFolder]
) -> None:
    script = "import os; folder.write('slot.json', os.environ['CUDA_VISIBLE_DEVICES'])"
    folders = [act(script, name) for name in "ab"]
    slots = [{**light, "CUDA_VISIBLE_DEVICES": gpu} for gpu in ("3", "5")]
    with LocalWorkers(slots) as workers:
        statuses = [workers(folder, slot) for slot, folder in enumerate(folders)]
    assert statuses == [0, 0]
    assert [folder.read("slot.json") for folder in folders] == ["3", "5"]


def test_leaving_the_workers_ends_the_runs_at_work(
    light: Mapping[str, str], act: Callable[..., RunFolder], orphans: list[int]
) -> None:
    folders = [act(FOREVER, name) for name in "abc"]
    with LocalWorkers([light, light]) as workers:
        outcomes = execute([act("folder.write('result.json', 1)", "first"), *folders], 2, workers)
        next(outcomes)
        assert until(lambda: all(folder.has("at_work.json") for folder in folders[:2]))
        servers = children(os.getpid())
        runs = [run for server in servers for run in children(server)]
        orphans += runs
        outcomes.close()  # type: ignore[attr-defined]  # as Ctrl-C does, on its way out
    assert len(runs) == 2
    assert until(lambda: not any(map(alive, [*servers, *runs])))
    assert not folders[2].has("at_work.json")


def open_files() -> set[str]:
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one that lists the folder
            found.add(str(descriptor.readlink()))
    return found


def test_leaving_the_workers_leaves_no_pipe_open(
    light: Mapping[str, str], act: Callable[..., RunFolder]
) -> None:
    before = open_files()
    with LocalWorkers([light]) as workers:
        workers(act(""), 0)
        assert open_files() - before, "there are no pipes, so nothing is shown"
    assert [name for name in open_files() - before if name.startswith("pipe:")] == []


PARENT = """
import os, subprocess, sys, time
worker = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, text=True, start_new_session=True)
worker.stdin.write(sys.argv[1] + "\\n")
worker.stdin.flush()
print(worker.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def parent(light: Mapping[str, str]) -> Iterator[Callable[..., tuple[int, int]]]:
    """Start a process that starts a worker; return the ids of both."""
    started: list[subprocess.Popen[str]] = []

    def begin(folder: RunFolder, **environment: str) -> tuple[int, int]:
        command = [sys.executable, "-c", PARENT, os.fspath(folder.path), *WORKER]
        environment = {**os.environ, **light, **environment}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        started.append(process)
        assert process.stdout is not None
        return process.pid, int(process.stdout.readline())

    yield begin
    for process in started:
        with process:
            process.kill()


def test_a_worker_and_its_run_end_when_their_parent_is_killed(
    parent: Callable[..., tuple[int, int]], act: Callable[..., RunFolder], orphans: list[int]
) -> None:
    folder = act(FOREVER)
    starter, worker = parent(folder)
    assert until(lambda: folder.has("at_work.json"))
    (run,) = children(worker)
    orphans += [worker, run]
    os.kill(starter, signal.SIGKILL)
    assert until(lambda: not alive(run) and not alive(worker))


def test_a_worker_whose_parent_was_killed_while_it_started_runs_nothing(
    parent: Callable[..., tuple[int, int]], act: Callable[..., RunFolder], orphans: list[int]
) -> None:
    folder = act("folder.write('result.json', 1)")
    starter, worker = parent(folder)  # which now imports
    orphans.append(worker)
    os.kill(starter, signal.SIGKILL)
    assert until(lambda: not alive(worker))
    assert not folder.has("result.json")


def test_a_run_ends_when_its_worker_is_killed(
    parent: Callable[..., tuple[int, int]], act: Callable[..., RunFolder], orphans: list[int]
) -> None:
    folder = act(FOREVER)
    _, worker = parent(folder)
    until(lambda: folder.has("at_work.json"))
    (run,) = children(worker)
    orphans.append(run)
    os.kill(worker, signal.SIGKILL)
    assert until(lambda: not alive(run), seconds=1)


def test_real_workers_survive_a_broken_job_and_name_the_signal_that_ended_a_run(
    tmp_path: Path, job: Callable[..., PlannedRun]
) -> None:
    no_backbone, no_job, killed = (RunFolder(tmp_path / name) for name in ("a", "b", "c"))
    # Its data are as they were planned, so that the backbone is what it lacks.
    own = tmp_path / "own.json"
    own.write_text('[{"instruction": "1 + 1?", "output": "2"}]')
    train = load_own(own, plugins.group("math"))
    planned = Data(title="own.json", kind="own", sha256=train.sha256, verified=True, rows=1)
    lost = job(backbone_place=str(tmp_path / "moved away"), tests={}, train_data=planned)
    no_backbone.create(lost.model_copy(update={"train_file": str(own)}))
    no_job.path.mkdir()
    killed.path.mkdir()
    os.mkfifo(killed.path / "spec.json")  # whoever reads it waits
    with LocalWorkers([{}]) as workers:
        outcomes = execute([no_backbone, no_job, killed], 1, workers)
        first = next(outcomes)
        servers = children(os.getpid())
        second = next(outcomes)
        with (killed.path / "spec.json").open("w"):  # which waits for the reader
            ((run,), same) = children(*servers), children(os.getpid())
            os.kill(run, signal.SIGKILL)
            third = next(outcomes)
    assert [one.status for one in (first, second, third)] == ["failed"] * 3
    assert "moved away" in no_backbone.read("failure.json")["reason"]
    assert "spec.json" in no_job.read("failure.json")["reason"]
    assert "SIGKILL" in killed.read("failure.json")["reason"]
    assert servers == same, "the worker was replaced although only its runs failed"
