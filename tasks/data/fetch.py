"""Fetching data files: only a file that is right gets its name.

Bytes go to an unfinished file beside the place where the file belongs; one process at a time may
hold it. An interrupted fetch leaves it there. The next fetch then asks for the rest of a download,
and writes a set of the hub again, whose download the `datasets` library has kept.
"""

import fcntl
import gzip
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import BinaryIO

from tasks.contract import HUB, DataFile
from tasks.data import hub
from tasks.data.files import DataError, locate, read
from tasks.data.transfer import Progress, Transfer, UnavailableError, UnreachableError

Receive = Callable[[BinaryIO], None]
"""Writes to a stream what it lacks of a file."""


class UnreachableHostError(DataError):
    """The host did not answer, so that there is no use in asking it for another file."""


def fetch(
    file: DataFile,
    folder: Path,
    progress: Progress,
    *,
    sleep: Callable[[float], None] = time.sleep,
    trusted: str = HUB,
    ask: bool = True,
) -> Path:
    """Fetch `file` to its first place below `folder`, unless it is there; return where it is.

    A file that is there is never replaced. `HF_TOKEN` is sent to `trusted` alone. No attempt is
    made without `ask`, or if `HF_HUB_OFFLINE` or `HF_DATASETS_OFFLINE` is set.

    Raises:
        DataError: The file cannot be had, and the message says what to download and where to put
            it; or what came, or what is there, is not the file on record.
        UnreachableHostError: The host did not answer.
    """
    found = _present(file, folder)
    if found:
        return found
    if file.address is None or not ask or _is_offline():
        raise DataError(offline(file, folder))
    if file.hub:
        receive: Receive = partial(hub.write, file.hub, progress)
    else:
        headers = _authorization(file.address, trusted)
        receive = Transfer(file.address, headers, progress, sleep).run
    try:
        return _fetch(file, folder, receive)
    except UnreachableError as error:
        raise UnreachableHostError(f"{file.address}: {error}. {offline(file, folder)}") from error
    except UnavailableError as error:
        raise DataError(f"{file.address}: {error}. {offline(file, folder)}") from error
    except OSError as error:
        raise DataError(
            f"{error.filename or folder}: cannot be written: {error.strerror}."
        ) from error


def offline(file: DataFile, folder: Path) -> str:
    """Say what to download, from where, and where to put it."""
    target = _target(file, folder).absolute()
    if file.address is None:
        return f"{file.title} cannot be fetched. Get it from {file.source} and put it at {target}."
    if file.hub:
        return (
            f"Fetch {file.title} ({file.source}, {file.address}) where there is a network "
            f"and put it at {target}."
        )
    return f"Download {file.title} ({file.source}) from {file.address} and put it at {target}."


def unfinished(file: DataFile, folder: Path) -> Path:
    """Return where the content of `file` lies until it is complete.

    The address is part of the name, so that another revision's bytes are never continued.
    """
    target = _target(file, folder)
    address = sha256(str(file.address).encode()).hexdigest()[:8]
    return target.with_suffix(f".{address}.partial{target.suffix}")


def _target(file: DataFile, folder: Path) -> Path:
    end = ".gz" if file.url and file.url.endswith(".gz") else ""
    return folder / f"{file.places[0].removesuffix(end)}{end}"


def _is_offline() -> bool:
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
    return any(os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"} for name in names)


def _authorization(url: str, trusted: str) -> dict[str, str]:
    token = os.environ.get("HF_TOKEN", "").strip()
    # The client drops this header when it is sent on to another host.
    return {"Authorization": f"Bearer {token}"} if token and url.startswith(f"{trusted}/") else {}


def _present(file: DataFile, folder: Path) -> Path | None:
    """Return where `file` is; None where it is not there.

    Raises:
        DataError: Something else is there.
    """
    found = locate(file, folder)
    if found:
        try:
            _check(file, found)
        except DataError as error:
            raise DataError(f"{error} Move it away, then fetch {file.title} again.") from error
    return found


def _check(file: DataFile, path: Path) -> None:
    """Refuse content that is not the one on record: by its hash or, without one, by its rows."""
    if file.sha256 is None:
        read(file, path, ("instruction",))
        return
    digest = _digest(path)
    if digest != file.sha256:
        raise DataError(f"{path}: its SHA-256 is {digest}, that of {file.title} is {file.sha256}.")


def _digest(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as content:
            return file_digest(content, "sha256").hexdigest()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the gzip file is damaged or cut short: {error}.") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error


def _fetch(file: DataFile, folder: Path, receive: Receive) -> Path:
    target, begun = _target(file, folder), unfinished(file, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _held(begun) as stream:
        # Another process may have fetched it while this one waited.
        found = _present(file, folder)
        if found:
            return found
        receive(stream)
        stream.flush()
        os.fsync(stream.fileno())
        try:
            _check(file, begun)
        except DataError as error:
            stream.truncate(0)
            raise DataError(
                f"{file.address} did not give {file.title}; removed. {error}"
            ) from error
        begun.rename(target)
    return target


@contextmanager
def _held(path: Path) -> Iterator[BinaryIO]:
    """Open `path` to append while no other process can, and remove it if it ends up empty."""
    with _locked(path) as stream:
        try:
            yield stream
        finally:
            stream.flush()
            if os.fstat(stream.fileno()).st_size == 0:
                path.unlink()


def _locked(path: Path) -> BinaryIO:
    while True:
        stream = path.open("ab")
        fcntl.flock(stream, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(stream.fileno())):
                return stream
        # The previous holder renamed or removed it: what is open here is no longer `path`.
        stream.close()
