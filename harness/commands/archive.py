"""`harness export` and `harness import`: runs with all their files, from one machine to another."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.commands.merge import conflict
from harness.commands.one_run import named
from harness.commands.report import Report, counted
from harness.errors import UserError
from results.record import Run
from results.runfolder.archive import ArchiveError, check, pack, unpack
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store


def export(store_place: str, runs: Sequence[str], out: Path) -> Report:
    """Write runs with all their files into one archive.

    Raises:
        UserError: One of them has not ended, or the file is there already.
    """
    folders = {folder.path: folder for run in runs for folder in [named.folder(store_place, run)]}
    for folder in folders.values():
        if record_of(folder) is None:
            raise UserError(f"{folder.path}: this run has not ended yet.")
    try:
        pack(folders.values(), out)
    except FileExistsError as error:
        raise UserError(f"{out} is there already. Name another file with --out.") from error
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    text = (
        f"{counted(len(folders), 'run', 'runs')} written to {out} ({out.stat().st_size:,} bytes)."
    )
    return Report(text, {"runs": [path.name for path in folders], "file": str(out)})


def import_(store_place: str, root: Path, file: Path) -> Report:
    """Place the runs of an archive below `root` and store them.

    A run that is there already has to have the same result; if not, it is named and left out.

    Raises:
        ArchiveError: The file is damaged, or no such archive; nothing was placed.
    """
    check(file)
    root.mkdir(parents=True, exist_ok=True)
    lines, placed, known = [], 0, 0
    with TemporaryDirectory(dir=root, prefix=".import-") as room:
        ended = _ended(unpack(file, Path(room)), file)
        store = Store(store_place)
        for folder, run in ended:
            target = root.resolve() / run.run_id
            if why := _against(store, run, RunFolder(target)):
                lines.append(f"{run.run_id}: not imported: {why}")
            elif target.exists():
                known += 1
                _store(store, target)
            else:
                placed += 1
                folder.path.rename(target)
                _store(store, target)
    lines.append(f"{counted(placed, 'run', 'runs')} imported, {known} there already.")
    value = {"imported": placed, "known": known, "conflicts": lines[:-1]}
    return Report("\n".join(lines), value, len(lines) == 1)


def _ended(folders: Sequence[RunFolder], file: Path) -> list[tuple[RunFolder, Run]]:
    """Read all runs of an archive before one of them is placed."""
    found = [(folder, record_of(folder)) for folder in folders]
    for folder, run in found:
        if run is None or run.run_id != folder.path.name:
            raise ArchiveError(f"{file}: {folder.path.name} is not the folder of a run that ended.")
    return [(folder, run) for folder, run in found if run]


def _against(store: Store, run: Run, there: RunFolder) -> str | None:
    """Say what contradicts a run: in the store, or in the folder that has its place."""
    stored = store.runs(prefix=run.run_id, forgotten=None)
    if not there.path.exists():
        return conflict(run, stored)
    found = record_of(there)
    if found is None:
        return f"{there.path} is there, and has not ended."
    return conflict(run, [found, *stored])


def _store(store: Store, path: Path) -> None:
    folder = RunFolder(path)
    run = record_of(folder)
    assert run
    store.put(run, verdicts_of(folder))
