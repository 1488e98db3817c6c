"""Guessing what the columns of a file mean, and what its answers are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.answers.gold import must_be_letter, must_be_number
from tasks.contract import Columns, GoldCheck, Row
from tasks.data.columns import ANSWERS, QUESTIONS
from tasks.data.content import DataError, items_of, text_of, uncompressed
from tasks.data.files import TEST_FIELDS, read_any
from tasks.from_file.kinds import MOST_OPTIONS, AnswerKind, must_be_option, options_of

QUESTION_NAMES = (*QUESTIONS, "prompt", "query", "problem", "text", "input", "q")
ANSWER_NAMES = (*ANSWERS, "gold", "target", "response", "solution", "a")
LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Guess:
    """What a file seems to hold.

    Attributes:
        columns: All columns of its first row.
        question: The column of the question.
        answer: The column of the answer.
        kind: What the answers are.
        reason: Why.
        rows: How many.
        shown: Question and answer of the first row, cut to a line.
    """

    columns: tuple[str, ...]
    question: str
    answer: str
    kind: AnswerKind
    reason: str
    rows: int
    shown: tuple[str, str]


def guess(path: Path) -> Guess:
    """Guess columns by their usual names, else by the length of their texts; and the kind.

    Raises:
        DataError: The file cannot be read, a row lacks question or answer, or most answers are
            numbers or letters and one is not.
    """
    items = items_of(path, text_of(path, uncompressed(path)))
    if not items:
        raise DataError(f"{path}: 0 rows. Expected one at least.")
    columns = tuple(items[0])
    if len(columns) < 2:  # noqa: PLR2004 - question and answer
        names = ", ".join(map(repr, columns)) or "none"
        raise DataError(f"{path}: row 1: the columns are {names}. Expected question and answer.")

    def length(column: str) -> int:
        return sum(len(str(item.get(column, ""))) for item in items)

    question = _column(columns, QUESTION_NAMES, lambda left: max(left, key=length))
    others = tuple(one for one in columns if one != question)
    answer = _column(others, ANSWER_NAMES, lambda left: min(left, key=length))
    rows, _ = read_any(path, TEST_FIELDS, Columns(question, answer))
    kind, reason = kind_of(path, rows)
    shown = _line(rows[0].instruction), _line(rows[0].answer)
    return Guess(columns, question, answer, kind, reason, len(rows), shown)


def kind_of(path: Path, rows: Sequence[Row]) -> tuple[AnswerKind, str]:
    """Guess what the answers are, and say why.

    Raises:
        DataError: Most are numbers or letters and one is not, or options differ in case alone.
    """
    if _all(path, rows, must_be_number):
        return "number", "every answer is one"
    if _all(path, rows, must_be_letter):
        return "letter", "every answer is one of A to E"
    different = len({row.answer for row in rows})
    if different <= min(MOST_OPTIONS, len(rows) // 2) and not any(map(must_be_option, rows)):
        return "options", f"the answers are {', '.join(options_of(str(path), rows))}"
    return "text", f"{different} different answers, compared as texts"


def _column(
    names: Sequence[str], usual: Sequence[str], otherwise: Callable[[Sequence[str]], str]
) -> str:
    by_name: dict[Any, str] = {name.lower(): name for name in reversed(names)}
    return next((by_name[one] for one in usual if one in by_name), otherwise(names))


def _all(path: Path, rows: Sequence[Row], check: GoldCheck) -> bool:
    """Whether all rows pass; most of them is a mistake in the others."""
    wrong = [row for row in rows if check(row)]
    if wrong and 2 * len(wrong) < len(rows):
        raise DataError(
            f"{path}: row {wrong[0].id + 1}: the answer is {wrong[0].answer!r}, expected "
            f"{check(wrong[0])} as in {len(rows) - len(wrong)} of {len(rows)} rows."
        )
    return not wrong


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}..."
