"""`harness audit`: what is asked about a table, and how the command ends."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands import audit
from harness.commands.audit import Said
from harness.errors import UserError

Command = Callable[..., Any]
ROOT = Path(__file__).parents[3]

# 427 of 600 are 71.17 %, 428 are 71.33 %: no number of 600 prints as 71.20.
TABLE = """| Method | MultiArith | SVAMP | macro |
| :----- | ---------: | ----: | ----: |
| LoRA | {first} | 54.10 | {macro} |
| DyPAM | **88.50** | **63.00** | **75.75** |
"""
RIGHT = TABLE.format(first="71.17", macro="62.64")  # 62.635


def write(folder: Path, text: str) -> str:
    path = folder / "paper.md"
    path.write_text(text)
    return str(path)


def findings(report: Any, grade: str) -> list[str]:
    return [one.check for table in report.value for one in table["findings"] if one.grade == grade]


def test_the_page_of_the_published_tables_is_what_the_command_prints() -> None:
    page = (ROOT / "results/audit/README.md").read_text(encoding="utf-8")
    printed = page.partition("<!-- audit: begin -->\n")[2].partition("\n<!-- audit: end -->")[0]
    assert printed == audit.published(None, Said()).text


def test_a_table_that_is_right_ends_well(harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "audit", write(tmp_path, RIGHT), "--seeds", "1")
    assert done.returncode == 0, done.stdout
    assert "1 table of 6 printed numbers: 0 impossible, 0 inconsistent" in done.stdout


def test_an_average_of_other_numbers_ends_with_1(harness: Command, tmp_path: Path) -> None:
    wrong = TABLE.format(first="71.17", macro="63.64")
    done = harness(tmp_path, "audit", write(tmp_path, wrong), "--json")
    assert done.returncode == 1
    [table] = json.loads(done.stdout)
    [found] = [one for one in table["findings"] if one["grade"] == "inconsistent"]
    assert found["where"] == "LoRA, macro"
    assert "63.64 is printed" in found["arithmetic"]


def test_seeds_and_sizes_that_the_user_says_make_a_finding_graver(tmp_path: Path) -> None:
    place = write(tmp_path, TABLE.format(first="71.20", macro="62.65"))
    assert findings(audit.file(place, Said()), "impossible") == []
    sizes = audit.sizes("MultiArith=600,svamp=1000")
    assert findings(audit.file(place, Said(seeds=1, items=sizes)), "impossible") == ["GRIM"]
    # 712 of 1,000 are 71.20 %.
    fits = Said(seeds=1, items={"multiarith": 1000, "svamp": 1000})
    assert findings(audit.file(place, fits), "impossible") == []


def test_the_share_of_possible_values_is_printed_with_the_table(tmp_path: Path) -> None:
    text = audit.file(write(tmp_path, RIGHT), Said(seeds=1)).text
    # 601 of 10,001 values of two decimals, and 1,001.
    assert "| MultiArith |   600 |    1 |        2 |       6.0% |" in text
    assert "| SVAMP      | 1,000 |    1 |        2 |      10.0% |" in text


def test_a_pipe_is_read(harness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(RIGHT))
    assert "1 table" in harness(tmp_path, "audit", "-").stdout


def test_a_paper_without_tables_is_said_to_have_none(harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "audit", "--published", "smoa")
    assert done.returncode == 0
    assert "SMoA: no table." in done.stdout


def test_percentages_on_other_backbones_are_counted_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    # `harness methods lora --backbone tiny` says 22.3 %.
    table = "| Backbone | Method | Param (%) | macro |\n| - | - | - | - |\n"
    place = write(tmp_path, f"{table}| tiny | LoRA | 22.3 | 5.0 |\n| tiny | DoRA | 2.0 | 5.1 |\n")
    assert findings(audit.file(place, Said()), "notable") == []
    [asked] = audit.file(place, Said(count=True)).value
    assert [one.where for one in asked["findings"]] == ["tiny, DoRA, parameters"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (None, "harness audit --published"),
        ("nowhere.tex", "there is no such file"),
        ("empty.md", "no table of scores was found"),
        ("picture.png", "is no text"),
    ],
)
def test_what_cannot_be_read_is_told(place: str | None, words: str, tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("Nothing but words.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(UserError, match=words):
        audit.file(place and str(tmp_path / place), Said())


def test_sizes_are_read_or_refused() -> None:
    with pytest.raises(UserError, match="'gsm8k' says no number of rows"):
        audit.sizes("svamp=10,gsm8k")
