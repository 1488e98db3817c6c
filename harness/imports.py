"""Importing much at once, as everything does that trains or plans."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def many() -> Iterator[None]:
    """Import without garbage collection, which would walk through all modules again and again.

    What was imported stays out of later collections too: it is there for good.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
