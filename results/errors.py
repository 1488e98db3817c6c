"""What the user did wrong, said once: what, the nearest right thing, what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class ResultsError(Exception):
    """A mistake of the user; its message is the whole answer, without a traceback."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Say that `name` is no `what`, with the nearest and the known names.

    >>> print(unknown("format", "latx", ["csv", "latex"]))
    There is no format 'latx'. Did you mean 'latex'?
      Known: csv, latex
    """
    names = sorted(known)
    nearest = get_close_matches(name, names, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"There is no {what} {name!r}.{hint}\n  Known: {', '.join(names) or 'none yet'}"
