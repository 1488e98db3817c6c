"""From run folders to records: the store can always be rebuilt from them."""

from datetime import UTC, datetime
from pathlib import Path

from results.record import Run, Status
from results.runfolder.folder import RunFolder
from results.runfolder.values import Divergence, Failure, Result


def record_of(folder: RunFolder) -> Run | None:
    """Read a run folder as a record; None while nothing says how an attempt ended."""
    ended = folder.result() or folder.divergence() or folder.failure()
    return None if ended is None else _record(folder, ended)


def folders(root: Path) -> list[RunFolder]:
    """List the run folders below `root`, of every format."""
    return [RunFolder(path.parent) for path in sorted(root.glob("*/spec.json"))]


def _record(folder: RunFolder, ended: Result | Divergence | Failure) -> Run:
    head, environment = folder.head(), folder.environment()
    training = folder.train_record()
    result = ended if isinstance(ended, Result) else None
    reached = None if isinstance(ended, Failure) else ended
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
        marks=head.marks,
        flags=result.flags if result else (),
        setting=head.setting,
        recipe=head.recipe,
        series=head.series,
        protocol=head.protocol,
        spec=folder.spec(),
        provenance=dict(head.provenance),
        environment=environment.model_dump(mode="json", exclude_none=True) if environment else {},
        environment_id=reached.environment_id if reached else "",
        trainable_parameters=reached.trainable_parameters if reached else 0,
        total_parameters=reached.total_parameters if reached else 0,
        adapter_bytes=result.adapter_bytes if result else 0,
        peak_memory_bytes=reached.peak_memory_bytes if reached else 0,
        train_tokens_per_second=training.tokens_per_second if result and training else 0.0,
        folder=str(folder.path),
        scores=result.scores if result else (),
    )


def _status(ended: Result | Divergence | Failure) -> Status:
    if isinstance(ended, Result):
        return "finished"
    return "diverged" if isinstance(ended, Divergence) else "failed"


def _reason(ended: Result | Divergence | Failure) -> str:
    if isinstance(ended, Result):
        return ""
    return f"step {ended.step}: {ended.reason}" if isinstance(ended, Divergence) else ended.reason
