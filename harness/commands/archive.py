"""`harness export` and `harness import`: runs with all their files, from one machine to another."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.commands.merge import conflict
from harness.commands.one_run import named
from harness.commands.report import Report, counted
from harness.errors import UserError
from results.record import Run, Verdicts
from results.runfolder.archive import ArchiveError, check, pack, unpack
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import failures_of, record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store


def export(store_place: str, runs: Sequence[str], out: Path) -> Report:
    """Write runs with all their files into one archive.

    Raises:
        UserError: One of them has not ended, two are copies, or the file is there already.
    """
    folders = _folders(store_place, runs)
    try:
        pack(folders.values(), out)
    except FileExistsError as error:
        raise UserError(f"{out} is there already. Name another file with --out.") from error
    text = (
        f"{counted(len(folders), 'run', 'runs')} written to {out} ({out.stat().st_size:,} bytes)."
    )
    return Report(text, {"runs": list(folders), "file": str(out)})


def _folders(store_place: str, runs: Sequence[str]) -> dict[str, RunFolder]:
    """Find the folders of runs that have ended, by the ids of the runs."""
    found: dict[str, RunFolder] = {}
    for run in runs:
        folder = named.folder(store_place, run)
        if record_of(folder) is None:
            raise UserError(f"{folder.path}: this run has not ended yet.")
        run_id = folder.head().run_id
        first = found.setdefault(run_id, folder)
        if not first.path.samefile(folder.path):
            raise UserError(
                f"{first.path} and {folder.path} are both of run {run_id}. Name one of them."
            )
    return found


def import_(store_place: str, root: Path, file: Path) -> Report:
    """Place the runs of an archive below `root` and store them.

    A run that is there already has to have the same result; if not, or if its folder is damaged,
    it is named and left out.

    Raises:
        ArchiveError: The file is damaged, or no such archive; nothing was placed.
        RunFolderError: A folder in it was damaged when it was packed; nothing was placed.
    """
    check(file)
    root.mkdir(parents=True, exist_ok=True)
    lines, placed, known = [], 0, 0
    with TemporaryDirectory(dir=root, prefix=".import-") as room:
        ended = _ended(unpack(file, Path(room)), file)
        store = Store(store_place)
        for folder, run, failed, judged in ended:
            there = RunFolder(root.resolve() / run.run_id)
            try:
                if why := _against(store, run, there):
                    lines.append(f"{run.run_id}: not imported: {why}")
                elif there.path.exists():
                    _store(store, there)
                    known += 1
                else:
                    folder.path.rename(there.path)
                    store.put(replace(run, folder=str(there.path)), judged)
                    for attempt in failed:
                        store.add(replace(attempt, folder=str(there.path)))
                    placed += 1
            except RunFolderError as error:  # of the folder that is there
                lines.append(f"{run.run_id}: not imported: {error}")
    lines.append(f"{counted(placed, 'run', 'runs')} imported, {known} there already.")
    value = {"imported": placed, "known": known, "conflicts": lines[:-1]}
    return Report("\n".join(lines), value, len(lines) == 1)


def _ended(
    folders: Sequence[RunFolder], file: Path
) -> list[tuple[RunFolder, Run, list[Run], tuple[Verdicts, ...]]]:
    """Read all runs of an archive before one is placed: how each ended, and failed before that."""
    found = [
        (folder, record_of(folder), failures_of(folder), verdicts_of(folder)) for folder in folders
    ]
    for folder, run, *_ in found:
        if run is None or run.run_id != folder.path.name:
            raise ArchiveError(f"{file}: {folder.path.name} is not the folder of a run that ended.")
    return [(folder, run, failed, judged) for folder, run, failed, judged in found if run]


def _against(store: Store, run: Run, there: RunFolder) -> str | None:
    """Say what contradicts a run: in the store, or in the folder that has its place."""
    stored = store.runs(prefix=run.run_id, forgotten=None)
    if not there.path.exists():
        return conflict(run, stored)
    found = record_of(there)
    if found is None:
        return f"{there.path} is there, and has not ended."
    return conflict(run, [found, *stored])


def _store(store: Store, folder: RunFolder) -> None:
    run = record_of(folder)
    assert run
    store.put(run, verdicts_of(folder))
