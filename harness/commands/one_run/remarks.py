"""`harness tag` and `harness note`: what users write on a run."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.commands.report import Report
from harness.errors import UserError
from results.record import Note, Run
from results.runfolder import remarks
from results.runfolder.folder import RunFolder
from results.store import Store


def tag(store_place: str, run: str, names: Sequence[str]) -> Report:
    """Add tags to a run.

    Raises:
        UserError: A tag is not one word.
        ResultsError: There is not one such run.
    """
    if bad := [name for name in names if not name.isprintable() or len(name.split()) != 1]:
        raise UserError(f"{bad[0]!r} is not one word, so it cannot be a tag.")
    store = Store(store_place)
    found = store.run(run)
    return _kept(store, replace(found, tags=tuple(sorted({*found.tags, *names}))))


def untag(store_place: str, run: str, names: Sequence[str]) -> Report:
    """Take tags away from a run.

    Raises:
        UserError: The run has no such tag.
        ResultsError: There is not one such run.
    """
    store = Store(store_place)
    found = store.run(run)
    if absent := sorted({*names} - {*found.tags}):
        told = ", ".join(found.tags) or "none"
        raise UserError(f"Run {found.run_id} has no tag {absent[0]!r}.\n  Its tags: {told}")
    return _kept(store, replace(found, tags=tuple(one for one in found.tags if one not in names)))


def note(store_place: str, run: str, text: str) -> Report:
    """Add a note to a run.

    Raises:
        UserError: The note is empty.
        ResultsError: There is not one such run.
    """
    if not text.strip():
        raise UserError("The note is empty. Please say something.")
    store = Store(store_place)
    found = store.run(run)
    return _kept(store, replace(found, notes=(*found.notes, Note(datetime.now(UTC), text))))


def _kept(store: Store, run: Run) -> Report:
    """Write what is said of a run into the store and into its folder."""
    store.remark(run)
    folder = RunFolder(Path(run.folder))
    if is_there := folder.path.is_dir():
        remarks.keep(folder, run.tags, run.notes)
    told = [
        f"Run {run.run_id}: tags {', '.join(run.tags) or 'none'}.",
        *(f"{one.written:%Y-%m-%d %H:%M}: {one.text}" for one in run.notes),
    ]
    notes = (
        [] if is_there else [f"its folder {run.folder} is not there: the store alone keeps this."]
    )
    return Report("\n".join(told), run, notes=notes)
