"""Trainable parameters of the methods on the backbones of the papers, from a committed table."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
"""By method and backbone, each as `key` writes them: a count for each configuration by name."""


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
            method = key(name.partition(":")[0])
            found.setdefault((method, key(backbone)), {})[name] = Count(trainable, total, base)
    return found


def key(name: str) -> str:
    """Reduce a printed name to small letters and digits, without what stands in brackets.

    >>> key("LN-Tuning"), key("LLaMA 3.2 3B"), key("DyPAM (ours)"), key("IA$^3$")
    ('lntuning', 'llama323b', 'dypam', 'ia3')
    """
    return re.sub(r"\(.*?\)|[^a-z0-9]", "", name.lower())
