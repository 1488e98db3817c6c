"""`harness cancel` and `harness forget`: what a user wants of a run, wherever it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.commands.one_run import named
from harness.commands.report import Report
from harness.errors import UserError
from results.runfolder import locks, wishes
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.state import state_of
from results.store import Store


def cancel(store_place: str, run: str, root: Path) -> Report:
    """Ask that a run stops, in whichever process on whichever machine it is, or does not start.

    Raises:
        UserError: There is no such run, or it came to its end.
    """
    folder = named.below(root, store_place, run)
    run_id = folder.head().run_id
    if folder.ended:
        raise UserError(f"{run_id} came to its end already; `harness show {run_id}` says how.")
    wishes.cancel(folder)
    what = (
        "is asked to stop: it does after the step at work, and keeps what it has"
        if _at_work(folder)
        else "is not at work, and no command that is going on starts it"
    )
    text = f"{run_id} {what}.\n  The next `harness run` that asks for it goes on with it."
    return Report(text, {"run_id": run_id, "folder": str(folder.path)})


def forget(store_place: str, run: str, root: Path, reason: str, *, files: bool) -> Report:
    """Leave a run out of tables, leaderboards and averages; the store keeps it, and why.

    Args:
        store_place: Where it is marked, if it is stored.
        run: The first digits of its id, or its folder.
        root: The folder of the run folders.
        reason: In the words of the user.
        files: Whether its folder is deleted.

    Raises:
        UserError: There is no such run, it is at work, or the reason is empty.
    """
    if not reason.strip():
        raise UserError("--reason is empty. Say why the run is not to count, for who asks later.")
    try:
        folder = named.below(root, store_place, run)
    except named.FolderGoneError as gone:
        kept = f"its folder {gone.run.folder} is not there: the store alone keeps this"
        return _forgotten(store_place, gone.run.run_id, reason, kept)
    run_id, place = folder.head().run_id, folder.path.resolve()
    # What is moved to `room` goes when the lock is closed: NFS keeps the files that are open.
    with TemporaryDirectory(prefix=f".{run_id}.", dir=place.parent) as room, _alone(folder, run_id):
        wishes.forget(folder, reason)
        kept = f"{place} is deleted" if files else f"its files stay in {place}"
        found = _forgotten(store_place, run_id, reason, kept, deleted=files)
        if files:
            place.rename(room)
    return found


@contextmanager
def _alone(folder: RunFolder, run_id: str) -> Iterator[None]:
    """Keep others out of a folder, unless one works in it."""
    at_work = UserError(f"{run_id} is at work. `harness cancel {run_id}` stops it.")
    if _at_work(folder):
        raise at_work
    try:
        with folder.locked():
            yield
    except AlreadyRunningError as error:
        raise at_work from error


def _at_work(folder: RunFolder) -> bool:
    """Whether a process works on a run, on this machine or another one."""
    return state_of(str(folder.path), locks.held(folder.path.parent)).how == "running"


def _forgotten(
    store_place: str, run_id: str, reason: str, kept: str, *, deleted: bool = False
) -> Report:
    """Mark a run in the store, and say so."""
    count = Store(store_place).forget(run_id, reason)
    attempts = "1 stored attempt" if count == 1 else f"{count} stored attempts"
    text = f"{run_id} is forgotten, with {attempts}; {kept}."
    return Report(text, {"run_id": run_id, "attempts": count, "reason": reason, "deleted": deleted})
