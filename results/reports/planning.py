"""How many seeds or items a difference needs, as Markdown."""

from collections.abc import Iterator, Sequence

from results.analysis.planning import Need, Plan
from results.reports import prose
from results.reports.markdown_table import markdown_table
from results.reports.pairwise import not_made
from results.statistics.planning import Needed
from results.statistics.power import POWER
from results.statistics.test import ALPHA, Undefined

HEADER = ["", "SD", "seeds of each", "range", "items", "range", "items now"]


def markdown(plans: Sequence[Plan]) -> str:
    """Write plans one below the other."""
    return "\n\n".join("\n\n".join(filter(None, _section(one))) for one in plans)


def _section(one: Plan) -> Iterator[str]:
    few, many = min(one.seeds_now), max(one.seeds_now)
    seeds = f"{few}" if few == many else f"{few} to {many}"
    yield (
        f"{prose.subject(one.conditions)}, {one.metric.title}, on {one.backbone}: what finds a "
        f"difference of {one.delta:g} with a power of {100 * POWER:g} %, two-sided at {ALPHA}, "
        f"from the spread of {', '.join(one.methods)} (seeds: {seeds})."
    )
    yield prose.marks(one.conditions)
    rows = [_line(one, need) for need in one.needs]
    yield markdown_table(HEADER, rows, align="lrrrrrr")
    yield (
        "Seeds: of each of two methods, by Welch's test on these items. Items: for two trained "
        "models, by a paired test. Ranges: what the uncertainty of the spread leaves, at "
        f"{100 * (1 - ALPHA):g} %."
    )
    yield from not_made("seeds", {need.column: need.seeds for need in one.needs})
    yield from not_made("items", {need.column: need.items for need in one.needs})


def _line(one: Plan, need: Need) -> list[str]:
    sd = "-" if need.sd is None else one.metric.written(need.sd)
    now = "-" if need.items_now is None else f"{need.items_now:,}"
    return [need.column, sd, *_needed(need.seeds), *_needed(need.items), now]


def _needed(found: Needed | Undefined) -> tuple[str, str]:
    if isinstance(found, Undefined):
        return "-", "-"
    return f"{found.n:,}", f"{found.low:,} to {found.high:,}"
