"""The run folder: written first, whole by itself; the store is an index of it.

spec.json         what can change a number
job.json          where backbone and data lie on this machine
environment.json  the stack
events.jsonl      phases, every training step, every validation, as they happen
log.txt           what the worker printed
adapter/          the adapter of the lowest validation loss, and train.json
method.json       what the method kept of its training, such as the layers that it selected
generations/      one file per benchmark: prompt id, tokens, text
likelihoods/      one file per benchmark: of the options, or of the reference
verdicts/         one file per benchmark: what was extracted, and whether it is right
result.json       written last: the run is finished
failure.json      instead of it: why the run failed
"""

import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.spec.planned import PlannedRun


class AlreadyRunningError(Exception):
    """Another process works in this run folder."""


class RunFolder:
    """The files of one run below `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.adapter = path / "adapter"
        self.log = path / "log.txt"
        self.events = path / "events.jsonl"

    def create(self, job: PlannedRun) -> None:
        """Write spec and job, the first files of a run."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.drop("failure.json")
        self.write("spec.json", job.spec.model_dump(mode="json"))
        self.write("job.json", job.model_dump(mode="json", exclude={"spec"}))

    def job(self) -> PlannedRun:
        """Read spec and job."""
        return PlannedRun(spec=self.read("spec.json"), **self.read("job.json"))

    def write(self, name: str, value: Any) -> None:
        """Write JSON so that a file is whole or not there."""
        self._write(name, json.dumps(value, indent=2) + "\n")

    def write_lines(self, name: str, values: Iterable[Any]) -> None:
        """Write JSON lines so that a file is whole or not there."""
        self._write(name, "".join(json.dumps(value) + "\n" for value in values))

    def read(self, name: str) -> Any:
        """Read JSON."""
        return json.loads((self.path / name).read_text())

    def read_lines(self, name: str) -> list[Any]:
        """Read JSON lines."""
        return [json.loads(line) for line in (self.path / name).read_text().splitlines()]

    def has(self, name: str) -> bool:
        """Whether a file is there, hence whole."""
        return (self.path / name).is_file()

    def drop(self, name: str) -> None:
        """Remove a file that may be there."""
        (self.path / name).unlink(missing_ok=True)

    def note_failure(self, reason: str, seconds: float = 0.0) -> None:
        """Write why the attempt that ends now failed."""
        started = time.time() - seconds
        failure = {"started": started, "seconds": {"wall": seconds}, "reason": reason}
        self.write("failure.json", failure)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out; the lock ends with the process, however it ends.

        Raises:
            AlreadyRunningError: Another process has it.
        """
        with (self.path / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise AlreadyRunningError(str(self.path)) from error
            yield

    def end_of_log(self, lines: int = 40) -> str:
        """Return the last lines that the worker printed."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        with partial.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
