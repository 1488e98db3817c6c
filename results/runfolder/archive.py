"""Run folders in one file, to be taken to another machine.

A ZIP archive without compression: what it declares cannot be larger than it is. It holds files
alone, below the ids of their runs, and a manifest with the SHA-256 of each. Nothing of an archive
is trusted: all of it is checked in a folder of its own before any of it is placed.
"""

import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from results.errors import ResultsError
from results.runfolder.files import JSON_OBJECT, RunFolderError, present
from results.runfolder.folder import RunFolder

MANIFEST = "manifest.json"
FORMAT = 1
BLOCK = 2**20
LONGEST = 255
"""Bytes of a name, as most file systems allow."""

ENCRYPTED = 0x1

LEFT = ("lock", "checkpoints", "tensorboard", "wandb")
"""What says nothing of a run that has ended, or nothing that its other files do not."""

DIGITS = frozenset("0123456789abcdef")


class ArchiveError(ResultsError):
    """A file is not an archive of runs, or what is in it is not what was packed."""


def pack(folders: Iterable[RunFolder], out: Path) -> None:
    """Write the files of runs that have ended, of each run one folder, into the archive `out`.

    Raises:
        FileExistsError: There is such a file.
        RunFolderError: There is something else than files in a folder.
    """
    # All of them before `out` is made: it may lie in one of the folders.
    paths = {
        f"{folder.head().run_id}/{path.relative_to(folder.path).as_posix()}": path
        for folder in folders
        for path in _files(folder.path)
    }
    with out.open("xb") as file:
        try:
            _write(file, paths)
        except BaseException:
            out.unlink()
            raise


def _write(file: IO[bytes], paths: Mapping[str, Path]) -> None:
    digests: dict[str, str] = {}
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, path in paths.items():
            with (
                path.open("rb") as source,
                archive.open(_info(name), "w", force_zip64=True) as target,
            ):
                digests[name] = _copied(source, target)
        manifest = json.dumps({"format": FORMAT, "files": digests}, indent=2)
        archive.writestr(_info(MANIFEST), manifest)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        first = path.relative_to(folder).parts[0]
        if first not in LEFT and path.name[0] != "." and (path.is_symlink() or not path.is_dir()):
            if path.is_symlink():
                raise RunFolderError(f"{path} is a link, not a file.")
            present(path)
            yield path


def _info(name: str) -> ZipInfo:
    # The same files make the same archive: no time stamps.
    made = ZipInfo(name)
    made.external_attr = (stat.S_IFREG | 0o644) << 16
    return made


def check(archive: Path) -> Mapping[str, str]:
    """Check all that an archive says of itself, before any of its files is read.

    Returns:
        The SHA-256 of each file, by its name.

    Raises:
        ArchiveError: It is damaged, or holds what no archive of runs holds.
    """
    with _naming(archive), ZipFile(archive) as opened:
        return _checked(opened, archive)


def unpack(archive: Path, room: Path) -> list[RunFolder]:
    """Check an archive and lay its run folders out below `room`, which is to be placed or removed.

    Raises:
        ArchiveError: As `check`, or a file is not what was packed.
    """
    with _naming(archive), ZipFile(archive) as opened:
        digests = _checked(opened, archive)
        for name, digest in digests.items():
            _place(opened, name, digest, room / name)
    return [RunFolder(room / run_id) for run_id in sorted({one.split("/")[0] for one in digests})]


@contextmanager
def _naming(archive: Path) -> Iterator[None]:
    try:
        present(archive)
        yield
    except (
        BadZipFile,
        EOFError,
        NotImplementedError,
        OSError,
        RunFolderError,
        ValueError,
    ) as error:
        raise ArchiveError(f"{archive} is no archive of runs, or damaged: {error}") from error


def _checked(opened: ZipFile, archive: Path) -> Mapping[str, str]:
    """Read the manifest of an archive of which every entry is a plain file with a plain name."""
    entries = opened.infolist()
    names = [entry.filename for entry in entries]
    for entry in entries:
        if fault := _fault(entry):
            raise ArchiveError(f"{archive}: {entry.filename!r} {fault}. Nothing was imported.")
    if len(names) != len(set(names)):
        raise ArchiveError(f"{archive} holds a name twice. Nothing was imported.")
    if sum(entry.file_size for entry in entries) > archive.stat().st_size:
        raise ArchiveError(f"{archive} declares more than it holds. Nothing was imported.")
    if MANIFEST not in names:
        raise ArchiveError(f"{archive} has no {MANIFEST}: `harness export` did not write it.")
    digests = _manifest(opened, archive)
    if digests.keys() != set(names) - {MANIFEST}:
        raise ArchiveError(f"{archive} holds other files than its {MANIFEST} lists.")
    return digests


def _fault(entry: ZipInfo) -> str | None:
    """Say what is wrong with an entry: an archive could lead out of the folder, or fill the disk.

    >>> _fault(ZipInfo("../../home/ann/.bashrc"))
    'is not the name of a file of a run'
    """
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is not a file but a folder, link or device"
    if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
        return "is compressed, which no archive of runs is"
    if entry.flag_bits & ENCRYPTED:
        return "is encrypted"
    return None if _is_plain(entry.filename) else "is not the name of a file of a run"


def _is_plain(name: str) -> bool:
    run_id, *below = name.split("/")
    is_below = len(run_id) == 16 and DIGITS.issuperset(run_id) and bool(below)  # noqa: PLR2004
    return name == MANIFEST or (is_below and all(map(_is_plain_part, below)))


def _is_plain_part(part: str) -> bool:
    return (
        part not in ("", ".", "..")
        and "\\" not in part
        and part.isprintable()
        and len(part.encode()) <= LONGEST
    )


def _manifest(opened: ZipFile, archive: Path) -> Mapping[str, str]:
    found = JSON_OBJECT.validate_json(opened.read(MANIFEST))
    if found.get("format") != FORMAT:
        raise ArchiveError(
            f"{archive} is of format {found.get('format')}; this version reads {FORMAT}. "
            "Upgrade the harness."
        )
    digests = found.get("files")
    if not isinstance(digests, dict) or not digests:
        raise ArchiveError(f"{archive}: its {MANIFEST} lists no files.")
    return digests


def _place(opened: ZipFile, name: str, digest: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened.open(name) as source, path.open("xb") as target:
        if _copied(source, target) != digest:
            raise ArchiveError(f"{name} is not what was packed: its SHA-256 is another one.")


def _copied(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy a file, never more than a block of it in memory; return its SHA-256."""
    hashed = sha256()
    while block := source.read(BLOCK):
        hashed.update(block)
        target.write(block)
    return hashed.hexdigest()
