"""Work that a thread does again and again while other work goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeated(work: Callable[[], object], seconds: float) -> Iterator[None]:
    """Do `work` every so many seconds, until the block is left."""
    left = threading.Event()

    def repeat() -> None:
        while not left.wait(seconds):
            work()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join()
