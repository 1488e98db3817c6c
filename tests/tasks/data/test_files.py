"""Reading data files: a message names the file, the row and what was expected."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.contract import DataFile, Group, Row
from tasks.data import sets
from tasks.data.files import TEST_FIELDS, TRAIN_FIELDS, DataError, read
from tasks.data.sets import DataSet
from tasks.gsm8k import benchmark as gsm8k

Json = dict[str, object]

ROWS: list[Json] = [
    {"instruction": f"What is {n} + 1?", "output": f"{n + 1}", "answer": f"{n + 1}.0"}
    for n in range(3)
]
TOY = DataFile("toy set", ("toys/toy.json", "toy.json"), None, 3, "the toy makers", "MIT")


def listed(rows: Sequence[object]) -> bytes:
    return json.dumps(rows, ensure_ascii=False).encode()


def lines(rows: Sequence[object]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def changed(number: int, **fields: object) -> bytes:
    """Write the rows with other fields in one of them, counted from 1."""
    return listed([row | fields if n == number else row for n, row in enumerate(ROWS, 1)])


def lacking(number: int, field: str) -> bytes:
    kept = {name: value for name, value in ROWS[number - 1].items() if name != field}
    return listed([*ROWS[: number - 1], kept, *ROWS[number:]])


def load(folder: Path, file: DataFile = TOY) -> DataSet:
    return sets.load_test("toy", replace(gsm8k, file=file), folder)


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fault(folder: Path, name: str, content: bytes, file: DataFile = TOY) -> str:
    """Write a file, load it and return the message, which must name it; nothing may change."""
    (folder / name).write_bytes(content)
    before = tree(folder)
    with pytest.raises(DataError) as caught:
        load(folder, file)
    assert tree(folder) == before
    assert str(folder / name) in str(caught.value)
    return str(caught.value)


WHOLE = "Expected a list of objects, or one object a line; is the file cut short?"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (listed(ROWS)[:-5], ["not JSON at line 1, column ", WHOLE]),
        (lines(ROWS)[:-5], ["not JSON at line ", WHOLE]),
        (b"Not found", ["not JSON at line 1, column 1", WHOLE]),
        (b"\xff[]", ["not UTF-8 at byte 0"]),
        (b'["caf\xe9"]', ["not UTF-8 at byte 5"]),
        (json.dumps({"rows": ROWS}).encode(), ["row 1", "'instruction'", "instruction, answer"]),
        (b"5", ["row 1", "expected an object, found int"]),
        (b"null", ["row 1", "expected an object, found NoneType"]),
        (listed([ROWS]), ["row 1", "expected an object, found list"]),
        (listed([ROWS[0], "two", ROWS[2]]), ["row 2", "expected an object, found str"]),
        (lines([ROWS[0], ROWS[1], []]), ["row 3", "expected an object, found list"]),
        (lacking(2, "answer"), ["row 2", "no field 'answer'; expected instruction, answer"]),
        (lacking(3, "instruction"), ["row 3", "no field 'instruction'"]),
        (changed(3, answer=4.0), ["row 3", "'answer' holds float, expected text"]),
        (changed(1, instruction=None), ["row 1", "'instruction' holds NoneType, expected text"]),
        (changed(2, instruction=["What?"]), ["row 2", "'instruction' holds list, expected text"]),
        (changed(1, answer=""), ["row 1", "'answer' is empty"]),
        (changed(2, instruction=" \n"), ["row 2", "'instruction' is empty"]),
        (listed(ROWS[:2]), ["2 rows", "toy set has 3"]),
        (listed([*ROWS, ROWS[0]]), ["4 rows", "toy set has 3"]),
        (b"", ["the file is empty", "Expected"]),
        (b"[]", ["0 rows"]),
    ],
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_fault_is_told_with_file_row_and_expectation(
    tmp_path: Path, end: str, content: bytes, said: list[str]
) -> None:
    written = gzip.compress(content) if end else content
    message = fault(tmp_path, f"toy.json{end}", written)
    assert [words for words in said if words not in message] == []


PACKED = gzip.compress(listed(ROWS))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(PACKED[:-12], id="cut short"),
        pytest.param(PACKED[:5], id="cut in the header"),
        pytest.param(PACKED[:15] + b"\x00\xff\x00\xff" + PACKED[19:], id="damaged inside"),
        pytest.param(PACKED[:-8] + b"\x00" * 8, id="wrong check sum"),
        pytest.param(PACKED + b"more", id="more behind"),
        pytest.param(listed(ROWS), id="not gzip"),
    ],
)
def test_a_damaged_gzip_file_is_called_so(tmp_path: Path, content: bytes) -> None:
    assert "gzip file is damaged or cut short" in fault(tmp_path, "toy.json.gz", content)


def test_another_hash_is_told_with_both_hashes_and_the_source(tmp_path: Path) -> None:
    content, expected = changed(3, answer="7.0"), sha256(listed(ROWS)).hexdigest()
    message = fault(tmp_path, "toy.json", content, replace(TOY, sha256=expected))
    assert sha256(content).hexdigest() in message
    assert expected in message
    assert "Get it again from the toy makers" in message


def test_a_fault_in_json_lines_is_told_with_its_line(tmp_path: Path) -> None:
    content = lines(ROWS).replace(b'"answer": "2.0"', b'"answer": ')
    assert "line 2" in fault(tmp_path, "toy.json", content)


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"[" + b"1" * 5000 + b"]"], ids=["deep", "long number"]
)
def test_json_beyond_the_parser_is_a_data_error_too(tmp_path: Path, content: bytes) -> None:
    assert fault(tmp_path, "toy.json", content)


def test_a_missing_file_is_told_with_every_place_it_may_lie(tmp_path: Path) -> None:
    (tmp_path / "toy.json").mkdir()  # a folder is no file
    with pytest.raises(DataError) as caught:
        load(tmp_path)
    for words in (str(tmp_path), "toy set", *TOY.places, ".gz", "the toy makers"):
        assert words in str(caught.value)


def test_a_missing_folder_is_a_missing_file_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of these files is there"):
        load(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_the_hash_is_of_the_uncompressed_content(tmp_path: Path) -> None:
    (tmp_path / "toy.json.gz").write_bytes(PACKED)
    digest = sha256(listed(ROWS)).hexdigest()
    found = load(tmp_path, replace(TOY, sha256=digest))
    assert found.sha256 == digest
    assert found.verified
    assert found.rows[2] == Row(2, "What is 2 + 1?", "3", "3.0")


def test_a_row_may_lack_what_is_not_required(tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_bytes(listed([{"instruction": "1?", "output": "1"}] * 3))
    found = sets.load_training("toy", Group("Toy", (), (TOY,), 3), (), tmp_path)
    assert found.rows[1] == Row(1, "1?", "1", "")
    assert not found.verified


SOLID = st.text(min_size=1).filter(str.strip)
PROBLEM = st.fixed_dictionaries({"instruction": SOLID, "output": st.text(), "answer": SOLID})


@settings(max_examples=50)
@given(st.lists(PROBLEM, min_size=1, max_size=4))
def test_list_lines_and_gzip_hold_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, problems: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("forms")
    file = replace(TOY, rows=len(problems))
    expected = tuple(Row(id=n, **fields) for n, fields in enumerate(problems))
    for name, content in (("list", listed(problems)), ("lines", lines(problems))):
        (folder / name).write_bytes(content)
        (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        plain = read(file, folder / name, TEST_FIELDS)
        assert plain == read(file, folder / f"{name}.gz", TEST_FIELDS)
        assert plain[0] == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*ROWS[0], "x"]), inner),
)


@given(st.binary() | VALUES.map(lambda value: json.dumps(value).encode()))
def test_no_content_raises_anything_but_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "toy.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"toy\.json: "):
        read(TOY, path, TRAIN_FIELDS)
