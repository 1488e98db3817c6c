"""Addresses of comparisons: of two methods, of two runs, of their items; pages and JSON."""

from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, FastAPI

from results.analysis.items import PairKind
from results.leaderboard.html import pages
from results.leaderboard.server.api import REFUSED, Page
from results.leaderboard.server.pages import HTML, LINKS
from results.leaderboard.source import Source
from results.leaderboard.values.compared.compare import ComparePage, compare_page
from results.leaderboard.values.compared.compare_runs import RunsPage, runs_page
from results.leaderboard.values.compared.item_pairs import ItemPairsPage, paired
from results.leaderboard.view import Versus


def asked(versus: Annotated[Versus, Depends()]) -> Versus:
    """Read the names of an address as `view.spelled` writes them."""
    names: dict[str, Any] = {name: unquote(value) for name, value in asdict(versus).items()}
    return Versus(**names)


Asked = Annotated[Versus, Depends(asked)]


def add_comparisons(made: FastAPI, source: Source) -> None:
    """Add the comparisons of `source`."""

    @made.get("/compare", **HTML)
    def compare(versus: Asked) -> str:
        return pages.compare(compare_values(versus), LINKS, source.open().firsts)

    @made.get("/compare/runs", **HTML)
    def of_runs(first: str, second: str = "") -> str:
        return pages.compare_runs(runs_values(first, second), LINKS)

    @made.get("/compare/items", **HTML)
    def items(
        first: str, second: str, benchmark: str, kind: PairKind | None = None, page: Page = 1
    ) -> str:
        return pages.item_pairs(items_values(first, second, benchmark, kind, page), LINKS)

    @made.get("/api/compare", responses=REFUSED)
    def compare_values(versus: Asked) -> ComparePage:
        """Compare two methods, by the query that the address of its page has."""
        return compare_page(source.open(), versus)

    @made.get("/api/compare/runs", responses=REFUSED)
    def runs_values(first: str, second: str = "") -> RunsPage:
        """Compare two runs, by the first digits of their ids."""
        return runs_page(source.open(), first, second)

    @made.get("/api/compare/items", responses=REFUSED)
    def items_values(
        first: str, second: str, benchmark: str, kind: PairKind | None = None, page: Page = 1
    ) -> ItemPairsPage:
        """Give a page of the items of two runs; of `gained`, only the first run has them right."""
        return paired(source.open(), first, second, benchmark).page(kind, page)
