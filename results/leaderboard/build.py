"""The same pages as files, for any web server, or to be opened from disk."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

from results.analysis.history import history
from results.analysis.items import Kind
from results.errors import ResultsError
from results.leaderboard.html import pages
from results.leaderboard.html.links import Files
from results.leaderboard.html.render import ASSETS, STATIC
from results.leaderboard.source import Opened, Source
from results.leaderboard.values.history import pages_of
from results.leaderboard.values.items import answers
from results.leaderboard.values.rank import RankPage, rank_page, taken
from results.leaderboard.values.run import RunPage, run_page
from results.leaderboard.view import View
from results.record import Status

TOP, BELOW, DEEP = Files(0), Files(1), Files(2)


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
    yield from _histories(opened)
    for run_id in dict.fromkeys(run.run_id for run in opened.history()):
        values = run_page(opened, run_id)
        yield TOP.run(run_id), pages.run(values, BELOW)
        yield from _items(opened, values)


def _ranks(opened: Opened) -> Iterator[tuple[str, str]]:
    firsts = opened.firsts
    yield TOP.home(), pages.rank(rank_page(opened, View()), TOP, firsts)
    for group in opened.groups:
        backbones = opened.backbones(group)
        every = [backbones] if len(backbones) > 1 else []
        for named in [(one,) for one in backbones] + every:
            for policy, _ in pages.POLICIES:
                view = View(group=group, backbones=named, recipes=policy)
                values = rank_page(opened, view)
                yield TOP.rank(view), pages.rank(values, DEEP, firsts)
                yield from _taken(opened, values)
                for paper in values.papers:
                    beside = rank_page(opened, replace(view, published=paper.name))
                    yield TOP.rank(beside.view), pages.rank(beside, DEEP, firsts)
                    yield from _taken(opened, beside)


def _taken(opened: Opened, page: RankPage) -> Iterator[tuple[str, str]]:
    for one in page.takes:
        yield TOP.take(page.view, one.form), taken(opened, page, one.form)


def _histories(opened: Opened) -> Iterator[tuple[str, str]]:
    entries = history(opened.history())
    for status in (None, *get_args(Status)):
        number = pages_of(entries, status, 1).pages
        for page in range(1, number + 1):
            values = pages_of(entries, status, page)
            yield TOP.runs(status, page), pages.runs(values, BELOW)


def _items(opened: Opened, run: RunPage) -> Iterator[tuple[str, str]]:
    for benchmark in run.items:
        found = answers(opened, run.run, benchmark)
        for kind in (None, *get_args(Kind)):
            number = found.page(kind).pages
            for page in range(1, number + 1):
                path = TOP.items(run.run, benchmark, kind, page)
                yield path, pages.items(found.page(kind, page), DEEP)
