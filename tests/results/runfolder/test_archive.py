"""Archives of runs: what is packed comes out, and nothing of a hostile one is placed."""

import json
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.runfolder.archive import ArchiveError, pack, unpack
from results.runfolder.files import RunFolderError
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import folders

FORMAT_1 = Path(__file__).parent / "format_1"
ID = "0123456789abcdef"


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def written(path: Path, held: Mapping[str, bytes], **manifest: object) -> Path:
    """Write an archive by hand, with a manifest of what it holds unless another is given."""
    digests = {name: sha256(content).hexdigest() for name, content in held.items()}
    with ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 1, "files": digests} | manifest))
        for name, content in held.items():
            archive.writestr(ZipInfo(name), content)
    return path


def refused(archive: Path, room: Path) -> str:
    """Unpack an archive that has to be refused; nothing may lie outside the room, or in it."""
    room.mkdir()
    outside = contents(room.parent)
    with pytest.raises(ArchiveError) as error:
        unpack(archive, room)
    assert contents(room.parent).keys() - outside.keys() <= set()
    return str(error.value)


def test_what_is_packed_comes_out_but_for_what_says_nothing(tmp_path: Path) -> None:
    kept = folders(FORMAT_1)
    pack(kept, tmp_path / "runs.zip")
    unpacked = unpack(tmp_path / "runs.zip", tmp_path / "room")
    assert [folder.path.name for folder in unpacked] == [folder.path.name for folder in kept]
    for before, after in zip(kept, unpacked, strict=True):
        assert contents(after.path) == contents(before.path)


def test_lock_checkpoints_and_unfinished_files_are_left_out(
    create: Callable[..., RunFolder], tmp_path: Path
) -> None:
    folder = create(run_id=ID)
    for name in ("lock", "checkpoints/10/state.json", ".result.json.7.partial", "adapter/a.json"):
        (folder.path / name).parent.mkdir(parents=True, exist_ok=True)
        (folder.path / name).touch()
    pack([folder], tmp_path / "runs.zip")
    (found,) = unpack(tmp_path / "runs.zip", tmp_path / "room")
    assert contents(found.path).keys() == {
        *("spec.json", "places.json", "run.json", "adapter/a.json")
    }


def test_the_same_runs_make_the_same_archive(tmp_path: Path) -> None:
    for name in ("first", "second"):
        pack(folders(FORMAT_1), tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.parametrize("what", ["FIFO", "socket", "link to nothing"])
def test_only_files_are_packed(
    what: str, create: Callable[..., RunFolder], tmp_path: Path, hostile: Callable[..., None]
) -> None:
    folder = create(run_id=ID)
    hostile(what, folder.path / "events.jsonl")
    with pytest.raises(RunFolderError, match=r"events\.jsonl is a"):
        pack([folder], tmp_path / "runs.zip")


@pytest.mark.parametrize(
    "name",
    [
        *("/etc/passwd", "../outside", f"{ID}/../../outside", f"{ID}/..", f"{ID}//a", f"{ID}/./a"),
        *(f"{ID}/a\\..\\b", f"{ID}/a\nb", f"{ID}/{'n' * 256}", "short/spec.json", ID, f"{ID}/"),
        *(f"{ID}/\x1b[2J", f"..{ID}/spec.json", f"{ID.upper()}/spec.json", "~/spec.json"),
    ],
)
def test_no_path_is_trusted(name: str, tmp_path: Path) -> None:
    message = refused(written(tmp_path / "runs.zip", {name: b"x"}), tmp_path / "room")
    assert "Nothing was imported." in message


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40))
def test_whatever_a_name_is_nothing_comes_to_lie_outside(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("hostile")
    archive = written(place / "runs.zip", {f"{ID}/{name}": b"x"})
    (place / "room").mkdir()
    with suppress(ArchiveError):
        unpack(archive, place / "room")
    assert {one.name for one in place.iterdir()} == {"runs.zip", "room"}
    assert {one.name for one in (place / "room").iterdir()} <= {ID}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFDIR])
def test_links_devices_and_folders_are_refused(kind: int, tmp_path: Path) -> None:
    entry = ZipInfo(f"{ID}/spec.json")
    entry.external_attr = (kind | 0o777) << 16
    with ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    assert "a folder, link or device" in refused(tmp_path / "runs.zip", tmp_path / "room")


def test_a_bomb_is_refused_by_what_it_declares(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "runs.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr(f"{ID}/spec.json", bytes(10_000_000))
    assert "is compressed" in refused(tmp_path / "runs.zip", tmp_path / "room")


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "runs.zip", {f"{ID}/a": bytes(100_000)})
    with ZipFile(path, "a") as archive:
        # The central directory names the same bytes again and again.
        (entry,) = (one for one in archive.infolist() if one.filename == f"{ID}/a")
        for n in range(20):
            copy = ZipInfo(f"{ID}/b{n}")
            for field in ("CRC", "compress_size", "file_size", "header_offset", "external_attr"):
                setattr(copy, field, getattr(entry, field))
            archive.filelist.append(copy)
        archive.writestr(f"{ID}/last", b"")
    assert "declares more than it holds" in refused(path, tmp_path / "room")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "runs.zip", {f"{ID}/a": b"x"})
    with ZipFile(path, "a") as archive:
        archive.writestr(f"{ID}/a", b"y")
    assert "holds a name twice" in refused(path, tmp_path / "room")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"files": {f"{ID}/a": "00" * 32}}, "is not what was packed"),
        ({"files": {f"{ID}/a": "x", f"{ID}/b": "x"}}, "other files than its manifest.json"),
        ({"files": []}, "lists no files"),
        ({"format": 99}, "Upgrade the harness."),
    ],
)
def test_a_manifest_that_does_not_agree_is_refused(
    manifest: dict[str, object], words: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "runs.zip", {f"{ID}/a": b"x"}, **manifest)
    (tmp_path / "room").mkdir()
    with pytest.raises(ArchiveError, match=words):
        unpack(path, tmp_path / "room")


def test_every_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    files = {f"{ID}/a": b"first", f"{ID}/b": b"second"}
    whole = written(tmp_path / "runs.zip", files).read_bytes()
    for place in range(0, len(whole), 7):
        path, room = tmp_path / f"{place}.zip", tmp_path / f"room-{place}"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        room.mkdir()
        try:
            unpack(path, room)
        except ArchiveError:
            continue
        assert contents(room) == files


@pytest.mark.parametrize("what", ["folder", "FIFO", "socket", "link to nothing"])
def test_what_is_no_file_is_refused_at_once(
    what: str, tmp_path: Path, hostile: Callable[..., None], at_once: None
) -> None:
    hostile(what, tmp_path / "runs.zip")
    assert "is no archive of runs" in refused(tmp_path / "runs.zip", tmp_path / "room")


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "runs.zip").write_text("thesis")
    with pytest.raises(FileExistsError):
        pack([], tmp_path / "runs.zip")
    assert (tmp_path / "runs.zip").read_text() == "thesis"
