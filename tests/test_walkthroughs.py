"""The walk-throughs of the READMEs, followed word for word in an empty folder.

Numbers of the output are those of one machine, and are compared as numbers of any value.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = """
harness() { python -m harness "$@"; }
python() { command "$PYTHON" "$@"; }
"""
NUMBER = re.compile(r"(?<![A-Za-z0-9])[*_]*\d[\d.,]*[*_]*")
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
    """Write a line without its numbers, the marks of a table and the width of its columns."""
    line = NUMBER.sub("0", line).replace("0 * |", "0 |")
    return re.sub(r"-{3,}", "-", " ".join(line.split()))


def agrees(expected: list[str], printed: list[str]) -> bool:
    """Whether lines are those expected, `...` standing for any."""
    lines = [".*" if line == REST else re.escape(bare(line)) for line in expected]
    found = "\n".join(bare(line) for line in printed if line)
    return re.fullmatch(r"\n?".join(lines), found, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("tasks/README.md", "Your own benchmark"),
        ("methods/README.md", "Your own method"),
        pytest.param(
            "harness/README.md", "From your model to a table in a paper", marks=pytest.mark.parts
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
    for step in found:
        done = subprocess.run(
            ["bash", "-c", COMMANDS + step.command],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": path, "PYTHON": sys.executable},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{step.command}\n{done.stderr}"
        assert agrees(step.printed, done.stdout.splitlines()), f"{step.command}\n{done.stdout}"


def test_a_page_that_says_something_else_would_be_noticed() -> None:
    table = ["| tiny | lora |  20.00 |", "2 runs finished."]
    assert agrees(["| tiny | lora | **5.00** * |", REST], table)
    assert agrees([REST, "3 runs finished."], table)
    assert not agrees(["| tiny | dora | 20.00 |", REST], table)
    assert not agrees(["| tiny | lora | 20.00 |"], table)
