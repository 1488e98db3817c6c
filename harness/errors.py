"""Mistakes of the user: one message, no traceback, exit code 2."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches

from results.errors import ResultsError
from tasks.data.files import DataError


class UserError(Exception):
    """Says what was wrong, the nearest right thing, what is known, and what to do."""


NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)


def message(error: Exception) -> str | None:
    """Return what to tell the user of an error that is theirs to mend; None for one of ours.

    >>> print(message(OSError(errno.ENOSPC, "No space left on device", "runs/1")))
    runs/1: No space left on device.
      What finished is stored. Make room or name another place (--runs, --store); then the same
      command goes on where it was.
    """
    if isinstance(error, UserError | ResultsError | DataError):
        return str(error)
    if isinstance(error, OSError) and error.errno in NO_PLACE:
        return (
            f"{error.filename}: {error.strerror}.\n"
            "  What finished is stored. Make room or name another place (--runs, --store); then "
            "the same\n  command goes on where it was."
        )
    return None


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
