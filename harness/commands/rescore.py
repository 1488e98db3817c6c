"""`harness rescore`: the scores of stored generations by the current extractors."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from harness import plugins
from harness.commands.reindex import check_root
from harness.commands.report import Report, counted
from harness.errors import UserError, unknown
from harness.scoring.score import Judgement, score
from harness.scoring.texts import OVERLAPS
from harness.spec.planned import PlannedRun
from harness.worker import card
from results.errors import ResultsError
from results.record import Score
from results.runfolder.folder import AlreadyRunningError, RunFolder, RunFolderError
from results.runfolder.record_of import folders, record_of
from results.runfolder.values import Result
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store, database

UNSCORABLE = (AlreadyRunningError, KeyError, OSError, ResultsError, UserError, ValueError)
"""What leaves a run as it was, with a line that says why."""


def rescore(store_place: str, root: Path) -> Report:
    """Apply the current extractors and metrics to what runs generated, and store the scores.

    Without model, data or torch. A run that cannot be scored is left as it is and named.

    Raises:
        UserError: There is no such folder.
    """
    check_root(root)
    store, changes, left, done = Store(store_place), [], [], set()
    for folder in folders(root.resolve()):
        try:
            if not folder.finished:
                continue
            changes += _rescored(folder)
        except UNSCORABLE as error:
            left.append(f"{folder.path}: left as it is: {_why(error)}")
            continue
        record = record_of(folder)
        assert record is not None
        card.write(folder)
        store.add(record)
        store.replace_scores(record, verdicts_of(folder))
        done.add((record.run_id, record.started))
    runs, name = counted(len(done), "run", "runs"), database.name(store_place)
    text = "\n".join([*changes, *left, f"{runs} of {root} rescored in {name}."])
    return Report(text, {"rescored": len(done), "changes": changes, "left": left}, not left)


def _why(error: Exception) -> str:
    """Say in a line why a run cannot be scored."""
    if isinstance(error, ValidationError):
        field = ".".join(map(str, error.errors()[0]["loc"]))
        more = f", first {field}" if error.error_count() > 1 else f": {field}"
        return (
            f"another version of the harness wrote its spec, which differs in "
            f"{counted(error.error_count(), 'field', 'fields')}{more}."
        )
    return " ".join(str(error).split()) or type(error).__name__


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
