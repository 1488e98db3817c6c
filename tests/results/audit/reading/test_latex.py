"""LaTeX tables, written as authors write them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.audit.reading import Declared, read
from results.audit.reading.latex import grids
from results.audit.reading.macros import split, without_comments
from results.audit.table import PrintedTable

SOURCE = r"""
\newcommand{\ours}{TanhLoRA} \newcommand{\best}[1]{\textbf{#1}}
\def\second#1{\underline{#1}}
\begin{table*}[t]
\caption{Accuracy (\%) of five independent runs with \ours. * marks $p<0.05$.} % not \begin{tabular}
\begin{tabular}{l|l S[table-format=2.2] cc} % columns & more
\toprule
\multirow{2}{*}{Backbone} & \multirow{2}*{Method} & \multirow{2}{*}{\# Param (\%)}
  & \multicolumn{2}{c}{\textbf{Mathematics}} \\ \cmidrule(lr){4-5}
 & & & GSM8K$\uparrow$ & ARC-C \\
\midrule
\multirow{3}{*}{\rotatebox[origin=c]{90}{\makecell[l]{LLaMA\\3.2 3B}}}
 & LoRA~\cite{hu} & 1.12 & 33.21$_{\pm 0.31}$ & 50
   .1 \\[2pt]
 & IA$^3$ & 0.02 & \second{34.00} & -- \\ \hline
 & \ours\ (ours) & 0.92 &
   {\bfseries 36.20} $\pm$ 0.4$^{*}$ & \best{51.37}\textsuperscript{\dag} \\
\bottomrule
\end{tabular}
\label{tab:main}
\end{table*}
"""


@pytest.fixture(scope="module")
def table(known: dict[str, int]) -> PrintedTable:
    [found] = read(SOURCE.replace("50\n   .1", "50.1"), Declared(known=known, name="Paper"))
    return found


def test_heads_say_what_the_columns_are(table: PrintedTable) -> None:
    kinds = [(str(one), one.kind, one.n) for one in table.columns]
    assert kinds == [
        ("Param", "parameters", None),
        ("Mathematics GSM8K", "benchmark", 1319),
        ("Mathematics ARC-C", "benchmark", 1172),
    ]


def test_rows_have_their_block_and_method_as_a_reader_sees_them(table: PrintedTable) -> None:
    assert [str(row) for row in table.rows] == [
        "LLaMA 3.2 3B, LoRA",
        "LLaMA 3.2 3B, IA3",
        "LLaMA 3.2 3B, TanhLoRA (ours)",
    ]


def test_cells_have_value_spread_and_marks(table: PrintedTable) -> None:
    first, second, best = (row.cells[1] for row in table.rows)
    assert first
    assert second
    assert best
    assert (first.value, first.sd, first.bold, first.star) == (
        *(Decimal("33.21"), Decimal("0.31")),
        *(False, False),
    )
    assert (second.value, second.underlined) == (Decimal("34.00"), True)
    assert (best.value, best.sd, best.bold, best.star) == (
        *(Decimal("36.20"), Decimal("0.4")),
        *(True, True),
    )


def test_another_mark_than_a_star_is_no_star(table: PrintedTable) -> None:
    assert [cell.star for _, cell in table.cells(2)] == [False, False]


def test_a_dash_is_no_number(table: PrintedTable) -> None:
    assert table.rows[1].cells[2] is None


def test_caption_and_label_say_seeds_level_and_name(table: PrintedTable) -> None:
    assert (table.title, table.seeds, table.star) == ("Paper, tab:main", 5, Decimal("0.05"))


def test_a_line_over_the_whole_width_begins_a_block(known: dict[str, int]) -> None:
    source = (
        r"\begin{tabular}{lcc} Method & GSM8K & SVAMP \\ \multicolumn{3}{c}{\textit{Qwen3 8B}} \\"
        r" LoRA & 70.1 & 80.2 \\ \multicolumn{3}{c}{Gemma 3 4B} \\ LoRA & 60.1 & 70.2 \\"
        r" \end{tabular}"
    )
    [table] = read(source, Declared(known=known))
    assert [str(row) for row in table.rows] == ["Qwen3 8B, LoRA", "Gemma 3 4B, LoRA"]


def test_lines_copied_out_of_a_table_are_read(known: dict[str, int]) -> None:
    [table] = read("Method & GSM8K \\\\\nLoRA & \\textbf{70.1} \\\\", Declared(known=known))
    assert [cell.bold for _, cell in table.cells(0)] == [True]


def test_two_tables_of_one_figure_have_the_captions_of_their_own_boxes() -> None:
    box = (
        r"\begin{minipage}{5cm}\captionof{table}{%s}\begin{tabular}{lc}a & b\end{tabular}\label{%s}"
    )
    one, two = (box % name + r"\end{minipage}" for name in (("One", "t:1"), ("Two", "t:2")))
    found = grids(rf"\begin{{figure}}{one}\hfill{two}\caption{{All}}\end{{figure}}")
    assert [(grid.label, grid.caption) for grid in found] == [("t:1", "One"), ("t:2", "Two")]


def test_an_abbreviation_of_itself_ends() -> None:
    [grid] = grids(r"\def\a{\a x} \a & 1 \\")
    assert len(grid.lines) == 1


WORDS = st.text(st.characters(codec="ascii", exclude_characters="\\{}%&"), max_size=8)


@given(st.lists(WORDS, min_size=1))
def test_what_is_joined_by_ampersands_is_split_again(words: list[str]) -> None:
    assert split("&".join(words), "&") == words
    assert split("{" + "&".join(words) + "}", "&") == ["{" + "&".join(words) + "}"]


@given(st.text(alphabet="\\{}%&$_^ab1.\n*", max_size=60))
def test_no_source_stops_the_reader(source: str) -> None:
    body = rf"\begin{{tabular}}{{lc}} Method & GSM8K \\ {source} \end{{tabular}}"
    for table in read(body, Declared(known={"gsm8k": 1319})):
        assert all(len(row.cells) == len(table.columns) for row in table.rows)


def test_a_percent_sign_is_no_comment() -> None:
    assert without_comments("5\\% a % b\n c") == "5\\% a c"


def test_a_name_that_stands_at_the_end_of_its_rows_is_that_of_all_of_them(
    known: dict[str, int],
) -> None:
    source = (
        r"\begin{tabular}{llc} Backbone & Method & GSM8K \\ & LoRA & 1.0 \\"
        r" \multirow{-2}{*}{Qwen3 8B} & DoRA & 2.0 \\ & LoRA & 3.0 \\"
        r" & DoRA & 4.0 \\ \multirow{-3}{*}{Gemma 3 4B} & OFT & 5.0 \\ \end{tabular}"
    )
    [table] = read(source, Declared(known))
    assert [row.group for row in table.rows] == [*["Qwen3 8B"] * 2, *["Gemma 3 4B"] * 3]
