"""What sort of failure an exception is, and what is told of it, without torch."""

import errno
import os
import sys
import traceback

from harness.errors import UserError
from harness.worker.secret import hidden
from results.runfolder.values import FailureKind

MEMORY = ("out of memory", "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED")
"""What errors that have no type of their own say where there was too little memory."""

NO_ROOM = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT)))
"""What errors say, of whatever type, where a disk is full or a quota is used up."""


class VanishedError(Exception):
    """A process that the run cannot do without was ended by a signal."""


def kind_of(error: Exception) -> FailureKind:
    """Tell whether memory or disk had too little room, whether the run was refused, or neither.

    >>> kind_of(MemoryError())
    'memory'
    >>> kind_of(OSError(errno.ENOSPC, "No space left on device"))
    'disk'
    >>> kind_of(UserError("another data file than was planned"))
    'refused'
    >>> kind_of(ValueError("no such layer"))
    'exception'
    """
    if isinstance(error, UserError):
        return "refused"
    if isinstance(error, VanishedError):
        return "vanished"
    if any(words in str(error) for words in NO_ROOM):
        return "disk"
    out = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    told = isinstance(error, RuntimeError) and any(words in str(error) for words in MEMORY)
    return "memory" if out or told else "exception"


def reason_of(error: BaseException) -> str:
    """Name an exception with its message, without secrets of the environment.

    >>> reason_of(ValueError("no such layer"))
    'ValueError: no such layer'
    """
    return hidden(f"{type(error).__name__}: {error}")


def print_trace(error: BaseException) -> None:
    """Print where an exception comes from, without secrets of the environment."""
    print(hidden("".join(traceback.format_exception(error))), end="", file=sys.stderr)
