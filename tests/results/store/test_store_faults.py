"""Every way a store can be refused, and that nothing is lost by it."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from results.errors import ResultsError
from results.record import Run
from results.store import Reader, Store, sqlite

Make = Callable[..., Run]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "harness.db"


def test_reading_a_missing_store_names_the_command_and_makes_no_file(path: Path) -> None:
    with pytest.raises(ResultsError, match=r"no store at .*\n.*`harness run` makes one"):
        Reader(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("opened", [Reader, Store])
def test_a_file_that_is_no_database_is_refused_unharmed(opened: type[Reader], path: Path) -> None:
    path.write_text("not a database " * 100)
    with pytest.raises(ResultsError, match=r"is not a database.*\n.*`harness reindex` rebuilds"):
        opened(path)
    assert path.read_text() == "not a database " * 100


def test_a_store_that_was_cut_short_is_refused_with_advice(path: Path, make: Make) -> None:
    for seed in range(50):
        Store(path).add(make(seed=seed))
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(ResultsError, match=r"is damaged\.\n.*`harness reindex`"):
        Reader(path).runs()


@pytest.mark.parametrize("opened", [Reader, Store])
def test_a_folder_is_refused(opened: type[Reader], tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="must be a file, not a folder"):
        opened(tmp_path)


def test_a_store_in_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="in a folder that exists"):
        Store(tmp_path / "missing" / "harness.db")


@pytest.fixture
def foreign(path: Path) -> Path:
    """Make a database of another program, which has a table of the same name."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (x INTEGER)")
    connection.close()
    return path


def test_the_database_of_another_program_is_not_read_as_a_store(foreign: Path) -> None:
    with pytest.raises(ResultsError, match="holds no runs of this harness"):
        Reader(foreign)


def test_the_database_of_another_program_is_left_as_it_is(foreign: Path) -> None:
    before = foreign.read_bytes()
    with pytest.raises(ResultsError, match="table runs already exists"):
        Store(foreign)
    assert foreign.read_bytes() == before


@pytest.mark.parametrize(
    "place", ["oracle9://host/db", "sqlite://harness.db", "postgresql://h:x/d"]
)
def test_an_unusable_url_is_refused(place: str) -> None:
    with pytest.raises(ResultsError, match="cannot be opened by its URL"):
        Reader(place)


def test_a_password_stays_out_of_messages() -> None:
    with pytest.raises(ResultsError) as refused:
        Reader("postgresql+nodriver://someone:secret@host/db")
    assert "secret" not in str(refused.value)


def test_a_url_names_the_same_store_as_its_path(path: Path, make: Make) -> None:
    Store(f"sqlite:///{path}").add(make())
    assert Reader(path).runs() == Reader(f"sqlite:///{path}").runs() == [make()]


def test_a_read_only_store_is_read_and_refuses_a_writer_before_any_run(
    path: Path, make: Make
) -> None:
    Store(path).add(make())
    read_only = f"sqlite:///file:{path}?mode=ro&uri=true"
    assert Reader(read_only).runs() == [make()]
    with pytest.raises(ResultsError, match="is read-only"):
        Store(read_only)


def test_what_is_to_be_made_writable_is_named(
    path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(path).add(make())
    beside = path.with_name(f"{path.name}-shm")
    beside.touch()
    monkeypatch.setattr(os, "access", lambda one, _: one != beside)  # for root, all is writable
    with pytest.raises(ResultsError, match=f"Please make {beside} writable, or"):
        Store(f"sqlite:///file:{path}?mode=ro&uri=true")


def test_who_may_not_write_to_the_folder_sees_a_writer_at_work_in_either_mode(
    path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(path).add(make())
    monkeypatch.setattr(os, "access", lambda *_: False)  # for root, all is writable
    for journal in ("-journal", "-wal"):
        file = path.with_name(path.name + journal)
        assert sqlite.for_reading(sqlite.url(path)).query.get("immutable") == "1"
        file.touch()
        assert "immutable" not in sqlite.for_reading(sqlite.url(path)).query
        file.unlink()


@pytest.fixture
def full_disk() -> Iterator[Callable[[], None]]:
    """Let no database grow, from the call on."""

    def stop_growth(connection: sqlite3.Connection, record: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # at once the present size, if larger

    yield lambda: event.listen(Engine, "connect", stop_growth)
    event.remove(Engine, "connect", stop_growth)


def test_a_full_disk_loses_nothing_stored_before(
    path: Path, make: Make, full_disk: Callable[[], None]
) -> None:
    Store(path).add(make())
    full_disk()
    with pytest.raises(ResultsError, match=r"no space left .*\n.*`harness reindex`"):
        Store(path).add(make(seed=1, reason="x" * 100_000))
    assert Reader(path).runs() == [make()]
