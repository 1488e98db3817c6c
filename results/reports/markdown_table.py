"""A Markdown table whose source is aligned, so that a terminal can show it as it is."""

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    r"""Lay out texts in columns, each flush left or right as its letter of `align` says.

    >>> print(markdown_table(["method", "micro"], [["lora", "8.50"], ["a|b", "12.00"]], align="lr"))
    | method | micro |
    | :----- | ----: |
    | lora   |  8.50 |
    | a\|b   | 12.00 |
    """
    lines = [[cell.replace("|", r"\|") for cell in line] for line in (header, *rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    head, *body = (_line(map(_padded, line, widths, align)) for line in lines)
    return "\n".join([head, _line(map(_rule, widths, align)), *body])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _padded(cell: str, width: int, side: str) -> str:
    return cell.ljust(width) if side == "l" else cell.rjust(width)


def _rule(width: int, side: str) -> str:
    dashes = "-" * (width - 1)
    return f":{dashes}" if side == "l" else f"{dashes}:"
