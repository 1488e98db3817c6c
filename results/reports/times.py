"""Moments and durations as a reader sees them."""

import time


def clock(seconds: float) -> str:
    """Write seconds as a clock does.

    >>> clock(5.9), clock(65), clock(3600)
    ('0:05', '1:05', '1:00:00')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def duration(seconds: float) -> str:
    """Write seconds for a reader.

    >>> duration(42), duration(200), duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    for unit, digits, name in ((3600, 1, "h"), (60, 0, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.{digits}f} {name}"
    return f"{seconds:.0f} s"


def time_of_day(when: float) -> str:
    """Write a moment, in seconds since the epoch, as the local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(when))
