"""`harness reindex` and `rescore`: the store in line with the run folders."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness import plugins
from harness.commands.report import Report, counted
from harness.errors import UserError, unknown
from harness.scoring.score import Judgement, score
from harness.scoring.texts import OVERLAPS
from harness.spec.planned import PlannedRun
from harness.worker import card
from results.errors import ResultsError
from results.record import Run, Score
from results.runfolder.folder import AlreadyRunningError, RunFolder, RunFolderError
from results.runfolder.record_of import folders, record_of
from results.runfolder.values import Result
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store

UNSCORABLE = (AlreadyRunningError, KeyError, OSError, ResultsError, UserError, ValueError)
"""What leaves a run as it was, with a line that says why."""


def reindex(store_place: str, root: Path) -> Report:
    """Add every run folder below `root` to the store; name each that cannot be read.

    Raises:
        UserError: There is no such folder.
    """
    _check_root(root)
    store, added, left_out = Store(store_place), 0, []
    for folder in folders(root):
        try:
            run = record_of(folder)
        except RunFolderError as error:
            left_out.append(f"{folder.path}: left out: {error}")
            continue
        if run:
            added += 1
            store.add(run)
            left_out += _without_verdicts(store, run, folder)
    runs = counted(added, "run", "runs")
    text = "\n".join([*left_out, f"{runs} of {root} indexed in {store_place}."])
    return Report(text, {"added": added, "left_out": left_out}, not left_out)


def _without_verdicts(store: Store, run: Run, folder: RunFolder) -> list[str]:
    """Add the verdicts of a stored run that has none; say so if they cannot be read."""
    try:
        if not store.verdicts([run]):
            store.add(run, verdicts_of(folder))
    except RunFolderError as error:
        return [f"{folder.path}: verdicts left out: {error}"]
    return []


def rescore(store_place: str, root: Path) -> Report:
    """Apply the current extractors and metrics to what runs generated, and store the scores.

    Without model, data or torch. A run that cannot be scored is left as it is and named.

    Raises:
        UserError: There is no such folder.
    """
    _check_root(root)
    store, changes, left, done = Store(store_place), [], [], 0
    for folder in folders(root):
        if not folder.finished:
            continue
        try:
            changes += _rescored(folder)
        except UNSCORABLE as error:
            left.append(f"{folder.path}: left as it is: {str(error) or type(error).__name__}")
            continue
        record = record_of(folder)
        assert record is not None
        card.write(folder)
        store.add(record)
        store.replace_scores(record, verdicts_of(folder))
        done += 1
    runs = counted(done, "run", "runs")
    text = "\n".join([*changes, *left, f"{runs} of {root} rescored in {store_place}."])
    return Report(text, {"rescored": done, "changes": changes, "left": left}, not left)


def _check_root(root: Path) -> None:
    if not root.is_dir():
        raise UserError(f"{root}: no such folder. Name the folder of the run folders with --runs.")


def _rescored(folder: RunFolder) -> list[str]:
    """Rescore a run folder; say which headline scores changed."""
    if folder.format == 1:
        raise RunFolderError(
            "written in format 1, which keeps no gold answers to compare with. Rerun it with "
            "another --store and --runs to have it in the current format."
        )
    planned, result = PlannedRun.of(folder), folder.result()
    assert result is not None
    for file in planned.files:
        if file.kind == "tasks":
            plugins.add(file.kind, Path(file.path))
    spec = planned.spec
    for name in spec.tests:
        if name not in plugins.names("tasks"):
            raise UserError(unknown("benchmark", name, plugins.names("tasks")))
    with folder.locked():
        judged = _with_unmeasured(result, score(folder, spec))
        changed = {"scores": judged.scores, "flags": judged.flags}
        folder.write_result(result.model_copy(update=changed))
    before, after = _headline(result.scores), _headline(judged.scores)
    head = folder.head()
    named = f"{head.method} on {head.backbone}, {head.group}, seed {head.seed}"
    return [
        f"{named}: {' '.join(key)} {before.get(key, '-')} -> {after.get(key, '-')}"
        for key in before | after
        if before.get(key) != after.get(key)
    ]


def _with_unmeasured(before: Result, after: Judgement) -> Judgement:
    """Keep the old scores of metrics that need something that this machine lacks."""
    measured = {(score.benchmark, score.metric) for score in after.scores}
    kept = tuple(
        score
        for score in before.scores
        if score.metric in OVERLAPS and (score.benchmark, score.metric) not in measured
    )
    missing = tuple(f"{score.metric} is not measured" for score in kept)
    flags = tuple(flag for flag in after.flags if not flag.startswith(missing))
    return replace(after, scores=after.scores + kept, flags=flags)


def _headline(scores: Sequence[Score]) -> dict[tuple[str, str], float]:
    return {(score.benchmark, score.metric): score.value for score in scores if score.headline}
