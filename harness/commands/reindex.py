"""`harness reindex`: the store from the run folders alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from harness.commands.report import Report, counted
from harness.errors import UserError
from results.record import Run, Verdicts
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import failures_of, folders, record_of
from results.runfolder.state import ending
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store, database
from results.store.database import UnstorableError
from results.store.health import fault
from results.store.rebuild import rebuild

RUN_ID = re.compile("[0-9a-f]{16}")


def reindex(store_place: str, root: Path) -> Report:
    """Store every run below `root` as its folder has it; name each folder that cannot be read.

    A store that is whole keeps whatever else is in it: it is put right attempt by attempt, so that
    runs may be added meanwhile. Any other is rebuilt beside and swapped.

    Raises:
        UserError: There is no such folder.
    """
    check_root(root)
    name, indexing = database.name(store_place), Indexing(root.resolve())
    told = []
    if wrong := fault(store_place):
        _check_apart(store_place, root)
        try:
            if kept := rebuild(store_place, partial(indexing.put_into, earlier=True)):
                told = [f"{name} {wrong}: rebuilt. What was there is kept as {kept}."]
        except FileExistsError:  # another process has made one since
            indexing = Indexing(root.resolve())
    indexing.put_into(Store(store_place))  # with what has ended since
    left_out = [f"{folder}: {why}" for folder, why in sorted(indexing.left_out.items())]
    added = len({run_id for run_id, _ in indexing.found})
    runs = counted(added, "run", "runs")
    text = "\n".join([*told, *left_out, f"{runs} of {root} indexed in {name}."])
    value = {"added": added, "left_out": left_out, "rebuilt": told}
    return Report(text, value, not left_out)


def check_root(root: Path) -> None:
    """Refuse a folder of run folders that is not there."""
    if not root.is_dir():
        raise UserError(f"{root}: no such folder. Name the folder of the run folders with --runs.")


def _check_apart(store_place: str, root: Path) -> None:
    """Refuse a folder in the place of the store that holds the run folders: it would be moved."""
    path = database.path(store_place)
    if path and root.resolve().is_relative_to(path):
        raise UserError(f"{path} holds the run folders. Name a file with --store.")


@dataclass
class Indexing:
    """What was read of the run folders below `root`.

    Attributes:
        stamps: When the ending of a folder was written that was read.
        left_out: Why a folder, or its verdicts or attempts, could not be read.
        found: By run id and start: the folder of an attempt, and the hash of its record.
    """

    root: Path
    stamps: dict[Path, float] = field(default_factory=dict)
    left_out: dict[Path, str] = field(default_factory=dict)
    found: dict[tuple[str, datetime], tuple[Path, int]] = field(default_factory=dict)

    def put_into(self, store: Store, *, earlier: bool = False) -> None:
        """Store the folders that were not read yet, or have ended since.

        Args:
            store: Where they go.
            earlier: Whether it lacks the failed attempts before the last one too; a store that
                is whole has them.
        """
        # Before its copies, the folder that the run was made in.
        known = sorted(folders(self.root), key=lambda one: not RUN_ID.fullmatch(one.path.name))
        for folder in known:
            stamp = ending(str(folder.path))
            if self.stamps.get(folder.path) != stamp:
                self.stamps[folder.path] = stamp
                self.left_out.pop(folder.path, None)
                with self._leaving_out(folder, "left out"):
                    self._put(store, folder)
        for folder in known if earlier else ():
            with self._leaving_out(folder, "failed attempts left out"):
                self._put_failures(store, folder)

    @contextmanager
    def _leaving_out(self, folder: RunFolder, what: str) -> Iterator[None]:
        """Note why a folder could not be read or stored."""
        try:
            yield
        except (RunFolderError, UnstorableError) as error:
            self.left_out[folder.path] = f"{what}: {error}"
        except (ArithmeticError, ValueError) as error:
            self.left_out[folder.path] = f"{what}: no store can hold it: {error}"

    def _put(self, store: Store, folder: RunFolder) -> None:
        run = record_of(folder)
        if run and self._is_new(run, folder):
            store.put(run, self._verdicts(folder))

    def _put_failures(self, store: Store, folder: RunFolder) -> None:
        for failed in failures_of(folder):
            # A copy of the folder may end with a failure that was followed by others here.
            if (failed.run_id, failed.started) not in self.found:
                self._is_new(failed, folder)
                store.put(failed)

    def _is_new(self, run: Run, folder: RunFolder) -> bool:
        """Take a copy of a folder for the same run."""
        known = hash(str(replace(run, folder="")))
        first, same = self.found.setdefault((run.run_id, run.started), (folder.path, known))
        if same != known:
            raise RunFolderError(f"a copy of {first}, but with another result.")
        return first == folder.path

    def _verdicts(self, folder: RunFolder) -> tuple[Verdicts, ...]:
        try:
            return verdicts_of(folder)
        except RunFolderError as error:
            self.left_out[folder.path] = f"verdicts left out: {error}"
            return ()
