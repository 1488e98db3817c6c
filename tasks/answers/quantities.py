r"""The quantities of a plain text: numerals, fractions, powers, numbers in words.

A quantity is read whole or not at all. What two readers could take differently has no value: other
arithmetic, ranges, lists, times, dates, ratios, amounts in two units, and symbols (2x, \pi).
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from tasks.answers.words import HAS_NUMBER_WORD, numerals

LONGEST = 200
"""Characters. A longer quantity is the output of a model that repeats itself, and no number."""


class Quantity(NamedTuple):
    """A quantity in a text.

    Attributes:
        value: A plain numeral; empty if the quantity is no single number.
        beside: Whether a preposition stands before it: "40 dollars for 8 hours".
        summed: Whether an equals sign follows, so that it only leads to another.
    """

    value: str
    beside: bool
    summed: bool


WORDS = {
    "dozen": 12,
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
LETTERS = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9}
SCALES = WORDS | LETTERS
_CURRENCY = r"(?:(?:US|A|C)?[$€£¥₹]|\b(?:Rs|USD|EUR|GBP|INR)\b\.?)"
_SCALE = rf"(?:\s?(?:{'|'.join(WORDS)})s?\b|(?:{'|'.join(LETTERS)})(?![\w/]))"
_DIGITS = r"(?:(?<![.\d])\.)?\d(?:[\d.,:']*\d)?(?:[eE][-+]?\d+)?"
_ATOM = rf"[-+]?(?:{_CURRENCY}\s?)?[-+]?{_DIGITS}{_SCALE}?(?:\s?%)?"
_NO_UNIT = (
    "(?:cost|give|make|equal|leave|weigh|need)s?|is|are|if|for|in|at|per|so|as|of|on|by|to|from|"
    "with|than|then|because|since|but|when|while|where|and|or"
)
_JOINT = (
    r"[ ()$]*(?:[-+*/^:]|\b[x]\b|(?<=\d)x(?=\d)|\*\*)[ ()]*"  # arithmetic, ranges and ratios
    r"|(?:[ ][a-zA-Z]{1,20}){1,2}[ ][-+*/][ ]"
    r"|(?:,\s{0,3}|,?\s{1,3})(?:or|and|to|by|times|plus|minus|through|(?:out\s)?of)\s{1,3}"
    r"|,\s{1,3}(?=\S{1,20},?\s{1,3}(?:or|and)\s|\d{1,20}\W{0,2}$)"  # a list
    rf"|[ -]?(?!(?:{_NO_UNIT})\b)"
    r"[a-zA-Z]{1,20}\.?,?(?:\sand)?\s(?=\d[\d./]{0,9}\s?[a-zA-Z]{2})"  # two units
    r"|(?:,\s{0,3}|\s{1,3}and\s{1,3})(?:and\s)?[a-z]\s?=\s?"  # two unknowns
    r"|[ ](?=\d{1,20}\s?/\s?\d)"  # a mixed number
    r"|[ ](?=\d{3}(?!\d))"  # thousands
)
# Atomic, so that no part of a run is left over.
_RUN = re.compile(
    r"(?P<label>\b(?:[Ss]tep|[Nn]o\.|[Pp]roblem|[Qq]uestion|[Ff]igure|[Ee]quation|[Cc]ase)\s?)?"
    r"(?<!\w)(?<!\w[-_^/])(?<!\d[.,:])"
    rf"(?>(?P<run>{_ATOM}(?:(?:{_JOINT}){_ATOM})*))"
)
HAS_DIGIT = re.compile(r"\d")
_SIGNED = re.compile(r"(?:^|(?<=[=:(,])|(?<=\bis))(\s*)-\s{1,3}(?=[\d$€£.])")
_MINUS = re.compile(r"\b(?:minus|negative)\s{1,3}(?=[\d$€£.])", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:[√<>\u2264\u2265~]|\b(?:than|between|either)|\\[gl]eq?q?)\s?$"
    r"|\b(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?\s$"
)
_AFTER = re.compile(
    r"[a-zA-Z]{1,3}[\d^_(]|[xyznabrqw](?![a-z])|\s?\*?\s?(?:[√π∞]|\\[a-z]|pi\b|sqrt\b|[xyz]\b)"
    r"|\s?(?:[ap]\.?m\b|o'clock|remainder\b|[rR]\s?\d)|['\"]\s?\d"
    r"|\s(?:of\s)?(?:Jan|Feb|March|Apr|June|July|Aug|Sept|Oct|Nov|Dec)"
    r"|\s?[-/]?(?:[<>\u2264\u2265]|or\s(?:more|less|fewer)\b)"
)
_BESIDE = re.compile(
    r"\b(?:for|per|of|in|by|from|with|at|after|on|if|out|all|every|each)\s(?:the\s)?$",
    re.IGNORECASE,
)
_SUMMED = re.compile(r"[ )$]{0,3}(?:[a-zA-Z/]{1,20}[ ]?){0,3}[ )$]{0,3}=")
_PLAIN = re.compile(
    r"[-+]?(?:\d+|\d{1,3}(?:[, ']\d{3})+|\d{1,2}(?:,\d\d)+,\d{3})?(?:\.\d+)?(?:[eE][-+]?\d+)?"
)
_DECIMAL_COMMA = re.compile(r"([-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)),(\d{1,2})")
_FRACTION = re.compile(r"([-+]?)(?:(\d+)[ ])?\(?([-+]?)(\d+)\)?\s?/\s?\(?(\d+)\)?")
_POWER = re.compile(r"(?:([-+]?[\d.]{1,20})\s?[*x]\s?)?(\d{1,20})\s?\^\s?\(?(-?\d{1,3})\)?")
_SCALED = re.compile(rf"([-+]?[\d.,]+)\s?({'|'.join(SCALES)})s?")


def quantities(text: str) -> Iterator[Quantity]:
    """Find the quantities of a plain text, in order.

    >>> [found.value for found in quantities("$1,000.50, then 3/4; minus 2 1/2 cups; 20k, 10^3")]
    ['1000.50', '0.75', '-2.5', '20000', '1000']
    >>> [found.value for found in quantities("5-10; 12:30; 2x; 5 feet 3 inches; 3 to 4")]
    ['', '', '', '', '']
    """
    if not (HAS_DIGIT.search(text) or HAS_NUMBER_WORD.search(text)):
        return
    text = _SIGNED.sub(r"\1-", _MINUS.sub("-", numerals(text)))
    for match in _RUN.finditer(text):
        if match["label"]:
            continue
        start, end = match.span("run")
        before, after = text[max(0, start - 20) : start], text[end : end + 60]
        readable = end - start <= LONGEST and not _BEFORE.search(before) and not _AFTER.match(after)
        value = _value(match["run"]) if readable else ""
        yield Quantity(value, bool(_BESIDE.search(before)), bool(_SUMMED.match(after)))


def _value(run: str) -> str:
    run = re.sub(rf"{_CURRENCY}\s?|\s?%", "", run).strip()
    if _PLAIN.fullmatch(run):
        return re.sub("[, '+]", "", run)
    for pattern, read in _FORMS:
        if match := pattern.fullmatch(run):
            return read(match)
    return ""


def _fraction(match: re.Match[str]) -> str:
    sign, whole, upper_sign, upper, lower = match.groups(default="0")
    if not Decimal(lower):
        return ""
    minus = (sign == "-") != (upper_sign == "-")
    # `Decimal`, since floats overflow from 309 digits on.
    value = Decimal(whole) + Decimal(upper) / Decimal(lower)
    return f"{-value if minus else value}"


def _power(match: re.Match[str]) -> str:
    factor, base, exponent = match.groups(default="1")
    try:
        return f"{Decimal(factor) * Decimal(base) ** int(exponent)}"
    except ArithmeticError:
        return ""


def _scaled(match: re.Match[str]) -> str:
    number = match[1].replace(",", "")
    return f"{Decimal(number) * SCALES[match[2]]:f}" if _PLAIN.fullmatch(number) else ""


_FORMS = (
    (_FRACTION, _fraction),
    (_POWER, _power),
    (_SCALED, _scaled),
    (_DECIMAL_COMMA, lambda match: f"{match[1].replace('.', '')}.{match[2]}"),
)
