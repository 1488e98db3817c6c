"""Mistakes of the user: one message, no traceback, exit code 2."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Says what was wrong, the nearest right thing, what is known, and what to do."""


def unknown(kind: str, name: str, known: Iterable[str], to_do: str = "") -> str:
    """Describe a name that is not one of the known ones.

    >>> print(unknown("method", "lorra", ["dypam", "lora"]))
    'lorra' is not a known method. Did you mean 'lora'?
      Known: dypam, lora
    """
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    lines = [f"{name!r} is not a known {kind}." + (f" Did you mean {near[0]!r}?" if near else "")]
    lines.append(f"  Known: {', '.join(names)}")
    if to_do:
        lines.append(f"  {to_do}")
    return "\n".join(lines)
