"""Numbers in completions: by the rules of LLM-Adapters, and strictly."""

import re
from collections.abc import Sequence

from tasks.answers.cues import DENIED
from tasks.answers.quantities import Quantity, quantities
from tasks.answers.statements import stated

NUMBER = re.compile(r"-?\d+\.?\d*")
TOLERANCE = 1e-3
ASIDE = re.compile(r"(?<=\w\s)\([^()\n]{0,60}[a-zA-Z]{2}[^()\n]{0,60}\)")


def last_number(completion: str) -> str:
    """Take the last number after deleting every comma; empty if there is none.

    LLM-Adapters, `evaluate.py`, `extract_answer_number`. The rule is kept to the letter, with its
    consequences:

        >>> last_number("The price is $1,000.00 in all.")
        '1000.00'
        >>> last_number("The answer is 5. She has 2 left.")
        '2'
        >>> last_number("3/4"), last_number("10-4"), last_number("1e-3")
        ('4', '-4', '-3')
        >>> last_number("none")
        ''
    """
    found = NUMBER.findall(completion.replace(",", ""))
    return found[-1] if found else ""


def stated_number(completion: str) -> str:
    """Take the number that is stated; empty if there is none.

    `tasks.answers.statements` says what is stated. Fractions, powers and words are worked out, up
    to 200 characters long. Thousands separators, currencies and units are dropped, and so is "%",
    since the gold answers of these sets are plain numerals. Other arithmetic, ranges, times and
    dates are no number. In an equation the right side counts.

        >>> stated_number("The answer is $1,000.50. She has 2 left.")
        '1000.50'
        >>> stated_number("The answer is 8 - 2 = 6 books."), stated_number("8 - 2 = 6")
        ('6', '6')
        >>> stated_number("Answer: 3/4"), stated_number("#### 2 1/2"), stated_number("50%")
        ('0.75', '2.5', '50')
        >>> stated_number("5-10"), stated_number("12:30"), stated_number("1,2,3")
        ('', '', '')
        >>> stated_number("2 boxes of 3")
        ''
    """
    return stated(completion, _named, _beside_first, _last)


def within_tolerance(extracted: str, answer: str) -> bool:
    """Compare as floats, at most 1e-3 apart; wrong if there is no number or no float can hold it.

    >>> within_tolerance("0.667", "0.6666666666666666"), within_tolerance("", "7.0")
    (True, False)
    >>> within_tolerance("1e999", "7.0"), within_tolerance("nan", "7.0")
    (False, False)
    """
    number = float(extracted) if extracted else float("inf")
    return abs(float(answer) - number) <= TOLERANCE


def _named(text: str) -> list[str]:
    return [one.value for one in _told(text)]


def _last(found: Sequence[str]) -> str:
    return found[-1]


def _beside_first(text: str) -> list[str]:
    """List the numbers of a text, first those that stand beside the point: "for 8 hours"."""
    return [one.value for one in sorted(_told(text), key=lambda one: not one.beside)]


def _told(text: str) -> list[Quantity]:
    """List the quantities of a text without what is denied or only leads to a result."""
    text = DENIED.sub(" ", text)
    for part in (ASIDE.sub(" ", text), " ".join(ASIDE.findall(text)), text):
        found = [one for one in quantities(part) if not one.summed]
        if any(one.value for one in found):
            return found
    return found
