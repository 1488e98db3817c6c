"""The tests of the suite that need a GPU, a file at a time."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.gpu.part import Part, Row, judged
from benchmarks.gpu.process import complaint, python

TEST = re.compile(r"^(\S+\.py)(?:::|: \d)", re.MULTILINE)
"""How pytest lists a test, or a file with the number of its tests."""


def part(folder: Path, mark: str = "gpu", where: Sequence[str] = ("tests",)) -> Part:
    """Describe the part.

    Args:
        folder: Of the reports.
        mark: Of the tests, as `pytest -m` takes it.
        where: Files or folders of tests.
    """
    return Part(
        title="The suite's `gpu` tests",
        about="`pytest -m gpu`; without a GPU they are skipped.",
        columns={"file": "", "passed": ".0f", "failed": ".0f", "skipped": ".0f"},
        items=lambda: files(mark, where),
        measure=partial(_measure, folder, mark),
    )


def files(mark: str, where: Sequence[str]) -> list[str]:
    """List the files that have such tests; where they cannot be listed, a run of all says why."""
    done = python([*_pytest(mark), "--collect-only", *where], seconds=300)
    return list(where) if done.returncode else list(dict.fromkeys(TEST.findall(done.stdout)))


def _measure(folder: Path, mark: str, file: str, seconds: float) -> list[Row]:
    report = folder / "report.xml"
    done = python([*_pytest(mark), f"--junitxml={report}", file], seconds)
    (suite,) = ElementTree.parse(report).getroot()
    count = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    whole = not done.returncode and not count["skipped"]
    return [
        {
            "file": file,
            "passed": count["tests"] - failed - count["skipped"],
            "failed": failed,
            "skipped": count["skipped"],
            "outcome": judged(whole, complaint(done) if done.returncode else "skipped"),
        }
    ]


def _pytest(mark: str) -> list[str]:
    # Processes side by side would share the card.
    return ["-m", "pytest", "-m", mark, "-n", "0", "-p", "no:cacheprovider"]
