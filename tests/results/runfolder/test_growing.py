"""A log that is read while it is written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.runfolder.files import LONGEST_LINE, RunFolderError
from results.runfolder.growing import BLOCK, Growing


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.txt"


def append(path: Path, text: str) -> None:
    with path.open("a", newline="") as file:
        file.write(text)


@given(
    lines=st.lists(st.text("ab", max_size=5), max_size=12),
    asked=st.integers(1, 15),
    ended=st.booleans(),
)
def test_the_last_lines_are_those_that_splitting_the_whole_text_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], asked: int, ended: bool
) -> None:
    path = tmp_path_factory.mktemp("growing") / "log.txt"
    text = "\n".join(lines) + ("\n" if ended else "")
    append(path, text)
    growing = Growing(path, asked)
    assert [*growing.new(), *growing.rest()] == text.splitlines()[-asked:]


def test_the_last_lines_are_found_beyond_a_block(log: Path) -> None:
    lines = [f"{number} {'x' * 90}" for number in range(2000)]
    append(log, "\n".join(lines) + "\n")
    assert log.stat().st_size > 2 * BLOCK
    assert list(Growing(log, 1500).new()) == lines[-1500:]


def test_a_line_is_read_when_it_is_whole_and_once(log: Path) -> None:
    growing = Growing(log, 40)
    assert list(growing.new()) == []
    append(log, "step 1\nst")
    assert list(growing.new()) == ["step 1"]
    append(log, "ep 2\nstep")
    assert list(growing.new()) == ["step 2"]
    assert list(growing.rest()) == ["step"]


@pytest.mark.parametrize("character", ["x", "é", "😀"])
@pytest.mark.parametrize("count", [LONGEST_LINE + 1, 3 * BLOCK])
def test_a_long_line_is_cut_with_its_length(log: Path, character: str, count: int) -> None:
    append(log, character * count + "\nnext\n")
    cut = f"{character * LONGEST_LINE}… ({count * len(character.encode()):,} bytes)"
    assert list(Growing(log, 40).new()) == [cut, "next"]


def test_a_folder_in_its_place_is_named(log: Path) -> None:
    log.mkdir()
    with pytest.raises(RunFolderError, match=r"log\.txt is a folder, not a file"):
        Growing(log, 40)
