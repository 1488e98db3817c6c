"""`harness cancel` and `harness forget`: what a user wants of a run, wherever it is."""

import shutil
from pathlib import Path

from harness.commands.one_run import named
from harness.commands.report import Report
from harness.errors import UserError
from results.runfolder import locks, wishes
from results.runfolder.folder import AlreadyRunningError
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
    at_work = state_of(str(folder.path), locks.held(folder.path.parent)).how == "running"
    what = (
        "is asked to stop: it does after the step at work, and keeps what it has"
        if at_work
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
    folder = named.below(root, store_place, run)
    run_id = folder.head().run_id
    try:
        with folder.locked():
            wishes.forget(folder, reason)
            count = Store(store_place).forget(run_id, reason)
            if files:
                shutil.rmtree(folder.path)
    except AlreadyRunningError as error:
        raise UserError(f"{run_id} is at work. `harness cancel {run_id}` stops it.") from error
    attempts = "1 stored attempt" if count == 1 else f"{count} stored attempts"
    kept = f"{folder.path} is deleted" if files else f"its files stay in {folder.path}"
    text = f"{run_id} is forgotten, with {attempts}; {kept}."
    return Report(text, {"run_id": run_id, "attempts": count, "reason": reason, "deleted": files})
