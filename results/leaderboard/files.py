"""The files of a build: what lists them, and what makes them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter

from results.errors import ResultsError
from results.leaderboard.html import charts, pages
from results.leaderboard.html.charts import Drawn
from results.leaderboard.html.links import Files
from results.leaderboard.html.render import ASSETS, STATIC
from results.leaderboard.source import Opened
from results.leaderboard.values.attempts.history import history_page
from results.leaderboard.values.attempts.items import Answers, answers_of
from results.leaderboard.values.attempts.run import page_of
from results.leaderboard.values.charted.curves import curves_page
from results.leaderboard.values.charted.scale import scale_page
from results.leaderboard.values.charted.tradeoffs import trade_off_page
from results.leaderboard.values.compared.compare import every_pair
from results.leaderboard.values.ranking.rank import RankPage, rank_page, taken
from results.leaderboard.view import Against, Axes, Chart, Versus, View
from results.record import Run, Status
from results.runfolder.folder import RunFolder

TOP, BELOW, DEEP = Files(0), Files(1), Files(2)
ITEM_PAIRS = "compare/items.html"
JSON = TypeAdapter(Answers)


class File(NamedTuple):
    """A file, below the folder of a build."""

    path: str
    text: str
    lacks: str = ""
    """What could not be read for it; empty where nothing is missing."""


def _once(_: Opened) -> Iterable[None]:
    return [None]


def _views(opened: Opened) -> Iterator[View]:
    yield View(page=0)
    for group in opened.groups:
        backbones = opened.backbones(group)
        every = [backbones] if len(backbones) > 1 else []
        for named in [(one,) for one in backbones] + every:
            for policy, _ in pages.POLICIES:
                yield View(group=group, backbones=named, recipes=policy, page=0)


def _rank(opened: Opened, view: View) -> Iterator[File]:
    values, firsts = rank_page(opened, view), opened.firsts
    if not view.group:
        yield File(TOP.home(), pages.rank(values, TOP, firsts))
        return
    yield File(TOP.rank(view), pages.rank(values, DEEP, firsts))
    yield from _taken(opened, values)
    for paper in values.papers:
        beside = rank_page(opened, replace(view, published=paper.name))
        yield File(TOP.rank(beside.view), pages.rank(beside, DEEP, firsts))
        yield from _taken(opened, beside)


def _taken(opened: Opened, page: RankPage) -> Iterator[File]:
    for one in page.takes:
        yield File(TOP.take(page.view, one.form), taken(opened, page, one.form))


def _charts(opened: Opened, view: View) -> Iterator[File]:
    """Yield the pages of charts with their drawings; that of no group is of the newest run."""
    if not view.group:
        first = charts.trade_offs(trade_off_page(opened, view, Axes()))
        yield File(TOP.charts("trade-off", View()), first.page(BELOW, opened.firsts))
        return
    for chart, axes, drawn in _drawn(opened, view):
        yield File(TOP.charts(chart, view, axes), drawn.page(DEEP, opened.firsts))
        for one in drawn.drawings:
            yield File(TOP.drawing(chart, view, axes, one.number), one.svg)


def _drawn(opened: Opened, view: View) -> Iterator[tuple[Chart, Axes, Drawn]]:
    for against in get_args(Against):
        axes = Axes(against)
        yield "trade-off", axes, charts.trade_offs(trade_off_page(opened, view, axes))
    yield "training", Axes(), charts.training(curves_page(opened, view))
    if len(view.backbones) != 1 or len(opened.backbones(view.group)) == 1:
        yield "scale", Axes(), charts.scale(scale_page(opened, replace(view, backbones=()), Axes()))


def _compared(opened: Opened) -> Iterator[View]:
    yield View()
    for group in opened.groups:
        for backbone in opened.backbones(group):
            yield View(group=group, backbones=(backbone,))


def _comparisons(opened: Opened, view: View) -> Iterator[File]:
    """Yield the comparisons of each two methods of a group on a backbone."""
    firsts = opened.firsts
    if not view.group:
        newest = next(every_pair(opened, opened.completed(view)))
        yield File(TOP.compare(Versus()), pages.compare(newest, TOP, firsts))
        yield File(ITEM_PAIRS, pages.item_pairs_file(BELOW))
        return
    for values in every_pair(opened, view):
        path = TOP.compare(values.versus)
        yield File(path, pages.compare(values, Files(path.count("/")), firsts))


def _histories(opened: Opened, _: None) -> Iterator[File]:
    for status in (None, *get_args(Status)):
        first = history_page(opened, status)
        for page in range(1, first.pages + 1):
            values = history_page(opened, status, page)
            yield File(TOP.runs(status, page), pages.runs(values, BELOW))


def _assets(_: Opened, __: None) -> Iterator[File]:
    for name in ASSETS:
        yield File(TOP.asset(name), (STATIC / name).read_text(encoding="utf-8"))


def _run_ids(opened: Opened) -> Iterable[str]:
    return dict.fromkeys(run.run_id for run in opened.history())


def _run(opened: Opened, run_id: str) -> Iterator[File]:
    run, folder = opened.run(run_id)
    path = TOP.run(run_id)
    try:
        values = page_of(run, folder, opened.source.public)
    except ResultsError as error:
        yield _unread(opened, path, BELOW, error)
        return
    yield File(path, pages.run(values, BELOW), values.folder_gone)
    for benchmark in values.items:
        yield from _items(opened, run, folder, benchmark)


def _items(opened: Opened, run: Run, folder: RunFolder, benchmark: str) -> Iterator[File]:
    path = TOP.items(run.run_id, benchmark)
    try:
        values = answers_of(run, folder, benchmark, opened.source.items)
    except ResultsError as error:
        yield _unread(opened, path, DEEP, error)
        return
    yield File(path, pages.items(values.page(), DEEP))
    yield File(
        TOP.data(run.run_id, benchmark), f"items.register({JSON.dump_json(values).decode()});\n"
    )


def _unread(opened: Opened, path: str, links: Files, error: ResultsError) -> File:
    """Make the page of what cannot be read, which says why."""
    message = opened.source.public.text(str(error))
    return File(path, pages.error("This cannot be read", message, links), str(error))


Make = Callable[[Opened, Any], Iterator[File]]
"""Makes the files of a part."""

SORTS: tuple[tuple[Callable[[Opened], Iterable[Any]], Make], ...] = (
    (_views, _rank),
    (_views, _charts),
    (_compared, _comparisons),
    (_once, _histories),
    (_once, _assets),
    (_run_ids, _run),
)
"""What lists the parts of a sort of files, and what makes them; processes share the parts.

Runs are listed last, so that every run that a page leads to has its page."""
