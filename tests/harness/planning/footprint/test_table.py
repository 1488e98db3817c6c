"""The committed table of counts is what counting gives now."""

import json

import pytest

from harness import plugins
from harness.planning.footprint.parameters import shapes
from harness.planning.footprint.table import counted, table
from results.audit.counts import TABLE

COMMITTED = json.loads(TABLE.read_text())
REMEDY = "python -m harness.planning.footprint.table writes the table again"


def test_the_counts_on_one_backbone_are_the_committed_ones() -> None:
    config = shapes("qwen3-0.6b")["qwen3-0.6b"]
    found = counted("qwen3-0.6b", config, plugins.names("methods"))
    assert {name: list(count) for name, count in found.items()} == COMMITTED["qwen3-0.6b"], REMEDY


@pytest.mark.parts
def test_all_counts_are_the_committed_ones() -> None:
    assert json.loads(json.dumps(table())) == COMMITTED, REMEDY
