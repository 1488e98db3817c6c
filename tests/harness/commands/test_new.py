"""Files that `harness new` writes: they run as they are, and nothing is overwritten."""

import json
from pathlib import Path

import pytest

from harness.commands.doctor import examine
from harness.commands.new.benchmark import benchmark
from harness.commands.new.method import method
from harness.errors import UserError
from tasks.data.files import DataError

ROWS = [{"q": f"How many legs have {n} cats?", "a": 4 * n} for n in range(1, 21)]

FIVE_LINES = '''\
"""Zoo: the rows of rows.json."""

from tasks.from_file import benchmark_from

benchmark = benchmark_from(__file__, "rows.json", question="q", answer="a", kind="number")
'''


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    return tmp_path


def test_a_new_method_keeps_the_contract_as_it_is(place: Path) -> None:
    assert method("tanh_lora").value == {"file": "tanh_lora.py"}
    findings = list(examine("tanh_lora.py"))
    assert len(findings) > 10
    assert [finding for finding in findings if finding.fault] == []


def test_a_new_method_has_its_own_name_everywhere() -> None:
    method("bent_lora")
    text = Path("bent_lora.py").read_text()
    assert "example" not in text.lower()
    for name in (
        "BentLora:",
        "class BentLoraConfig",
        'peft_type = "BENT_LORA"',
        "`bent_lora.py[r=4]`",
    ):
        assert name in text


def test_a_new_benchmark_is_five_lines_that_say_what_was_guessed(place: Path) -> None:
    report = benchmark("zoo", Path("rows.json"))
    assert Path("zoo.py").read_text() == FIVE_LINES
    for words in ("20 rows with the columns q, a", "How many legs have 1 cats?", "number"):
        assert words in report.text
    assert report.value["kind"] == "number"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("here", "here.py exists and is left as it is"),
        ("lora", "is in `harness methods` already"),
        ("json", "is a Python module, which json.py would hide"),
        ("Tanh-LoRA", "expected a name of small letters, digits and _"),
        ("tanh_lora.py", "expected a name of small letters, digits and _"),
    ],
)
def test_a_name_that_is_taken_or_no_name_is_refused(place: Path, name: str, said: str) -> None:
    (place / "here.py").write_text("mine")
    before = {path: path.read_bytes() for path in place.iterdir()}
    with pytest.raises(UserError, match=said):
        method(name)
    assert {path: path.read_bytes() for path in place.iterdir()} == before


def test_rows_that_do_not_agree_leave_no_file(place: Path) -> None:
    rows = [*ROWS, {"q": "How many legs have 2 hens?", "a": "four"}]
    (place / "rows.json").write_text(json.dumps(rows))
    with pytest.raises(
        DataError, match=r"rows\.json: row 21: the answer is 'four', expected a fin"
    ):
        benchmark("zoo", Path("rows.json"))
    assert not (place / "zoo.py").exists()
    with pytest.raises(UserError, match="'gsm8k' is in `harness tasks` already"):
        benchmark("gsm8k", Path("rows.json"))
