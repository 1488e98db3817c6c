"""The walk-throughs of the READMEs, followed word for word in an empty folder.

Numbers of the output are those of one machine, and are compared as numbers of any value. Ids of
runs change with the code: in the commands that follow, the id that was printed takes the place of
that on the page.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = """
harness() { python -m harness "$@"; }
python() { command "$PYTHON" "$@"; }
"""
NUMBER = re.compile(r"(?<![A-Za-z0-9])[*_]*\d[\d.,]*[*_]*")
ID = re.compile(r"\b[0-9a-f]{16}\b")
REST = "..."
"""A line of the output that stands for any lines."""


@dataclass(frozen=True)
class Step:
    """A command and what the page says that it prints."""

    command: str
    printed: list[str]


def steps(page: str, section: str) -> list[Step]:
    """Read the commands of a section: indented lines behind `$`, each with what it prints.

    Empty lines do not count.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found: list[Step] = []
    for line in re.findall(r"^ {4}(.+)$", body, re.MULTILINE):
        if line.startswith("$ "):
            found.append(Step(line[2:], []))
        elif line.startswith("> "):
            found[-1] = Step(f"{found[-1].command}\n{line[2:]}", [])
        else:
            found[-1].printed.append(line)
    return found


def bare(line: str) -> str:
    """Write a line without its numbers and ids, the marks of a table and the width of columns."""
    line = NUMBER.sub("0", ID.sub("ID", line)).replace("0 * |", "0 |")
    return re.sub(r"-{3,}", "-", " ".join(line.split()))


def agrees(expected: list[str], printed: list[str]) -> bool:
    """Whether lines are those expected, `...` standing for any."""
    lines = [".*" if line == REST else re.escape(bare(line)) for line in expected]
    found = "\n".join(bare(line) for line in printed if line)
    return re.fullmatch(r"\n?".join(lines), found, re.DOTALL) is not None


def ids(expected: list[str], printed: list[str]) -> dict[str, str]:
    """Pair the ids of a page with those that were printed in the same lines."""
    found = {bare(line): ID.findall(line) for line in printed}
    pairs = (zip(ID.findall(line), found.get(bare(line), ()), strict=False) for line in expected)
    return dict(pair for line in pairs for pair in line)


def replaced(command: str, known: Mapping[str, str]) -> str:
    return ID.sub(lambda one: known[one[0]], command)


@pytest.mark.parametrize(
    ("page", "section"),
    [
        pytest.param("tasks/README.md", "Your own benchmark", marks=pytest.mark.parts),
        pytest.param("methods/README.md", "Your own method", marks=pytest.mark.parts),
        pytest.param(
            "harness/README.md", "From your model to a table in a paper", marks=pytest.mark.parts
        ),
        pytest.param(
            *("results/README.md", "From a cell of a table to the answers and back"),
            marks=pytest.mark.parts,
        ),
    ],
)
def test_the_commands_of_a_walk_through_print_what_the_page_says(
    page: str, section: str, tmp_path: Path
) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    kept = {name: one for name, one in os.environ.items() if not name.startswith("HARNESS_")}
    found = steps(page, section)
    assert len(found) >= 4
    known: dict[str, str] = {}
    for step in found:
        done = subprocess.run(
            ["bash", "-c", COMMANDS + replaced(step.command, known)],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": path, "PYTHON": sys.executable},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{step.command}\n{done.stderr}"
        printed = done.stdout.splitlines()
        assert agrees(step.printed, printed), f"{step.command}\n{done.stdout}"
        known |= ids(step.printed, printed)


def test_a_page_that_says_something_else_would_be_noticed() -> None:
    table = ["| tiny | lora |  20.00 |", "2 runs finished."]
    assert agrees(["| tiny | lora | **5.00** * |", REST], table)
    assert agrees([REST, "3 runs finished."], table)
    assert not agrees(["| tiny | dora | 20.00 |", REST], table)
    assert not agrees(["| tiny | lora | 20.00 |"], table)


def test_an_id_of_a_page_stands_for_the_one_printed_in_its_place() -> None:
    page = ["| lora | 30211da8179a52f6 |", REST, "| dora | ccab62ddb9c6f738 |"]
    table = ["| lora | 00000000000000aa |", "one seed", "| dora | bb00000000000000 |"]
    assert agrees(page, table)
    assert ids(page, table) == {
        "30211da8179a52f6": "00000000000000aa",
        "ccab62ddb9c6f738": "bb00000000000000",
    }
