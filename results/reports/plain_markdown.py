"""Names and reasons in Markdown: they are shown as they are, whatever marks they hold."""

import re

from results.texts import one_line, shortened

MOST = 1000
"""Characters of a cell or a name."""

MARKS = re.compile(
    r"""
    \\(?=[!-/:-@\[-`{-~])       # a backslash that would take the meaning of the mark behind it
    | \|                        # the end of a cell
    | <(?=[A-Za-z/!?])          # HTML, or an address as a link
    | (?<=\])\(                 # a link or a picture
    | ^\[(?=[^\]]*\]:)          # the address of a link
    """,
    re.VERBOSE,
)


def plain(text: str) -> str:
    r"""Write a text on one line, without new cells, HTML and links.

    >>> print(plain("lora[r=64] | <b>a\n[b](c)"))
    lora[r=64] \| \<b>a [b]\(c)
    """
    return marked(shortened(one_line(text), MOST))


def marked(line: str) -> str:
    """Put a backslash before each mark of a line."""
    return MARKS.sub(r"\\\g<0>", line)
