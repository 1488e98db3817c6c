"""Text as LaTeX prints it, and how wide it is there."""

import re
from collections.abc import Iterator
from itertools import accumulate
from textwrap import wrap

from results.reports.prose import DAGGER, PUBLISHED
from results.texts import escape, visible

SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
        DAGGER: r"$\dagger$",
        PUBLISHED: r"$\ddagger$",
        "↓": r"$\downarrow$",
        "↑": r"$\uparrow$",
        "Δ": r"$\Delta$",
        # A row that begins with a bracket would be read as the option of the line break before.
        "[": "{[}",
        **{character: "\\" + character for character in "{}$&#_%"},
    }
)

RAISED = re.compile(r"\\textasciicircum\{\}(\w)")

LETTERS = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ"
    "ĆćČčĎďĚěĞğİıŁłŃńŇňŐőŒœŘřŚśŞşŠšŤťŮůŰűŸŹźŻżŽž×°…–—‘’“”"  # noqa: RUF001 (as they are)
)
"""Besides ASCII: what every LaTeX prints without a package."""

MOST = 600
"""Letters of one text, so that it is no wider than the 16,383 pt that TeX counts to."""

MOST_OF_NAME = 150
"""Letters of a name in a table, several of which stand in a row."""

MOST_OF_LINE = 10_000
"""Characters of a line of a comment; TeX reads none above 200,000 bytes."""

THOUSANDTHS = {
    character: width
    for width, characters in {
        278: "!',.:;[]`il",
        306: "fj",
        333: " -",
        361: "I",
        389: "()t",
        392: "rs",
        444: "cez†‡",
        500: '"*/0123456789agoJ',
        556: "Sbdhknpquvxy",
        625: "LZ",
        681: "EFP",
        722: "BCRTw",
        750: "ADHNUVXY",
        778: "&+<=>@GKOQ±",
        833: "#%m",
        917: "M",
        1028: "W",
    }.items()
    for character in characters
}
"""Of the type size, for the characters of Computer Modern Roman at 10 pt (cmr10.tfm)."""

SMALL = {10: 1.0, 9: 1.03, 8: 1.065, 7: 1.15}
"""By how much the same font is wider at a smaller size (cmr9, cmr8, cmr7), in its own size."""

BOLD = 1.18
"""By how much the bold font is wider (cmbx10)."""


def escaped(text: str) -> str:
    r"""Write any text so that LaTeX prints it, the end of one that is too long aside.

    What pdfTeX has no letter for is written as its code point there, and as it is elsewhere.

    >>> print(escaped("lora[r=64] & q_proj: 50 %"))
    lora{[}r=64] \& q\_proj: 50 \%
    >>> print(escaped("\u4e2d\n\x1b"))
    \ifdefined\Umathchar \u4e2d\else U+4E2D\fi{} \textbackslash{}x1b
    """
    whole = "".join(map(_printed, cut(text, MOST)))
    # A superscript would be smaller than 7 pt.
    return RAISED.sub(r"\\raisebox{.5ex}{\1}", whole).replace("--", "-{}-")


def cut(text: str, most: int = MOST_OF_NAME) -> str:
    """Leave out the end of a text that is too long for a table."""
    spelled = len("U+4E2D")
    lengths = accumulate(1 if one.isascii() or one in LETTERS else spelled for one in text[:most])
    kept = sum(length <= most for length in lengths)
    return text if kept == len(text) else f"{text[:kept]}…"


def _printed(one: str) -> str:
    if one in LETTERS or (one.isascii() and one.isprintable()):
        return one.translate(SPECIAL)
    if one.isspace():
        return " "
    if one.isprintable() and ord(one) not in SPECIAL:
        return rf"\ifdefined\Umathchar {one}\else U+{ord(one):04X}\fi{{}}"
    return escape(one).translate(SPECIAL)


def comment(text: str) -> Iterator[str]:
    r"""Write any text as lines that TeX passes over.

    >>> print(*comment("50 % of\r\nlora"), sep="\n")
    % 50 % of
    % lora
    """
    for line in text.splitlines():
        yield from (f"% {visible(part)}" for part in wrap(line, MOST_OF_LINE))


def width(source: str, size: int) -> float:
    r"""Estimate from above how wide a LaTeX text is, in pt, at a type size in pt.

    >>> width("85.00", 10), width(r"\textbf{85.00}$\pm$0.71", 10) > width("85.00±0.71", 10)
    (22.78, True)
    """
    plain = source.replace(r"\pm", "±").replace(r"\dagger", DAGGER).replace(".5ex", "")
    plain = plain.replace(r"\ddagger", PUBLISHED)
    plain = re.sub(r"\\textasciicircum|\\text(less|greater|bar|asciitilde|backslash)", "=", plain)
    plain = re.sub(r"\\[a-zA-Z]+|[{}$\\]", "", plain)
    bold = BOLD if r"\textbf" in source else 1.0
    ems = sum(THOUSANDTHS.get(character, 778) for character in plain) / 1000
    return round(size * SMALL[size] * bold * ems, 2)
