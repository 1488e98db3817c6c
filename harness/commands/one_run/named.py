"""Which run a user means: by the first digits of its id, or by its run folder."""

import os
from glob import escape
from pathlib import Path

from harness.errors import UserError
from results.errors import ResultsError
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.store import Reader


class FolderGoneError(UserError):
    """The folder of a stored run is not where the store says."""

    def __init__(self, run: Run) -> None:
        super().__init__(
            f"Run {run.run_id}: its folder {run.folder} is not there.\n"
            "  If it lies elsewhere, name the folder instead of the id."
        )
        self.run = run


def record(store_place: str, run: str) -> Run:
    """Read a run from its folder, or from the store.

    Raises:
        UserError: There is no such folder, or the run in it has not ended.
        ResultsError: There is no such store, or not one such run in it.
    """
    folder = _folder(run)
    if folder is None:
        return _stored(store_place, run)
    found = record_of(folder)
    if found is None:
        raise UserError(
            f"{run}: nothing says how this run ended: it is running, or was stopped.\n"
            "  `harness status` says which."
        )
    return found


def run_id(run: str) -> str:
    """Read the id of a run from its folder; the first digits of one stay what they are.

    Raises:
        UserError: There is no such folder.
    """
    found = _folder(run)
    return run if found is None else found.head().run_id


def folder(store_place: str, run: str) -> RunFolder:
    """Find a run folder by its path, or by the id of its run.

    Raises:
        UserError: There is no such folder.
        FolderGoneError: It is not where the store says.
        ResultsError: There is no such store, or not one such run in it.
    """
    named = _folder(run)
    if named is not None:
        return named
    found = _stored(store_place, run)
    if not is_folder(Path(found.folder)):
        raise FolderGoneError(found)
    return RunFolder(Path(found.folder))


def below(root: Path, store_place: str, run: str) -> RunFolder:
    """Find a run folder as `folder` does, also of a run that no attempt is stored of.

    Raises:
        UserError: There is no such folder, or several that start with these digits.
        FolderGoneError: It is not where the store says.
        ResultsError: There is no such store, or not one such run in it.
    """
    if os.sep in run:
        return folder(store_place, run)
    found = [path for path in sorted(root.glob(f"{escape(run)}*")) if is_folder(path)]
    if len(found) > 1:
        raise UserError(f"{len(found)} runs in {root} start with {run!r}. Please give more digits.")
    return RunFolder(found[0]) if found else folder(store_place, run)


def _folder(run: str) -> RunFolder | None:
    """Take `run` for a folder if it is one."""
    if is_folder(Path(run)):
        return RunFolder(Path(run))
    if os.sep in run:
        raise UserError(f"{run} is not a run folder: there is no spec.json in it.")
    return None


def is_folder(path: Path) -> bool:
    """Tell whether a path is that of a run folder."""
    return (path / "spec.json").is_file()


def _stored(store_place: str, run: str) -> Run:
    try:
        store = Reader(store_place)
    except ResultsError as error:
        raise UserError(f"{error}\n  Without a store, name the run folder, not an id.") from error
    return store.run(run)
