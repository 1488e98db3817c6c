"""Numbers in completions, by the rules of LLM-Adapters."""

import re

NUMBER = re.compile(r"-?\d+\.?\d*")
TOLERANCE = 1e-3


def last_number(completion: str) -> str:
    """Take the last number after deleting every comma; empty where there is none.

    LLM-Adapters, `evaluate.py`, `extract_answer_number`. The rule is kept to the letter, with all
    that follows from it:

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


def within_tolerance(extracted: str, answer: str) -> bool:
    """Compare as floats, 1e-3 apart at most; no number is wrong.

    >>> within_tolerance("0.667", "0.6666666666666666"), within_tolerance("", "7.0")
    (True, False)
    """
    number = float(extracted) if extracted else float("inf")
    return abs(float(answer) - number) <= TOLERANCE
