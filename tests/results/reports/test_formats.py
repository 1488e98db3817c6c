"""The same table in every format: what a reader must see in each of them."""

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from results.analysis.table import Table, tables
from results.errors import ResultsError
from results.record import Run
from results.reports.formats import names, render

Make = Callable[..., Run]


@pytest.fixture
def two(make: Make) -> list[Table]:
    """Make a table of two methods, two seeds and two marks; the numbers are chosen to be told."""
    rights = {"dypam": [{"gsm8k": 80}, {"gsm8k": 81}], "lora[r_1=64]": [{"gsm8k": 50}] * 2}
    marks = ("SAMPLE DATA, not the published benchmark", "limit 50 % of rows")
    return tables(
        make(method, seed=seed, correct=correct, marks=marks)
        for method, all_correct in rights.items()
        for seed, correct in enumerate(all_correct)
    )


def test_an_unknown_format_names_the_nearest_and_the_known(two: list[Table]) -> None:
    with pytest.raises(
        ResultsError, match=r"'latx' is not .* Did you mean 'latex'\?\n.*csv, json, latex"
    ):
        render(two, "latx")


@pytest.mark.parametrize("name", names())
def test_every_format_shows_every_mark(two: list[Table], name: str) -> None:
    text = render(two, name).replace("\\", "")
    for mark in two[0].conditions.marks:
        assert mark in text


def test_markdown_marks_best_second_and_significance(two: list[Table]) -> None:
    # By hand: 80 and 81 have mean 80.5 and SD 1 / sqrt(2) = 0.71; trainable 5 of 1000.
    # Welch against a constant, df 1: t = 30.5 / (0.71 / sqrt(2)) = 61, p = 1 - 2 atan(61) / pi.
    lines = render(two, "markdown").splitlines()
    assert any(
        re.match(r"\| tiny +\| dypam +\| +0.5 \| \*\*80.50 ± 0.71\*\* \* \|", x) for x in lines
    )
    assert any(
        re.match(r"\| tiny +\| lora\[r_1=64\] +\| +0.5 \| +_50.00 ± 0.00_ \|", x) for x in lines
    )
    assert len({len(line) for line in lines if line.startswith("|")}) == 1


def test_a_table_of_one_seed_says_so_and_shows_no_spread(make: Make) -> None:
    text = render(tables([make("a", correct={"gsm8k": 51}), make("b")]), "markdown")
    assert "seed 2333 alone" in text
    assert "tiny, gsm8k, micro, macro: one seed, no test." in text
    assert "**51.00** |" in text


def test_a_row_that_lacks_a_seed_carries_a_dagger_and_a_note(make: Make) -> None:
    runs = [make("a", seed=1), make("a", seed=2), make("b", seed=1)]
    text = render(tables(runs), "markdown")
    assert "| b†" in text
    assert "tiny, b†: seed 2 is missing." in text


def test_csv_holds_one_line_per_number_unrounded(two: list[Table]) -> None:
    lines = list(csv.DictReader(StringIO(render(two, "csv"))))
    assert len(lines) == 2 * 3
    first = lines[0]
    assert (first["method"], first["column"], first["rank"]) == ("dypam", "gsm8k", "1")
    assert float(first["mean"]) == pytest.approx(0.805, abs=1e-15)
    assert float(first["p"]) == pytest.approx(0.0104354, abs=1e-6)  # 1 - 2 atan(61) / pi


def test_json_holds_the_seeds_and_every_test(two: list[Table]) -> None:
    (table,) = json.loads(render(two, "json"))
    dypam, lora = table["blocks"][0]["rows"]
    assert dypam["cells"][0]["sample"]["by_seed"] == {"0": 0.8, "1": 0.81}
    assert dypam["cells"][0]["test"]["p"] == lora["cells"][0]["test"]["p"]
    assert lora["cells"][0]["test"]["difference"] == pytest.approx(-0.305)


def test_json_holds_the_reason_of_a_test_not_made(make: Make) -> None:
    (table,) = json.loads(render(tables([make("a"), make("b")]), "json"))
    assert table["blocks"][0]["rows"][0]["cells"][0]["test"] == {"reason": "one seed"}


def test_latex_marks_best_second_significance_and_spread(two: list[Table]) -> None:
    text = render(two, "latex")
    assert r"\textbf{80.50}$^{*}_{\pm 0.71}$" in text
    assert r"\underline{50.00}$_{\pm 0.00}$" in text
    assert r"\multirow{2}{*}{tiny} & dypam & 0.5 &" in text


def test_latex_escapes_what_users_wrote(two: list[Table]) -> None:
    text = render(two, "latex")
    assert r"lora{[}r\_1=64]" in text
    assert r"limit 50 \% of rows" in text
    assert not re.search(r"(?<!\\)[%&_#]", re.sub(r"(?m)^%.*| & |\$[^$]*\$", "", text))


def test_latex_is_balanced(two: list[Table]) -> None:
    text = re.sub(r"\\[{}]", "", render(two, "latex"))
    assert text.count("{") == text.count("}")
    begun, ended = (re.findall(rf"\\{word}{{(.*?)}}", text) for word in ("begin", "end"))
    assert begun == ended[::-1] == ["table*", "tabular"]
    (columns,) = re.findall(r"\\begin{tabular}{(\w+)}", text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {row.count(" & ") for row in rows} == {len(columns) - 1}


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="LaTeX is not installed")
def test_latex_compiles(two: list[Table], tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(render(two, "latex"))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,multirow}"
        r"\begin{document}\input{table}\end{document}"
    )
    command = ["pdflatex", "-halt-on-error", "paper.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "paper.pdf").exists()


@pytest.mark.parametrize("name", ["latex", "markdown"])
def test_the_caption_names_test_family_and_seeds(two: list[Table], name: str) -> None:
    text = render(two, name)
    assert "Welch's two-sided t-test" in text
    assert "not adjusted for multiple comparisons" in text
    assert "over 2 seeds (0, 1)" in text
