"""What is guessed of a file of questions and answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.data.files import DataError
from tasks.from_file.guess import Guess, guess


def guessed(folder: Path, rows: list[dict[str, Any]]) -> Guess:
    path = folder / "rows.json"
    path.write_text(json.dumps(rows))
    return guess(path)


def answered(*answers: object) -> list[dict[str, Any]]:
    return [{"question": f"Question {n}?", "answer": one} for n, one in enumerate(answers)]


@pytest.mark.parametrize(
    ("names", "question", "answer"),
    [
        (("id", "Question", "Answer"), "Question", "Answer"),
        (("instruction", "output", "answer"), "instruction", "answer"),
        (("q", "id", "a"), "q", "a"),
        (("frage", "antwort"), "frage", "antwort"),
        (("antwort", "frage"), "frage", "antwort"),
    ],
)
def test_columns_are_guessed_by_usual_names_else_by_length(
    tmp_path: Path, names: tuple[str, ...], question: str, answer: str
) -> None:
    row = {name: "a longer text" if name == question else "4" for name in names}
    found = guessed(tmp_path, [row, row])
    assert (found.question, found.answer, found.columns) == (question, answer, names)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ((4, "2.5", "-1e3"), "number"),
        (("A", "B", "A"), "letter"),
        (("yes", "no", "no", "yes"), "options"),
        ((True, False, True, True), "options"),
        (("yes", "no", "maybe"), "text"),
        (("It is so.", "It is not so.", "It is so.", "It is so."), "text"),
    ],
)
def test_the_kind_is_guessed_by_all_answers(
    tmp_path: Path, answers: tuple[object, ...], kind: str
) -> None:
    assert guessed(tmp_path, answered(*answers)).kind == kind


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "0 rows"),
        ([{"question": "1?"}], "row 1: the columns are 'question'. Expected question and answer"),
        (answered(1, 2, "five"), "row 3: the answer is 'five', expected a finite number as in 2 o"),
        (answered("A", "B", "F"), "row 3: the answer is 'F', expected one of A, B, C, D, E as in"),
        (answered("no", "no", "No", "No"), "row 3: the answer is 'No', expected 'no' as in row 1"),
        (answered(1, [2]), "row 2: column 'answer' holds list, expected text or a number"),
    ],
)
def test_rows_that_do_not_agree_are_told(
    tmp_path: Path, rows: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(DataError) as caught:
        guessed(tmp_path, rows)
    assert str(caught.value).startswith(f"{tmp_path / 'rows.json'}: {said}")
