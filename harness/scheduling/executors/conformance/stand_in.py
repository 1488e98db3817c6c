"""Stands in for the worker: a run does what the `act.py` in its folder says.

It is the real worker with other attempts, so it starts, forks, answers and locks as that does; it
lacks the imports that take seconds. An act is Python that finds `folder`, its run folder, and the
functions of `Act`.
"""

import os
import runpy
import sys
import time
from pathlib import Path
from types import ModuleType

from results.runfolder.claims import Claim
from results.runfolder.folder import RunFolder
from results.runfolder.values import Result

SECONDS = 20
"""Longer than any wait takes while the claim of a check holds."""

BESIDE = "beside"
"""Names the file that says where acts and checks meet: a run folder may be a copy elsewhere."""

RESULT = Result(
    started=0.0,
    seconds={},
    environment_id="",
    resumed=False,
    trainable_parameters=0,
    total_parameters=0,
    adapter_bytes=0,
    peak_memory_bytes=0,
    scores=(),
    flags=(),
)
"""The result of a run that did nothing."""


class Act:
    """What an act can do. Files beside the run folders are how acts and checks meet."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.folder = claim, claim.folder

    @property
    def beside(self) -> Path:
        """The folder where acts and checks meet."""
        return Path((self.folder.path / BESIDE).read_text())

    def finish(self) -> None:
        """Leave the result."""
        self.claim.confirm()
        facts = {
            "started": round(time.time() - self.claim.seconds, 3),
            "seconds": {"wall": self.claim.seconds},
            "attempt": self.claim.token,
        }
        self.folder.write_result(RESULT.model_copy(update=facts))
        self.claim.end("finished")

    def reach(self, name: str) -> None:
        """Say that this point was reached."""
        (self.beside / name).touch()

    def wait(self, name: str) -> None:
        """Wait until something beside has that name, or until the run folder is removed."""
        end = time.monotonic() + SECONDS
        while not (self.beside / name).exists() and self.folder.path.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"{name} was not reached")
            time.sleep(0.01)

    def work(self) -> None:
        """Work until asked to stop, then stop as a run does that has kept what it needs."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            sys.modules["harness.worker.stopping"].leave_if_asked()  # of the worker that this is in
            time.sleep(0.01)
        raise TimeoutError("nobody asked to stop")

    def overlap(self, seconds: float) -> None:
        """Work for some seconds; note that this run began, and how many are at work at its end."""
        with (self.beside / "order").open("a") as order:
            order.write(f"{self.folder.path.name}\n")
        mark = self.beside / f"{self.folder.path.name}.at-work"
        mark.touch()
        time.sleep(seconds)
        count = len(list(self.beside.glob("*.at-work")))
        (self.folder.path / "count").write_text(str(count))
        mark.unlink()


def execute(claim: Claim) -> None:
    """Run the act of a folder, as the stages of the worker run a planned run."""
    act = Act(claim)
    offered = ("finish", "reach", "wait", "work", "overlap")
    names = {name: getattr(act, name) for name in offered}
    code = (act.folder.path / "act.py").read_text()
    exec(code, {"folder": act.folder, "claim": claim, **names})


def prepare(folder: RunFolder) -> None:
    """Work nothing out."""


COMMAND = (sys.executable, "-P", os.fspath(Path(__file__)))
"""What starts the stand-in, as `harness.scheduling.executors.local.WORKER` starts the worker."""

if __name__ == "__main__":
    for name, function in {"attempt.execute": execute, "ahead.prepare": prepare}.items():
        module, _, offered = name.partition(".")
        stand_in = ModuleType(f"harness.worker.{module}")
        vars(stand_in)[offered] = function
        sys.modules[stand_in.__name__] = stand_in
    runpy.run_module("harness.worker", run_name="__main__")
