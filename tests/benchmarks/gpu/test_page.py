from datetime import date
from pathlib import Path

from benchmarks.gpu.command import parts
from benchmarks.gpu.kept import EXPECTED, Kept
from benchmarks.gpu.machine import PAGE, describe
from benchmarks.gpu.page import NEVER, page
from benchmarks.gpu.part import Part
from benchmarks.gpu.process import ROOT
from harness.cli.runs import run

PART = Part("A part", "About it.", {"method": "", "GB": ".1f"}, lambda: ["lora"], lambda _, __: [])
CARD = {"card": "H200", "driver": "575", "torch": "2.13.0+cu130", "peft": "0.21.0", "commit": "ab"}


def kept(folder: Path, **row: object) -> Kept:
    found = Kept(folder / "part.json", CARD)
    found.expect(["lora", "dora"])
    found.add("lora", [{"method": "lora", "outcome": EXPECTED, **row}])
    return found


def test_the_page_holds_date_card_and_versions(tmp_path: Path) -> None:
    written = page({"part": PART}, {"part": kept(tmp_path)})
    assert date.today().isoformat() in written
    assert all(f"{what} {which}" in written for what, which in CARD.items())


def test_the_page_has_a_line_for_each_row_and_says_what_is_missing(tmp_path: Path) -> None:
    written = page({"part": PART}, {"part": kept(tmp_path, GB=11.93)})
    assert "| lora   | 11.9 | as expected |" in written
    assert "1 of 2 done" in written


def test_a_figure_that_was_not_reached_is_an_empty_cell(tmp_path: Path) -> None:
    written = page({"part": PART}, {"part": kept(tmp_path, outcome="out of memory")})
    assert "| lora   |     | out of memory |" in written
    assert "1 not as expected" in written


def test_before_the_first_run_the_page_says_that_nothing_was_run(tmp_path: Path) -> None:
    known = parts(tmp_path)
    written = page(known, {name: Kept(tmp_path / f"{name}.json") for name in known})
    assert NEVER in written
    assert written.count("| not run |") == len(known)


def test_this_machine_is_described_by_card_versions_and_commit() -> None:
    found = describe()
    assert {"card", "driver", "torch", "CUDA", "transformers", "peft", "commit"} <= found.keys()
    assert all(found.values())


def test_readme_and_help_say_that_no_gpu_has_run_it_until_the_page_has_figures() -> None:
    never = NEVER in (ROOT / PAGE).read_text()
    said = "No GPU has run"
    assert (said in (ROOT / "README.md").read_text()) == never
    assert (said in str(run.__doc__)) == never
