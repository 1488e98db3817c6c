import runpy
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from benchmarks.gpu.command import measure
from benchmarks.gpu.kept import EXPECTED
from benchmarks.gpu.part import Part, Row


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_command_ends_at_once_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "gpu"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("benchmarks", run_name="__main__")
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "needs a GPU" in printed.err


class Parts:
    """Two parts, of which the second measures two items, and a list of what was measured."""

    def __init__(self, outcome: str = EXPECTED) -> None:
        self.measured: list[str] = []
        self.outcome = outcome

    def __call__(self, folder: Path) -> Mapping[str, Part]:
        return {
            "one": Part("One", "About one.", {"item": ""}, lambda: ["a"], self.measure),
            "two": Part("Two", "About two.", {"item": ""}, lambda: ["b", "c"], self.measure),
        }

    def measure(self, item: str, seconds: float) -> list[Row]:
        self.measured.append(item)
        return [{"item": item, "outcome": self.outcome}]


def test_parts_are_measured_once_and_written_down(tmp_path: Path) -> None:
    parts, page = Parts(), tmp_path / "gpu.md"
    assert measure([], parts, tmp_path / "results", page) == 0
    assert measure([], parts, tmp_path / "results", page) == 0
    assert parts.measured == ["a", "b", "c"]
    assert "## One" in page.read_text()
    assert "2 of 2 done" in page.read_text()


def test_a_part_alone_leaves_the_others_as_they_are_on_the_page(tmp_path: Path) -> None:
    parts, page = Parts(), tmp_path / "gpu.md"
    for name in ("two", "one"):
        measure([name], parts, tmp_path / "results", page)
    assert parts.measured == ["b", "c", "a"]
    assert "not run" not in page.read_text()


def test_what_did_not_come_as_expected_is_named_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(["two"], Parts("failed"), tmp_path / "results", tmp_path / "gpu.md") == 1
    assert "left of two: b, c" in capsys.readouterr().out


def test_a_part_that_does_not_exist_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(["tow"], Parts(), tmp_path / "results", tmp_path / "gpu.md") == 2
    assert "'two'" in capsys.readouterr().err
    assert not (tmp_path / "gpu.md").exists()
