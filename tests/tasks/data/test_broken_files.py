"""The ten kinds of broken file: each is refused with its place and what was expected, and kept.

The contents are broken copies of a test set of three rows, and of a dialogue in ParlAI's layout.
"""

import gzip
import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tasks.contract import DataFile, Row
from tasks.data import sets
from tasks.data.files import DataError

Rows = list[dict[str, Any]]

FILE = DataFile("toy set", ("toy.json",), None, 3, "the toy makers", "MIT")


def problems(answer: str = "5", ask: str = "How many café tables are {}?") -> Rows:
    return [{"instruction": ask.format(n), "output": "", "answer": answer} for n in range(3)]


def choices(answer: str, *options: str) -> Rows:
    """Write rows whose second has another gold answer."""
    rows = problems(options[0], "Which of {}?\n\nAnswer format: " + "/".join(options))
    return [rows[0], rows[1] | {"answer": answer}, rows[2]]


def written(rows: object, encoding: str = "utf-8") -> bytes:
    return json.dumps(rows, ensure_ascii=False).encode(encoding)


def second(**fields: object) -> bytes:
    rows = problems()
    return written([rows[0], rows[1] | fields, rows[2]])


def lines(rows: Rows) -> bytes:
    return b"\n".join(map(written, rows))


def lacking(field: str) -> bytes:
    rows = problems()
    del rows[1][field]
    return written(rows)


def refusal(folder: Path, name: str, content: bytes, place: str = "toy.json") -> str:
    """Load a file as the test set of a benchmark; return the message without the file's name."""
    path = folder / place
    path.write_bytes(content)
    (folder / "neighbour.json").write_bytes(b"[]")
    before = state(folder)
    benchmark = import_module(f"tasks.{name}").benchmark
    with pytest.raises(DataError) as caught:
        sets.load_test(name, replace(benchmark, file=FILE), folder)
    assert state(folder) == before
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    return said.removeprefix(f"{path}: ")


def state(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """What could change of the files: content, time of change and rights."""
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in folder.iterdir()
    }


