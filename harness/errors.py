"""Mistakes of the user: one message, no traceback, exit code 2."""

import errno
import re

from results.errors import ResultsError, unknown
from results.texts import shortened
from tasks.data.files import DataError

__all__ = ["UserError", "message", "unknown"]


MOST_OF_NAME = 300
"""Characters of the name of a file."""


class UserError(Exception):
    """Says what was wrong, the nearest right thing, what is known, and what to do."""


NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
NO_FILE = (
    *(errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EEXIST),
    *(errno.ENXIO, errno.EPERM),
)
"""What is named is not the file or folder that it should be."""
NO_UTF_8 = "surrogates not allowed"
"""What Python, and pydantic after it, says of bytes that it read without understanding them."""


def message(error: Exception) -> str | None:
    """Return the message for an error that the user can fix; None for a fault of the harness.

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
    if isinstance(error, re.error):
        pattern = shortened(str(error.pattern), MOST_OF_NAME)
        return f"The regular expression {pattern!r} does not compile: {error.msg}."
    if isinstance(error, ValueError) and NO_UTF_8 in str(error):
        return "A word of the command, or the name of a file, is no text in UTF-8."
    if isinstance(error, OSError) and error.errno in NO_FILE:
        return f"{shortened(str(error.filename), MOST_OF_NAME)}: {error.strerror}."
    return None
