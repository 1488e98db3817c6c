"""LaTeX as a reader of the paper gets it: compiled by Debian's TeX, in one and two columns."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Literal

import pytest

from harness.backbones import TINY
from results.analysis.table import tables
from results.audit import papers
from results.record import Run
from results.reports import layouts
from results.reports.formats import render
from results.reports.sheets.printing import Printing

pytestmark = pytest.mark.parts

Make = Callable[..., Run]
Command = Callable[..., "subprocess.CompletedProcess[str]"]

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


@pytest.fixture(scope="session")
def filled(program: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a store on the embedded model and samples: a method in full and as a variant, two
    backbones, generated texts.
    """
    folder = tmp_path_factory.mktemp("filled")
    shutil.copytree(TINY, folder / "tiny")
    of_math = ["base,lora,rosa,rosa:roae-only", "math", f"tiny,tiny-2M={folder / 'tiny'}", "2"]
    for methods, tasks, backbones, seeds in (of_math, ["lora,hycam", "multitask", "tiny", "1"]):
        options = ["--methods", methods, "--tasks", tasks, "--backbones", backbones]
        options += ["--seeds", seeds, "--limit", "4", "--train-limit", "30"]
        done = program(folder, "run", *options, "--set", "train.epochs=1")
        assert done.returncode == 0, done.stderr
    return folder


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


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("layout", layouts.names())
def test_every_layout_of_a_filled_store_compiles_and_fits(
    layout: str, width: str, filled: Path, program: Command, tmp_path: Path
) -> None:
    tasks = "multitask" if layout == "metrics" else "math"
    asked = ["table", "--tasks", tasks, "--layout", layout]
    text = program(filled, *asked, "--format", "latex", "--width", width).stdout
    log, _ = compiled(text, "twocolumn", tmp_path)
    assert [points for points in overfull(log) if points > 2] == []
    assert "Float too large" not in log
    assert "undefined" not in log
    assert "LoRA" in printed(tmp_path) or layout == "ablation"
    assert "SAMPLE DATA" in program(filled, *asked, "--format", "html").stdout
    assert f"Command: harness {' '.join(asked)}\n" in program(filled, *asked).stdout


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("layout", ["main", "sizes", "costs"])
def test_22_methods_on_three_backbones_fit_their_pages(
    layout: str,
    width: Literal["column", "page"],
    runs: Callable[[int], list[Run]],
    tmp_path: Path,
) -> None:
    names = ("meta-llama/Llama-3.2-3B-Instruct", "Qwen/Qwen3-0.6B", "Qwen/Qwen3-8B")
    every = [
        replace(run, backbone=name, run_id=f"{n}{run.run_id[1:]}", series=f"{name} {run.series}")
        for n, name in enumerate(names)
        for run in runs(22)
    ]
    printing = Printing(width=width, titles=TITLES)
    log, _ = compiled(render(tables(every), "latex", printing, layout), "twocolumn", tmp_path)
    assert [points for points in overfull(log) if points > 2] == []
    assert "Float too large" not in log
    words = printed(tmp_path)
    for name in ("Llama-3.2", "Qwen3", "RieMoE-LoRA"):
        assert name in words


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("count", [2, 22])
def test_a_table_with_what_a_paper_prints_fits(
    count: int,
    width: Literal["column", "page"],
    runs: Callable[[int], list[Run]],
    tmp_path: Path,
) -> None:
    printing = Printing(width=width, titles=TITLES, published=papers.paper("dypam", {}))
    text = render(tables(runs(count)), "latex", printing)
    log, _ = compiled(text, "twocolumn", tmp_path)
    assert [points for points in overfull(log) if points > 2] == []
    assert "Float too large" not in log
    words = printed(tmp_path)
    assert "published‡" in words
    assert "neither ranked nor tested" in " ".join(words.split()) or width == "column"


def test_every_number_stands_in_the_paper_once(
    runs: Callable[[int], list[Run]], tmp_path: Path
) -> None:
    (table,) = tables(runs(7))
    printing = Printing(width="column", titles=TITLES)
    compiled(render([table], "latex", printing), "twocolumn", tmp_path)
    # The caption of a neighbour may go on with "± SD" behind an SD.
    found = re.findall(r"(?<!±)\b\d+\.\d\d(?=±)", re.sub(r" +±", "±", printed(tmp_path)))
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


@pytest.mark.parametrize("starred", [False, True], ids=["no star", "star"])
@pytest.mark.parametrize("width", ["column", "page"])
def test_the_notes_have_five_lines_at_most_and_say_what_is_left_out(
    width: Literal["column", "page"],
    starred: bool,
    runs: Callable[[int], list[Run]],
    tmp_path: Path,
) -> None:
    marks = ("first 100 rows of each benchmark", "first 4000 training rows of Commonsense15K")
    # Against a method that lacks a seed there is no test, and so no star.
    many = [replace(run, marks=marks) for run in runs(7) if run.method != "dypam" or not starred]
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
    for word in ("Test (default): Welch", "all pairs", "Holm"):
        assert word in " ".join(notes.split())
    assert ("*: better than every other" in " ".join(notes.split())) is starred
