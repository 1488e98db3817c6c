"""The table of counts that the audit of published tables reads: `results/audit/counts.json`.

    python -m harness.planning.footprint.table

rewrites it after a method, its configurations or the shapes have changed.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from harness import plugins
from harness.errors import UserError
from harness.planning.footprint.parameters import SHAPES, count_by_kind, counting, shapes
from harness.planning.footprint.skeleton import skeleton
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from results.audit.counts import TABLE

Counted = dict[str, tuple[int, int]]
"""By configuration: trainable parameters, and all."""


def configurations(method: str) -> list[str]:
    """List a method's own defaults and its configurations of papers, as the command line does.

    >>> configurations("boft")
    ['boft', 'boft:rosa-paper']
    """
    papers = [one for one in plugins.method(method).variants if one.endswith("-paper")]
    return [method, *(f"{method}:{one}" for one in papers)]


def counted(backbone: str, config: Any, methods: Iterable[str]) -> Counted:
    """Count all configurations of methods on a backbone, those left out that do not fit it."""
    found: Counted = {}
    shape = skeleton(config)
    for method in methods:
        for name in configurations(method):
            try:
                count = count_by_kind(complete(parse_method(name)), backbone, shape)
            except UserError:
                continue
            found[name] = count.trainable, count.total
    return found


def table() -> dict[str, Counted]:
    """Count all methods on the language models of all shapes that are shipped."""
    with counting():
        return {
            backbone: counted(backbone, shapes(backbone)[backbone], plugins.names("methods"))
            for backbone in json.loads(SHAPES.read_text())
        }


if __name__ == "__main__":
    lines = json.dumps(table(), indent=1)
    TABLE.write_text(re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", lines) + "\n")
