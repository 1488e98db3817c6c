"""The ranking: methods by benchmarks, as values that the page and the API share."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from results.analysis.columns import CLEAN_COLUMNS
from results.analysis.ranking import NOT_TRAINED
from results.analysis.series import unique
from results.analysis.table import Table
from results.leaderboard.source import Opened
from results.leaderboard.values.ranking import badges
from results.leaderboard.values.ranking.badges import Badge, Meaning
from results.leaderboard.values.ranking.printed import PaperChoice, offered, printed
from results.leaderboard.values.ranking.rows import FACTS, BlockValue, Rows
from results.leaderboard.values.ranking.take import Take, part, takes, text
from results.leaderboard.values.tables import Found, divided, found, ordered, passes
from results.leaderboard.values.titles import titles
from results.leaderboard.view import View, check
from results.record import Run
from results.reports import prose
from results.reports.sheets.notes import lines, notes
from results.reports.sheets.shown import AVERAGES, overall
from results.reports.sheets.titles import method_title, titled
from results.reports.testing import MODELS
from results.statistics.test import Undefined

ONE_SEED = f"One seed: this view ranks nothing beyond item noise. {MODELS}."


@dataclass(frozen=True)
class TableValue:
    """The runs that may be compared, in one metric."""

    title: str
    metric: str
    digits: int
    """Decimals of its numbers."""
    protocol: str
    era: str
    environment: str
    seeds: tuple[int, ...]
    one_seed: str
    """What a reader must know of a view of one seed; empty otherwise."""
    untested: str
    """Why nothing is tested, with several seeds; empty otherwise."""
    badges: tuple[Badge, ...]
    """What holds for all of its runs."""
    meanings: tuple[Meaning, ...]
    """Of its badges, and of those of its rows."""
    columns: tuple[str, ...]
    """Averages first."""
    overall: str
    """The column that ranks the rows unless another is asked for."""
    sort: str
    """The column or fact that the rows are sorted by."""
    blocks: tuple[BlockValue, ...]
    banded: bool
    """Whether any cell is of a top band."""
    notes: tuple[str, ...]
    refusal: str


@dataclass(frozen=True)
class RankPage:
    """A view of the store, and what else may be chosen; addresses have names, not titles."""

    view: View
    groups: tuple[str, ...]
    backbones: tuple[str, ...]
    methods: tuple[str, ...]
    columns: tuple[str, ...]
    protocols: tuple[str, ...]
    eras: tuple[str, ...]
    papers: tuple[PaperChoice, ...]
    """Those that print anything in the columns of the tables."""
    titles: Mapping[str, str]
    """What papers call groups, benchmarks and methods, where that is known."""
    tables: tuple[TableValue, ...]
    """Those of one page."""
    pages: int
    passing: int
    """Tables on all pages."""
    tables_of: int
    """Tables before some were hidden by protocol and era."""
    takes: tuple[Take, ...]
    """What of it can be taken along."""


def rank_page(opened: Opened, asked: View) -> RankPage:
    """Make the values of a view.

    Raises:
        WrongView: It names what there is not.
    """
    if not opened.groups:
        return RankPage(asked, (), (), (), (), (), (), (), {}, (), 1, 0, 0, ())
    view = opened.completed(asked)
    check(View(view.group), {"group": opened.groups})
    check(View(view.group, view.backbones), {"backbones": opened.backbones(view.group)})
    made = found(opened, view)
    page = RankPage(
        view=view,
        groups=opened.groups,
        backbones=opened.backbones(view.group),
        methods=unique([r.label for r in block.rows] for t in made.tables for block in t.blocks),
        columns=unique(map(ordered, made.tables)),
        protocols=unique([table.conditions.protocol] for table in made.tables),
        eras=unique([_era(table)] for table in made.tables if _era(table)),
        papers=offered(made.tables),
        titles=titles(opened, made),
        tables=(),
        pages=1,
        passing=0,
        tables_of=len(made.tables),
        takes=(),
    )
    check(view, _known(opened, page))
    passing = [table for table in made.tables if passes(table, view)]
    divided_so = divided(passing) if view.page else [passing]
    shown = divided_so[max(view.page - 1, 0) :][:1]
    return replace(
        page,
        tables=tuple(_table(table, page, made.runs) for tables in shown for table in tables),
        pages=len(divided_so),
        passing=len(passing),
        takes=takes(opened, part(opened, made, view, _methods(made, page))),
    )


def _known(opened: Opened, page: RankPage) -> dict[str, Collection[str]]:
    """Say what fields of a view may name.

    Methods and columns that other tables of the group have may be asked for: who goes from one
    backbone to the next takes the choice along.
    """
    view = page.view
    own = [kind for kind in opened.kinds if kind.group == view.group]
    columns = {
        *page.columns,
        *AVERAGES,
        *CLEAN_COLUMNS,
        *(b for kind in own for b in kind.benchmarks),
    }
    return {
        "methods": {*page.methods, *(kind.method for kind in own)},
        "columns": columns,
        "protocol": page.protocols,
        "era": {*page.eras, *(view.era for era in page.eras if era.startswith(view.era))},
        "published": [paper.name for paper in page.papers],
        "sort": {*columns, *FACTS},
    }


def taken(opened: Opened, page: RankPage, form: str) -> str:
    """Write a page in one of the forms in which it can be taken along.

    Raises:
        ResultsError: There is no such form, or nothing to take.
    """
    made = found(opened, page.view)
    return text(opened, part(opened, made, page.view, _methods(made, page)), form)


def _methods(made: Found, page: RankPage) -> tuple[str, ...]:
    """List the methods that a page shows, on whatever page of its tables."""
    labels = unique(
        [row.label for row in block.rows]
        for table in made.tables
        if passes(table, page.view)
        for block in table.blocks
    )
    titled = ((label, method_title(label, page.titles)) for label in labels)
    return tuple(label for label, title in titled if page.view.shows(label, title))


def _era(table: Table) -> str:
    return table.conditions.environment_id[: prose.DIGITS]


def _table(table: Table, page: RankPage, runs: Mapping[str, Run]) -> TableValue:
    view, columns = page.view, ordered(table)
    of_all, marks = badges.of_table(table, runs, page.titles)
    rows = Rows(
        of=table,
        view=view,
        columns=tuple(name for name in columns if name in view.columns) or columns,
        sort=view.sort if view.sort in (*columns, *FACTS) else overall(table),
        runs=runs,
        titles=page.titles,
        marks=marks,
    )
    blocks = tuple(map(rows.block, table.blocks, printed(table, view.published)))
    every = [row for block in blocks for row in block.rows]
    as_papers = titled(table, page.titles)
    return TableValue(
        title=prose.title(as_papers, spread=False),
        metric=table.metric.name,
        digits=table.metric.digits,
        protocol=prose.how(table.conditions.protocol, table.conditions.changed),
        era=_era(table),
        environment=table.conditions.environment,
        seeds=table.seeds,
        one_seed=ONE_SEED if _has_one_seed(table) else "",
        untested=_untested(table),
        badges=of_all,
        meanings=badges.meanings([*of_all, *(badge for row in every for badge in row.badges)]),
        columns=rows.columns,
        overall=overall(table),
        sort=rows.sort,
        blocks=blocks,
        banded=any(cell.top_band for row in every for cell in row.cells),
        notes=tuple(lines(notes([as_papers], command=""))),
        refusal=table.refusal,
    )


def _has_one_seed(table: Table) -> bool:
    """Tell whether nothing is told of methods; folds of one seed are training runs, too."""
    tested = table.tests.named if table.tests else ()
    over_runs = any("seeds" in one.claim for one in tested)
    return len(table.seeds) == 1 and bool(table.blocks) and not over_runs


def _untested(table: Table) -> str:
    """Say why a table of several seeds has no test; nothing if it has one, or nothing to test."""
    if len(table.seeds) == 1 or table.tests:
        return ""
    place = table.columns.index(overall(table)) if table.blocks else 0
    tests = (row.cells[place].test for block in table.blocks for row in block.rows)
    found = unique([one.reason] for one in tests if isinstance(one, Undefined))
    reasons = [reason for reason in found if reason != NOT_TRAINED]
    return f"Nothing is tested here: {'; '.join(reasons)}." if reasons else ""
