"""Numbers in words as numerals: "two and a half million" as "2.5 million".

The words are read by text2num, which is kept, has no dependencies and loads in 7 ms; it is given
one run of number words at a time.
"""

import re

UNITS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
    "fifteen|sixteen|seventeen|eighteen|nineteen"
)
TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
SCALES = "hundred|thousand|million|billion|trillion"
DENOMINATORS = {"hal": 2, "thi": 3, "qua": 4, "fou": 4, "fif": 5, "six": 6, "eig": 8, "ten": 10}

_WORD = rf"(?:{UNITS}|{TENS}|{SCALES})"
HAS_NUMBER_WORD = re.compile(rf"\b(?:{_WORD}|dozen|half|none|no)\b", re.IGNORECASE)
# "one" of "the one", "one of" and "no one" is no number.
_RUN = re.compile(
    rf"(?<!\d )(?<!the )(?<!this )(?<!that )(?<!each )(?<!every )(?<!no )(?<!any )(?<![\w-])"
    rf"(?!one\s(?:of|another|by|who|that|is|day|time|morning|afternoon|evening|night|side|hand|way|thing|more)\b)"
    rf"{_WORD}(?:(?:[ ]and[ ]|[ -]|,[ ]){_WORD}){{0,12}}\b(?!-)",
    re.IGNORECASE,
)
_A = re.compile(rf"\ba(?=[ ](?:{SCALES})\b)", re.IGNORECASE)
_DOZEN = re.compile(r"\ba(?=\sdozen\b)", re.IGNORECASE)
_NONE = re.compile(
    r"\b(?:none|no(?=(?:\s\w{1,20}){1,2}\sleft\b))(?=(?:\s\w{1,20}){0,2}\sleft\b)", re.IGNORECASE
)
_HALF = re.compile(r"^\W{0,3}half\W{0,3}$", re.IGNORECASE)
_POINT = re.compile(r"(?<![\d.])(\d{1,12}) point (\d{1,2}(?: \d){0,9})\b")
_AND_A_HALF = re.compile(r"(?<![\d.])(\d{1,9})\sand\s(?:a|1)[ -](?:half|(quarter))\b")
_HALF_A = re.compile(rf"\b(?:half[ ]a|a[ ]half)(?=[ ](?:{SCALES})\b)", re.IGNORECASE)
_PART = re.compile(
    r"(?<![\d.])(?:\b(one|a)|(\d{1,3}))[ -]"
    r"(half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?)\b",
    re.IGNORECASE,
)


def numerals(text: str) -> str:
    """Write the numbers in words as numerals.

    >>> numerals("twenty-three; one hundred and five thousand; minus five; two thirds")
    '23; 105000; minus 5; 2/3'
    >>> numerals("two and a half cups, half a million, a dozen eggs, the one of two")
    '2.5 cups, 0.5 million, 1 dozen eggs, the one of 2'
    """
    text = _DOZEN.sub("1", _HALF_A.sub("0.5", _HALF.sub("0.5", text)))
    text = _NONE.sub("0", text)
    text = _RUN.sub(_numeral, _A.sub("one", text))
    text = _POINT.sub(lambda found: f"{found[1]}.{found[2].replace(' ', '')}", text)
    text = _AND_A_HALF.sub(lambda found: f"{found[1]}.{25 if found[2] else 5}", text)
    return _PART.sub(_part, text)


def _numeral(match: re.Match[str]) -> str:
    from text_to_num import text2num  # noqa: PLC0415 (only where there are numbers in words)

    try:
        return str(text2num(match.group().replace(",", ""), "en"))
    except ValueError:
        return match.group()


def _part(match: re.Match[str]) -> str:
    upper, lower = int(match[2] or 1), DENOMINATORS[match[3][:3].lower()]
    # More than the whole is a coin or a game: "seven quarters".
    return f"{upper}/{lower}" if upper < lower else match.group()
