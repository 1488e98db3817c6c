"""What runs are filtered, sorted and grouped by: fields by name, and conditions on them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Type = Literal["number", "text", "time"]
Operator = Literal["=", "!=", "<=", ">=", "<", ">", "~", "starts", "in"]
"""`~`: the text contains the value, in whatever case; `starts`: it starts with it; `in`: the value
is a list, of which it is one."""

ENVIRONMENT = "environment."
"""What the name of a field of the environment begins with."""

TAG = "tag"
"""The field of which a run has any number of values."""

MICRO, MACRO = "micro", "macro"
"""Averages over the benchmarks of a run, which are named as benchmarks are."""

OF_RUNS: Mapping[str, Type] = {
    "run": "text",
    "status": "text",
    "started": "time",
    "group": "text",
    "method": "text",
    "backbone": "text",
    "backbone_place": "text",
    "seed": "number",
    "fold": "number",
    "protocol": "text",
    "setting": "text",
    "recipe": "text",
    "series": "text",
    "environment": "text",
    "validation_loss": "number",
    "trained_rows": "number",
    "trainable_parameters": "number",
    "total_parameters": "number",
    "adapter_bytes": "number",
    "peak_memory_bytes": "number",
    "train_tokens_per_second": "number",
    "wall_seconds": "number",
    "folder": "text",
    "forgotten": "text",
}
"""The fields that every run has, whatever its spec and environment."""


@dataclass(frozen=True)
class Field:
    """A field of runs by its full name.

    That is one of `OF_RUNS`, or `TAG`; the path of a field in the spec, such as "train.lr"; such a
    path in the environment after `ENVIRONMENT`; or a headline score as "benchmark.metric".
    """

    name: str
    type: Type
    metric: str = ""
    """The metric of a score; empty for all other fields."""

    @property
    def benchmark(self) -> str:
        """The benchmark of a score, or the name of an average."""
        return self.name.removesuffix(f".{self.metric}")


@dataclass(frozen=True)
class Condition:
    """What a field must be; a run without the field does not meet it."""

    field: Field
    operator: Operator
    value: float | str | datetime | Sequence[float]


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give each value of nested mappings with its path.

    >>> dict(flat({"train": {"lr": 0.1, "betas": [0.9]}, "limit": None}))
    {'train.lr': 0.1, 'train.betas': [0.9], 'limit': None}
    """
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def of_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of a spec by path, but for those in which the runs of a table row differ."""
    return dict(flat({name: part for name, part in spec.items() if name not in ("seeds", "fold")}))


def of_environment(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of an environment by path."""
    return dict(flat(environment, ENVIRONMENT))


def written(value: Any) -> str:
    """Write a value as conditions compare it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def number(value: Any) -> float | None:
    """Give a value as a number; None if it is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None
