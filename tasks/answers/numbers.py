"""Numbers in completions: by the rules of LLM-Adapters, and strictly."""

import re
from decimal import Decimal

from tasks.answers.statements import DENIED, stated

NUMBER = re.compile(r"-?\d+\.?\d*")
TOLERANCE = 1e-3
LONGEST_FRACTION = 1000
"""Characters. A longer fraction is the output of a model that repeats itself, and no number."""

# What looks like arithmetic, a time, a date, a range or a list is read whole, or not at all.
_ATOM = r"-?[$€£]?-?(?:(?<!\.)\.)?\d(?:[\d.,:]*\d)?(?:[eE][-+]?\d+)?[\u00b2\u00b3]?"
_JOINT = (
    r"[ ()]*[-+*/x^\u00d7\u00f7\u2013][ ()]*"  # arithmetic and ranges
    r"|\s+(?:or|and|to)\s+"
    r"|[ ](?=\d+[ ]?/[ ]?\d)"  # a mixed number
    r"|[ \u00a0\u202f](?=\d{3}(?!\d))"  # thousands
)
# Atomic, so that no part of a left side is left over.
RUN = re.compile(
    rf"{DENIED}(?<!\w)(?<!\w-)(?<!\d[.,:])(?>(?P<one>{_ATOM}(?:(?:{_JOINT}){_ATOM})*))(?![ )]*=)"
)
PLAIN = re.compile(r"-?(?:\d+|\d{1,3}(?:[,\s]\d{3})+)?(?:\.\d+)?(?:[eE][-+]?\d+)?")
FRACTION = re.compile(r"(-?)(?:(\d+) )?(\d+) ?/ ?(\d+)")
LATEX_FRACTION = re.compile(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}")


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

    `tasks.answers.statements` says what is stated. Fractions are worked out, up to 1,000 characters
    long. Thousands separators, currencies and units are dropped, and so is "%", since the gold
    answers of these sets are plain numerals. Other arithmetic, ranges, times and dates are no
    number. In an equation the right side counts.

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
    return stated(completion, _numbers)


def within_tolerance(extracted: str, answer: str) -> bool:
    """Compare as floats, at most 1e-3 apart; wrong if there is no number or no float can hold it.

    >>> within_tolerance("0.667", "0.6666666666666666"), within_tolerance("", "7.0")
    (True, False)
    >>> within_tolerance("1e999", "7.0"), within_tolerance("nan", "7.0")
    (False, False)
    """
    number = float(extracted) if extracted else float("inf")
    return abs(float(answer) - number) <= TOLERANCE


def _numbers(text: str) -> list[str]:
    text = text.replace("\N{MINUS SIGN}", "-").replace("\\$", "$")
    text = LATEX_FRACTION.sub(r"\1/\2", text)
    runs = (match["one"] for match in RUN.finditer(text) if not match["denied"])
    return [number for number in map(_value, runs) if number]


def _value(run: str) -> str:
    run = re.sub("[$€£]", "", run)
    if PLAIN.fullmatch(run):
        return re.sub(r"[,\s]", "", run)
    fraction = FRACTION.fullmatch(run) if len(run) <= LONGEST_FRACTION else None
    if not fraction or not Decimal(fraction[4]):
        return ""
    sign, whole, upper, lower = fraction.groups(default="0")
    # `Decimal`, since floats overflow from 309 digits on.
    return f"{Decimal(sign + '1') * (Decimal(whole) + Decimal(upper) / Decimal(lower))}"
