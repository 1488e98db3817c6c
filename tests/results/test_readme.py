"""The README of results names every module."""

from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "results"
MODULES = sorted(
    str(path.relative_to(RESULTS))
    for path in RESULTS.rglob("*.py")
    if path.name != "__init__.py" and path.parent.name not in ("runfolder", "versions")
)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_listed_in_the_readme(module: str) -> None:
    assert f"`{module}`" in (RESULTS / "README.md").read_text()
