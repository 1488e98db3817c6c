"""When an executor is opened: where something is to be run, and while torch is imported."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.commands import run as command
from harness.commands.leaving import Leaving
from harness.commands.started import started
from harness.errors import UserError
from harness.planning.plan import draft
from harness.planning.request import Request
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.resources import Resources

Children = Callable[[int], list[int]]

LORA = Request(methods="lora", tasks="gsm8k")


def test_an_executor_is_built_when_it_is_asked_for_and_ends_with_what_needs_it(
    children: Children,
) -> None:
    before = children(os.getpid())
    with started("local", Resources(slots=2)) as opened:
        assert children(os.getpid()) == before
        opened.warm()
        assert len(children(os.getpid())) == len(before) + 1
        assert isinstance(opened.executor, LocalExecutor)
        assert opened.executor is opened.executor
    assert children(os.getpid()) == before


@pytest.mark.parametrize("error", [UserError, KeyboardInterrupt])
def test_a_plan_that_fails_or_is_interrupted_leaves_no_worker(
    children: Children, error: type[BaseException]
) -> None:
    before = children(os.getpid())

    def fail() -> None:
        with started("local", Resources()) as opened:
            opened.warm()
            raise error

    with pytest.raises(error):
        fail()
    assert children(os.getpid()) == before


def told(request: Request) -> int:
    """Count how often a plan says that it is going to import torch."""
    times: list[None] = []
    draft(request, lambda: times.append(None))
    return len(times)


def test_a_plan_says_once_that_it_has_to_work_something_out_and_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    several = Request(methods="lora,dypam", tasks="gsm8k")
    assert [told(several), told(several), told(LORA)] == [1, 0, 0]


@pytest.mark.parametrize("wrong", [{"methods": "lorra"}, {"seeds": "0"}, {"settings": ["lr"]}])
def test_a_request_that_cannot_be_read_starts_no_worker(
    wrong: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    times: list[None] = []
    with pytest.raises(UserError):
        draft(Request(**{"methods": "lora", "tasks": "gsm8k"} | wrong), lambda: times.append(None))
    assert not times


def test_an_executor_that_is_not_there_is_told_with_the_faults_of_the_plan(tmp_path: Path) -> None:
    request = Request(methods="lora", tasks="gsm8k", backbones=str(tmp_path / "none"))
    with (
        started("locall", Resources()) as opened,
        pytest.raises(UserError, match=r"(?s)locall.*not a backbone"),
    ):
        command.carry_out(request, str(tmp_path / "a.db"), tmp_path, opened)


def test_an_option_of_another_executor_is_refused_with_those_that_take_it(tmp_path: Path) -> None:
    given = {"partition": "long", "time": 60}
    with (
        started("local", Resources(), options=given) as opened,
        pytest.raises(UserError, match=r"--partition --time: not for --executor local.*slurm"),
    ):
        command.carry_out(LORA, str(tmp_path / "a.db"), tmp_path, opened)


def test_an_executor_whose_extra_is_not_installed_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    monkeypatch.delitem(sys.modules, "harness.scheduling.executors.slurm", raising=False)
    with (
        started("slurm", Resources()) as opened,
        pytest.raises(UserError, match=r"needs the package submitit.*the extra `slurm`"),
    ):
        assert opened.make


# A job that a shell started in the background inherits a SIGINT that is ignored.
RUN = ("env", "--default-signal=INT", sys.executable, "-m", "harness", "run")


def begun(folder: Path, *more: str, **environment: str) -> "subprocess.Popen[str]":
    asked = [*RUN, "--methods", "lora", "--tasks", "gsm8k", *more]
    there = {**os.environ, **environment}
    return subprocess.Popen(asked, cwd=folder, env=there, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_before_the_plan_is_made_leaves_no_process_and_no_file(
    tmp_path: Path,
    children: Children,
    alive: Callable[[int], bool],
    until: Callable[..., bool],
) -> None:
    running = begun(tmp_path, XDG_CACHE_HOME="/proc/none")  # nothing is kept there
    assert until(lambda: children(running.pid)), "no worker was started"
    workers = children(running.pid)
    running.send_signal(signal.SIGINT)
    running.communicate()
    assert running.returncode == 130
    assert until(lambda: not any(map(alive, workers)), seconds=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parts
def test_a_dry_run_starts_no_worker(tmp_path: Path, children: Children) -> None:
    running, seen = begun(tmp_path, "--dry-run"), set[int]()
    while running.poll() is None:
        seen |= {*children(running.pid)}
    running.communicate()
    assert (running.returncode, seen) == (0, set())


def test_the_runs_of_a_command_learn_that_a_signal_has_asked_to_leave() -> None:
    leaving = Leaving()
    with started("local", Resources(), leaving) as opened:
        assert not opened.leaves()
        leaving.status = 128 + signal.SIGINT
        assert opened.leaves()