WHOLE = written(problems())
LIST = "Expected a list of objects, or one object a line"
NUMBER = "expected a finite number"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        pytest.param("gsm8k", b"<html>Not found</html>", ["line 1, column 1", LIST], id="no JSON"),
        pytest.param("gsm8k", WHOLE[:-9], ["not JSON at line 1", LIST], id="no JSON: cut short"),
        pytest.param(
            "gsm8k",
            lines(problems()).replace(b'"5"', b'"5', 2).replace(b'"5', b'"5"', 1),
            ["not JSON at line 2, column ", LIST],
            id="no JSON: in the second line",
        ),
        pytest.param(
            "gsm8k", written({"rows": problems()}), ["row 1", "no field 'instruction'"], id="shape"
        ),
        pytest.param("gsm8k", b"7", ["row 1", "expected an object, found int"], id="shape: number"),
        pytest.param(
            "gsm8k",
            written([problems()[0], ["What?", "5"]]),
            ["row 2", "expected an object, found list"],
            id="shape: lists in a list",
        ),
        pytest.param(
            "gsm8k",
            lacking("answer"),
            ["row 2", "no field 'answer'", "expected instruction, answer"],
            id="missing field",
        ),
        pytest.param(
            "boolq",
            lacking("instruction"),
            ["row 2", "no field 'instruction'", "expected instruction, answer"],
            id="missing field: instruction",
        ),
        pytest.param(
            "boolq", second(answer=True), ["row 2", "holds bool, expected text"], id="wrong type"
        ),
        pytest.param(
            "gsm8k", second(instruction=["a"]), ["row 2", "holds list"], id="wrong type: list"
        ),
        pytest.param(
            "gsm8k",
            second(input={"table": 1}),
            ["row 2", "'input' holds dict, expected text"],
            id="wrong type: of what may lack",
        ),
        pytest.param(
            "gsm8k", second(answer=float("nan")), ["row 2", "holds float"], id="NaN of JSON"
        ),
        pytest.param("gsm8k", second(answer="NaN"), ["row 2", "'NaN'", NUMBER], id="NaN as text"),
        pytest.param("mawps", second(answer="-inf"), ["row 2", "'-inf'", NUMBER], id="infinite"),
        pytest.param("svamp", second(answer="five"), ["row 2", "'five'", NUMBER], id="in words"),
        pytest.param("gsm8k", second(answer=""), ["row 2", "'answer' is empty"], id="empty answer"),
        pytest.param("aqua", second(answer=" "), ["row 2", "'answer' is empty"], id="blank answer"),
        pytest.param(
            "boolq",
            written(choices("maybe", "true", "false")),
            ["row 2", "'maybe'", "expected one of true, false"],
            id="unknown label",
        ),
        pytest.param(
            "boolq",
            written(choices("True", "true", "false")),
            ["row 2", "'True'", "expected one of true, false"],
            id="unknown label: other case",
        ),
        pytest.param(
            "aqua",
            written([row | {"answer": "F"} for row in problems()]),
            ["row 1", "'F'", "expected one of A, B, C, D, E"],
            id="unknown label: AQuA",
        ),
        pytest.param(
            "arc_easy",
            written(choices("answer5", "answer1", "answer2", "answer3", "answer4")),
            ["row 2", "'answer5'", "expected one of answer1, answer2, answer3, answer4"],
            id="unknown label: not offered in its row",
        ),
        pytest.param(
            "hellaswag",
            written(problems("ending1")),
            ["row 1", "does not end in `Answer format: ...`"],
            id="unknown label: none offered",
        ),
        pytest.param(
            "gsm8k", b"\xef\xbb\xbf" + WHOLE, ["byte-order mark", "Expected UTF-8"], id="mark"
        ),
        pytest.param(
            "gsm8k",
            b"\xef\xbb\xbf" + lines(problems()),
            ["byte-order mark", "Expected UTF-8"],
            id="mark: before lines",
        ),
        pytest.param(
            "gsm8k", written(problems(), "utf-16"), ["UTF-16", "Expected UTF-8"], id="UTF-16"
        ),
        pytest.param(
            "gsm8k",
            written(problems(ask="{}?"), "utf-16-le"),
            ["UTF-16", "Expected UTF-8"],
            id="UTF-16 without mark",
        ),
        pytest.param(
            "gsm8k",
            written(problems(ask="{}?"), "utf-16-be"),
            ["UTF-16", "Expected UTF-8"],
            id="UTF-16 without mark, big-endian",
        ),
        # 30 characters go before: `[{"instruction": "How many caf`.
        pytest.param(
            "gsm8k", written(problems(), "latin-1"), ["not UTF-8 at byte 30"], id="Latin-1"
        ),
        pytest.param("gsm8k", b"", ["the file is empty", "Expected"], id="empty"),
        pytest.param("gsm8k", b" \n\n", ["the file is empty", "Expected"], id="empty: blank"),
        pytest.param("gsm8k", b"[]", ["0 rows"], id="empty: list"),
    ],
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_broken_file_is_refused_with_its_place_and_what_was_expected(
    tmp_path: Path, end: str, name: str, content: bytes, said: list[str]
) -> None:
    packed = gzip.compress(content) if end else content
    message = refusal(tmp_path, name, packed, f"toy.json{end}")
    assert [words for words in said if words not in message] == []


@pytest.mark.parametrize("kept", [0, 1, 9, 40, -9, -1])
def test_a_truncated_gzip_file_is_refused_wherever_it_was_cut(tmp_path: Path, kept: int) -> None:
    packed = gzip.compress(WHOLE, mtime=0)[:kept]
    message = refusal(tmp_path, "gsm8k", packed, "toy.json.gz")
    assert "the gzip file is damaged or cut short" in message or "is empty" in message


def test_half_of_a_character_is_refused_as_it_cannot_be_encoded(tmp_path: Path) -> None:
    content = second(instruction="PEN?").replace(b"PEN", rb"\ud83d")
    message = refusal(tmp_path, "gsm8k", content)
    assert "row 2: field 'instruction'" in message


