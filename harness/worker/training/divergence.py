"""Where a training ends before its last step: at the first loss that is no finite number."""

from math import isfinite


class DivergedError(Exception):
    """The training came to a loss that is NaN or infinite, and nothing brings it back.

    Attributes:
        step: The optimizer step, from 1.
        reason: Which loss it was, and what it was instead of a number.
    """

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(f"step {step}: {reason}")
        self.step, self.reason = step, reason


def require_finite(step: int, **losses: float) -> None:
    """Go on only with losses that are finite numbers; the keywords name them.

    Raises:
        DivergedError: One is not, as in

    >>> require_finite(7, loss=2.5, validation_loss=float("inf"))
    Traceback (most recent call last):
    harness.worker.training.divergence.DivergedError: step 7: the validation loss is inf
    """
    for name, value in losses.items():
        if not isfinite(value):
            raise DivergedError(step, f"the {name.replace('_', ' ')} is {value}")
