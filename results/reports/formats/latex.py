"""Tables for a paper; they need the packages booktabs and multirow."""

from collections.abc import Sequence

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.table import Block, Table, TableRow
from results.reports import prose
from results.reports.formats import Extra

WRAPS: dict[int | None, str] = {1: r"\textbf{%s}", 2: r"\underline{%s}"}

SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
        prose.DAGGER: r"$^\dagger$",
        # A row that begins with a bracket would be read as the option of the line break before.
        "[": "{[}",
        **{character: "\\" + character for character in "{}$&#_%"},
    }
)


def render(tables: Sequence[Table], _extra: Extra) -> str:
    """Write each table as a float of its own."""
    return "\n\n".join(map(_table, tables))


def escaped(text: str) -> str:
    r"""Write any text so that LaTeX prints it.

    >>> print(escaped("lora[r=64] & q_proj: 50 %"))
    lora{[}r=64] \& q\_proj: 50 \%
    """
    return text.translate(SPECIAL)


def _table(table: Table) -> str:
    header = ["backbone", "method", "trainable %", *table.columns]
    return "\n".join(
        [
            r"% \usepackage{booktabs,multirow}",
            r"\begin{table*}[t]",
            r"\centering",
            r"\small",
            rf"\caption{{{_caption(table)}}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(header) - 2)}}}",
            r"\toprule",
            " & ".join(map(escaped, header)) + r" \\",
            *(line for block in table.blocks for line in _block(table.metric, block)),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
        ]
    )


def _caption(table: Table) -> str:
    sentences = [
        prose.title(table),
        prose.marks(table.conditions),
        prose.legend(table.metric, "underlined"),
    ]
    return escaped(" ".join(filter(None, [*sentences, *prose.notes(table)])))


def _block(metric: Metric, block: Block) -> list[str]:
    name = rf"\multirow{{{len(block.rows)}}}{{*}}{{{escaped(block.backbone)}}}"
    blanks = [""] * (len(block.rows) - 1)
    rows = zip([name, *blanks], block.rows, strict=True)
    return [r"\midrule", *(_line(metric, first, row) for first, row in rows)]


def _line(metric: Metric, backbone: str, row: TableRow) -> str:
    numbers = [escaped(prose.trainable(row)), *(_cell(metric, cell) for cell in row.cells)]
    return " & ".join([backbone, escaped(prose.label(row)), *numbers]) + r" \\"


def _cell(metric: Metric, cell: Cell) -> str:
    if cell.sample.mean is None:
        return escaped(prose.missing(cell)).replace("-", "--")
    mean = WRAPS.get(cell.rank, "%s") % f"{metric.points(cell.sample.mean):.2f}"
    if cell.sample.sd is None:
        return mean
    star = "^{*}" if cell.significantly_best else ""
    return rf"{mean}${star}_{{\pm {metric.points(cell.sample.sd):.2f}}}$"
