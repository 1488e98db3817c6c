"""The documentation is true: names, links, commands."""

import re
from pathlib import Path

import pytest

from harness.commands import catalogue as listing

ROOT = Path(__file__).parent.parent
PAGES = sorted(path for path in ROOT.glob("**/*.md") if ".venv" not in path.parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not broken


def test_the_table_of_methods_is_what_the_plugins_say() -> None:
    text = (ROOT / "methods" / "README.md").read_text()
    between = text.partition("<!-- methods: begin -->\n")[2].partition("\n<!-- methods: end -->")[0]
    assert between == listing.methods(None, None, wide=True).text


def test_the_table_of_tasks_is_what_the_plugins_say() -> None:
    text = (ROOT / "tasks" / "README.md").read_text()
    between = text.partition("<!-- tasks: begin -->\n")[2].partition("\n<!-- tasks: end -->")[0]
    assert between == listing.tasks(None, wide=True).text


def test_the_readme_stays_under_150_lines_and_names_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") < 150
    for command in (
        "run",
        "methods",
        "tasks",
        "data",
        "table",
        "compare",
        "history",
        "show",
        "doctor",
    ):
        assert f"harness {command}" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    named = re.findall(r"`(test_[a-z0-9_]+)`", page.read_text())
    assert [name for name in named if f"def {name}(" not in tests] == []
    files = re.findall(r"`(tests/[\w/]+\.py)`", page.read_text())
    assert [file for file in files if not (ROOT / file).exists()] == []
