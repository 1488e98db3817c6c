"""Conditions as SQL."""

import operator
from typing import Any

from sqlalchemy import ColumnElement

from results.fields import Condition

_COMPARED = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(column: ColumnElement[Any], condition: Condition) -> ColumnElement[bool]:
    """Require a column to meet a condition."""
    value: Any = condition.value
    if condition.operator == "~":
        return column.icontains(value, autoescape=True)
    if condition.operator == "in":
        return column.in_(value)
    if condition.operator == "starts":
        return column.startswith(str(value), autoescape=True)
    compared: ColumnElement[bool] = _COMPARED[condition.operator](column, value)
    return compared
