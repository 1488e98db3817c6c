"""LaTeX as a reader of the paper gets it: compiled by Debian's TeX, in one and two columns."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Literal

import pytest

from results.analysis.table import tables
from results.record import Run
from results.reports.formats import render
from results.reports.printing import Printing

pytestmark = pytest.mark.parts

Make = Callable[..., Run]

METHODS = {
    "dypam": "DyPAM",
    "ia3": "(IA)^3",
    "lora": "LoRA",
    "riemoe_lora": "RieMoE-LoRA",
    "rosa": "RoSA",
    "full": "Full fine-tuning",
    "lora[r=64,lora_alpha=128,train.lr=0.0002]": "",
    **{name.lower(): name for name in ("AdaLoRA", "BOFT", "Bone", "C3A", "CASCADE", "DoRA")},
    **{name.lower(): name for name in ("FlyLoRA", "FourierFT", "HyCAM", "LoCA", "MultiLoRA")},
    **{name.lower(): name for name in ("OFT", "SHiRA", "SMoA", "VeRA")},
}
BENCHMARKS = {
    "boolq": "BoolQ",
    "piqa": "PIQA",
    "siqa": "SIQA",
    "arc_challenge": "ARC-Challenge",
    "arc_easy": "ARC-Easy",
    "obqa": "OBQA",
    "hellaswag": "HellaSwag",
    "winogrande": "WinoGrande",
}
TITLES = {"commonsense": "Commonsense", **METHODS, **BENCHMARKS}

WORDS = r"Some words of the paper stand around the table, as they do in every paper. "
DOCUMENT = r"""\documentclass[%s]{article}
\pdfcompresslevel=0 \pdfobjcompresslevel=0
\usepackage{booktabs}
\begin{document}
%s
\input{table}
%s
\end{document}
"""

SMALLEST = 7 * 72 / 72.27
"""7 pt of TeX in the points of PDF."""


@pytest.fixture
def runs(make: Make) -> Callable[[int], list[Run]]:
    """Make runs of some methods with three seeds, of which the last method lacks one."""

    def of(count: int) -> list[Run]:
        random = Random(count)
        return [
            make(
                method,
                seed=seed,
                group="commonsense",
                backbone="meta-llama/Llama-3.2-3B",
                correct={
                    name: random.randint(60, 70) + 15 * (method == "rosa") for name in BENCHMARKS
                },
                flags=("boolq: cut at the limit: 80 %",) if method == "ia3" else (),
                marks=("first 100 rows of each benchmark",),
                environment={"python": "3.11", "harness": {"commit": "0123456789abcdef"}},
            )
            for method in list(METHODS)[:count]
            for seed in (2333, 1000, 2000)
            if (method, seed) != ("dypam", 2000)
        ]

    return of


def compiled(text: str, option: str, folder: Path) -> tuple[str, bytes]:
    """Compile a paper around a table twice, for its references; give its log and its PDF."""
    (folder / "table.tex").write_text(text)
    (folder / "paper.tex").write_text(DOCUMENT % (option, WORDS * 30, WORDS * 30))
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    log = (folder / "paper.log").read_text(errors="replace")
    return log.replace("\n", ""), (folder / "paper.pdf").read_bytes()


def printed(folder: Path) -> str:
    command = ["pdftotext", "-layout", "paper.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def overfull(log: str) -> list[float]:
    return [float(points) for points in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", log)]


@pytest.mark.parametrize("spread", [True, False], ids=["SD", "no SD"])
@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("option", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("count", [2, 7, 22])
def test_a_table_fits_its_place_in_type_of_at_least_7_pt(
    count: int,
    option: str,
    width: Literal["column", "page"],
    spread: bool,
    runs: Callable[[int], list[Run]],
    tmp_path: Path,
) -> None:
    printing = Printing(width=width, spread=spread, titles=TITLES, label="tab:main")
    log, pdf = compiled(render(tables(runs(count)), "latex", printing), option, tmp_path)
    assert [points for points in overfull(log) if points > 2] == []
    assert "Float too large" not in log
    assert "undefined" not in log
    # The page streams are not compressed: each change of font names its size, and no other
    # operator scales text, since every matrix is a translation.
    sizes = {float(size) for size in re.findall(rb"/F\d+ ([\d.]+) Tf", pdf)}
    assert len(sizes) > 1
    assert min(sizes) > SMALLEST - 0.01
    matrices = re.findall(rb"([-\d.]+ [-\d.]+ [-\d.]+ [-\d.]+) [-\d.]+ [-\d.]+ cm", pdf)
    assert set(matrices) <= {b"1 0 0 1"}


def test_every_number_stands_in_the_paper_once(
    runs: Callable[[int], list[Run]], tmp_path: Path
) -> None:
    (table,) = tables(runs(7))
    printing = Printing(width="column", titles=TITLES)
    compiled(render([table], "latex", printing), "twocolumn", tmp_path)
    found = re.findall(r"\d+\.\d\d(?=±)", re.sub(r" +±", "±", printed(tmp_path)))
    means = [
        f"{table.metric.points(cell.sample.mean or 0):.2f}"
        for row in table.blocks[0].rows
        for cell in row.cells
    ]
    assert sorted(found) == sorted(means)


def test_titles_are_those_of_people_and_the_label_leads_to_the_table(
    runs: Callable[[int], list[Run]], tmp_path: Path
) -> None:
    text = render(tables(runs(22)), "latex", Printing(titles=TITLES, label="tab:main"))
    compiled(text, "onecolumn", tmp_path)
    words = printed(tmp_path)
    for title in ("DyPAM", "RieMoE-LoRA", "WinoGrande", "ARC-", "Challenge", "Commonsense"):
        assert title in words
    assert "winogrande" not in words
    assert r"\newlabel{tab:main}{{1}" in (tmp_path / "paper.aux").read_text()


@pytest.mark.parametrize("width", ["column", "page"])
def test_the_notes_have_five_lines_at_most_and_say_what_is_left_out(
    width: Literal["column", "page"], runs: Callable[[int], list[Run]], tmp_path: Path
) -> None:
    marks = ("first 100 rows of each benchmark", "first 4000 training rows of Commonsense15K")
    many = [replace(run, marks=marks) for run in runs(7)]
    text = render(tables(many), "latex", Printing(width=width, titles=TITLES))
    compiled(text, "twocolumn", tmp_path)
    command = ["pdftotext", "paper.pdf", "-"]
    plain = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    notes = plain[plain.index("Read with care") :].split("\n\n")[0]
    assert len(notes.splitlines()) <= 5
    left = re.search(r"(\d+) more in the source of this table", " ".join(notes.split()))
    comments = [line for line in text.splitlines() if line.startswith("% ")]
    assert int(left[1] if left else 0) == len(comments) - 1  # the first names the package
    assert width == "page" or left
