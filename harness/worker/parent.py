"""What binds a process to the one that forked it; without torch, as the worker starts with it."""

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let the end of the process that forked this one, however it comes, end this one too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
