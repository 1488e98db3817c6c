"""What sort of failure an exception is, by its type alone: without torch."""

from harness.errors import UserError
from results.runfolder.values import FailureKind

MEMORY = ("out of memory", "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED")
"""What errors that have no type of their own say where there was too little memory."""


def kind_of(error: Exception) -> FailureKind:
    """Tell whether there was too little memory, whether the run was refused, or neither.

    >>> kind_of(MemoryError())
    'memory'
    >>> kind_of(UserError("another data file than was planned"))
    'refused'
    >>> kind_of(ValueError("no such layer"))
    'exception'
    """
    if isinstance(error, UserError):
        return "refused"
    out = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    told = isinstance(error, RuntimeError) and any(words in str(error) for words in MEMORY)
    return "memory" if out or told else "exception"
