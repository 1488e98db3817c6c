"""Names that mean something to LaTeX, a spreadsheet or JSON are shown as text."""

import csv
import json
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from results.analysis.table import Table, tables
from results.record import Run
from results.reports.bibtex import Reference, bibtex
from results.reports.formats import render
from results.reports.formats.latex.text import LETTERS, MOST, comment, escaped
from results.reports.sheets.printing import Printing
from results.reports.spreadsheet import FORMULA

Make = Callable[..., Run]

HOSTILE = {
    r"\input{/etc/passwd}": r"\input{/etc/passwd}",
    r"\write18{id}": r"\write18{id}",
    r"}}\end{document}%$&#_^~": r"}}\end{document}%$&#_^~",
    "two\n\nlines\rof\ttext": "two lines of text",
    "\x00\x1b[2J\x7f": r"\x00\x1b[2J\x7f",
    "\u202egnp.exe\u2066": r"\u202egnp.exe\u2066",
    "方法": "U+65B9U+6CD5",
    "Größe “ñ” 7 °": "Größe “ñ” 7 °",
    '=HYPERLINK("http://x","y")': '=HYPERLINK("http://x","y")',
    "<script>--|": "<script>--|",
}
"""What pdfTeX prints of each."""

PAPER = r"""\documentclass{article}
\usepackage{booktabs}
%s
\begin{document}
%s
\end{document}
"""


def table_of(make: Make, *methods: str) -> list[Table]:
    """Make a table whose names are hostile everywhere; the first names all else."""
    first, *_ = methods
    return tables(
        make(
            method,
            seed,
            {first: 50 + seed, "aqua": 40},
            group=first,
            backbone=first,
            marks=(f"mark {first}",),
            flags=(f"{first}: always the same answer: {first} (100 %)",),
        )
        for method in methods
        for seed in (1, 2, 3)
    )


def printed(text: str, folder: Path) -> str:
    """Compile with pdfTeX, without and with a font of all letters; give what the page shows."""
    compiled("", text, folder)
    compiled(r"\usepackage{cmap}\usepackage[T1]{fontenc}", text, folder)
    command = ["pdftotext", "-layout", "paper.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def compiled(fonts: str, text: str, folder: Path) -> None:
    (folder / "paper.tex").write_text(PAPER % (fonts, text))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


@pytest.mark.parts
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_latex_shows_a_hostile_name_as_text(name: str, make: Make, tmp_path: Path) -> None:
    found = table_of(make, name, "lora")
    for printing in (Printing(), Printing(titles={"lora": name}, runs=True, command=name)):
        assert HOSTILE[name].replace(" ", "") in printed(
            render(found, "latex", printing), tmp_path
        ).replace(" ", "").replace("\n", "")


@pytest.mark.parts
def test_latex_prints_the_letters_that_it_does_not_spell_out(tmp_path: Path) -> None:
    shown = printed(escaped(" ".join(sorted(LETTERS))), tmp_path)
    # The text of a PDF has three points for an ellipsis, and no times sign without a map for it.
    assert set(shown) >= LETTERS - set("…\u00d7")


@pytest.mark.parts
@pytest.mark.parametrize("name", ["x" * 2**20, "a b " * 2**18, "\n" * 2**20, "中" * 2**20])
def test_latex_compiles_with_a_megabyte_in_a_cell(name: str, make: Make, tmp_path: Path) -> None:
    text = render(table_of(make, f"lora{name}", "dypam"), "latex", Printing(command=name))
    assert "Table 1" in printed(text, tmp_path)


def test_nothing_of_a_name_stands_outside_of_a_comment(make: Make) -> None:
    text = render(
        table_of(make, "a\n\\input{x}\r\\input{x}\u2028\\input{x}", "b"),
        "latex",
        Printing(runs=True, command="c\n\\input{x}"),
    )
    assert "\n\\input" not in text
    assert "\r" not in text


def test_a_long_text_is_cut_in_a_table_and_broken_in_a_comment() -> None:
    assert escaped("x" * 10**6) == "x" * MOST + "…"
    assert [len(line) for line in comment("x" * 25_000)] == [10_002, 10_002, 5_002]


@pytest.mark.parametrize("start", FORMULA)
def test_a_spreadsheet_runs_no_name_as_a_formula(start: str, make: Make) -> None:
    text = render(table_of(make, f"{start}cmd()", "lora"), "csv")
    lines = list(csv.DictReader(StringIO(text, newline="")))
    assert len(lines) == 2 * 4
    assert {line["group"] for line in lines} == {f"'{start}cmd()"}
    assert {line["method"] for line in lines} == {f"'{start}cmd()", "lora"}
    for line in lines:
        assert not any(str(cell).startswith(FORMULA) for cell in line.values())


def test_a_number_below_zero_stays_a_number_in_csv(make: Make) -> None:
    (line,) = csv.DictReader(
        StringIO(render(tables([make(peak_memory_bytes=-5)]), "csv", Printing(columns=("gsm8k",))))
    )
    assert line["peak_memory_bytes"] == "-5.0"


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_json_gives_a_hostile_name_back(name: str, make: Make) -> None:
    (table,) = json.loads(render(table_of(make, name, "lora"), "json"))
    assert table["conditions"]["group"] == table["columns"][0] == name
    assert {row["label"] for row in table["blocks"][0]["rows"]} == {name, "lora"}


def test_json_writes_a_number_that_is_none_as_a_text(make: Make) -> None:
    (table,) = json.loads(
        render(tables([make(seconds={"train": float("nan")})]), "json"), parse_constant=pytest.fail
    )
    assert table["blocks"][0]["rows"][0]["costs"]["training_seconds"] == "NaN"


@pytest.mark.parts
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_bibtex_reads_an_entry_of_hostile_names(name: str, tmp_path: Path) -> None:
    known = Reference("lora", "Low-Rank", ("Hu", "others"), "2021")
    hostile = Reference(
        name, f"Title {name}", (name, "others"), "2021", name, name, f"http://{name}"
    )
    (tmp_path / "all.bib").write_text(bibtex([hostile, Reference(name), known]))
    (tmp_path / "all.aux").write_text("\\bibstyle{plain}\n\\bibdata{all}\n\\citation{*}\n")
    done = subprocess.run(
        ["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    entries = (tmp_path / "all.bbl").read_text()
    assert entries.count("\\bibitem") == 2
    shown = printed(entries, tmp_path).replace(" ", "").replace("\n", "")
    assert HOSTILE[name].replace(" ", "") in shown
