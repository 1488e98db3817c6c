"""Trainable parameters of the methods on the backbones of the papers, from a committed table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from results import names

TABLE = Path(__file__).parent / "counts.json"
"""By backbone and configuration, as `lora:rosa-paper`: trainable parameters and all after adapting.
`python -m harness.planning.footprint.table` writes it."""


@dataclass(frozen=True)
class Count:
    """Parameters of one configuration of a method on one backbone."""

    trainable: int
    total: int
    """With those that the method adds."""
    base: int
    """Without them."""


Counts = Mapping[tuple[str, str], Mapping[str, Count]]
"""By the letters of method and backbone: a count for each configuration, by its name."""


@cache
def counts() -> Counts:
    """Read the committed table."""
    return from_json(json.loads(TABLE.read_text()))


def from_json(table: Mapping[str, Mapping[str, tuple[int, int]]]) -> Counts:
    """Read a table, in which the bare backbone counts as the method `base`.

    >>> table = {"tiny-1b": {"base": (0, 90), "lora": (10, 100)}}
    >>> from_json(table)["lora", "tiny1b"]
    {'lora': Count(trainable=10, total=100, base=90)}
    """
    found: dict[tuple[str, str], dict[str, Count]] = {}
    for backbone, named in table.items():
        base = named["base"][1]
        for name, (trainable, total) in named.items():
            place = names.method(name.partition(":")[0]), names.backbone(backbone)
            found.setdefault(place, {})[name] = Count(trainable, total, base)
    return found
