"""Pages as HTML: values put into the renderer, the same for both outlets."""

from dataclasses import replace

from markupsafe import Markup

from results.leaderboard.charts.drawings import losses
from results.leaderboard.html.links import Links, file_name
from results.leaderboard.html.render import page
from results.leaderboard.values.attempts.history import HistoryPage
from results.leaderboard.values.attempts.items import ItemsPage
from results.leaderboard.values.attempts.live import LivePage
from results.leaderboard.values.attempts.run import RunPage
from results.leaderboard.values.compared.compare import ComparePage
from results.leaderboard.values.compared.compare_runs import RunsPage
from results.leaderboard.values.compared.item_pairs import KINDS, NOT_JUDGED, ItemPairsPage
from results.leaderboard.values.ranking.rank import RankPage
from results.leaderboard.values.ranking.take import FORMS
from results.leaderboard.view import Recipes, View
from results.reports.sheets.titles import method_title

POLICIES: tuple[tuple[Recipes, str], ...] = (
    ("shared", "one for all"),
    ("own", "each its own"),
    ("validation", "best by validation"),
)

PAIRS = {"all": "all", **KINDS}
"""Of the rows of two runs, what may be shown."""


def rank(values: RankPage, links: Links, firsts: dict[str, tuple[str, ...]]) -> str:
    """Write the ranking; `firsts` are the backbones that each group opens with."""
    view = values.view
    return page(
        "rank",
        links,
        page=values,
        firsts=firsts,
        backbone_pairs=backbone_choices(values.backbones),
        paper_pairs=[(paper.name, paper.title) for paper in values.papers],
        method_pairs=[(label, method_title(label, values.titles)) for label in values.methods],
        policies=POLICIES,
        hidden=_hidden(view, links),
        forms=FORMS,
        named=file_name,
    )


def backbone_choices(names: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    """List what may be chosen of the backbones of a group: each of them, and all."""
    return [((name,), name) for name in names] + ([(names, "all")] if len(names) > 1 else [])


def _hidden(view: View, links: Links) -> list[tuple[str, str]]:
    """List what the form keeps of a view; a file keeps nothing, its script keeps the query."""
    if not links.served:
        return []
    kept = replace(view, search="", columns=(), methods=())
    return kept.pairs()


def runs(values: HistoryPage, links: Links) -> str:
    """Write a page of attempts."""
    return page("runs", links, page=values)


def run(values: RunPage, links: Links) -> str:
    """Write a run."""
    drawn = losses(values.losses) if values.losses else ""
    return page("run", links, page=values, chart=Markup(drawn))


def items(values: ItemsPage, links: Links) -> str:
    """Write a page of items."""
    return page("items", links, page=values)


def live(values: LivePage, links: Links) -> str:
    """Write what is going on now, for a server alone: a file cannot know it."""
    return page("live", links, page=values)


def compare(values: ComparePage, links: Links, firsts: dict[str, tuple[str, ...]]) -> str:
    """Write a comparison of two methods; `firsts` are the backbones that each group opens with."""
    return page(
        "compare",
        links,
        page=values,
        firsts=firsts,
        of=lambda name: method_title(name, values.titles),
        named=lambda name: values.titles.get(name, name),
    )


def compare_runs(values: RunsPage, links: Links) -> str:
    """Write a comparison of two runs."""
    return page("compare_runs", links, page=values)


def item_pairs(values: ItemPairsPage, links: Links) -> str:
    """Write a page of the items of two runs."""
    return page("item_pairs", links, page=values, kinds=PAIRS)


def item_pairs_file(links: Links) -> str:
    """Write the page that shows the items of any two runs by script."""
    return page("item_pairs_file", links, kinds=PAIRS, not_judged=NOT_JUDGED)


def error(title: str, message: str, links: Links, instead: str = "") -> str:
    """Write what went wrong, with the address of the nearest page that there is."""
    return page("error", links, title=title, message=message, instead=instead)
