"""Checks of gold answers: each says what was expected, or nothing if the answer can be right."""

import math

from tasks.contract import Row


def must_be_number(row: Row) -> str:
    """Require a finite number.

    >>> must_be_number(Row(0, "1 + 1?", "", "2.0")), must_be_number(Row(0, "1 + 1?", "", "nan"))
    ('', 'a finite number')
    """
    try:
        finite = math.isfinite(float(row.answer))
    except ValueError:
        finite = False
    return "" if finite else "a finite number"


def must_be_letter(row: Row) -> str:
    """Require the letter of an option."""
    return "" if row.answer in tuple("ABCDE") else "one of A, B, C, D, E"
