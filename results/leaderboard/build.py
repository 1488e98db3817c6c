"""The same pages as files, for any web server, or to be opened from disk."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

from results.analysis.items import Kind
from results.errors import ResultsError
from results.leaderboard.html import charts, pages
from results.leaderboard.html.charts import Drawn
from results.leaderboard.html.links import Files
from results.leaderboard.html.render import ASSETS, STATIC
from results.leaderboard.source import Opened, Source
from results.leaderboard.values.compare import every_pair
from results.leaderboard.values.curves import curves_page
from results.leaderboard.values.history import history_page
from results.leaderboard.values.items import answers
from results.leaderboard.values.rank import RankPage, rank_page, taken
from results.leaderboard.values.run import RunPage, run_page
from results.leaderboard.values.scale import scale_page
from results.leaderboard.values.tradeoffs import trade_off_page
from results.leaderboard.view import Against, Axes, Chart, Versus, View
from results.record import Status

TOP, BELOW, DEEP = map(Files, range(3))


def build(source: Source, out: Path) -> int:
    """Write all pages below `out`, and return how many files that are; files of before stay.

    Raises:
        ResultsError: The store cannot be read, or holds no runs.
    """
    opened = source.open()
    if not opened.kinds:
        raise ResultsError(f"The store {source.place} holds no runs to build pages of.")
    written = 0
    for path, text in _pages(opened):
        place = out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        written += 1
    (out / "static").mkdir(exist_ok=True)
    for name in ASSETS:
        shutil.copyfile(STATIC / name, out / "static" / name)
    return written + len(ASSETS)


def _pages(opened: Opened) -> Iterator[tuple[str, str]]:
    """Yield every page with its path."""
    yield from _ranks(opened)
    yield from _charts(opened)
    yield from _comparisons(opened)
    yield from _histories(opened)
    for run_id in dict.fromkeys(run.run_id for run in opened.history()):
        values = run_page(opened, run_id)
        yield TOP.run(run_id), pages.run(values, BELOW)
        yield from _items(opened, values)


def _ranks(opened: Opened) -> Iterator[tuple[str, str]]:
    firsts = opened.firsts
    yield TOP.home(), pages.rank(rank_page(opened, View(page=0)), TOP, firsts)
    for view in _views(opened):
        values = rank_page(opened, view)
        yield TOP.rank(view), pages.rank(values, DEEP, firsts)
        yield from _taken(opened, values)
        for paper in values.papers:
            beside = rank_page(opened, replace(view, published=paper.name))
            yield TOP.rank(beside.view), pages.rank(beside, DEEP, firsts)
            yield from _taken(opened, beside)


def _views(opened: Opened) -> Iterator[View]:
    """Yield what has files of its own: a group, one backbone or all, a policy of recipes."""
    for group in opened.groups:
        backbones = opened.backbones(group)
        every = [backbones] if len(backbones) > 1 else []
        for named in [(one,) for one in backbones] + every:
            for policy, _ in pages.POLICIES:
                yield View(group=group, backbones=named, recipes=policy, page=0)


def _taken(opened: Opened, page: RankPage) -> Iterator[tuple[str, str]]:
    for one in page.takes:
        yield TOP.take(page.view, one.form), taken(opened, page, one.form)


def _charts(opened: Opened) -> Iterator[tuple[str, str]]:
    """Yield the pages of charts with their drawings; the first one is of the newest run."""
    first = charts.trade_offs(trade_off_page(opened, View(), Axes()))
    yield TOP.charts("trade-off", View()), first.page(BELOW, opened.firsts)
    for view in _views(opened):
        for chart, axes, drawn in _drawn(opened, view):
            yield TOP.charts(chart, view, axes), drawn.page(DEEP, opened.firsts)
            for one in drawn.drawings:
                yield TOP.drawing(chart, view, axes, one.number), one.svg


def _drawn(opened: Opened, view: View) -> Iterator[tuple[Chart, Axes, Drawn]]:
    for against in get_args(Against):
        axes = Axes(against)
        yield "trade-off", axes, charts.trade_offs(trade_off_page(opened, view, axes))
    yield "training", Axes(), charts.training(curves_page(opened, view))
    if len(view.backbones) != 1 or len(opened.backbones(view.group)) == 1:
        yield "scale", Axes(), charts.scale(scale_page(opened, replace(view, backbones=()), Axes()))


def _comparisons(opened: Opened) -> Iterator[tuple[str, str]]:
    """Yield the comparisons of each two methods of a group on a backbone."""
    firsts = opened.firsts
    newest = next(every_pair(opened, opened.completed(View())))
    yield TOP.compare(Versus()), pages.compare(newest, TOP, firsts)
    for group in opened.groups:
        for backbone in opened.backbones(group):
            for values in every_pair(opened, View(group=group, backbones=(backbone,))):
                path = TOP.compare(values.versus)
                yield path, pages.compare(values, Files(path.count("/")), firsts)


def _histories(opened: Opened) -> Iterator[tuple[str, str]]:
    for status in (None, *get_args(Status)):
        number = history_page(opened, status).pages
        for page in range(1, number + 1):
            values = history_page(opened, status, page)
            yield TOP.runs(status, page), pages.runs(values, BELOW)


def _items(opened: Opened, run: RunPage) -> Iterator[tuple[str, str]]:
    for benchmark in run.items:
        found = answers(opened, run.run, benchmark)
        for kind in (None, *get_args(Kind)):
            number = found.page(kind).pages
            for page in range(1, number + 1):
                path = TOP.items(run.run, benchmark, kind, page)
                yield path, pages.items(found.page(kind, page), DEEP)