PERSONA = "1 your persona: i bake bread.\n2 your persona: i have a dog.\n"
DIALOGUE = f"{PERSONA}3 hello !\thi , how are you ?\n4 tired .\tbake with me .\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(DIALOGUE + "5 no reply here\n", "line 5: expected", id="no reply"),
        pytest.param(DIALOGUE + "5 a question ?\t \n", "line 5: expected", id="empty reply"),
        pytest.param(DIALOGUE + "cut\toff\n", "line 5: expected", id="no number"),
        pytest.param(
            PERSONA + "\n" + DIALOGUE + "\n\n9 x\n", "line 10: expected", id="after empty lines"
        ),
        pytest.param(f"{PERSONA}3 partner's persona: i sing.\n", "line 3: expected", id="partner"),
        pytest.param(DIALOGUE, "2 rows, toy set has 3", id="too few"),
        pytest.param(PERSONA, "0 rows", id="personas alone"),
    ],
)
def test_a_broken_line_of_a_dialogue_is_told_by_its_number(
    tmp_path: Path, content: str, said: str
) -> None:
    assert said in refusal(tmp_path, "convai2", content.encode())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(DIALOGUE.encode("utf-16"), "Expected UTF-8", id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf" + DIALOGUE.encode(), "Expected UTF-8", id="mark"),
        pytest.param(
            DIALOGUE.replace("tired", "fiancée").encode("latin-1"), "UTF-8 at byte", id="Latin-1"
        ),
        pytest.param(b"", "the file is empty", id="empty"),
        pytest.param(
            written([{"instruction": "Say hello.", "output": " "}] * 3),
            "row 1: field 'output' is empty",
            id="empty reference",
        ),
        pytest.param(
            written([{"instruction": "Say hello.", "answer": "hello"}] * 3),
            "row 1: no field 'output'; expected instruction, output",
            id="missing field",
        ),
    ],
)
def test_a_test_set_of_texts_is_checked_as_one_of_answers(
    tmp_path: Path, content: bytes, said: str
) -> None:
    assert said in refusal(tmp_path, "convai2", content)


Item = dict[str, object]


@pytest.mark.parametrize(
    "item",
    [
        pytest.param({"question": "1 + 1?", "answer": 2}, id="GSM8K: number"),
        pytest.param({"question": "1 + 1?", "answer": None}, id="GSM8K: null"),
        pytest.param({"original_text": "1 + 1 ?", "ans": None}, id="MAWPS: null"),
        pytest.param({"original_text": "1 + 1 ?", "ans": float("nan")}, id="MAWPS: NaN"),
        pytest.param({"original_text": "1 + 1 ?", "ans": ""}, id="MAWPS: empty"),
        pytest.param({"query": "1 + 1?", "response": 2}, id="MetaMathQA"),
        pytest.param({"instruction": "Sum.", "context": 1, "response": "2"}, id="Dolly"),
        pytest.param({"prompt": None, "response": "2"}, id="prompt"),
        pytest.param({"question": "?", "question_text": None, "answer": "Rest."}, id="iCliniq"),
        pytest.param({"persona": "i bake.", "dialogue": [["hi", "hello"]]}, id="persona: text"),
        pytest.param({"persona": [1], "dialogue": [["hi", "hello"]]}, id="persona: number"),
        pytest.param({"persona": [], "dialogue": [["hi"]]}, id="dialogue: no reply"),
        pytest.param({"persona": [], "dialogue": [[None, "hi"]]}, id="dialogue: null"),
        pytest.param({"persona": [], "dialogue": ["hi"]}, id="dialogue: text for a pair"),
        pytest.param({"persona": [], "dialogue": 3}, id="dialogue: number"),
    ],
)
def test_a_wrong_type_is_refused_in_every_layout(tmp_path: Path, item: Item) -> None:
    sound = {"instruction": "Say hello.", "output": "hello"}
    message = refusal(tmp_path, "convai2", written([sound, item, sound]))
    assert message.startswith("row 2: ")
    assert "expected" in message


def test_the_same_rows_unbroken_are_read(tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_bytes(WHOLE)
    benchmark = import_module("tasks.gsm8k").benchmark
    found = sets.load_test("gsm8k", replace(benchmark, file=FILE), tmp_path)
    assert found.rows[1] == Row(1, "How many café tables are 1?", "", "5")
