"""What fields of runs are compared with, as typed: texts, numbers, moments and days."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

from harness.errors import UserError
from results.analysis.metrics import metric
from results.fields import Condition, Field, Operator

ORDER = ("<", "<=", ">", ">=")
OF_NEXT_DAY: Mapping[Operator, Operator] = {"<=": "<", ">": ">="}
"""How what is compared so with a whole day is compared with the begin of the next."""


def compared(field: Field, operator: Operator, typed: str) -> Condition:
    """Compare a field with what was typed.

    Raises:
        UserError: It is no number or no date where the field has these, or the field has no order.
    """
    if field.type == "time":
        return _when(field, operator, typed.strip())
    if field.type == "number":
        return Condition(field, operator, _number(field, typed))
    if operator in ORDER:
        raise UserError(
            f"{field.name} has values that are no numbers, so it has no order. "
            f"Use =, != or ~ (contains), such as '{field.name} ~ {typed}'."
        )
    return Condition(field, operator, typed)


def _number(field: Field, typed: str) -> float:
    try:
        number = float(typed)
    except ValueError as error:
        raise UserError(f"{field.name} is a number, and {typed!r} is none.") from error
    # A share is typed as it is printed: in percent.
    return number / 100 if field.metric and metric(field.metric).share else number


def _when(field: Field, operator: Operator, typed: str) -> Condition:
    """Compare a time with a moment, or with a day, which counts whole."""
    day = _is_day(typed)
    if day and operator in ("=", "!="):
        raise UserError(
            f"{field.name} is a moment, and {typed!r} a whole day. "
            f"`--from {typed} --to {typed}` finds the runs of that day."
        )
    try:
        found = datetime.fromisoformat(typed)
        moment = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if day and operator in OF_NEXT_DAY:
            return Condition(field, OF_NEXT_DAY[operator], moment + timedelta(days=1))
    except (ValueError, OverflowError) as error:
        raise UserError(
            f"{typed!r} is no date of a run. Please write it as 2026-01-31, or 2026-01-31T18:00."
        ) from error
    return Condition(field, operator, moment)


def _is_day(typed: str) -> bool:
    with suppress(ValueError):
        return bool(date.fromisoformat(typed))
    return False
