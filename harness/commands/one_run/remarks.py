"""`harness tag` and `harness note`: what users write on a run."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.commands.report import Report
from harness.errors import UserError
from results.record import Note
from results.runfolder import remarks
from results.runfolder.folder import RunFolder
from results.store import Reader, Store
from results.store.remarks import Remarks


def tag(store_place: str, run: str, names: Sequence[str]) -> Report:
    """Add tags to a run.

    Raises:
        UserError: A tag is not one word.
        ResultsError: There is not one such run.
    """
    if bad := [name for name in names if not name.isprintable() or len(name.split()) != 1]:
        raise UserError(f"{bad[0]!r} is not one word, so it cannot be a tag.")
    return _changed(store_place, run, lambda said: said.with_those(names, ()))


def untag(store_place: str, run: str, names: Sequence[str]) -> Report:
    """Take tags away from a run.

    Raises:
        UserError: The run has no such tag.
        ResultsError: There is not one such run.
    """

    def without(said: Remarks) -> Remarks:
        if absent := sorted({*names} - {*said.tags}):
            told = ", ".join(said.tags) or "none"
            raise UserError(f"Run {run} has no tag {absent[0]!r}.\n  Its tags: {told}")
        return replace(said, tags=tuple(one for one in said.tags if one not in names))

    return _changed(store_place, run, without)


def note(store_place: str, run: str, text: str) -> Report:
    """Add a note to a run.

    Raises:
        UserError: The note is empty.
        ResultsError: There is not one such run.
    """
    if not text.strip():
        raise UserError("The note is empty. Please say something.")
    written = Note(datetime.now(UTC), text)
    return _changed(store_place, run, lambda said: said.with_those((), [written]))


def _changed(store_place: str, named: str, change: Callable[[Remarks], Remarks]) -> Report:
    """Change what is said of a run, in the store and in its folder, which may know more."""
    found = Reader(store_place).run(named)  # which makes no store where there is none
    folder = RunFolder(Path(found.folder))
    is_there = folder.path.is_dir()

    def changed(stored: Remarks) -> Remarks:
        if not is_there:
            return change(stored)
        said = change(stored.with_those(*remarks.kept(folder)))
        remarks.keep(folder, said.tags, said.notes)
        return said

    run = replace(found, **vars(Store(store_place).remark(found.run_id, changed)))
    told = [
        f"Run {run.run_id}: tags {', '.join(run.tags) or 'none'}.",
        *(f"{one.written:%Y-%m-%d %H:%M}: {one.text}" for one in run.notes),
    ]
    notes = (
        [] if is_there else [f"its folder {run.folder} is not there: the store alone keeps this."]
    )
    return Report("\n".join(told), run, notes=notes)
