"""What a gold answer can be: checks of the rows of test sets."""

import math

from tasks.contract import Row


def number(row: Row) -> str:
    """Say what was expected where the gold answer is no finite number.

    >>> number(Row(0, "1 + 1?", "", "2.0")), number(Row(0, "1 + 1?", "", "nan"))
    ('', 'a finite number')
    """
    try:
        finite = math.isfinite(float(row.answer))
    except ValueError:
        finite = False
    return "" if finite else "a finite number"


def letter(row: Row) -> str:
    """Say what was expected where the gold answer is no letter of an option."""
    return "" if row.answer in tuple("ABCDE") else "one of A, B, C, D, E"
