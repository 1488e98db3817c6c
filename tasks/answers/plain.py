r"""Completions as plain text: one way to write a digit, a dash, a fraction, a letter.

Unicode is folded (full-width letters, digits of any script, vulgar fractions, dashes), LaTeX is
written out as far as numbers, options and words need it, and Markdown emphasis is dropped. No
LaTeX library serves here: those at hand read a whole formula and fail on prose, drop the brace
that tells 2\frac{1}{2} from 21/2, or load a computer algebra system.
"""

import re
import unicodedata
from collections.abc import Callable

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _character(match: re.Match[str]) -> str:
    """Fold one character that is not ASCII."""
    one = match.group()
    if unicodedata.decimal(one, None) is not None:
        return str(unicodedata.decimal(one))
    folded = unicodedata.normalize("NFKC", one)
    if "\N{FRACTION SLASH}" in folded:
        return f" {folded.replace(chr(0x2044), '/')}"
    return f"^{folded}" if unicodedata.decomposition(one).startswith("<super>") else folded


BRACED = r"\s?\{([^{}]{0,200})\}"
RULES: tuple[Rule, ...] = (
    (re.compile(r"[^\x00-\x7f]"), _character),
    (re.compile("[\u2010-\u2015\u2212]"), "-"),
    (re.compile("[\u2018\u2019\u00b4`]"), "'"),
    (re.compile("[\u201c\u201d]"), '"'),
    (re.compile("[\u00d7\u22c5\u00b7]"), "*"),
    (re.compile("\u00f7"), "/"),
    (re.compile("[\u2190-\u21ff\u2234]|=>|->"), " so "),
    (re.compile("[\u2248\u2243\u2245]"), "="),
    (re.compile(r"</(?!think)[a-z]{1,20}>"), " "),
    (re.compile(r"<<[^<>\n]{0,200}>>"), ""),  # the calculator's notes of GSM8K
    # LaTeX
    (re.compile(r"\\(?:left|right|displaystyle|limits)(?![a-z])|\\!"), ""),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[,;: ]|\\q?quad\b|~"), " "),
    (re.compile(r"\\[()\[\]]|&(?==)|\\\\|\\(?:begin|end)\{\w{1,20}\*?\}"), " "),
    (re.compile(r"\\([$%#])"), r"\1"),
    (re.compile(r"\\(?:times|cdot)(?![a-z])"), "*"),
    (re.compile(r"\\div(?![a-z])"), "/"),
    (re.compile(r"\\(?:approx|equiv)(?![a-z])"), "="),
    (re.compile(r"\\(?:Rightarrow|implies|therefore|rightarrow|to)(?![a-z])"), " so "),
    (re.compile(r"\^\{?\\circ\}?|\\degree"), "\N{DEGREE SIGN}"),
    (re.compile(rf"\\(?:text|math|mbox)[a-z]{{0,6}}{BRACED}"), r" \1"),
    (re.compile(r"\^\{([^{}]{0,20})\}"), r"^\1"),
    (re.compile(rf"\\sqrt{BRACED}"), "\N{SQUARE ROOT}\\1"),
    (re.compile(r"\\[dt]?frac\s?(\d)\s?(\d)"), r" \1/\2"),
    (re.compile(rf"\\[dt]?frac{BRACED}{BRACED}"), r" \1/\2"),
    # Markdown
    (re.compile(r"(?<=\d)\*\*(?=\d)"), "^"),
    (re.compile(r"\*\*+|__+|(?<![\w\s)*])\*(?=\w)|(?<=\w)\*(?![\w\s(*])"), ""),
    (re.compile(r"(?m)^[ \t]{0,9}#{1,3} "), ""),
    (re.compile(r"(?:(?<=\n)\d{1,2}|\A1)[.)] {1,3}(?=[A-Z])"), ""),  # a numbered list
)


def plain(text: str) -> str:
    r"""Write a completion as plain text.

    >>> plain("2\u00bd, \uff13\uff0d\u0665, 10\u00b3"), plain(r"\boxed{2\dfrac{1}{2}\text{ cm}}")
    ('2 1/2, 3-5, 10^3', '\\boxed{2 1/2  cm}')
    >>> plain(r"\(1{,}000 \times 10^{3}\)"), plain("**Answer:** 2*3")
    (' 1,000 * 10^3 ', 'Answer: 2*3')
    """
    for pattern, written in RULES:
        text = pattern.sub(written, text)
    return text
