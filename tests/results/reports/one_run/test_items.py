"""Items as pages, JSON lines and CSV."""

import csv
import json
from collections.abc import Callable
from dataclasses import asdict
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.analysis.items import Item, Pair
from results.reports.one_run.items import comma_separated, json_lines, pages
from results.reports.spreadsheet import FORMULA
from results.texts import visible

Make = Callable[..., Item]


def test_a_page_holds_prompt_gold_answer_what_was_found_and_the_verdict(item: Make) -> None:
    text = pages([item(found="", ended=False, in_training=True, prompt="How\nmany?")])
    assert text.splitlines() == [
        "## gsm8k 0 (row 1): wrong, nothing found, cut at the limit, in the training set",
        "prompt:",
        "    How",
        "    many?",
        "gold: 7",
        "answer:",
        "    The answer is 7.",
        "other found '1', wrong",
        "strict (decides) found nothing",
        "",
        "Items 1 to 1 of 1.",
    ]


def test_what_comes_after_the_end_of_the_answer_is_told_apart(item: Make) -> None:
    text = pages([item(answer="It is 7. ### 12", judged="It is 7. ")])
    assert "answer:\n    It is 7. \nafter the end of the answer, not judged:\n    ### 12" in text


def test_two_runs_show_both_answers_and_verdicts(item: Make) -> None:
    text = pages([Pair(item(), item(found="8", answer="It is 8.", judged="It is 8."))])
    assert text.startswith("## gsm8k 0 (row 1): right; against: wrong\n")
    for line in (
        "    The answer is 7.",
        "against:\n    It is 8.",
        "strict (decides) found '8', wrong",
    ):
        assert line in text
    assert "prompt against" not in text


@given(count=st.integers(0, 30), size=st.integers(1, 12))
def test_the_pages_hold_every_item_once(count: int, size: int, item: Make) -> None:
    items = [item(id=n) for n in range(count)]
    texts = [pages(items, first, size) for first in range(0, count, size)]
    headings = [line for text in texts for line in text.splitlines() if line.startswith("##")]
    assert headings == [f"## gsm8k {n} (row {n + 1}): right" for n in range(count)]
    assert sum("shows the next" in text for text in texts) == max(0, len(texts) - 1)


@given(st.text())
def test_no_text_steers_the_terminal(text: str) -> None:
    shown = visible(text)
    assert all(one.isprintable() or one == "\n" for one in shown)


def test_json_lines_hold_every_field_one_item_a_line(item: Make) -> None:
    items = [item(id=n, answer="first\nsecond") for n in range(3)]
    read = [json.loads(line) for line in json_lines(items).split("\n")]
    assert read == [json.loads(json.dumps(asdict(one))) for one in items]


def test_a_likelihood_that_is_not_finite_is_a_text(item: Make) -> None:
    (line,) = json_lines([item(likelihoods={"7": float("-inf")})]).split("\n")
    assert json.loads(line, parse_constant=pytest.fail)["likelihoods"] == {"7": "-Infinity"}


@pytest.mark.parametrize("start", FORMULA)
def test_a_spreadsheet_runs_no_answer_as_a_formula(start: str, item: Make) -> None:
    (row,) = csv.DictReader(StringIO(comma_separated([item(answer=f"{start}1+1", found="-5")])))
    # OWASP, CSV Injection: a cell that begins so gets a single quote before it.
    assert row["answer"] == f"'{start}1+1"
    assert row["strict found"] == "'-5"
    assert row["gold"] == "7"


def test_csv_has_the_columns_of_every_extractor(item: Make) -> None:
    letters = item(extractor="letter", extracted={"letter": "B"}, correct={"letter": True})
    rows = list(csv.DictReader(StringIO(comma_separated([item(), letters]))))
    assert [row["letter found"] for row in rows] == ["", "B"]
    assert [row["strict correct"] for row in rows] == ["True", ""]


def test_csv_of_two_runs_has_both_answers_in_a_line(item: Make) -> None:
    (row,) = csv.DictReader(StringIO(comma_separated([Pair(item(), item(found="8"))])))
    assert (row["verdict"], row["against verdict"]) == ("right", "wrong")
