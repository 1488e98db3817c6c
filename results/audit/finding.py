"""What a check found, as a question to the authors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Grade = Literal["impossible", "inconsistent", "notable"]
"""No data give this number; two printed things do not go together; worth knowing."""

GRADES: tuple[Grade, ...] = get_args(Grade)


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


EXAMPLES = 3
"""How many cells a finding on many names."""


def some(cells: Sequence[str]) -> str:
    """Write the first few of many.

    >>> some(["71.50", "33.21", "78.48", "22.44"])
    '71.50; 33.21; 78.48; ...'
    """
    return "; ".join([*cells[:EXAMPLES], *["..."][: len(cells) - EXAMPLES]])
