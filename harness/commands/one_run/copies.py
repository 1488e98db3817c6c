"""The copies in a run folder of methods and benchmarks that were given by path."""

from pathlib import Path

from harness.plugins import named_files
from harness.printed import say
from harness.spec.planned import PlannedRun, PluginFile
from results.runfolder.folder import RunFolder


def with_copies(planned: PlannedRun, folder: RunFolder, room: Path) -> PlannedRun:
    """Take the copies in a run folder of files that are gone or are not what they were.

    Args:
        planned: The run.
        folder: Its folder.
        room: A folder in which the copies are laid out.
    """
    files = [_as_it_was(file, folder, room / "files") for file in planned.files]
    return planned.model_copy(update={"files": tuple(files)})


def _as_it_was(file: PluginFile, folder: RunFolder, room: Path) -> PluginFile:
    kept = {path: folder.copies / copy for path, copy in file.copies.items()}
    changed = named_files.changed(file.texts)
    if not changed or not all(copy.is_file() for copy in kept.values()):
        return file
    used = kept[changed[0]]
    say(f"note: {changed[0]} is not what it was; its copy is used: {used}", err=True)
    return _laid_out(file, folder, room)


def _laid_out(file: PluginFile, folder: RunFolder, room: Path) -> PluginFile:
    """Put the copies beside links to the data that lie beside the file: they have no copies."""
    here = {path: room / copy for path, copy in file.copies.items()}
    for path, copy in file.copies.items():
        here[path].parent.mkdir(parents=True, exist_ok=True)
        here[path].write_bytes((folder.copies / copy).read_bytes())
    main = here[file.path]
    for data in Path(file.path).parent.glob("*"):
        if data.suffix != main.suffix and not (main.parent / data.name).exists():
            (main.parent / data.name).symlink_to(data)
    texts = {str(here[path]): digest for path, digest in file.texts.items()}
    return file.model_copy(update={"path": str(main), "texts": texts})
