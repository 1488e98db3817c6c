"""From run folders to records: the store can always be rebuilt from them."""

import os
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from results import conditions
from results.record import PeakMemory, Run, Status
from results.runfolder import attempts, edited, files, remarks, wishes
from results.runfolder.attempts import Attempt
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.progress import Progress
from results.runfolder.state import How, State
from results.runfolder.values import Divergence, Environment, Failure, Result, TrainRecord
from results.texts import shortened

OF_A_RUN = ("spec.json", "run.json", "result.json", "divergence.json", "failure.json")
"""A folder that has none of these is not one of a run."""

MOST_OF_REASON = 10_000
"""Characters of a reason that are stored."""

STOPPED: Mapping[How, str] = {
    "lost": "ended without a result and without a reason, in phase {}: killed or cancelled",
    "interrupted": "asked to stop, in phase {}; the next attempt goes on",
    "cancelled": "cancelled by the user, in phase {}",
}
"""Why an attempt stopped that left neither result nor failure."""

EDITED = "edited after the run: "


def record_of(folder: RunFolder) -> Run | None:
    """Read a run folder as a record; None while nothing says how an attempt ended."""
    with files.naming(folder.path):
        ended = folder.result() or folder.divergence() or folder.failure()
        return _record(folder, ended) if ended else None


def failures_of(folder: RunFolder) -> list[Run]:
    """Read the failed attempts of a folder whose failure a later attempt has removed.

    The folder does not say in which environment they ran.
    """
    with files.naming(folder.path):
        # What stands in for a damaged file does not know when it began.
        failed = [
            one for one in attempts.attempts(folder) if one.status == "failed" and one.started
        ]
        if not failed:
            return []
        ended = folder.result() or folder.divergence() or folder.failure()
        return [
            _failed(folder, one) for one in failed if not (ended and ended.attempt == one.token)
        ]


def _failed(folder: RunFolder, attempt: Attempt) -> Run:
    failure = Failure(
        started=attempt.started,
        seconds={"wall": attempt.seconds.get("wall", 0.0)},
        reason=attempt.reason,
    )
    return replace(
        _record(folder, failure),
        environment={},
        environment_id="",
        peak_memory={},
        peak_memory_bytes=attempt.peak_memory_bytes,
        validation_loss=None,
        trained_rows=None,
    )


def attempt_of(folder: RunFolder, state: State) -> Run:
    """Read the last attempt of a folder, whether it ended or not.

    One without an ending has the status of a failed one, which is true of none but a lost one:
    `state` says how far it is.
    """
    return record_of(folder) or _record(folder, _so_far(folder, state))


def _so_far(folder: RunFolder, state: State) -> Failure:
    progress = Progress(folder, since=state.planned)
    if state.how in STOPPED:
        progress.update()
    reason = STOPPED.get(state.how, "").format(progress.phase)
    return Failure(started=state.planned, seconds={}, reason=reason)


def folders(root: Path) -> list[RunFolder]:
    """List the run folders below `root`, of every format, those without a spec too.

    So it does with folders that may not be entered: whoever reads them has the reason.

    Raises:
        RunFolderError: `root` may not be read.
    """
    names: list[str] = []
    with files.naming(root), suppress(FileNotFoundError):
        names = os.listdir(root)  # noqa: PTH208 (Path.glob hides what may not be read)
    # A rerun works below a name with a dot.
    below = (root / name for name in sorted(names) if name[0] != ".")
    return [RunFolder(path) for path in below if any(_may_be(path / one) for one in OF_A_RUN)]


def _may_be(path: Path) -> bool:
    """Tell whether something is in the place of a file, or it cannot be told."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _record(folder: RunFolder, ended: Result | Divergence | Failure) -> Run:
    head, spec = folder.head(), folder.spec()
    # Of a failure only the reason counts, and it may have come before these were looked at.
    reads = suppress(RunFolderError) if isinstance(ended, Failure) else nullcontext()
    environment, training = None, None
    with reads:
        environment, training = folder.environment(), folder.train_record()
    result = ended if isinstance(ended, Result) else None
    reached = None if isinstance(ended, Failure) else ended
    peaks = _peak_memory(training, reached)
    tags, notes = remarks.kept(folder)
    return Run(
        run_id=head.run_id,
        status=_status(ended),
        reason=_reason(ended),
        started=datetime.fromtimestamp(ended.started, UTC),
        seconds=dict(ended.seconds),
        group=head.group,
        method=head.method,
        backbone=head.backbone,
        seed=head.seed,
        fold=head.fold,
        marks=(*head.marks, *(edits(folder) if result else ())),
        flags=result.flags if result else (),
        setting=head.setting,
        recipe=head.recipe,
        series=head.series,
        protocol=head.protocol,
        spec=spec,
        provenance=dict(head.provenance),
        environment=environment.model_dump(mode="json", exclude_none=True) if environment else {},
        environment_id=_environment_id(reached, environment),
        trainable_parameters=reached.trainable_parameters if reached else 0,
        total_parameters=reached.total_parameters if reached else 0,
        adapter_bytes=result.adapter_bytes if result else 0,
        peak_memory_bytes=max(
            [
                reached.peak_memory_bytes if reached else 0,
                *(peak["allocated"] for peak in peaks.values()),
            ]
        ),
        train_tokens_per_second=training.tokens_per_second if result and training else 0.0,
        folder=str(folder.path),
        scores=result.scores if result else (),
        conditions=conditions.of_spec(spec) if head.conditions is None else dict(head.conditions),
        backbone_place=folder.places().get("backbone_place", ""),
        validation_loss=training.best_validation_loss if training else None,
        peak_memory=peaks,
        nondeterministic_kernels=reached.nondeterministic_kernels if reached else (),
        folds=head.folds,
        trained_rows=training.trained_rows if training else None,
        tags=tags,
        notes=notes,
        forgotten=said.reason if (said := wishes.forgotten(folder)) else "",
    )


def edits(folder: RunFolder, *, adapter: bool = False) -> list[str]:
    """Mark a finished run of which something is no longer what it wrote; `edited` says what.

    Raises:
        RunFolderError: Its result is damaged.
    """
    with files.naming(folder.path):
        names, head = edited.edited(folder.path, adapter=adapter), folder.head()
    named = f"{head.method} on {head.backbone}, seed {head.seed}"
    return [f"{named}: {EDITED}{', '.join(names)}"] if names else []


def _peak_memory(training: TrainRecord | None, reached: Result | Divergence | None) -> PeakMemory:
    """Join the phases of the last attempt with those of the one that trained."""
    records = [one.peak_memory for one in (training, reached) if one]
    return {phase: dict(peak) for record in records for phase, peak in record.items()}


def _status(ended: Result | Divergence | Failure) -> Status:
    if isinstance(ended, Result):
        return "finished"
    return "diverged" if isinstance(ended, Divergence) else "failed"


def _reason(ended: Result | Divergence | Failure) -> str:
    if isinstance(ended, Result):
        return ""
    # PostgreSQL has no NUL in texts.
    reason = shortened(ended.reason, MOST_OF_REASON).replace("\0", "\\x00")
    return f"step {ended.step}: {reason}" if isinstance(ended, Divergence) else reason


def _environment_id(reached: Result | Divergence | None, environment: Environment | None) -> str:
    """Say in which environment an attempt ended; empty if it ended before that was known."""
    if reached:
        return reached.environment_id
    return environment.identity if environment else ""
