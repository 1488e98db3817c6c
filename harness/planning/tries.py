"""Several recipes of one method, to choose from by validation loss: `lora[train.lr=1e-4|3e-4]`."""

import json
from itertools import product

from harness.errors import UserError

BETWEEN = "|"
TRIED = "train."
"""Only fields of the recipe are tried: other fields make another method, and may hold the sign."""


def expanded(text: str) -> list[str]:
    """Write a method with several values of a field as one method for each combination.

    >>> expanded("lora[r=8,train.lr=1e-4|1e-3]")
    ['lora[r=8,train.lr=1e-4]', 'lora[r=8,train.lr=1e-3]']
    >>> expanded("lora[target_modules=q|v]")
    ['lora[target_modules=q|v]']

    Raises:
        UserError: A value is missing, or is there twice.
    """
    fields = text.split(",")
    return list(dict.fromkeys(",".join(chosen) for chosen in product(*map(_values, fields))))


def _values(field: str) -> list[str]:
    """Write a field once for each of its values, with the brackets around it."""
    before, equals, after = field.partition("=")
    name = before.rpartition("[")[2].strip()
    if not name.startswith(TRIED) or BETWEEN not in after:
        return [field]
    body = after.rstrip("] ")
    values = [value.strip() for value in body.split(BETWEEN)]
    if "" in values or len(set(map(_read, values))) < len(values):
        raise UserError(f"{name}={body}: a value to try is missing, or is there twice.")
    return [f"{before}{equals}{value}{after[len(body) :]}" for value in values]


def _read(value: str) -> str:
    """Write a value in one form, so that 1e-4 and 0.0001 are one."""
    try:
        return json.dumps(json.loads(value))
    except ValueError:
        return value
