"""The same table in every format: what a reader must see in each of them."""

import csv
import json
import re
from collections.abc import Callable
from io import StringIO
from typing import Literal

import pytest

from results.analysis.table import Table, tables
from results.analysis.testing.tests import Testing
from results.errors import ResultsError
from results.record import Run, Score
from results.reports.formats import names, render
from results.reports.sheets.printing import Printing
from results.reports.sheets.titles import method_title

Make = Callable[..., Run]


@pytest.fixture
def two(make: Make) -> list[Table]:
    """Make a table of two methods, two seeds and two marks; the numbers are chosen to be told."""
    rights = {"dypam": [{"gsm8k": 80}, {"gsm8k": 81}], "lora[r_1=64]": [{"gsm8k": 50}] * 2}
    marks = ("SAMPLE DATA, not the published benchmark", "limit 50 % of rows")
    runs = [
        make(method, seed=seed, correct=correct, marks=marks)
        for method, all_correct in rights.items()
        for seed, correct in enumerate(all_correct)
    ]
    return tables(runs, testing=Testing(test="welch"))


def test_an_unknown_format_names_the_nearest_and_the_known(two: list[Table]) -> None:
    with pytest.raises(
        ResultsError,
        match=r"'latx' is not .* Did you mean 'latex'\?\n.*csv, html, json, latex, markdown",
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
    assert "all columns: one seed, and no verdicts of its items are stored, no test." in text
    assert "**51.00** |" in text


def test_a_row_that_lacks_a_seed_carries_a_dagger_and_a_note(make: Make) -> None:
    runs = [make("a", seed=1), make("a", seed=2), make("b", seed=1)]
    text = render(tables(runs), "markdown")
    assert "| b†" in text
    assert "\nb†: seed 2 is missing." in text


def test_a_note_names_the_backbone_where_there_are_several(make: Make) -> None:
    runs = [make("a", seed=1), make("a", seed=2), make("b", seed=1), make("c", backbone="llama")]
    text = render(tables(runs), "markdown")
    assert "tiny, b†: seed 2 is missing." in text


def test_a_column_in_which_all_are_equal_has_no_bold_and_no_legend(make: Make) -> None:
    same = [make("a", correct={"gsm8k": 0, "aqua": 7}), make("b", correct={"gsm8k": 0, "aqua": 7})]
    for name in ("latex", "markdown"):
        text = render(tables(same), name)
        assert "**" not in text
        assert "textbf" not in text
        assert "Bold" not in text


def test_the_legend_explains_only_the_marks_that_occur(make: Make) -> None:
    runs = [make(method, correct={"gsm8k": n, "aqua": n}) for method, n in (("a", 9), ("b", 8))]
    text = render(tables(runs), "markdown")
    assert "Bold: best; italic: second." in text
    assert "*: p <" not in text
    assert "italic" not in render(tables(runs[:1]), "markdown")


def test_one_benchmark_has_no_averages_to_print_unless_asked_for(make: Make) -> None:
    (table,) = tables([make("a"), make("b")])
    assert "micro" in table.columns
    for name in ("latex", "markdown"):
        assert "micro" not in render([table], name)
        assert "macro" in render([table], name, Printing(columns=("macro",)))


def test_only_the_columns_asked_for_are_shown_in_their_order(make: Make) -> None:
    found = tables([make(correct={"gsm8k": 1, "aqua": 2, "svamp": 3})])
    for name in names():
        text = render(found, name, Printing(columns=("MACRO", "aqua"))).rpartition('"columns"')[2]
        assert text.index("macro") < text.index("aqua")
        assert "svamp" not in text
    with pytest.raises(ResultsError, match=r"'gsm8' is not a known column. Did you mean 'gsm8k'?"):
        render(found, "markdown", Printing(columns=("gsm8",)))


def test_without_spread_no_format_for_readers_prints_an_sd(two: list[Table]) -> None:
    for name in ("latex", "markdown"):
        text = render(two, name, Printing(spread=False))
        assert "80.50" in text
        assert "0.71" not in text
        assert not re.search(r"±|\\pm|SD over", text)


def test_a_wide_table_is_split_at_100_characters_and_repeats_the_names(make: Make) -> None:
    sets = {f"benchmark_{number}": 50 for number in range(8)}
    found = tables(make(method, correct=sets, seed=seed) for method in "ab" for seed in (1, 2))
    lines = [line for line in render(found, "markdown").splitlines() if line.startswith("|")]
    assert max(map(len, lines)) <= 100
    assert sum("| a " in line for line in lines) == sum("| method" in line for line in lines) > 1
    # Every column once: trainable share, eight sets and two averages.
    headings = [
        name.strip() for line in lines if "method" in line for name in line.split("|")[3:-1]
    ]
    assert headings == ["trainable %", *found[0].columns]
    wide = render(found, "markdown", Printing(characters=None)).splitlines()
    assert sum("| a " in line for line in wide) == 1


def test_flags_stand_once_below_all_tables_with_range_and_count(make: Make) -> None:
    rouge = Score("gsm8k", "rouge-l", "", True, 20.0, 100)
    runs = [
        make(
            seed=seed,
            scores=(*make(correct={"gsm8k": 50}).scores, rouge),
            flags=(f"gsm8k: cut at the limit: {share} %",),
        )
        for seed, share in ((1, 60), (2, 100))
    ]
    found = tables(runs)
    assert len(found) == 2
    text = render(found, "markdown")
    assert text.count("cut at the limit") == 1
    assert "- cut at the limit: 60 to 100 % on 1 of 1 sets, in 2 of 2 runs" in text
    assert render(found, "latex").count("cut at the limit") == 1


def test_the_notes_name_version_and_commit(make: Make) -> None:
    harness = {"version": "0.1.0", "commit": "0123456789abcdef", "dirty": True}
    found = tables([make(environment={"python": "3.11", "harness": harness})])
    for name in names():
        assert "0.1.0, commit 0123456789 with changes" in render(found, name)


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
    assert table["blocks"][0]["rows"][0]["cells"][0]["test"]["reason"].startswith("one seed")


def test_latex_marks_best_second_significance_and_spread(two: list[Table]) -> None:
    text = render(two, "latex")
    assert r"dypam & 0.5 & \textbf{80.50}$\pm$0.71* \\" in text
    # The numbers stand below one another, with or without a star.
    assert r"& \underline{50.00}$\pm$0.00\phantom{*} \\" in text
    assert r"\multicolumn{3}{l}{\textit{tiny}} \\" in text


def test_latex_escapes_what_users_wrote(two: list[Table]) -> None:
    text = render(two, "latex")
    assert r"lora (r\_1=64)" in text
    assert r"limit 50 \% of rows" in text
    assert not re.search(r"(?<!\\)[%&_#]", re.sub(r"(?m)^%.*| & |\$[^$]*\$", "", text))


def test_latex_is_balanced(two: list[Table]) -> None:
    text = re.sub(r"\\[{}]", "", render(two, "latex"))
    assert text.count("{") == text.count("}")
    begun, ended = (re.findall(rf"\\{word}{{(.*?)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert begun[:2] == ["table*", "tabular"]
    (columns,) = re.findall(r"\\begin{tabular}{(\w+)}", text)
    rows = [
        line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
    ]
    assert {row.count(" & ") for row in rows} == {len(columns) - 1}


def test_latex_names_no_more_packages_than_debian_recommends(two: list[Table]) -> None:
    assert re.findall(r"usepackage{(.*?)}", render(two, "latex")) == ["booktabs"]
    assert "multirow" not in render(two, "latex")


def test_latex_uses_titles_and_gives_every_table_a_label_of_its_own(two: list[Table]) -> None:
    titles = {"dypam": "DyPAM", "lora": "LoRA", "gsm8k": "GSM8K", "math": "Mathematics"}
    text = render(two * 2, "latex", Printing(titles=titles))
    for words in ("DyPAM & ", r"LoRA (r\_1=64) & ", "& GSM8K", r"\caption{Mathematics: "):
        assert words in text
    assert re.findall(r"\\label{(.*?)}", text) == ["tab:math-accuracy", "tab:math-accuracy-2"]
    assert r"\label{tab:own}" in render(two, "latex", Printing(label="tab:own"))


def test_latex_notes_stand_below_the_table_and_not_in_the_caption(two: list[Table]) -> None:
    text = render(two, "latex")
    (caption,) = re.findall(r"\\caption{(.*)}", text)
    assert "Read with care" not in caption
    assert text.index(r"\end{tabular}") < text.index("Read with care")


@pytest.mark.parametrize(("width", "environment"), [("column", "table"), ("page", "table*")])
def test_latex_is_as_wide_as_a_column_or_the_page(
    width: Literal["column", "page"], environment: str, two: list[Table]
) -> None:
    assert rf"\begin{{{environment}}}[t]" in render(two, "latex", Printing(width=width))


@pytest.mark.parametrize("name", ["latex", "markdown"])
def test_caption_and_notes_name_test_and_seeds(two: list[Table], name: str) -> None:
    text = render(two, name)
    assert "Welch's two-sided t-test" in text
    assert "chosen for this table" in text
    assert "adjusted by Holm" in text
    assert "over 2 seeds (0, 1)" in text


def test_latex_names_the_runs_in_comments_and_is_otherwise_the_same(two: list[Table]) -> None:
    def printed(text: str) -> list[str]:
        return [line for line in text.splitlines() if line and not line.startswith("%")]

    plain, told = render(two, "latex"), render(two, "latex", Printing(runs=True))
    assert printed(told) == printed(plain)
    for row in two[0].blocks[0].rows:
        (line,) = (one for one in told.splitlines() if one.endswith(" ".join(row.cells[0].runs)))
        assert line.startswith("% Runs behind ")
        assert f"{method_title(row.label, {})} on tiny, columns all: " in line
        assert len(row.cells[0].runs) == 2


def test_latex_calls_methods_and_benchmarks_by_their_titles_in_notes_too(make: Make) -> None:
    both = {"gsm8k": 50, "aqua": 25}
    runs = [
        make("ia3", correct=both, flags=("aqua: no answer found in 100 %",)),
        make("lora", correct=both),
        make("lora", backbone="other", correct=both),
    ]
    titles = {"ia3": "IA3", "lora": "LoRA", "aqua": "AQuA"}
    text = render(tables(runs), "latex", Printing(titles=titles)).replace("\\", "")
    assert "other, no run of IA3." in text
    assert "no answer found in 100 % on 1 of 2 sets (AQuA), in 1 of 3 runs (IA3; on tiny)" in text
    assert not re.search("ia3|aqua|lora", text)


def test_latex_says_what_the_notes_are_about_that_stand_in_the_source(make: Make) -> None:
    sets = {f"set{number}": 50 for number in range(3)}
    flags = tuple(f"set0: {'suspicious ' * 9}{letter}" for letter in "abcdefg")
    text = render(tables([make("lora", correct=sets, flags=flags)]), "latex")
    assert re.search(r"\. 1 more in the source of this table: flags\.\}$", text, re.MULTILINE)
    assert "\n% Flags: suspicious" in text
