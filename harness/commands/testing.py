"""Which tests a user asked for, and what they find in a store."""

from collections.abc import Callable
from dataclasses import replace
from inspect import getsource
from math import inf
from typing import Any

from harness.commands.stored import without_path
from harness.errors import UserError
from results.analysis.testing.tests import Testing
from results.kept import kept
from results.statistics.multiplicity import Correction
from results.store import Reader
from tasks.metrics import parts


def asked(
    test: str = "",
    correction: Correction = "holm",
    against: str = "",
    one_sided: bool = False,
    margin: float | None = None,
) -> Testing:
    """Put together which tests a user asked for.

    Raises:
        UserError: The margin is not above 0.
    """
    if margin is not None:
        require_points("margin", margin)
    return Testing(
        test=test,
        correction=correction,
        against=without_path(against),
        alternative="greater" if one_sided else "two-sided",
        margin=margin,
    )


def require_points(option: str, points: float) -> None:
    """Refuse a difference that is none.

    Raises:
        UserError: It is not above 0.
    """
    if not 0 < points < inf:
        raise UserError(f"--{option} {points:g}: please give a difference above 0, in points.")


def in_store(testing: Testing, store_place: str) -> Testing:
    """Let tests over items find the verdicts of a store, and be looked up if made before."""
    return replace(testing, verdicts=Reader(store_place).verdicts, keep=_keep)


def _keep(key: Any, compute: Callable[[], Any]) -> Any:
    # Tests over texts depend on how sums of their parts are scored, too.
    return kept([getsource(parts), key], compute)
