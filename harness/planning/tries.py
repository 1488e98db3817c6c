"""Several recipes of one method, to choose from by validation loss: `lora[train.lr=1e-4|3e-4]`."""

import json
from itertools import product

from harness.errors import UserError
from results.analysis.runs.selection import split_names

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
    name, bracket, rest = text.partition("[")
    if not bracket or not rest.endswith("]"):
        return [text]
    fields = map(_values, split_names(rest[:-1]))
    return [f"{name}[{','.join(chosen)}]" for chosen in product(*fields)]


def _values(field: str) -> list[str]:
    """Write a field once for each of its values."""
    name, _, values = field.partition("=")
    if not name.startswith(TRIED) or BETWEEN not in values:
        return [field]
    found = [value.strip() for value in values.split(BETWEEN)]
    if "" in found or len(set(map(_read, found))) < len(found):
        raise UserError(f"{field}: a value to try is missing, or is there twice.")
    return [f"{name}={value}" for value in found]


def _read(value: str) -> str:
    """Write a value in one form, so that 1e-4 and 0.0001 are one."""
    try:
        return json.dumps(json.loads(value))
    except ValueError:
        return value
