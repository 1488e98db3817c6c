"""A request to stop: SIGTERM makes it, and the work at hand ends at its next safe point.

Safe is where what was done is on disk: after a checkpoint of the training, between answers that
are kept. There the work raises `Interrupted`, the attempt ends as interrupted, and the next one
goes on.
"""

import signal
import threading

_asked = threading.Event()


class Interrupted(BaseException):  # no error: nothing that handles errors may take it for one
    """The work ends here since that was asked for; what was done so far is on disk."""


def heed() -> None:
    """Take SIGTERM for the request, in this process from now on; nothing is asked for yet."""
    _asked.clear()
    signal.signal(signal.SIGTERM, lambda *_: _asked.set())


def asked() -> bool:
    """Whether the process was asked to stop."""
    return _asked.is_set()


def leave_if_asked() -> None:
    """End the work at a safe point.

    Raises:
        Interrupted: That was asked for.
    """
    if asked():
        raise Interrupted
