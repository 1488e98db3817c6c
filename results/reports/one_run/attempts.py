"""All attempts at one run together: what it took, those included that came to nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence

LONGEST = 3
"""Phases that are named."""


def summed(ends: Sequence[str], took: Sequence[Mapping[str, float]], peak: int) -> str:
    """Say what several attempts took together; nothing of a single one.

    Args:
        ends: How each ended.
        took: The seconds of each, by phase, and of the whole under "wall".
        peak: The most bytes in use in one of them.
    """
    if len(ends) < 2:  # noqa: PLR2004
        return ""
    seconds = Counter[str]()
    for one in took:
        seconds.update(one)
    wall = seconds.pop("wall", 0)
    phases = ", ".join(f"{name} {spent:.1f}" for name, spent in seconds.most_common(LONGEST))
    together = f"{wall:.1f} s" + (f" ({phases})" if phases else "")
    memory = f"peak memory {peak / 2**20:,.0f} MiB"
    return f"{len(ends)} ({', '.join(ends)}), together {together}, {memory}"
