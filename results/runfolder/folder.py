"""One run folder: it is written first and whole by itself; the store is an index of it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import to_json

from results.runfolder import aside, edited, files, format_1, locks, partial, sums
from results.runfolder.files import RunFolderError
from results.runfolder.locks import AlreadyRunningError
from results.runfolder.values import (
    FORMAT,
    ClusterJob,
    Divergence,
    Environment,
    Failure,
    FailureKind,
    FileValue,
    Generation,
    Head,
    OptionLikelihoods,
    ReferenceLikelihood,
    Result,
    TrainRecord,
    Verdict,
)

__all__ = ["AlreadyRunningError", "RunFolder", "RunFolderError"]

V = TypeVar("V", bound=FileValue)


class RunFolder:
    """The files of one run below `path`. Each is whole or not there, whatever ends the writer.

    What reads a file raises `RunFolderError` if the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.adapter = path / "adapter"
        self.log = path / "log.txt"
        self.events = path / "events.jsonl"
        self.copies = path / "files"
        self.checkpoints = path / "checkpoints"

    def create(self, head: Head, spec: Mapping[str, Any], places: Mapping[str, Any]) -> None:
        """Write the first files of a run, and forget the failure of an earlier attempt.

        Args:
            head: What names the run.
            spec: What can change a number, as JSON values.
            places: Where backbone and data lie on this machine, as JSON values.

        Raises:
            RunFolderError: A newer version began the run.
        """
        self.check()
        self.path.mkdir(parents=True, exist_ok=True)
        if self.format == 1:
            format_1.drop(self.path)
        self.drop_failure()
        self._write_json("spec.json", spec)
        self._write_json("places.json", places)
        self._write("run.json", head)

    def check(self) -> None:
        """Refuse a folder that this version cannot write into; else make way for its first files.

        Raises:
            RunFolderError: A newer version began the run.
        """
        aside.make_way(self.path)
        _ = self.format

    def copy(self, originals: Mapping[str, str]) -> None:
        """Copy files of the user's own, given by path, under their names below `files`."""
        for path, name in originals.items():
            files.write_bytes(self.copies / name, Path(path).read_bytes())

    @property
    def format(self) -> int:
        """The version of the folder's layout.

        Raises:
            RunFolderError: It is newer than this program.
        """
        if not self._has("run.json"):
            return 1
        with files.naming(self.path / "run.json"):
            found = int(self._read_json("run.json")["format"])
        if found > FORMAT:
            raise RunFolderError(
                f"{self.path}: written by a newer version (format {found}; this version reads up "
                f"to {FORMAT}).\n  Upgrade the harness."
            )
        return found

    def head(self) -> Head:
        """Read what names the run."""
        if self.format == 1:
            spec, job = self._read_json("spec.json"), self._read_json("job.json")
            with files.naming(self.path / "spec.json"):
                return format_1.head(spec, job)
        return self._read("run.json", Head)

    def spec(self) -> dict[str, Any]:
        """Read the spec as JSON values."""
        return self._read_json("spec.json")

    def places(self) -> dict[str, Any]:
        """Read where backbone and data lay."""
        return self._read_json("places.json" if self.format > 1 else "job.json")

    def environment(self) -> Environment | None:
        """Read the stack of the last attempt; None if it ended before it was written."""
        name = "environment.json"
        return self._read(name, Environment) if self._has(name) else None

    def write_environment(self, environment: Environment) -> None:
        """Write the stack of this attempt."""
        self._write("environment.json", environment)

    def train_record(self) -> TrainRecord | None:
        """Read what the training came to; None while the adapter is not saved, or never is."""
        name = "training.json" if self.format > 1 else "adapter/train.json"
        return self._read(name, TrainRecord) if self._has(name) else None

    def write_train_record(self, record: TrainRecord) -> None:
        """Write what the training came to: from now on the adapter counts as trained."""
        sums.note(self.path, sums.trained(self.path))
        self._write("training.json", record)
        sums.note(self.path, ["training.json"])

    def method_record(self) -> dict[str, Any]:
        """Read what the method kept of its training, such as the layers that it selected."""
        return self._read_json("method.json") if self._has("method.json") else {}

    def write_method_record(self, record: Mapping[str, Any]) -> None:
        """Write what the method kept of its training."""
        self._write_json("method.json", record)

    def has_generations(self, benchmark: str) -> bool:
        """Whether the answers to a benchmark are there, hence whole."""
        return self._has(self._generations(benchmark))

    def generations(self, benchmark: str) -> list[Generation]:
        """Read the answers to a benchmark, in the order of its rows."""
        name = self._generations(benchmark)
        if self.format == 1:
            with files.naming(self.path / name):
                return format_1.generations(files.read(self.path / name))
        return self._read_lines(name, Generation)

    def write_generations(self, benchmark: str, generations: Iterable[Generation]) -> None:
        """Write the answers to a benchmark, compressed: prompts repeat their template."""
        self._write_made(f"generations/{benchmark}.jsonl.gz", generations)
        partial.drop(self.path, "generations", benchmark)

    def has_likelihoods(self, benchmark: str) -> bool:
        """Whether the likelihoods of a benchmark are there, hence whole."""
        return self._has(f"likelihoods/{benchmark}.jsonl")

    def option_likelihoods(self, benchmark: str) -> list[OptionLikelihoods]:
        """Read the likelihoods of a benchmark's options."""
        return self._read_lines(f"likelihoods/{benchmark}.jsonl", OptionLikelihoods)

    def reference_likelihoods(self, benchmark: str) -> list[ReferenceLikelihood]:
        """Read the likelihoods of a benchmark's references."""
        return self._read_lines(f"likelihoods/{benchmark}.jsonl", ReferenceLikelihood)

    def write_likelihoods(
        self, benchmark: str, found: Sequence[OptionLikelihoods] | Sequence[ReferenceLikelihood]
    ) -> None:
        """Write the likelihoods of options or references."""
        self._write_made(f"likelihoods/{benchmark}.jsonl", found)
        partial.drop(self.path, "likelihoods", benchmark)

    def has_verdicts(self, benchmark: str) -> bool:
        """Whether the answers to a benchmark are judged; texts that are compared never are."""
        return self._has(f"verdicts/{benchmark}.jsonl")

    def verdicts(self, benchmark: str) -> list[Verdict]:
        """Read the verdicts on a benchmark whose answers are judged."""
        return self._read_lines(f"verdicts/{benchmark}.jsonl", Verdict)

    def write_verdicts(self, benchmark: str, verdicts: Sequence[Verdict]) -> None:
        """Write the verdicts on a benchmark."""
        self._write_lines(f"verdicts/{benchmark}.jsonl", verdicts)

    @property
    def finished(self) -> bool:
        """Whether there is a result."""
        return self._has("result.json")

    def result(self) -> Result | None:
        """Read what the run came to; None while it is not finished."""
        if not self.finished:
            return None
        if self.format == 1:
            with files.naming(self.path / "result.json"):
                return format_1.result(self._read_json("result.json"))
        return self._read("result.json", Result)

    def write_result(self, result: Result) -> None:
        """Write what the run came to: from now on it is finished."""
        self._write("result.json", edited.sealed(self.path, result))

    @property
    def diverged(self) -> bool:
        """Whether the training diverged, which is an ending too."""
        return self._has("divergence.json")

    def divergence(self) -> Divergence | None:
        """Read where the training diverged; None if it did not."""
        return self._read("divergence.json", Divergence) if self.diverged else None

    def write_divergence(self, divergence: Divergence) -> None:
        """Write where the training diverged: from now on the run has ended."""
        self._write("divergence.json", divergence)

    @property
    def ended(self) -> bool:
        """Whether the run came to its end, with a result or without: it is not run again."""
        return self.finished or self.diverged

    @property
    def failed(self) -> bool:
        """Whether the last attempt left a reason why it failed."""
        return self._has("failure.json")

    def failure(self) -> Failure | None:
        """Read why the last attempt failed; None if it did not."""
        return self._read("failure.json", Failure) if self.failed else None

    def note_failure(
        self,
        reason: str,
        seconds: float = 0.0,
        *,
        kind: FailureKind = "exception",
        attempt: str = "",
        started: float = 0.0,
    ) -> None:
        """Write why an attempt failed, after so many seconds: if none began, just now."""
        failure = Failure(
            started=started or time.time() - seconds,
            seconds={"wall": seconds},
            reason=files.written(reason),
            kind=kind,
            attempt=attempt,
        )
        self._write("failure.json", failure)

    def drop_failure(self) -> None:
        """Forget why an earlier attempt failed."""
        (self.path / "failure.json").unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes of this machine out; the lock ends with the process.

        Raises:
            AlreadyRunningError: Another process has it.
        """
        return locks.lock(self.path)

    def cluster_job(self) -> ClusterJob | None:
        """Read which job of a cluster last ran this; None if none did."""
        return self._read("cluster.json", ClusterJob) if self._has("cluster.json") else None

    def write_cluster_job(self, job: ClusterJob) -> None:
        """Write which job of a cluster is to run this, or how its process ended."""
        self._write("cluster.json", job)

    def end_of_log(self, lines: int = 40) -> str:
        """Return the last lines that the worker printed, long ones cut."""
        return files.end_of(self.log, lines) if files.present(self.log) else ""

    def _generations(self, benchmark: str) -> str:
        return f"generations/{benchmark}.jsonl" + (".gz" if self.format > 1 else "")

    def _has(self, name: str) -> bool:
        return files.present(self.path / name)

    def _read_json(self, name: str) -> dict[str, Any]:
        return files.read_object(self.path / name)

    def _read(self, name: str, kind: type[V]) -> V:
        with files.naming(self.path / name):
            return kind.model_validate_json(files.read(self.path / name))

    def _read_lines(self, name: str, kind: type[V]) -> list[V]:
        # Not splitlines: texts may hold other characters that it takes for the end of a line.
        lines = files.read(self.path / name).split("\n")
        with files.naming(self.path / name):
            return [kind.model_validate_json(line) for line in lines if line]

    def _write(self, name: str, value: FileValue) -> None:
        files.write(self.path / name, value.model_dump_json(indent=2) + "\n")

    def _write_json(self, name: str, value: Mapping[str, Any]) -> None:
        text = to_json(value, indent=2, inf_nan_mode="strings").decode()
        files.write(self.path / name, text + "\n")

    def _write_made(self, name: str, values: Iterable[FileValue]) -> None:
        self._write_lines(name, values)
        sums.note(self.path, [name])

    def _write_lines(self, name: str, values: Iterable[FileValue]) -> None:
        lines = (value.model_dump_json() + "\n" for value in values)
        files.write(self.path / name, "".join(lines))
