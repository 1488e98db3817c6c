"""Text that steers nothing: control characters as escapes."""


def visible(text: str) -> str:
    r"""Write control characters as escapes: an answer must not steer the reader's terminal.

    >>> print(visible("7 \x1b[2J\n8"))
    7 \x1b[2J
    8
    """
    shown = (one if one.isprintable() or one == "\n" else escape(one) for one in text)
    return "".join(shown)


def escape(character: str) -> str:
    r"""Write a character as Python would.

    >>> print(escape("\x1b"))
    \x1b
    """
    return character.encode("unicode_escape").decode()
