"""The databases that the store is tried on: SQLite always, PostgreSQL under the marker `parts`."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.parts)]


@pytest.fixture(scope="session")
def server() -> Iterator[Callable[[], str]]:
    """Start Debian's PostgreSQL in a folder of its own; each call makes an empty database."""
    binaries = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    assert binaries, "PostgreSQL is not there: please install Debian's package postgresql."
    user = "postgres" if os.getuid() == 0 else None  # it refuses to run as root
    # Not below pytest's folders, whose names are too long for a socket and which are its user's.
    folder = Path(tempfile.mkdtemp())
    shutil.chown(folder, user or os.getuid())

    def call(program: str, *arguments: str) -> None:
        command = [os.fspath(binaries / program), "-D", "data", *arguments]
        log = subprocess.DEVNULL  # the server keeps what it inherits open
        subprocess.run(command, cwd=folder, user=user, check=True, stdout=log, stderr=log)

    call("initdb", "--auth=trust", "--username=harness", "--encoding=UTF8", "--no-sync")
    call("pg_ctl", "start", "-w", "-l", "log", "-o", f"-k {folder} -c listen_addresses= -F")
    url = sa.URL.create("postgresql+psycopg", "harness", query={"host": str(folder)})
    engine = sa.create_engine(url.set(database="postgres"), isolation_level="AUTOCOMMIT")

    def database() -> str:
        name = f"store_{uuid4().hex}"
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        return url.set(database=name).render_as_string()

    yield database
    engine.dispose()
    call("pg_ctl", "stop", "-w", "-m", "immediate")
    shutil.rmtree(folder)


@pytest.fixture(scope="session", params=DATABASES)
def new_place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Name stores that are not there yet, as `--store` takes them."""
    if request.param == "sqlite":
        # With characters that a URL would take for its own.
        return lambda: str(tmp_path_factory.mktemp("store") / "a store?#%20.db")
    made: Callable[[], str] = request.getfixturevalue("server")
    return made


@pytest.fixture
def place(new_place: Callable[[], str]) -> str:
    """Name a store that is not there yet."""
    return new_place()
