"""SQLite stores on a local disk: readers and a writer side by side."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from results.record import Run
from results.store import Reader, Store, database, sqlite

Make = Callable[..., Run]

MOUNTS = """\
22 1 252:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:35 / /home rw,relatime shared:9 - nfs4 server:/home rw,vers=4.2
41 22 0:36 / /data/fast rw,relatime - xfs /dev/vdb rw
"""


@pytest.mark.parametrize(
    ("path", "shares"),
    [("/tmp/harness.db", True), ("/home/me/harness.db", False), ("/data/fast/x/h.db", True)],
)
def test_a_store_is_in_wal_mode_on_a_local_file_system_only(
    tmp_path: Path, path: str, shares: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert sqlite.shares_memory(Path(path), mounts) is shares
    assert not sqlite.shares_memory(Path(path), tmp_path / "nowhere")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    if not sqlite.shares_memory(tmp_path):
        pytest.skip("the folder of this test is on a network file system")
    return tmp_path / "harness.db"


def test_a_reader_does_not_keep_a_writer_waiting(path: Path, make: Make) -> None:
    store = Store(path)
    store.add(make(seed=1))
    with database.to_read(path).transaction() as connection:
        before = connection.exec_driver_sql("SELECT COUNT(*) FROM runs").scalar()
        store.add(make(seed=2))
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM runs").scalar() == before == 1
    assert len(Reader(path).runs()) == 2


def test_what_was_made_beside_a_store_while_it_was_read_only_is_written_again(
    path: Path, make: Make
) -> None:
    store = Store(path)
    store.add(make(seed=1))
    path.chmod(0o444)
    with closing(sqlite3.connect(path)) as another:
        another.execute("SELECT COUNT(*) FROM runs").fetchall()
        assert {oct(one.stat().st_mode) for one in sqlite.beside(path)} == {"0o100444"}
        path.chmod(0o644)
        store.add(make(seed=2))
        assert {oct(one.stat().st_mode) for one in sqlite.beside(path)} == {"0o100644"}


def test_what_a_crash_left_beside_the_store_belongs_to_it(path: Path, make: Make) -> None:
    Store(path).add(make(seed=1))
    crashed = sqlite3.connect(path)
    crashed.execute("SELECT COUNT(*) FROM runs").fetchall()
    Store(path).add(make(seed=2))
    copy = path.with_name("copy.db")
    for end in ("", "-wal", "-shm"):
        copy.with_name(copy.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    crashed.close()
    assert len(Reader(copy).runs()) == 2
