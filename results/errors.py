"""Mistakes of the user, and how an unknown name is reported."""

from collections.abc import Iterable
from difflib import get_close_matches


class ResultsError(Exception):
    """A mistake of the user; its message is the whole answer, without a traceback."""


def unknown(kind: str, name: str, known: Iterable[str], to_do: str = "") -> str:
    """Describe a name that is not one of the known ones; the suggestion ignores case.

    >>> print(unknown("method", "LoRRA", ["dypam", "lora"]))
    'LoRRA' is not a known method. Did you mean 'lora'?
      Known: dypam, lora
    """
    names = sorted(known)
    by_lower = {one.lower(): one for one in names}
    near = [by_lower[one] for one in get_close_matches(name.lower(), by_lower, n=1)]
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    lines = [
        f"{name!r} is not a known {kind}.{suggestion}",
        f"  Known: {', '.join(names) or 'none'}",
    ]
    if to_do:
        lines.append(f"  {to_do}")
    return "\n".join(lines)
