"""LaTeX text: arguments, comments, the abbreviations of a source, and what a reader sees of it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from results.audit.reading.grid import Entry

COMMENT = re.compile(r"(?<!\\)%.*?(?:\n[ \t]*|$)")
DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|def)\*?\s*"
    r"(?:\{\s*\\(?P<braced>[A-Za-z]+)\s*\}|\\(?P<bare>[A-Za-z]+))\s*"
    r"(?:\[(?P<count>\d)\]|(?P<signs>(?:#\d)*))\s*(?=\{)"
)
SIGNS = dict(
    pair.split(" ", 1)
    for pair in (
        *(r"\pm ±", r"\ast *", r"\star *", r"\textasteriskcentered *", r"\uparrow ↑"),
        *(
            r"\downarrow ↓",
            r"\dagger †",
            r"\dag †",
            r"\ddag ‡",
            r"\geq ≥",
            r"\leq ≤",
            r"\lt <",
            r"\textless <",
            r"\% %",
        ),
        *(r"\& &", r"\_ _", r"\# #", r"\$ $", r"\\  ", r"~  ", r"\, ", r"\! ", r"\;  "),
    )
)
"""What macros of one sign print."""
SIGN = re.compile("|".join(rf"{re.escape(one)}(?![A-Za-z])" for one in sorted(SIGNS, reverse=True)))
DROPPED = (
    "cite|citep|citet|tnote|footnote|footnotemark|label|ref|color|cellcolor|rowcolor|textcolor"
    "|vspace|hspace|phantom|hphantom|rotatebox|scalebox|parbox"
)
"""Macros whose first argument is not printed."""
STYLES = (
    "bfseries|itshape|scshape|tiny|scriptsize|footnotesize|small|large|Large|normalsize|centering"
    "|left|right|quad|bf|it|displaystyle"
)
"""Macros that take no argument and print nothing."""
BOLD = re.compile(r"\\(?:textbf|bfseries|mathbf|boldsymbol|bm|bf)(?![A-Za-z])")
UNDERLINED = re.compile(r"\\(?:underline|uline|ul)(?![A-Za-z])")


def without_comments(source: str) -> str:
    r"""Remove each comment with the end of its line, as TeX does.

    >>> without_comments("50\\% of % all\n  rows")
    '50\\% of rows'
    """
    return COMMENT.sub("", source)


def argument(source: str, start: int) -> tuple[str, int]:
    """Read the group in braces, or the one sign, at `start`; gives it and the place behind it.

    >>> argument("{a{b}c}d", 0), argument("7d", 0)
    (('a{b}c', 7), ('7', 1))
    """
    if source[start : start + 1] != "{":
        return source[start : start + 1], start + 1
    depth = 0
    for place, sign in signs(source, start):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth == 0:
            return source[start + 1 : place], place + 1
    return source[start + 1 :], len(source)


def signs(source: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Go through the characters with their places; a backslash and the next one are together."""
    for found in re.compile(r"\\.|.", re.DOTALL).finditer(source, start):
        yield found.start(), found[0]


def split(source: str, mark: str) -> list[str]:
    r"""Split at a mark that stands outside of braces.

    >>> split(r"a & {b & c} & d\&e", "&")
    ['a ', ' {b & c} ', ' d\\&e']
    """
    depth, begin, parts = 0, 0, []
    for place, sign in signs(source):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == mark and depth == 0:
            parts.append(source[begin:place])
            begin = place + len(mark)
    return [*parts, source[begin:]]


@dataclass(frozen=True)
class Macro:
    """An abbreviation of the source."""

    arguments: int
    body: str


def definitions(source: str) -> dict[str, Macro]:
    r"""Find the abbreviations that a source defines.

    >>> definitions(r"\newcommand{\best}[1]{\textbf{#1}} \def\ours{TanhLoRA}")["best"]
    Macro(arguments=1, body='\\textbf{#1}')
    """
    return {
        found["braced"] or found["bare"]: Macro(
            int(found["count"] or len(found["signs"] or "") // 2), argument(source, found.end())[0]
        )
        for found in DEFINITION.finditer(source)
    }


def expanded(source: str, macros: Mapping[str, Macro], depth: int = 8) -> str:
    r"""Write abbreviations out, also those in one another, down to some depth.

    >>> expanded(r"\best{\x}", {"best": Macro(1, r"\textbf{#1}"), "x": Macro(0, "7")})
    '\\textbf{7}'
    """
    name = re.compile(rf"\\({'|'.join(macros) or '(?!)'})(?![A-Za-z])\s*")
    found = name.search(source)
    if not found or not depth:
        return source
    body, end = macros[found[1]].body, found.end()
    for number in range(macros[found[1]].arguments):
        value, end = argument(source, end)
        body = body.replace(f"#{number + 1}", value)
    before = source[: found.start()]
    return before + expanded(body, macros, depth - 1) + expanded(source[end:], macros, depth)


def entry(source: str) -> Entry:
    r"""Read what stands between two `&`.

    >>> entry(r"\textbf{63.58}$^{*}$")
    Entry(text='\\textbf{63.58}$^{*}$', words='63.58*', bold=True, underlined=False)
    """
    text = " ".join(source.split())
    return Entry(text, printed(text), bool(BOLD.search(text)), bool(UNDERLINED.search(text)))


def printed(text: str) -> str:
    r"""Write what a reader sees, as far as letters and signs go.

    An abbreviation that nobody defines is written by its name.

    >>> printed(r"IA$^3$ \cite{x}"), printed(r"\makecell[l]{A\\ (b)}"), printed(r"\ours (ours)")
    ('IA3', 'A (b)', 'ours (ours)')
    """
    text = _without_dropped(text)
    text = SIGN.sub(lambda found: SIGNS[found[0]], text)
    text = re.sub(rf"\\(?:{STYLES})(?![A-Za-z])", " ", text)
    text = re.sub(r"\\[A-Za-z]+\*?\s*(?:\[[^\]]*\])?\s*(?=\{)", "", text)
    return " ".join(re.sub(r"[\\{}$^]|_(?=±)", "", text.replace("_{", "{")).split())


def _without_dropped(text: str) -> str:
    name = re.compile(rf"\\(?:{DROPPED})\*?(?:\[[^\]]*\])?(?=\{{)")
    while found := name.search(text):
        text = text[: found.start()] + text[argument(text, found.end())[1] :]
    return text
