"""What a check found, as a question to the authors."""

from dataclasses import dataclass
from typing import Literal

Grade = Literal["impossible", "inconsistent", "notable"]
"""No data give this number; two printed things do not go together; worth knowing."""


@dataclass(frozen=True)
class Finding:
    """One thing that a reader may ask about."""

    grade: Grade
    check: str
    """The name of the check, such as "GRIM"."""
    where: str
    """Row and column, or the column alone."""
    question: str
    """A neutral question, of one sentence."""
    arithmetic: str
    """What was computed from what, in one line."""
