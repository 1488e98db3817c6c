"""Scoring anew what runs generated, without a model and without torch."""

from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.scoring.score import OVERLAPS, score
from harness.worker import rows
from results.runfolder import record_of as index
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.store import Store
from tasks.data.files import DataError


def rescore(store_place: str, root: Path) -> tuple[str, bool]:
    """Apply the extractors and metrics of today to what runs generated, and store the scores.

    Returns:
        What to say, and whether all runs could be scored.
    """
    if not root.is_dir():
        raise UserError(f"{root}: no such folder. Name the folder of the run folders with --runs.")
    store, said, left, done = Store(store_place), [], [], 0
    for folder in index.folders(root):
        if not folder.has("result.json"):
            continue
        try:
            said += _rescored(folder)
        except (ValueError, KeyError, OSError, AlreadyRunningError, DataError, UserError) as error:
            left.append(f"{folder.path}: left as it is: {str(error) or type(error).__name__}")
            continue
        found = index.read(folder)
        assert found is not None
        store.add(found)
        store.replace_scores(found)
        done += 1
    summary = f"{done} runs of {root} are scored anew in {store_place}."
    return "\n".join([*said, *left, summary]), not left


def _rescored(folder: RunFolder) -> list[str]:
    """Score a run folder anew; say which headline scores changed."""
    job, result = folder.job(), folder.read("result.json")
    with folder.locked():
        judged = score(folder, job.spec, rows.load(job))
        kept = _no_longer_measured(result["scores"], judged["scores"])
        judged["scores"] += kept
        unmeasured = tuple(f"{one['metric']} is not measured" for one in kept)
        judged["flags"] = [flag for flag in judged["flags"] if not flag.startswith(unmeasured)]
        folder.write("result.json", result | judged)
    before, after = (
        {(s["benchmark"], s["metric"]): s["value"] for s in one["scores"] if s["headline"]}
        for one in (result, judged)
    )
    return [
        f"{job.name}: {' '.join(key)} {before.get(key, '-')} -> {after.get(key, '-')}"
        for key in before | after
        if before.get(key) != after.get(key)
    ]


def _no_longer_measured(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[Any]:
    """List the scores of metrics that need what is not on this machine; they stay as they were."""
    again = {(one["benchmark"], one["metric"]) for one in after}
    return [
        one
        for one in before
        if one["metric"] in OVERLAPS and (one["benchmark"], one["metric"]) not in again
    ]
