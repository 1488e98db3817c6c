"""Addresses of pages: those of a server, and those of files beside one another."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from hashlib import sha256
from urllib.parse import quote, urlencode

from results.analysis.items import Kind, PairKind
from results.leaderboard.values.ranking.take import FORMS
from results.leaderboard.view import Axes, Chart, Versus, View
from results.record import Status

AXES = Axes()


class Links(ABC):
    """Where each page is, seen from the page that links to it."""

    served: bool
    """Whether a server answers: then a page may take any query, and there is an API."""

    @abstractmethod
    def home(self) -> str:
        """Give the address of the first page."""

    @abstractmethod
    def asset(self, name: str) -> str:
        """Give the address of a stylesheet or script."""

    @abstractmethod
    def rank(self, view: View) -> str:
        """Give the address of a view of the ranking."""

    @abstractmethod
    def charts(self, chart: Chart, view: View, axes: Axes = AXES) -> str:
        """Give the address of a page of charts."""

    @abstractmethod
    def drawing(self, chart: Chart, view: View, axes: Axes, number: int) -> str:
        """Give the address of one of its charts, from 1, as a file that stands alone."""

    @abstractmethod
    def take(self, view: View, form: str) -> str:
        """Give the address of a file with what a view shows, in one of `FORMS`."""

    @abstractmethod
    def runs(self, status: Status | None = None, page: int = 1) -> str:
        """Give the address of a page of attempts."""

    @abstractmethod
    def run(self, run_id: str) -> str:
        """Give the address of a run."""

    @abstractmethod
    def items(self, run_id: str, benchmark: str, kind: Kind | None = None, page: int = 1) -> str:
        """Give the address of a page of items."""

    @abstractmethod
    def compare(self, versus: Versus) -> str:
        """Give the address of a comparison of two methods; empty where there is none."""

    @abstractmethod
    def compare_runs(self, first: str, second: str = "") -> str:
        """Give the address of a comparison of two runs; empty where there is none."""

    @abstractmethod
    def item_pairs(
        self,
        first: str,
        second: str,
        benchmark: str,
        kind: PairKind | None = None,
        page: int = 1,
    ) -> str:
        """Give the address of a page of the items of two runs."""


class Served(Links):
    """Addresses of a server."""

    served = True

    def home(self) -> str:
        """Give the address of the first page."""
        return "/"

    def asset(self, name: str) -> str:
        """Give the address of a stylesheet or script."""
        return f"/static/{name}"

    def rank(self, view: View) -> str:
        """Give the address of a view of the ranking."""
        return f"/{_query(view.to_query())}"

    def charts(self, chart: Chart, view: View, axes: Axes = AXES) -> str:
        """Give the address of a page of charts."""
        path = "/charts" if chart == "trade-off" else f"/charts/{chart}"
        return path + _query(urlencode(view.pairs() + axes.pairs()))

    def drawing(self, chart: Chart, view: View, axes: Axes, number: int) -> str:
        """Give the address of one of its charts, from 1, as a file that stands alone."""
        pairs = [*view.pairs(), *axes.pairs(), ("number", str(number))]
        return f"/charts/{chart}.svg{_query(urlencode(pairs))}"

    def take(self, view: View, form: str) -> str:
        """Give the address of a file with what a view shows."""
        return f"/take/{form}{_query(view.to_query())}"

    def runs(self, status: Status | None = None, page: int = 1) -> str:
        """Give the address of a page of attempts."""
        return f"/runs{_paged(status, page, 'status')}"

    def run(self, run_id: str) -> str:
        """Give the address of a run."""
        return f"/run/{quote(run_id, safe='')}"

    def items(self, run_id: str, benchmark: str, kind: Kind | None = None, page: int = 1) -> str:
        """Give the address of a page of items."""
        path = f"{self.run(run_id)}/items/{quote(benchmark, safe='')}"
        return path + _paged(kind, page, "kind")

    def compare(self, versus: Versus) -> str:
        """Give the address of a comparison of two methods."""
        return f"/compare{_query(versus.to_query())}"

    def compare_runs(self, first: str, second: str = "") -> str:
        """Give the address of a comparison of two runs."""
        named = [("first", first), *([("second", second)] if second else [])]
        return f"/compare/runs{_query(urlencode(named))}"

    def item_pairs(
        self,
        first: str,
        second: str,
        benchmark: str,
        kind: PairKind | None = None,
        page: int = 1,
    ) -> str:
        """Give the address of a page of the items of two runs."""
        return f"/compare/items{_pair_query(first, second, benchmark, kind, page)}"


@dataclass(frozen=True)
class Files(Links):
    """Addresses of files of one folder, relative to a file so many folders below it."""

    depth: int = 0
    served = False

    def home(self) -> str:
        """Give the address of the first page."""
        return self._up("index.html")

    def asset(self, name: str) -> str:
        """Give the address of a stylesheet or script."""
        return self._up(f"static/{name}")

    def rank(self, view: View) -> str:
        """Give the address of a view: a file for what it reads, a query for what it shows of it."""
        shown = replace(view, group="", backbones=(), recipes="shared", published="", page=1)
        paper = f"-{slug(view.published)}" if view.published else ""
        path = f"rank/{_chosen(view)}{paper}.html"
        return self._up(path) + _query(shown.to_query())

    def take(self, view: View, form: str) -> str:
        """Give the address of a file with what a view shows, nothing hidden."""
        whole = View(view.group, view.backbones, recipes=view.recipes, published=view.published)
        return f"{self.rank(whole).removesuffix('html')}{FORMS[form].suffix}"

    def charts(self, chart: Chart, view: View, axes: Axes = AXES) -> str:
        """Give the address of a page of charts; those of no group are of the newest run."""
        return self._up(f"{_charts(chart, view, axes)}.html")

    def drawing(self, chart: Chart, view: View, axes: Axes, number: int) -> str:
        """Give the address of one of its charts, from 1, as a file that stands alone."""
        return self._up(f"{_charts(chart, view, axes)}-{number}.svg")

    def runs(self, status: Status | None = None, page: int = 1) -> str:
        """Give the address of a page of attempts."""
        return self._up(f"runs/{status or 'all'}-{page}.html")

    def run(self, run_id: str) -> str:
        """Give the address of a run."""
        return self._up(f"run/{slug(run_id)}.html")

    def items(self, run_id: str, benchmark: str, kind: Kind | None = None, page: int = 1) -> str:
        """Give the address of a page of items: a file, and a query for what it shows of it."""
        path = f"items/{slug(run_id)}/{slug(benchmark)}.html"
        return self._up(path) + _paged(kind, page, "kind")

    def data(self, run_id: str, benchmark: str) -> str:
        """Give the address of the script that holds all items of a benchmark of a run."""
        return self._up(f"items/{slug(run_id)}/{slug(benchmark)}.js")

    def compare(self, versus: Versus) -> str:
        """Give the address of a comparison: there is one of each two of a table, in one order."""
        if versus.recipes != "shared" or versus.second_backbone or versus.second_protocol:
            return ""
        if not versus.group:
            return self._up("compare.html")
        both = sorted((versus.first, versus.second)) if versus.second else ["index"]
        parts = [versus.group, versus.backbone, *both]
        return self._up(f"compare/{'/'.join(map(slug, parts))}.html")

    def compare_runs(self, first: str, second: str = "") -> str:
        """Give no address."""
        return ""

    def item_pairs(
        self,
        first: str,
        second: str,
        benchmark: str,
        kind: PairKind | None = None,
        page: int = 1,
    ) -> str:
        """Give the address of one page, whose query names the files of any two runs."""
        files = slug(first), slug(second), slug(benchmark)
        return self._up("compare/items.html") + _pair_query(*files, kind, page)

    def _up(self, path: str) -> str:
        return "../" * self.depth + path


def file_name(view: View, form: str) -> str:
    """Give the name under which a visitor keeps a file.

    >>> file_name(View(group="math", backbones=("tiny",), recipes="own"), "latex")
    'math-tiny-own.tex'
    """
    told = [slug(view.group), _backbone(view), view.recipes, slug(view.published)]
    return f"{'-'.join(one for one in told if one not in ('', 'shared'))}.{FORMS[form].suffix}"


def _backbone(view: View) -> str:
    return slug("every backbone" if len(view.backbones) > 1 else "".join(view.backbones))


def _pair_query(first: str, second: str, benchmark: str, kind: PairKind | None, page: int) -> str:
    named = [("first", first), ("second", second), ("benchmark", benchmark)]
    return _query(urlencode(named + _pairs(kind, page, "kind")))


def slug(name: str) -> str:
    """Make a file name of any text; one that had to be changed gets digits of its hash.

    >>> slug("gsm8k"), slug("../../etc/passwd"), slug("meta-llama/Llama")
    ('gsm8k', 'etc-passwd-3754d6cb', 'meta-llama-Llama-4c796b81')
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:80]
    # Some file systems do not tell capitals from small letters: only small ones are left as is.
    if plain == name and plain == plain.lower():
        return plain
    return f"{plain}-{sha256(name.encode()).hexdigest()[:8]}".lstrip("-")


def _chosen(view: View) -> str:
    """Name the file of what a view reads."""
    return f"{slug(view.group)}/{_backbone(view)}-{view.recipes}"


def _charts(chart: Chart, view: View, axes: Axes) -> str:
    """Name the file of a page of charts; scale curves are of all backbones."""
    of = view if chart != "scale" else replace(view, backbones=("every backbone",))
    kind = f"{chart}-{axes.against}" if chart == "trade-off" else chart
    return f"charts/{_chosen(of)}-{kind}" if view.group else f"charts/{kind}"


def _query(query: str) -> str:
    return f"?{query}" if query else ""


def _paged(kind: str | None, page: int, name: str) -> str:
    return _query(urlencode(_pairs(kind, page, name)))


def _pairs(kind: str | None, page: int, name: str) -> list[tuple[str, str]]:
    return ([(name, kind)] if kind else []) + ([("page", str(page))] if page > 1 else [])
