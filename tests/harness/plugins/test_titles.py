"""Titles for papers, read from the files of the plugins."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness import plugins
from harness.plugins.titles import title

LOAD: dict[plugins.Kind, Callable[[str], object]] = {
    "methods": plugins.method,
    "tasks": plugins.benchmark,
    "groups": plugins.group,
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in LOAD for name in plugins.names(kind)]
)
def test_the_title_that_is_read_is_that_of_the_plugin(kind: plugins.Kind, name: str) -> None:
    assert title(kind, name) == LOAD[kind](name).title  # type: ignore[attr-defined]


def test_a_guest_that_cannot_be_imported_has_no_title(install: Callable[..., Path]) -> None:
    install("[harness.methods]\nbroken = gone_package.module:method\n")
    assert "broken" in plugins.names("methods")
    assert title("methods", "broken") is None
