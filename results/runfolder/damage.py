"""What is damaged in a run folder is set aside, so that another attempt makes it again.

With a damaged file goes all that was made from it. Whoever calls this works in the folder alone.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from results.runfolder import aside, attempts, files, sums
from results.runfolder.files import RunFolderError
from results.runfolder.folder import RunFolder
from results.runfolder.partial import damaged

ENDINGS = ("result.json", "divergence.json", "failure.json")
RECORDS = ("training.json", "method.json")
MADE = ("generations", "likelihoods", "verdicts")
FOLDERS = ("adapter", *MADE)
FILES = (*ENDINGS, "environment.json", "events.jsonl", *RECORDS, sums.NAME)


def mend_ending(folder: RunFolder) -> Iterator[str]:
    """Set aside what is no file, and an ending that cannot be read with its files; say what."""
    path = folder.path
    for name in FOLDERS:
        if (path / name).exists() and not (path / name).is_dir():
            yield _set_aside(path, name, "is no folder")
    for name in aside.irregular(path, [*FILES, *_made(path, "*"), *_below(path, "attempts", "*")]):
        yield _set_aside(path, name, "is no file")
    for name, read in {
        "result.json": folder.result,
        "divergence.json": folder.divergence,
        "failure.json": folder.failure,
    }.items():
        if fault := _fault(read):
            yield _set_aside(path, name, fault)
    yield from _attempts(folder)
    if folder.ended and (fault := next(filter(None, map(_fault, _reads(folder))), "")):
        for name in _present(path, ENDINGS):
            yield _set_aside(path, name, fault)


def mend_kept(folder: RunFolder, *, trains: bool) -> Iterator[str]:
    """Set aside what is damaged of a run that has not ended; say what.

    Args:
        folder: Of the run.
        trains: Whether its method does. Without the record of the training nothing counts then.
    """
    path = folder.path
    for name in _made(path, ".*.partial"):
        (path / name).unlink()  # its writer ended before it was whole
    if fault := _fault(lambda: sums.read(path)):
        yield _set_aside(path, sums.NAME, fault)
    noted = sums.read(path)
    yield from _training(folder, noted, trains=trains)
    yield from _answers(folder, noted)
    if gone := noted.keys() - _present(path, noted):
        sums.write(path, {name: one for name, one in noted.items() if name not in gone})


def _attempts(folder: RunFolder) -> Iterator[str]:
    """Put in the place of a damaged attempt one that failed, so that the next has its number."""
    for name in _below(folder.path, "attempts", "[0-9]*.json"):
        if fault := _fault(partial(attempts.read, folder.path / name)):
            yield _set_aside(folder.path, name, fault)
            if (number := Path(name).stem).isdigit():
                attempts.stand_in(folder, int(number), fault)


def _training(folder: RunFolder, noted: sums.Sums, *, trains: bool) -> Iterator[str]:
    """Set aside a training of which something is damaged or missing, with all that followed."""
    path = folder.path
    kept = [name for name in noted if name.startswith((*RECORDS, "adapter/"))]
    changed = [name for name in kept if sums.differs(path, name, noted)]
    faults = [f"{name} is not what was written" for name in changed]
    faults += filter(None, map(_fault, (folder.train_record, folder.method_record)))
    if trains and not (path / "training.json").exists() and _made(path, "*"):
        faults.append("training.json is missing")
    for name in _present(path, (*RECORDS, *FOLDERS)) if faults else ():
        yield _set_aside(path, name, "; ".join(faults))


def _answers(folder: RunFolder, noted: sums.Sums) -> Iterator[str]:
    """Set aside the damaged files of answers, likelihoods and verdicts."""
    path = folder.path
    for name in _made(path, "*.jsonl*"):
        read = partial(files.read_lines, path / name)
        if name.endswith(".partial.jsonl"):
            if any(path.glob(name.replace(".partial.jsonl", ".jsonl*"))):
                (path / name).unlink()  # all is in the whole file
            elif count := damaged(path / name):
                place = aside.copy(path, name)
                yield f"{name}: {count} lines are damaged and do not count. A copy is {place}."
        elif name in noted:
            if sums.differs(path, name, noted):
                yield _set_aside(path, name, "is not what was written")
        elif fault := _fault(read):
            yield _set_aside(path, name, fault)


def _reads(folder: RunFolder) -> Iterator[Callable[[], object]]:
    """Give what reads the files that are stored with an ending."""
    yield from (folder.environment, folder.train_record, folder.method_record)
    for name in _made(folder.path, "*.jsonl*"):
        yield partial(files.read_lines, folder.path / name)


def _set_aside(path: Path, name: str, fault: str) -> str:
    return f"{name}: {fault}. It is set aside as {aside.set_aside(path, name)}."


def _fault(read: Callable[[], object]) -> str:
    """Say in a line why something cannot be read; nothing if it can."""
    try:
        read()
    except RunFolderError as error:
        return str(error).splitlines()[0].rstrip(".")
    return ""


def _present(path: Path, names: Iterable[str]) -> list[str]:
    return [name for name in names if (path / name).exists()]


def _made(path: Path, pattern: str) -> list[str]:
    """Name what was made from the adapter."""
    return [name for kind in MADE for name in _below(path, kind, pattern)]


def _below(path: Path, kind: str, pattern: str) -> list[str]:
    return [str(one.relative_to(path)) for one in sorted((path / kind).glob(pattern))]
