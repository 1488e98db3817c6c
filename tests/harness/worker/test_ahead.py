"""What the worker works out before it forks: one real worker runs real runs on `tiny`."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.backbones import TINY
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.worker.ahead import printing_to
from results.kept import YOUNG
from results.runfolder.folder import RunFolder

WATCHED = """
import os, runpy, sys
log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def opened(event, arguments):
    if event == "open" and str(arguments[0]).endswith(("mine.json", "tokenizer.json")):
        os.write(log, f"{os.getpid()} {arguments[0]}\\n".encode())
sys.addaudithook(opened)
runpy.run_module("harness.worker", run_name="__main__")
"""
"""The worker, in a Python that notes which process opens which data file."""

ROWS = [{"instruction": f"{n} + 1?", "output": f"It is {n + 1}."} for n in range(30)]
ZOO = '''
"""Zoo: questions about animals."""
import os
from pathlib import Path
from tasks.from_file import benchmark_from
with Path(__file__).with_name("imports").open("a") as file:
    file.write(f"{os.getpid()}\\n")
benchmark = benchmark_from(
    __file__, "rows.json", question="q", answer="a", kind="number", train="train.json"
)
'''


class Worker:
    """A worker process that was given one folder after the other."""

    def __init__(self, place: Path) -> None:
        self.place, self.opened = place, place / "opened"
        self.data = place / "mine.json"
        self.data.write_text(json.dumps(ROWS))
        command = [sys.executable, "-P", "-c", WATCHED, os.fspath(self.opened)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.count = 0

    def plan(self, **changes: object) -> RunFolder:
        """Make the folder of a run that trains nothing, on rows that nobody was tested on yet."""
        asked = {
            "methods": "base",
            "tasks": "gsm8k",
            "train_data": self.data,
            "limit": 2,
            "settings": ["protocol.max_new_tokens=2"],
            **changes,
        }
        (planned,) = plan(Request(**asked))  # type: ignore[arg-type]
        self.count += 1
        folder = RunFolder(self.place / f"run-{self.count}")
        folder.create(*planned.kept)
        return folder

    def run(self, folder: RunFolder) -> int:
        """Run a folder."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{folder.path}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def opens(self) -> list[tuple[int, str]]:
        """List which process opened which file, from the start."""
        lines = self.opened.read_text().split("\n")[:-1]
        return [
            (int(pid), Path(path).name) for pid, _, path in (one.partition(" ") for one in lines)
        ]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    one = Worker(tmp_path_factory.mktemp("ahead"))
    yield one
    one.process.communicate(timeout=60)


@pytest.fixture
def data(worker: Worker, until: Callable[..., bool]) -> Iterator[Path]:
    """Give the training file, old enough to be kept; afterwards it is as before."""

    assert until(lambda: time.time() - worker.data.stat().st_ctime > YOUNG)
    before = worker.data.stat().st_ctime_ns
    yield worker.data
    if not worker.data.exists() or worker.data.stat().st_ctime_ns != before:
        worker.data.write_text(json.dumps(ROWS))


def test_data_and_tokenizer_are_read_by_the_worker_itself_and_once_for_several_runs(
    worker: Worker, data: Path
) -> None:
    folders = [worker.plan(), worker.plan(limit=3)]
    assert worker.run(folders[0]) == 0
    read = worker.opens()
    assert {pid for pid, _ in read} == {worker.process.pid}
    assert {name for _, name in read} == {"mine.json", "tokenizer.json"}
    assert worker.run(folders[1]) == 0
    assert worker.opens() == read
    assert [len(folder.generations("gsm8k")) for folder in folders] == [2, 3]
    result = folders[1].result()
    assert result
    assert "contamination" in result.seconds


def test_a_file_that_changed_between_two_runs_ends_the_second_alone(
    worker: Worker, data: Path
) -> None:
    first, second, third = worker.plan(), worker.plan(), worker.plan()
    assert worker.run(first) == 0
    data.write_text(json.dumps(ROWS[::-1]))  # of the same size
    assert worker.run(second) == 1
    failure = second.failure()
    assert failure
    assert "mine.json: its SHA-256 is" in failure.reason
    data.write_text(json.dumps(ROWS))
    assert worker.run(third) == 0


def test_a_file_that_is_gone_ends_its_run_with_its_reason(worker: Worker, data: Path) -> None:
    folder = worker.plan()
    data.rename(data.with_name("mine.old"))
    assert worker.run(folder) == 1
    failure = folder.failure()
    assert failure
    assert "mine.json: there is no such file. Did you mean 'mine.old'?" in failure.reason


def test_what_cannot_be_worked_out_ahead_fails_in_the_run_and_never_the_worker(
    worker: Worker, data: Path
) -> None:
    broken = worker.place / "broken"
    broken.mkdir()
    for file in TINY.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    lame, strange = worker.plan(backbones=str(broken)), worker.plan()
    (broken / "tokenizer.json").write_text("{")
    (strange.path / "spec.json").write_text("{}")
    for folder in (lame, strange, RunFolder(worker.place / "nowhere")):
        assert worker.run(folder) != 0
    for folder in (lame, strange):
        assert folder.failure()
    assert worker.run(worker.plan()) == 0


def test_what_is_printed_ahead_goes_to_the_log_and_not_among_the_answers(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.txt"
    with printing_to(log):
        os.write(1, b"printed\n")
        os.write(2, b"warned\n")
    print("an answer")
    assert log.read_text() == "printed\nwarned\n"
    assert capfd.readouterr() == ("an answer\n", "")


def test_data_are_read_ahead_for_a_method_given_by_path_but_its_code_is_not(
    worker: Worker, data: Path
) -> None:
    mine, imports = worker.place / "mine.py", worker.place / "method-imports"
    mine.write_text(
        "import os\n"
        "from dataclasses import replace\n"
        "from methods.base import method as base\n"
        f"with open({os.fspath(imports)!r}, 'a') as file:\n"
        "    file.write(f'{os.getpid()}\\n')\n"
        "method = replace(base, title='Mine')\n"
    )
    folder, before = worker.plan(methods=os.fspath(mine)), len(worker.opens())
    imports.unlink()
    assert worker.run(folder) == 0
    assert {pid for pid, _ in worker.opens()[before:]} <= {worker.process.pid}
    assert worker.process.pid not in set(map(int, imports.read_text().split()))


def test_a_benchmark_given_by_path_is_imported_in_its_own_run_alone(
    worker: Worker, data: Path
) -> None:
    zoo = worker.place / "zoo.py"
    zoo.write_text(ZOO)
    for name, count in (("rows", 5), ("train", 30)):
        rows = [{"q": f"Legs of {n} cats?", "a": 4 * n} for n in range(count)]
        (worker.place / f"{name}.json").write_text(json.dumps(rows))
    folder = worker.plan(tasks=os.fspath(zoo), train_data=None)
    imports = worker.place / "imports"
    imports.unlink()
    assert worker.run(folder) == 0
    pids = set(map(int, imports.read_text().split()))
    assert len(pids) == 1
    assert pids.isdisjoint({worker.process.pid, os.getpid()})
