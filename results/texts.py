"""Texts that others wrote, made fit to be shown: nothing in them steers a terminal or fills it."""

import json
import re

OTHER = re.compile(r"[^\n -~]")
"""What may be no letter: all but ASCII's printable characters and the end of a line."""

CUT = re.compile(r"… \([\d,]+ characters\)\Z")
"""How a text ends that was cut."""


MOST_OF_A_LINE = 500
"""Characters of a text that is told in a line."""


def visible(text: str, keep: str = "\n") -> str:
    r"""Write control characters as escapes: an answer must not steer the reader's terminal.

    >>> print(visible("7 \x1b[2J\n8"))
    7 \x1b[2J
    8
    """
    return OTHER.sub(lambda one: one[0] if one[0] in keep else escape(one[0]), text)


def escape(character: str) -> str:
    r"""Write a character as Python would, unless it is printable.

    >>> print(escape("\x1b"), escape("é"))
    \x1b é
    """
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def one_line(text: str) -> str:
    r"""Write a text on one line, with control characters as escapes.

    >>> print(one_line("lora\r\n\n  \x1b[2J"))
    lora \x1b[2J
    """
    return visible(" ".join(text.split()))


def brief(text: str) -> str:
    r"""Write a text on one line, such as a reason, and cut a long one.

    >>> brief("ValueError:\n  no such layer\n")
    'ValueError: no such layer'
    """
    return shortened(one_line(text), MOST_OF_A_LINE)


def in_json(text: str) -> str:
    r"""Write JSON without control characters; its values stay what they are.

    >>> print(in_json('"7 \x9b2J"'))
    "7 \u009b2J"
    """
    return OTHER.sub(lambda one: one[0] if one[0].isprintable() else json.dumps(one[0])[1:-1], text)


def shortened(text: str, most: int) -> str:
    """Cut a long text, and say how long it is, or was before it was cut the first time.

    >>> shortened("out of memory", 13), shortened(shortened("x" * 5_000_000, 100), 3)
    ('out of memory', 'xxx… (5,000,000 characters)')
    """
    if len(text) <= most:
        return text
    before = CUT.search(text[-50:])
    return f"{text[:most]}{before[0] if before else f'… ({len(text):,} characters)'}"
