"""The page of the methods names what lies beside it."""

from pathlib import Path

METHODS = Path(__file__).parents[2] / "methods"


def test_every_shared_file_is_in_the_list_of_files() -> None:
    files = (METHODS / "README.md").read_text().partition("## Files")[2].partition("\n## ")[0]
    shared = [path for path in METHODS.glob("*/*.py") if path.name != "__init__.py"]
    assert shared
    assert [path.name for path in shared if f"  {path.name} " not in files] == []
