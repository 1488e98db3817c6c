"""Methods by backbones, those of one family from small to large, in one average."""

import re
from collections.abc import Sequence

from results.analysis.series import unique
from results.analysis.table import Block, Table
from results.reports import prose
from results.reports.layouts.main import named
from results.reports.sheets.behind import behind
from results.reports.sheets.notes import notes
from results.reports.sheets.places import Place, lines
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Column, LineGroup, Sheet
from results.reports.sheets.shown import overall, without_idle_averages
from results.reports.sheets.titles import titled

_SIZE = re.compile(r"[-_ ]?(?<![\d.x])(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)
_MILLIONS = {"M": 1.0, "B": 1000.0}


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make a sheet of each table."""
    return [_sheet(table, printing) for table in tables]


def family(backbone: str) -> tuple[str, str, float]:
    """Split the name of a backbone into its family and its size, which is also in millions.

    >>> family("Qwen/Qwen3-0.6B"), family("meta-llama/Llama-3.2-3B-Instruct")
    (('Qwen3', '0.6B', 600.0), ('Llama-3.2-Instruct', '3B', 3000.0))
    >>> family("tiny")
    ('', 'tiny', 0.0)
    """
    name = backbone.rpartition("/")[2]
    found = _SIZE.search(name)
    if not found:
        return "", name, 0.0
    number, unit = found[1], found[2].upper()
    return _SIZE.sub("", name, count=1), f"{number}{unit}", float(number) * _MILLIONS[unit]


def _sheet(table: Table, printing: Printing) -> Sheet:
    shown = titled(without_idle_averages(table, printing), printing.titles)
    blocks, column = _by_size(shown.blocks), overall(shown)
    places = [Place(shown, block, column) for block in blocks]
    return Sheet(
        name=f"{named(table)}-sizes",
        tables=(table,),
        title=prose.title(shown, spread=printing.spread, column=column),
        columns=tuple(_column(block.backbone) for block in blocks),
        groups=(LineGroup("", lines(places, printing)),),
        notes=notes([shown], printing.command),
        runs=behind([shown]),
    )


def _by_size(blocks: Sequence[Block]) -> list[Block]:
    families = unique([family(block.backbone)[0]] for block in blocks)

    def place(block: Block) -> tuple[int, float]:
        name, _, millions = family(block.backbone)
        return families.index(name), millions

    return sorted(blocks, key=place)


def _column(backbone: str) -> Column:
    name, size, _ = family(backbone)
    return Column(size, name)
