"""From run folders to the store: the store can always be built anew from them."""

from datetime import UTC, datetime
from pathlib import Path

from results.record import Run, Score
from results.runfolder.folder import RunFolder


def read(folder: RunFolder) -> Run | None:
    """Read a run folder as a run; None while there is neither a result nor a failure."""
    if folder.has("result.json"):
        return _run(folder, "result.json")
    return _run(folder, "failure.json") if folder.has("failure.json") else None


def folders(root: Path) -> list[RunFolder]:
    """List the run folders below `root`."""
    return [RunFolder(path.parent) for path in sorted(root.glob("*/job.json"))]


def _run(folder: RunFolder, ending: str) -> Run:
    job, ended = folder.job(), folder.read(ending)
    spec = job.spec
    environment = folder.read("environment.json") if folder.has("environment.json") else {}
    return Run(
        run_id=spec.run_id,
        status="finished" if ending == "result.json" else "failed",
        reason=ended.get("reason", ""),
        started=datetime.fromtimestamp(ended["started"], UTC),
        seconds=ended["seconds"],
        group=spec.group,
        method=spec.method.label,
        backbone=spec.backbone.name,
        seed=spec.seeds.init,
        fold=spec.fold,
        marks=job.remarks,
        flags=tuple(ended.get("flags", ())),
        setting=spec.setting,
        series=spec.series,
        protocol=f"{spec.protocol.id}/{spec.protocol.version}",
        spec=spec.model_dump(mode="json"),
        environment=environment,
        environment_id=ended.get("environment_id", ""),
        trainable_parameters=ended.get("trainable_parameters", 0),
        total_parameters=ended.get("total_parameters", 0),
        adapter_bytes=ended.get("adapter_bytes", 0),
        peak_memory_bytes=ended.get("peak_memory_bytes", 0),
        train_tokens_per_second=ended.get("training", {}).get("tokens_per_second", 0.0),
        folder=str(folder.path),
        scores=tuple(Score(**score) for score in ended.get("scores", [])),
    )
