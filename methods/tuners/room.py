"""The memory that evaluation may take for what it keeps."""

import math
from dataclasses import dataclass


@dataclass
class Room:
    """Bytes for what is kept.

    Attributes:
        free: How many there are.
        kept: How many are taken.
        short: Whether something did not fit, so that it is computed in each pass.
    """

    free: float = math.inf
    kept: int = 0
    short: bool = False

    def takes(self, size: int) -> bool:
        """Take `size` bytes if there are so many left."""
        fits = self.kept + size <= self.free
        self.kept += size if fits else 0
        self.short |= not fits
        return fits
